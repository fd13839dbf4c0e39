"""What the benchmarks have in common: ways that take turns, what is computed of their times, tables.

Everything that is compared takes turns within one run, in an order that is shuffled anew for each round, so that whatever
else the machine does falls on all alike. Absolute times move with the machine; the ratios of one run are what to look at.
"""

import math
import random
import time

FAILURES = 3  # a library beside us fails now and then
BUSY_LOAD = 1.5  # of a machine that does other work, too
GAP_MS = 10  # between two calls of a client, as a model leaves it time and more


class LeftOut(Exception):
    """Something cannot be measured here; the message says why."""


def take_turns(ways, seconds, calls, rest_ms):
    """The milliseconds of each of WAYS, by name. A way is a function of a number of calls that returns the milliseconds
    of each; its CALLS follow one another GAP_MS apart, and the first of them counts only if it is the only one. After
    its turn REST_MS go by, in which what was done behind the last answer ends. Rounds begin for SECONDS, one at least.
    A turn that goes wrong does not count; after FAILURES of one way all is given up."""
    failures = dict.fromkeys(ways, 0)
    times = {name: [] for name in ways}
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline or not all(times.values()):
        for name in random.sample(list(ways), len(ways)):
            try:
                taken = ways[name](calls)
            except LeftOut:
                failures[name] += 1
                if failures[name] == FAILURES:
                    raise
                continue
            times[name] += taken[1:] or taken
            time.sleep(rest_ms / 1000)
    return times


def quantile(ordered, share):
    return ordered[math.ceil(share * len(ordered)) - 1]


def statistics_of(times):
    """Of each way's TIMES."""
    ordered = {name: sorted(taken) for name, taken in times.items()}
    return {name: {"calls": len(taken), **{f"p{share}": quantile(taken, share / 100) for share in (50, 95, 99)}}
            for name, taken in ordered.items()}


def add_ratios(found, bases):
    """To what statistics_of has FOUND: each way's median as a share of that of each of BASES."""
    for row in found.values():
        row["of"] = {base: row["p50"] / found[base]["p50"] for base in bases if base in found}
    return found


def number(value):
    """Three digits of it, or all before the point."""
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{min(3, max(0, digits))}f}"


def left_out_lines(left_out):
    return [f"- Left out: {name}: {reason}" for name, reason in left_out.items()]


def table(columns, rows, left=(0,)):
    """The lines of a Markdown table that can be read as it is: all cells of a column are of one width. Numbers of the
    columns that are LEFT-aligned."""
    widths = [max(len(row[index]) for row in [columns, *rows]) for index in range(len(columns))]

    def line(cells):
        padded = [cell.ljust(width) if index in left else cell.rjust(width)
                  for index, (cell, width) in enumerate(zip(cells, widths))]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if index in left else "-" * (width - 1) + ":" for index, width in enumerate(widths)]
    return [line(columns), line(rule), *map(line, rows)]


def times_table(found):
    """The table of what statistics_of has FOUND, fastest last, with its ratios, if there are any."""
    bases = next(iter(found.values())).get("of", {})
    columns = ["", "p50 ms", "p95 ms", "p99 ms", *(f"of `{base}`" for base in bases)]
    has_processor = any("processor" in row for row in found.values())
    columns += ["processor ms"] * has_processor + ["calls"]
    rows = []
    for name, row in sorted(found.items(), key=lambda item: -item[1]["p50"]):
        cells = [name, *(number(row[key]) for key in ("p50", "p95", "p99"))]
        cells += [number(row["of"][base]) for base in bases]
        cells += [number(row["processor"]) if "processor" in row else ""] * has_processor
        rows.append([*cells, str(row["calls"])])
    return table(columns, rows)
