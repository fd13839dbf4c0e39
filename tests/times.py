"""Where the time of a `./dev test` goes: its steps, its stages, and the files of tests that take longest.

Reads the folder of results: *.took (a stage), *.xml (JUnit: the time of each test, and its processor time
with that of all processes that it has waited for), and the steps of ./dev before it. Run as a program it
prints those of the last run.

What a stage or a file has waited is its time less its processor time: for timers, for other processes, for
a processor. A stage with several workers has that many times its time.
"""

import collections
import json
import pathlib
import xml.etree.ElementTree as ElementTree

SLOWEST = 40
RESULTS = pathlib.Path(__file__).resolve().parents[1] / "build" / "test-results"
STEPS = RESULTS.parent / "test-steps"
SANITIZED, PLAIN = "integration-sanitized", "integration-unprivileged"


class File:
    """What the tests of one file took in one stage."""

    def __init__(self):
        self.tests = 0
        self.wall = self.cpu = 0.0

    def add(self, wall, cpu):
        self.tests += 1
        self.wall += wall
        self.cpu += cpu


def tests(folder):
    """(stage, file, test, seconds, seconds of processor time) of each test of pytest's."""
    for path in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            cpu = case.find("properties/property[@name='cpu']")
            if cpu is not None:
                module = case.get("classname", "").rpartition(".")[2]
                yield path.stem, module, case.get("name"), float(case.get("time")), float(cpu.get("value"))


def files(found):
    """The files of FOUND, by stage and name."""
    files = collections.defaultdict(File)
    for stage, module, _, wall, cpu in found:
        files[stage, module].add(wall, cpu)
    return files


def sanitizer_share(found):
    """What sanitizers add to the processor time of the tests that run with and without them, in percent."""
    used = collections.defaultdict(dict)
    for stage, module, test, _, cpu in found:
        used[module, test][stage] = cpu
    both = [each for each in used.values() if SANITIZED in each and PLAIN in each]
    plain = sum(each[PLAIN] for each in both)
    return round(100 * (sum(each[SANITIZED] for each in both) / plain - 1)) if plain else None


def row(name, wall, cpu, *more):
    return [name, f"{wall:.0f}", f"{cpu:.0f}", f"{max(wall - cpu, 0):.0f}", *map(str, more)]


def table(title, rows):
    """ROWS below TITLE, as lines with columns of equal width."""
    widths = [max(len(each[place]) for each in rows) for place in range(len(rows[0]))]
    return [f"\n{title}", *("  ".join([each[0].ljust(widths[0]), *(cell.rjust(width) for cell, width
                                                                   in zip(each[1:], widths[1:]))]) for each in rows)]


def lines(folder):
    """The tables, as lines."""
    steps = [line.split("\t") for line in STEPS.read_text().splitlines()] if STEPS.exists() else []
    if steps:
        yield from table("installing and building", [["", "s"], *([name, taken] for taken, name in steps)])
    stages = [json.loads(path.read_text()) for path in sorted(folder.glob("*.took"))]
    if stages:
        yield from table("stages", [["", "s", "CPU s"], *([each["title"], f"{each['wall']:.0f}", f"{each['cpu']:.0f}"]
                                                          for each in stages)])
    found = list(tests(folder))
    slowest = sorted(files(found).items(), key=lambda each: -each[1].wall)[:SLOWEST]
    if slowest:
        yield from table(f"the {len(slowest)} slowest files", [
            ["", "s", "CPU s", "waited", "tests"],
            *(row(f"{stage} {module}", file.wall, file.cpu, file.tests) for (stage, module), file in slowest)])
    share = sanitizer_share(found)
    if share is not None:
        yield f"\nSanitizers add {share} % to the processor time of the tests that run with and without them."


def report(folder):
    print("\n".join(lines(folder)), flush=True)


if __name__ == "__main__":
    report(RESULTS)
