#!/usr/bin/env python3
"""Prints figures that say how well the program can be read, each beside the value to reach.

  tests/figures.py                 one line for each figure: its name, its value, what to reach
  tests/figures.py --list FIGURE   what the figure counts, the worst first, as FILE:LINE: WHAT
  tests/figures.py --numbers       name and number alone, for tests/house_test.sh
  tests/figures.py --draw SEED     60 comments of headers, drawn with the seed: to be judged by a
                                   reader who knows none of their files

The script needs nothing but Python. Decisions are if, for, while, case, &&, || and ?:. Members of a
type are its own data, not static; its functions are those that it declares, without deleted and
defaulted ones. A lambda, and a type within a function, count as part of that function.
"""
import argparse
import pathlib
import random
import re
import signal
import sys
from collections import Counter
from typing import NamedTuple

sys.dont_write_bytecode = True  # no __pycache__ among the sources
from cpp_scan import Scan, tokens_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ('proxy', 'digest', 'peers', 'config')
# Rooms of the request path that have to be tested without a process.
TESTED = ('answer', 'fetching', 'sources', 'blocks', 'tiers', 'reply')
# Headers that may be included by any number of files.
COMMON = re.compile(r'(^|/)(text|key|settings)\.hpp$')


class File:
    def __init__(self, path):
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text()
        self.lines = self.text.splitlines()
        self.includes = re.findall(r'^#include [<"]([^>"]+)[>"]', self.text, re.M)
        self.own = re.findall(r'^#include "([^"]+)"', self.text, re.M)

    def scan(self):
        if not hasattr(self, 'tokens'):
            self.tokens = tokens_of(self.text)
            found = Scan(self.tokens)
            self.functions, self.types = found.functions, found.types
        return self

    def room(self):
        return re.sub(r'^proxy/|/?[^/]*$', '', self.name)


def files_in(*folders):
    paths = (path for folder in folders for path in (ROOT / folder).rglob('*.[ch]pp'))
    return [File(path) for path in sorted(paths)]


class Figure(NamedTuple):
    name: str
    what: str
    number: float
    more: str  # said behind the number
    goal: str
    found: list  # of (rank, where, what)


def worst(found):
    return sorted(found, key=lambda one: (-one[0], one[1]))


def most(found):
    """The number of the worst one, and its name."""
    rank, _, what = worst(found)[0]
    return rank, f' ({what})'


def count(found):
    return len(found), ''


def above(limit, found):
    return worst(one for one in found if one[0] > limit)


def types_in(program):
    return [(file, found) for file in program for found in file.scan().types]


def functions_in(program, wanted):
    return [(file, found) for file in program for found in file.scan().functions if wanted(found)]


def place(file, line):
    return f'{file.name}:{line}'


def structs(program):
    sizes = [(found.members, place(file, found.line), found.name)
             for file, found in types_in(program)]
    yield process(program)
    yield Figure('members', 'members of the largest type', *most(sizes), 'at most 15', above(15, sizes))
    large = above(12, sizes)
    yield Figure('large-types', 'types above 12 members', *count(large), 'at most 8', large)
    many = above(25, [(found.functions, place(file, found.line), found.name)
                      for file, found in types_in(program)])
    yield Figure('wide-classes', 'classes above 25 functions', *count(many), 'at most 6', many)


def including(program, header):
    return [(1, file.name, f'includes {header}') for file in program if header in file.own]


def process(program):
    what = 'members of the struct Process; includes of its header; files that include it'
    for file, found in types_in(program):
        if found.name == 'Process':
            users = including(program, file.name)
            more = f', {len(file.includes)}, {len(users)}'
            return Figure('process', what, found.members, more, 'gone', users)
    return Figure('process', what, 0, '', 'gone', [])


def headers(program):
    includes = [(len(file.includes), file.name, file.name) for file in program
                if file.name.endswith('.hpp')]
    yield Figure('includes', 'includes of the header with most', *most(includes), 'at most 20',
                 above(20, includes))
    users = Counter(header for file in program for header in set(file.own))
    counted = [(number, header, header) for header, number in users.items()
               if not COMMON.search(header)]
    yield Figure('included', 'files that include the header with most users (text, key, settings aside)',
                 *most(counted), 'at most 30', above(30, counted))


def house(program):
    listed = re.search(r'^rooms=\(\n(.*?)^\)', (ROOT / 'tests/house_test.sh').read_text(), re.M | re.S)
    rooms = listed.group(1).split()
    yield Figure('rooms', 'rooms of proxy/', *count(rooms), 'at most 30',
                 [(len(rooms) - i, room, '') for i, room in enumerate(rooms)])
    below = {room: set() for room in rooms}
    for file in program:
        if file.room() in below and file.name.startswith('proxy/'):
            of_headers = {re.sub(r'^proxy/|/[^/]*$', '', header) for header in file.own
                          if header.startswith('proxy/')}
            below[file.room()] |= of_headers & below.keys() - {file.room()}
    chains = {}

    def chain(room):
        if room not in chains:
            chains[room] = [room]  # an arrow up would lead back here
            chains[room] = [room] + max((chain(one) for one in sorted(below[room])), key=len, default=[])
        return chains[room]

    longest = max((chain(room) for room in rooms), key=len)
    yield Figure('floors', 'floors: rooms of the longest chain of includes', *count(longest), 'at most 14',
                 [(len(longest) - i, room, '') for i, room in enumerate(longest)])


