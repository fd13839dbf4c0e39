#!/usr/bin/env python3
"""The picture of the README, docs/terminal.svg: a terminal in which the program runs a script.

    terminal_picture.py PROGRAM [--write]

types the commands, and prints the picture of what came, or writes it.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

PICTURE = pathlib.Path(__file__).resolve().parent / "terminal.svg"
HOME = "/home/me"  # shown in place of a temporary directory

SCRIPT = '''import csv, socket, subprocess

with open("rows.csv", "w") as file:
    csv.writer(file).writerows([("mon", 12), ("tue", 19)])
print("mean:", (12 + 19) / 2)
subprocess.Popen(["sleep", "98765"])  # a daemon
socket.socket().connect(("192.0.2.7", 443))
'''
COMMANDS = ["cat task.py", "pyexecd run task.py", "pgrep -xf 'sleep 98765' || echo no daemon is left; ls"]

MARKS = re.compile(r" +[~^]+$")  # below a line of a traceback, where the version of Python has them

PROMPT, OUTPUT, ERRORS = "prompt", "output", "errors"
FONT, ADVANCE, LINE, MARGIN, BAR = 14, 8.43, 20, 16, 30
STYLE = ("text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
         f".{PROMPT}{{fill:#f0f6fc;font-weight:bold}}.{OUTPUT}{{fill:#c9d1d9}}.{ERRORS}{{fill:#e3b341}}")


def typed(program):
    """The lines of the terminal, as pairs of a kind and a text."""
    with tempfile.TemporaryDirectory(prefix="pyexecd-picture-") as name:
        place = pathlib.Path(os.path.realpath(name))
        (place / "me").mkdir()
        (place / "me" / "task.py").write_text(SCRIPT)
        variables = {"PATH": f"{place}:/usr/bin:/bin", "HOME": f"{place}/home", "LANG": "C.UTF-8"}
        (place / "pyexecd").symlink_to(os.path.abspath(program))
        for command in COMMANDS:
            done = subprocess.run(["/bin/sh", "-c", command], cwd=place / "me", env=variables, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=120)
            yield PROMPT, f"$ {command}"
            for kind, text in (OUTPUT, done.stdout), (ERRORS, done.stderr):
                yield from ((kind, line) for line in text.replace(f"{place}/me", HOME).splitlines()
                            if not MARKS.match(line))


def picture(lines):
    """The SVG of LINES."""
    width = round(max(len(text) for _, text in lines) * ADVANCE) + 2 * MARGIN
    height = BAR + len(lines) * LINE + MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    yield f"<style>{STYLE}</style>"
    yield f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>'
    for index, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        yield f'<circle cx="{MARGIN + 4 + 20 * index}" cy="{BAR / 2 + 2:g}" r="6" fill="{colour}"/>'
    for index, (kind, text) in enumerate(lines):
        yield f'<text class="{kind}" x="{MARGIN}" y="{BAR + index * LINE + FONT}" xml:space="preserve">{escape(text)}</text>'
    yield "</svg>"


def drawn(program):
    return "\n".join([*picture(list(typed(program))), ""])


def main():
    parser = argparse.ArgumentParser(description="Makes docs/terminal.svg.")
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    text = drawn(chosen.program)
    if chosen.write:
        PICTURE.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
