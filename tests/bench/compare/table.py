#!/usr/bin/env python3
"""Prints the table of measurements that run.sh took: table.py [--markdown] FILE, or table.py --list"""
import sys
from statistics import median

ROWS = {
    "hit-1k": "hit 1 KiB",
    "hit-10k": "hit 10 KiB",
    "hit-100k": "hit 100 KiB",
    "hit-1000k": "hit 1,024,000 bytes",
    "miss-1k": "miss, not storable, 1 KiB",
    "stored-10k": "miss, stored, unique 10 KiB",
    "disk-10k": "disk hit 10 KiB",
    "disk-100k": "disk hit 100 KiB",
    "relay": "relaying a large body",
    "connections-10": "hit 1 KiB, 10 connections",
    "connections-100": "hit 1 KiB, 100 connections",
    "connections-1000": "hit 1 KiB, 1,000 connections",
    "connections-10000": "hit 1 KiB, 10,000 connections",
    "pipelined-16": "hit 1 KiB, 16 pipelined",
    "only-if-cached": "hit 1 KiB, only-if-cached",
    "logged-1k": "hit 1 KiB, access log written",
    "peer-hit": "miss, a neighbour's hit, 1 KiB",
    "peer-miss": "the same miss, without neighbours",
    "threads-1": "hit 1 KiB, equal load, one thread",
    "threads-2": "hit 1 KiB, equal load, two threads",
}
PROGRAMS = {"loop": "epoll loop", "nginx": "nginx", "varnish": "Varnish", "squid": "Squid", "hearsay": "Hearsay"}
# Rows of Hearsay that are compared with another row of its own: CPU time per request, or throughput.
PAIRS = [
    ("peer-hit", "peer-miss", "cpu"),
    ("only-if-cached", "hit-1k", "cpu"),
    ("logged-1k", "hit-1k", "cpu"),
    ("threads-2", "threads-1", "cpu"),
    ("connections-100", "connections-10", "cpu"),
    ("connections-1000", "connections-10", "cpu"),
    ("connections-10000", "connections-10", "cpu"),
    ("pipelined-16", "hit-1k", "cpu"),
    ("pipelined-16", "hit-1k", "rate"),
]
BUSY = 0.9  # from here on the load's core limits the throughput


class Figures:
    """The rounds of one program in one row. CPU time and latency are in microseconds."""

    def __init__(self):
        self.cpu, self.rate, self.latency, self.server, self.load = [], [], [], [], []
        self.variant = ""

    def add(self, requests, cpu, seconds, latency, server, load):
        self.cpu.append(float(cpu) * 1e6 / float(requests))
        self.rate.append(float(requests) / float(seconds))
        self.latency.append(float(latency))
        self.server.append(float(server))
        self.load.append(float(load))


def read(path):
    """Returns the figures by row and program, and lines about the run."""
    figures, about = {}, []
    for line in open(path):
        fields = line.rstrip("\n").split("\t")
        if fields[0] in ("about", "note"):
            about.append(fields[1])
        else:
            figures.setdefault((fields[0], fields[1]), Figures()).add(*fields[2:])
    for row in ROWS:
        choose_nginx(figures, row)
    return figures, about


def choose_nginx(figures, row):
    """Leaves of nginx with and without sendfile the one that takes less CPU time."""
    other = figures.pop((row, "nginx-sendfile"), None)
    if other is None:
        return
    other.variant = "sendfile"
    known = figures.get((row, "nginx"))
    if known is None or median(other.cpu) < median(known.cpu):
        figures[row, "nginx"] = other


def ratios(ours, theirs, what):
    return [a / b for a, b in zip(getattr(ours, what), getattr(theirs, what)) if b > 0]


def ratio(ours, theirs, what):
    """The median of the rounds' ratios; for a throughput that the load's core limited, says so."""
    if what == "rate" and max(median(ours.load), median(theirs.load)) >= BUSY:
        return "load core busy"
    found = ratios(ours, theirs, what)
    return f"{median(found):.2f}" if found else "-"


def cpu_of(row, it):
    """CPU time per request; of a large body in milliseconds."""
    scale, unit = (1000, " ms") if row == "relay" else (1, "")
    values = [value / scale for value in it.cpu]
    digits = 0 if median(values) >= 1000 else 1
    return f"{median(values):,.{digits}f}{unit} ({min(values):,.{digits}f}..{max(values):,.{digits}f})"