def tests(program):
    whole = re.compile(r'^(proxy/(server/worker\.hpp|server/)|tests/(proxy/scene|support/proxy_process)\.hpp)')
    named = {file.name: file for file in files_in('tests')}

    def needs_process(file, seen):
        seen.add(file.name)
        return any(whole.search(header) or (header in named and header not in seen and
                                            needs_process(named[header], seen)) for header in file.own)

    found, of_tests, of_rooms = [], 0, 0
    for room in TESTED:
        lines = sum(len(file.lines) for file in program if file.room() == room)
        tested = sum(len(file.lines) for file in named.values()
                     if file.name.startswith(f'tests/proxy/{room}/') and not needs_process(file, set()))
        if lines:
            found.append((0, f'proxy/{room}', f'{tested / lines:.2f} ({tested} lines of tests for {lines})'))
        of_tests, of_rooms = of_tests + tested, of_rooms + lines
    yield Figure('tests', f'lines of tests without a process per line of {", ".join(TESTED)}',
                 round(of_tests / of_rooms, 2), '', 'at least 0.6', found)


def clocks(program):
    alias = re.compile(r'using (\w+) = [\w:]*(?:_clock|Clock|clock_type);')
    names = {name for file in program for name in alias.findall(file.text)}
    found = []
    for file in program:
        tokens = file.scan().tokens
        for i in range(1, len(tokens) - 3):
            name = tokens[i - 1].text
            if [token.text for token in tokens[i:i + 4]] == ['::', 'now', '(', ')'] and (
                    name.endswith('_clock') or name in names):
                found.append((1, place(file, tokens[i].line), f'{name}::now()'))
            elif tokens[i].text in ('clock_gettime', 'gettimeofday') and tokens[i + 1].text == '(' and (
                    'CPUTIME' not in tokens[i + 2].text):
                found.append((1, place(file, tokens[i].line), tokens[i].text))
    found = [one for one in found if not one[1].startswith('proxy/machine/clock.')]
    inside = [one for one in found if re.match(r'proxy/(net|command|check)/', one[1])]
    yield Figure('clocks', 'places that read a clock of the system but machine::Clock (in net, command and check)',
                 len(found) - len(inside), f' ({len(inside)})', '0 (at most 10)',
                 [(2 - (one in inside), *one[1:]) for one in found])


def randomness(program):
    """A default argument or a default member, which a caller replaces by a seeded source, is no draw;
    nor is what `server` gives its threads. Secrets have to be unpredictable, so they take no seed; nor
    does a subcommand that writes to the disk, since it does so once."""
    engine = re.compile(r'(mt19937(_64)?|minstd_rand0?|default_random_engine|ranlux\w+|knuth_b)$')
    secret = re.compile(r'proxy/(pages/badges|reply/stored|command/(digest_query|cache_drop))\.cpp$')
    found, secrets = [], 0
    for file in program:
        tokens = file.scan().tokens
        for i in range(3, len(tokens) - 3):
            text = tokens[i].text
            drawn = text in ('random_device', 'getrandom', 'rand', 'random', 'arc4random') and (
                text == 'random_device' or tokens[i + 1].text == '(' and tokens[i - 1].text in ('::', '='))
            unseeded = engine.match(text) and re.match(r'\w', tokens[i + 1].text) and (
                tokens[i + 2].text == ';' or tokens[i + 2].text == '{' and tokens[i + 3].text == '}')
            before = tokens[i - 3 if tokens[i - 1].text == '::' else i - 1].text
            is_default = before == '=' and file.name.endswith('.hpp') and tokens[i + 3].text in (',', ')', ';')
            unpredictable = text == 'unpredictable' and before != 'RandomWords' and not is_default and (
                not file.name.startswith('proxy/server/'))
            if unpredictable and secret.match(file.name):
                secrets += 1
            elif drawn and not file.name.startswith('proxy/net/') or unseeded or unpredictable:
                found.append((1, place(file, tokens[i].line), text))
    yield Figure('random', 'places that draw random numbers without a seed given (secrets)', len(found),
                 f' ({secrets})', '0', found)


def climbs(program):
    """Not the calls, which a script cannot follow, but what makes them possible: a std::function in a
    header of a room that serves a miss, for a room above to give and for this one to call."""
    found = []
    for file in program:
        if not re.match(r'proxy/(fetching|sources|fill|upstream)/\w+\.hpp$', file.name):
            continue
        kinds = {}
        for number, line in enumerate(file.lines, 1):
            for kind in re.findall(r'std::function<((?:[^<>]|<[^<>]*>)*)>', line.split('//')[0]):
                kinds.setdefault(kind, number)
        found += [(1, f'{file.name}:{number}', kind) for kind, number in kinds.items()]
    yield Figure('climbs', 'kinds of callbacks that rooms below `answer` ask for on a miss', *count(found),
                 'at most 10', found)


