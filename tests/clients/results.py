"""tests/results.md: what a model reads of each script in scripts/.

    tests/clients/results.py PROGRAM [--write]

prints the document, or writes it. Whatever differs between machines and runs has a name in it.
"""

import argparse
import os
import pathlib
import platform
import re
import sys
import tempfile
from multiprocessing.pool import ThreadPool

DOCUMENT = pathlib.Path(__file__).resolve().parents[1] / "results.md"
SHOWN_LINES = 40
AT_A_TIME = 4
PYTHON = ".".join(platform.python_version_tuple()[:2])

HEAD = """# What a model reads

{count} scripts as models write them, and the text that they get back from `run_python`, with one environment of Debian's Python
{python} (`system`) and one for data (`data`). This document is made by trying it out:

```sh
tests/clients/results.py build/pyexecd --write
```

The scripts are in [tests/clients/scripts](clients/scripts). Paths, handles, times, addresses and measured sizes
have placeholders here; of long texts the middle is left out. The last column of each table is what the model can go on from.
"""

GROUPS = {
    "answers": "Answers", "mistakes": "Mistakes", "files": "Files", "floods": "Floods",
    "hangs": "Hangs", "data": "Data", "plots": "Plots", "packages": "Packages",
    "habits": "Habits from elsewhere", "surprises": "What is lost or silent elsewhere",
}

NAMED = [
    (r"\b[0-9a-f]{32}\b", "HANDLE"),
    (r"/STATE/\S*/p-[^/\s]+/", "/STATE/"),
    (r"http://127\.0\.0\.1:\d+", "http://INDEX"),
    (r"/\S*/site-packages/", "/SITE/"),
    (r"/\S*\.deps/data/", "/DATA/"),
    (r"0x[0-9a-f]{6,}", "0xADDRESS"),
    (r"\b\d+\.\d+ (s|seconds)\b", r"TIME \1"),
    (r"(File \"/\S+\", line) \d+", r"\1 N"),
    (r"(\.png) \([^)]*\)", r"\1 (SIZE)"),
    (r"\bPython 3\.\d+\.\d+\b", "Python 3.x"),
]


def normalised(text, folder):
    text = text.replace(str(folder), "/STATE")
    if os.getcwd() != "/":  # where the server was started
        text = text.replace(os.getcwd(), "/PROJECT")
    for pattern, name in NAMED:
        text = re.sub(pattern, name, text)
    return text


def shortened(text):
    text = re.sub(r"[^\n\t -~\xa0-\U0010ffff]", lambda found: f"\\x{ord(found.group()):02x}", text)
    lines = [line if len(line) <= 300 else f"{line[:140]} [...] {line[-140:]}"
             for line in text.rstrip("\n").splitlines()]
    if len(lines) <= SHOWN_LINES:
        return lines
    half = SHOWN_LINES // 2
    return [*lines[:half], f"[here: {len(lines) - 2 * half} lines more]", *lines[-half:]]


def fenced(language, lines):
    """With more backticks than any line has."""
    fence = "`" * max(3, *(len(run) + 1 for line in lines for run in re.findall("`+", line)), 0)
    return [f"{fence}{language}", *lines, fence, ""]


def cell(text):
    return (text or "").strip().replace("|", "\\|").replace("<", "&lt;")


def section(script, text):
    code = "\n\n# the next call\n".join(part.strip("\n") for part in [*script.before, script.code])
    where = f" In `{script.more['environment']}`." if "environment" in script.more else ""
    return [f"### {script.name}", "", f"{script.shows[0].upper()}{script.shows[1:]}.{where}", "",
            *fenced("python", code.splitlines()), "The model reads:", "",
            *fenced("text", shortened(text))]


def table(scripts, texts):
    rows = [f"| [{script.name}](#{script.name}) | {cell(script.shows)} | "
            f"{cell(script.next_step(texts[script.name]))} |" for script in scripts]
    return ["| script | what it shows | the next step |", "|---|---|---|", *rows, ""]


def document(scripts, texts):
    lines = [HEAD.format(count=len(scripts), python=PYTHON)]
    for group, title in GROUPS.items():
        inside = [script for script in scripts if script.group == group]
        lines += [f"## {title}", "", *table(inside, texts)]
        for script in inside:
            lines += section(script, texts[script.name])
    return "\n".join(lines).rstrip("\n") + "\n"


def constant(text, scripts):
    """TEXT, a document, without what is said of scripts whose text varies."""
    varying = {script.name for script in scripts if script.varies}
    parts = [part for part in re.split("(?m)^(?=##)", text)
             if part.splitlines()[0].removeprefix("### ") not in varying]
    rows = "|".join(rf"\| \[{name}\]" for name in varying)
    return [line for line in "".join(parts).splitlines() if not re.match(rows, line)]


def headings(text):
    return [line for line in text.splitlines() if line.startswith("### ")]


def texts_of(scripts, folder):
    """The normalised text of each script by its name; each has a server of its own."""
    import model_scripts

    def text_of(script):
        own = pathlib.Path(folder) / script.name
        own.mkdir()
        return script.name, normalised(script.result(own, index), own)

    packages = pathlib.Path(folder) / "packages"
    packages.mkdir()
    with model_scripts.index_of_packages(packages) as index, ThreadPool(AT_A_TIME) as pool:
        return dict(pool.map(text_of, scripts))


def main():
    parser = argparse.ArgumentParser(description="Prints tests/results.md.")
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    os.environ["PYEXECD"] = os.path.abspath(chosen.program)
    import model_scripts

    scripts = model_scripts.every()
    with tempfile.TemporaryDirectory(prefix="pyexecd-results-") as folder:
        text = document(scripts, texts_of(scripts, folder))
    if chosen.write:
        DOCUMENT.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