def percent(values):
    return f"{median(values) * 100:.0f} %"


def name_of(figures, row, program):
    variant = figures[row, program].variant
    return PROGRAMS[program] + (f", {variant}" if variant else "")


def latency_of(row, it):
    if row == "pipelined-16":
        return "-"  # wrk takes the requests of a batch for late ones, and corrects what it has measured
    return f"{median(it.latency) / 1000:.2f} ms" + (" to the first byte" if row == "relay" else "")


def throughput_of(row, it):
    if row == "relay":
        return f"{1 / median(it.rate):.3f} s"
    return f"{median(it.rate):,.0f}/s"


def lines_of(figures, row):
    """One line for each program in this row."""
    ours = figures.get((row, "hearsay"))
    for program in PROGRAMS:
        it = figures.get((row, program))
        if it is None:
            continue
        compared = ours is not None and it is not ours
        yield [
            name_of(figures, row, program),
            cpu_of(row, it),
            ratio(ours, it, "cpu") if compared else "",
            throughput_of(row, it),
            ratio(ours, it, "rate") if compared else "",
            latency_of(row, it),
            percent(it.server),
            percent(it.load),
        ]


HEADS = ["", "us CPU/request (range)", "ours/its", "throughput", "ours/its", "p99", "server core", "load core"]


def print_text(figures):
    for row, label in ROWS.items():
        lines = list(lines_of(figures, row))
        if not lines:
            continue
        widths = [20, 30, 8, 12, 14, 8, 11, 9]
        print(f"\n{label}")
        for line in [HEADS] + lines:
            print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def print_markdown(figures):
    """Two tables: CPU time with the ratio ours/its, and what was delivered."""
    rows = [row for row in ROWS if any((row, program) in figures for program in PROGRAMS)]
    head = "| | " + " | ".join(PROGRAMS.values()) + " |\n|" + "---|" * (len(PROGRAMS) + 1)
    print(f"CPU time per request in µs (range), and Hearsay's over it:\n\n{head}")
    for row in rows:
        print(f"| {ROWS[row]} | " + " | ".join(cpu_cell(figures, row, program) for program in PROGRAMS) + " |")
    print(f"\nThroughput (Hearsay's over it, where the load's core was under {BUSY:.0%} busy), p99, "
          f"and how busy the server's and the load's core were:\n\n{head}")
    for row in rows:
        print(f"| {ROWS[row]} | " + " | ".join(rate_cell(figures, row, program) for program in PROGRAMS) + " |")


def cpu_cell(figures, row, program):
    it, ours = figures.get((row, program)), figures.get((row, "hearsay"))
    if it is None:
        return "–"
    compared = f" **{ratio(ours, it, 'cpu')}**" if ours is not None and it is not ours else ""
    return cpu_of(row, it) + (f", {it.variant}" if it.variant else "") + compared


def rate_cell(figures, row, program):
    it, ours = figures.get((row, program)), figures.get((row, "hearsay"))
    if it is None:
        return "–"
    compared = ratio(ours, it, "rate") if ours is not None and it is not ours else "load core busy"
    compared = "" if compared == "load core busy" else f" **{compared}**"
    return (f"{throughput_of(row, it)}{compared}, {latency_of(row, it)}, "
            f"{percent(it.server)} / {percent(it.load)}")


def print_pairs(figures):
    for over, under, what in PAIRS:
        a, b = figures.get((over, "hearsay")), figures.get((under, "hearsay"))
        if a is not None and b is not None:
            figure = "CPU time per request" if what == "cpu" else "throughput"
            print(f"- {ROWS[over]} / {ROWS[under]}: {figure} {ratio(a, b, what)}")


def main(arguments):
    if arguments == ["--list"]:
        for row, label in ROWS.items():
            print(f"{row:18} {label}")
        return
    figures, about = read(arguments[-1])
    for line in about:
        print(f"- {line}")
    print()
    (print_markdown if "--markdown" in arguments else print_text)(figures)
    print("\nHearsay beside itself:\n")
    print_pairs(figures)


main(sys.argv[1:])
