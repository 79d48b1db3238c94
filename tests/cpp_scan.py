"""Finds the functions and types in the text of a C++ source, for tests/figures.py.

Not a compiler: it follows the brackets, and expands no macros. It relies on the format that
clang-format gives, where `a && b` is a decision, and `T&& a` is none.
"""
import re
from typing import NamedTuple


class Token(NamedTuple):
    text: str
    line: int
    spaced: bool  # white space stands before it


class Function(NamedTuple):
    name: str
    line: int
    parameters: list  # each a list of words
    has_body: bool
    is_pure: bool
    decisions: int


class Type(NamedTuple):
    name: str
    line: int
    members: int
    functions: int


TOKEN = re.compile(
    r'''(?P<space>\s+|//[^\n]*|/\*.*?\*/|\#(?:\\\n|[^\n])*)
      | (?P<raw>R"(?P<end>[^(\s]*)\(.*?\)(?P=end)")
      | (?P<text>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])+')
      | (?P<number>\.?\d(?:'?[\w.])*)
      | (?P<word>\w+)
      | (?P<sign>::|->|&&|\|\||<<|<=|>=|==|!=|\+\+|--|\.\.\.|.)''', re.VERBOSE | re.DOTALL)


def tokens_of(text):
    tokens, line, spaced = [], 1, False
    for match in TOKEN.finditer(text):
        found = match.group()
        if match.lastgroup == 'space':
            spaced = True
        else:
            # Literals stay as an empty one: nothing that they hold counts.
            literal = match.lastgroup in ('raw', 'text') or match.group('raw')
            tokens.append(Token('""' if literal else found, line, spaced))
            spaced = False
        line += found.count('\n')
    return tokens


def decisions_in(tokens):
    found = 0
    for i, token in enumerate(tokens):
        if token.text in ('if', 'for', 'while', 'case', '||', '?'):
            found += 1
        elif token.text == '&&' and token.spaced and i + 1 < len(tokens) and tokens[i + 1].spaced:
            found += 1
    return found


