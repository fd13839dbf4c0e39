"""`./dev bench`: what is measured, together or one part of it.

    page.py PROGRAM [PART] [--json] [--write] [--seconds N] [--without-peers]

Without a PART all of them, as one page of text. --write makes docs/performance.md and its drawing of it, or with a PART only
its sections there. SECONDS is for how long the ways of one part take turns; the whole page takes a quarter of an hour. --without-peers leaves libraries and
servers of others out, which take long to start.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests", "tests/docker", "tests/integration", "python"):
    sys.path.append(str(ROOT / folder))

import density  # noqa: E402
import drawing  # noqa: E402
import environments  # noqa: E402
import kept  # noqa: E402
import load  # noqa: E402
import measure  # noqa: E402
import path  # noqa: E402
import prints  # noqa: E402
import ratios  # noqa: E402
import starts  # noqa: E402
import tool_calls  # noqa: E402
from stopwatch import Stopwatch  # noqa: E402

DOCUMENT = ROOT / "docs" / "performance.md"
DRAWING = ROOT / "docs" / "performance.svg"
PARTS = {"start": starts, "environments": environments, "throughput": load, "path": path,
         "prints": prints, "sessions": kept, "density": density, "tools": tool_calls}
SECONDS = {"start": 200, "environments": 90, "throughput": 30, "path": 10, "prints": 15, "sessions": 40, "density": 0,
           "tools": 60}
HEAD = """\
# Performance

What a call costs, beside plain `python3 script.py` and beside what people use instead, all measured in one run of

```sh
./dev bench
```

which takes a quarter of an hour, installs the packages of the others in `.deps/bench` at first, and, with `--write`, makes
this document. Ways that are compared take turns in an order that is shuffled for each round. Absolute times are those of
one machine at one time; look at the ratios. No script imports `torch`: PyPI's comes with CUDA (3 GB), and Debian's
`python3-torch` with OpenCV, FFmpeg and Qt (600 MB).

- The machine: {machine}
- The Pythons: {pythons}
{busy}
![Medians of a call, on a logarithmic scale](performance.svg)

"""


BUSY = """- The machine was busy with other work: these figures are provisional
"""


class Bench:
    """What the parts share: the program, a folder of their own, variables without anything of whoever runs this."""

    def __init__(self, program, folder, has_peers=True):
        self.program = os.path.abspath(program)
        self.has_peers = has_peers
        self.stopwatch = pathlib.Path(self.program).parent / "tests" / "bench" / "stopwatch"
        self.folder = folder
        self.variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                          "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}


def machine():
    """What it is, in a line."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = next((line.partition(": ")[2] for line in text.splitlines() if line.startswith("model name")), "?")
    virtual = " under a hypervisor" if " hypervisor" in text else ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (f"{os.cpu_count()} processors ({model}){virtual}, {memory:.0f} GiB, Linux {platform.release()}, "
            f"{platform.freedesktop_os_release()['PRETTY_NAME']}")


def run(bench, names, seconds):
    report = {"machine": machine(), "load": os.getloadavg()[0], "pythons": starts.pythons_here(), "parts": {}}
    for name in names:
        report["parts"][name] = PARTS[name].run(bench, seconds or SECONDS[name])
    return report


def text_of(report):
    lines = list(ratios.lines(report["parts"])) if len(report["parts"]) == len(PARTS) else []
    for name, part in report["parts"].items():
        lines += [*PARTS[name].lines(part), ""]
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip() + "\n"


def with_sections(document, text):
    """DOCUMENT with the sections of TEXT in place of those with their headings, or behind all others."""
    sections = {section.partition("\n")[0]: section.strip() for section in re.split(r"^(?=## )", document, flags=re.MULTILINE)}
    sections |= {section.partition("\n")[0]: section.strip() for section in re.split(r"^(?=## )", text, flags=re.MULTILINE)}
    return "\n\n".join(filter(None, sections.values())) + "\n"


def panels(report):
    found = {}
    for name, part in report["parts"].items():
        found |= getattr(PARTS[name], "panels", lambda _: {})(part)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("part", nargs="?", choices=list(PARTS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--without-peers", action="store_true")
    arguments = parser.parse_args()
    names = [arguments.part] if arguments.part else list(PARTS)
    with tempfile.TemporaryDirectory(prefix="pyexecd-bench-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        report = run(Bench(arguments.program, folder, not arguments.without_peers), names, arguments.seconds)
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    busy = BUSY if report["load"] > measure.BUSY_LOAD else ""
    text = HEAD.format(machine=report["machine"], pythons=report["pythons"], busy=busy) + text_of(report)
    print(text, end="")
    if arguments.write and arguments.part:
        alone = f"- From a run of its own, `./dev bench {arguments.part} --write`\n"
        DOCUMENT.write_text(with_sections(DOCUMENT.read_text(), f"{text_of(report)}\n{alone}{busy}"))
    elif arguments.write:
        DOCUMENT.write_text(text)
        DRAWING.write_text(drawing.drawing(panels(report)))


if __name__ == "__main__":
    main()