def disk(program):
    """Lines outside the cache that name the tier on disk. `server` makes it; the pages, events and
    subcommands that report on what is stored (pages, observe, inspect, command) are not meant."""
    found = set()
    settings = {'cache', 'settings', 'told'}
    for file in program:
        if not file.name.startswith('proxy/') or re.match(
                r'(cache|tiers|server|pages|observe|command|inspect)(/|$)', file.room()):
            continue
        tokens = file.scan().tokens
        for i in range(2, len(tokens) - 1):
            owner, where = tokens[i - 2].text, place(file, tokens[i].line)
            is_member = tokens[i].text == 'disk' and tokens[i - 1].text in ('.', '->')
            if is_member and tokens[i + 1].text != '(' and owner not in settings:
                found.add((1, where, f'{owner}{tokens[i - 1].text}disk'))
            elif tokens[i].text == 'DiskTier':
                found.add((1, where, 'DiskTier'))
    yield Figure('disk', 'lines outside the cache that name the tier on disk', *count(sorted(found)), '0', sorted(found))


def functions(program):
    bodies = functions_in(program, lambda one: one.has_body)
    counted = [(one.decisions, place(file, one.line), one.name) for file, one in bodies]
    median = sorted(number for number, *_ in counted)[len(counted) // 2]
    number, name = most(counted)
    yield Figure('decisions', 'decisions of the function with most', number, f'{name}, median {median}',
                 'at most 20', above(20, counted))
    long = [(len(one.parameters), place(file, one.line), one.name)
            for file, one in functions_in(program, lambda one: one.has_body or one.is_pure)]
    yield Figure('parameters', 'functions of 6 parameters and more', *count(above(5, long)), '0', above(5, long))
    flags = []
    for file in program:
        if file.name.endswith('.hpp'):
            for one in file.scan().functions:
                for parameter in one.parameters:
                    of = [word for word in parameter if word != 'const']
                    if of[:1] == ['bool'] and '&' not in of and '*' not in of:
                        flags.append((1, place(file, one.line), f'{one.name}: {" ".join(parameter)}'))
    yield Figure('flags', 'parameters of type bool in headers', *count(flags), 'at most 15', flags)


def lines(program):
    sources = [file for file in program if file.name.endswith('.cpp')]
    said = [(sum(line.lstrip().startswith('//') for line in file.lines), len(file.lines), file.name)
            for file in sources]
    share = 100 * sum(one[0] for one in said) / sum(one[1] for one in said)
    yield Figure('comments', 'lines of comments of 100 lines of .cpp', round(share, 1), '', '6 to 8',
                 [(round(100 * number / size), name, f'{number} of {size}') for number, size, name in said])
    folders = [(sum(len(file.lines) for file in program if file.name.startswith(folder + '/')), folder, '')
               for folder in PROGRAM]
    yield Figure('lines', 'lines of ' + ' '.join(PROGRAM), sum(number for number, *_ in folders), '',
                 'at most 74000', folders)
    readme = len((ROOT / 'README.md').read_text().splitlines())
    yield Figure('readme', 'lines of README.md', readme, '', 'at most 180', [])


def comments_of(header):
    """Of each block of comment lines: its place, its text, and the line of code that follows."""
    block = []
    for number, line in enumerate(header.lines + [''], 1):
        if line.lstrip().startswith('//'):
            block.append(line)
        elif block:
            yield f'{header.name}:{number - len(block)}', block, line
            block = []


def draw(seed):
    headers_of = (file for file in files_in(*PROGRAM) if file.name.endswith('.hpp'))
    comments = [comment for header in headers_of for comment in comments_of(header)]
    for where, block, code in random.Random(seed).sample(comments, 60):
        print('\n'.join([where, *block, code, '']))


def figures():
    program = files_in(*PROGRAM)
    for rows in (structs, headers, house, tests, clocks, randomness, climbs, disk, functions, lines):
        yield from rows(program)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--list', metavar='FIGURE', help='list what one figure counts')
    parser.add_argument('--numbers', action='store_true', help='print name and number of each figure')
    parser.add_argument('--draw', metavar='SEED', help='draw comments of headers with this seed')
    wanted = parser.parse_args()
    if wanted.draw:
        return draw(wanted.draw)
    known = []
    for figure in figures():
        known.append(figure.name)
        if wanted.list == figure.name:
            for rank, where, what in worst(figure.found):
                print(': '.join(filter(None, (where, what))) + (f' ({rank})' if rank > 1 else ''))
            return
        if wanted.numbers:
            print(figure.name, figure.number)
        elif not wanted.list:
            value = f'{figure.number}{figure.more}'
            print(f'{figure.name:13} {value:34} {figure.goal:15} {figure.what}')
    if wanted.list:
        sys.exit(f'{wanted.list} is no figure; there are {", ".join(known)}')


main()