class Scan:
    """The functions and types of one file."""

    NO_NAMES = {'alignas', 'decltype', 'noexcept', 'requires', 'explicit', '__attribute__', 'if'}
    NO_MEMBERS = {'using', 'typedef', 'friend', 'static', 'static_assert', 'template', 'concept'}
    CLOSING = {'(': ')', '[': ']', '{': '}'}

    def __init__(self, tokens):
        self.tokens = tokens
        self.functions, self.types = [], []
        self.partner = {}
        open_ones = []
        for i, token in enumerate(tokens):
            if token.text in self.CLOSING:
                open_ones.append(i)
            elif token.text in ')]}' and open_ones:
                self.partner[open_ones.pop()] = i
        self.scope(0, len(tokens), '', None)

    def scope(self, i, end, path, counts):
        """Reads declarations. `counts`, in a type: its members and functions."""
        while i < end:
            i = self.declaration(i, end, path, counts)

    def declaration(self, begin, end, path, counts):
        """Reads one declaration; returns where the next one begins."""
        tokens = self.tokens
        if tokens[begin].text in ('public', 'protected', 'private'):
            return begin + 2
        begin = self.past_template(begin)
        start, i = begin, begin
        while i < end:
            text = tokens[i].text
            if text == ';':
                self.without_body(start, i, path, counts)
                return i + 1
            if text == '{':
                after = self.block(start, i, path, counts)
                if after:
                    return after
            i = self.partner[i] + 1 if text in self.CLOSING else i + 1
        return end

    def past_template(self, i):
        while self.tokens[i].text == 'template' and self.tokens[i + 1].text == '<':
            i = self.past_angles(i + 1)
        while self.tokens[i].text == '[' and self.tokens[i + 1].text == '[':
            i = self.partner[i] + 1
        return i

    def past_angles(self, i):
        depth = 0
        while True:
            text = self.tokens[i].text
            depth += (text == '<') - (text == '>')
            i = self.partner[i] + 1 if text in self.CLOSING else i + 1
            if depth == 0:
                return i

    def words(self, start, end):
        return [token.text for token in self.tokens[start:end]]

    def is_macro(self, i):
        text = self.tokens[i].text
        return len(text) > 2 and text.isupper()

    def parameters_at(self, start, end):
        """Where the bracket of a function's parameters opens; None for what is no function."""
        tokens, i = self.tokens, start
        while i < end:
            text, before = tokens[i].text, tokens[i - 1].text
            if text == 'operator':
                i += 1
                if tokens[i].text == '(':
                    i += 2
                while i < end and tokens[i].text != '(':
                    i += 1
                return i if i < end else None
            if text == '<' and i > start and re.match(r'\w', before):
                i = self.past_angles(i)
                continue
            if text in ('=', '{', ':'):
                return None
            if text == '(':
                named = i > start and re.match(r'\w', before) and before not in self.NO_NAMES
                if (named or before == '>') and not self.is_macro(i - 1):
                    return None if tokens[i + 1].text == '*' else i
            i = self.partner[i] + 1 if text in self.CLOSING else i + 1
        return None

    def parameters(self, at):
        found, i, begin, end = [], at + 1, at + 1, self.partner[at]
        while i < end:
            text = self.tokens[i].text
            if text == '<' and re.match(r'\w', self.tokens[i - 1].text):
                i = self.past_angles(i)
            elif text == ',':
                found.append(self.words(begin, i))
                i = begin = i + 1
            elif text == '=':  # a default value may compare
                while i < end and self.tokens[i].text != ',':
                    i = self.partner[i] + 1 if self.tokens[i].text in self.CLOSING else i + 1
            else:
                i = self.partner[i] + 1 if text in self.CLOSING else i + 1
        if begin < end:
            found.append(self.words(begin, end))
        return [] if found == [['void']] else found

    def name_at(self, start, at):
        """The name before the bracket `at`, with the classes that qualify it."""
        i = at - 1
        words = self.words(start, at)
        if 'operator' in words:
            i = start + words.index('operator')
            name = ''.join(words[words.index('operator'):])
        else:
            name = self.tokens[i].text
        if i > start and self.tokens[i - 1].text == '~':
            i, name = i - 1, '~' + name
        while i - 2 >= start and self.tokens[i - 1].text == '::':
            i, name = i - 2, self.tokens[i - 2].text + '::' + name
        return name

    def block(self, start, i, path, counts):
        """Reads the block that opens at `i`; returns where the declaration ends, or None if it
        goes on behind the block."""
        words = self.words(start, i)
        close = self.partner[i]
        if 'namespace' in words[:2] or words[:1] == ['extern'] and len(words) == 2:
            self.scope(i + 1, close, path, None)
            return close + 1
        at = self.parameters_at(start, i)
        if at is None:
            kinds = [word for word in words if word in ('class', 'struct', 'union', 'enum')]
            if kinds and kinds[0] != 'enum' and '=' not in words:
                self.type(start, i, path)
            return None
        name = path + self.name_at(start, at)
        behind = self.words(self.partner[at] + 1, i)
        if '=' in behind:
            return None
        # Behind the colon of a constructor, `member{` is no body yet.
        if ':' in behind and (re.match(r'\w', behind[-1]) or behind[-1] == '>'):
            return None
        # What stands before the body and before such a colon may be `&&`, which decides nothing.
        begin = self.partner[at] + 1 + behind.index(':') if ':' in behind else i
        self.add(name, start, at, counts, has_body=True, is_pure=False,
                 decisions=decisions_in(self.tokens[begin:close]))
        return close + 1

    def type(self, start, i, path):
        k, name = start, '(unnamed)'
        while k < i:
            text = self.tokens[k].text
            if text in self.CLOSING:  # of an attribute
                k = self.partner[k]
            elif text not in ('class', 'struct', 'union', 'typedef', 'alignas') and not self.is_macro(k):
                name = text
                break
            k += 1
        counts = {'members': 0, 'functions': 0}
        self.scope(i + 1, self.partner[i], path + name + '::', counts)
        self.types.append(Type(path + name, self.tokens[start].line, **counts))

    def add(self, name, start, at, counts, **more):
        if counts is not None and 'friend' not in self.words(start, at):
            counts['functions'] += 1
        self.functions.append(
            Function(name, self.tokens[start].line, self.parameters(at), **more))

    def without_body(self, start, end, path, counts):
        words = self.words(start, end)
        if not words or words[0] in ('using', 'typedef', 'static_assert', 'namespace'):
            return
        at = self.parameters_at(start, end)
        if at is not None:
            if words[-2:] == ['=', 'delete'] or words[-2:] == ['=', 'default']:
                return
            self.add(path + self.name_at(start, at), start, at, counts, has_body=False,
                     is_pure=words[-2:] == ['=', '0'], decisions=0)
            return
        is_type = words[0] in ('enum', 'class', 'struct', 'union')
        if '[' in words and '{' in words and not is_type:  # a lambda
            name = next(word for k, word in enumerate(words) if words[k + 1] in ('=', '{'))
            self.functions.append(Function(path + name, self.tokens[start].line, [], True, False,
                                           decisions_in(self.tokens[start:end])))
        if counts is None or self.NO_MEMBERS & set(words[:3]):
            return
        if is_type and (words[-1] == '}' or '{' not in words and len(words) < 4):
            return
        counts['members'] += 1
