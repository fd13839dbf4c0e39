"""`./dev bench executors`: AG2's and AutoGen's executors, and the same classes of our Python package.

    executors.py PROGRAM [--json] [--write] [--seconds N]

Each is a program that has imported the one or the other and calls its executor; --write puts the table into
docs/autogen.md. SECONDS is for how long all of them take turns.
"""

import argparse
import contextlib
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests", "tests/docker", "tests/integration"):
    sys.path.append(str(ROOT / folder))

import debian  # noqa: E402
import engine as engine_module  # noqa: E402
import environments  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402
import peers  # noqa: E402
import scripts  # noqa: E402
import starts  # noqa: E402

DOCUMENT = ROOT / "docs" / "autogen.md"
HEADING = "## What a call costs\n"
SECONDS = 120
CALLS = 4  # in a turn, of which the first does not count
REST_MS = 30
THEIRS, OURS = "theirs", "ours"
TEXT = f"""\
`./dev bench executors --write` makes this table. A program calls its executor, which has been started, and waits
{measure.GAP_MS} ms; theirs and ours take turns in an order that is shuffled for each round. Ours run in a sandbox, in which what the
last scripts have imported is there ahead. Look at the ratios.
"""
SCRIPTS = [scripts.HELLO, scripts.STDLIB]


def local_pairs():
    """By name: the way of peer.py, its arguments, their module and ours."""
    python = peers.python_with_packages()
    return {
        "AG2 SystemPythonEnvironment": ("ag2_system", [python], "autogen.environments", "pyexecd.ag2"),
        "AG2 VenvPythonEnvironment": ("ag2_venv", [peers.PACKAGES], "autogen.environments", "pyexecd.ag2"),
        "AutoGen 0.7 LocalCommandLineCodeExecutor":
            ("autogen_local", [python], "autogen_ext.code_executors.local", "pyexecd.autogen"),
        "AutoGen 0.7 JupyterCodeExecutor":
            ("autogen_jupyter", [], "autogen_ext.code_executors.jupyter", "pyexecd.autogen"),
        "AutoGen 0.2, AG2 LocalCommandLineCodeExecutor": ("coding_local", [], "autogen.coding", "pyexecd.coding")}


def docker_pairs(image):
    return {
        "AG2 DockerPythonEnvironment": ("ag2_docker", [image], "autogen.environments", "pyexecd.ag2"),
        "AutoGen 0.7 DockerCommandLineCodeExecutor":
            ("autogen_docker", [image], "autogen_ext.code_executors.docker", "pyexecd.autogen"),
        "AutoGen 0.2, AG2 DockerCommandLineCodeExecutor": ("coding_docker", [image], "autogen.coding", "pyexecd.coding")}


def started(bench, stack, pairs):
    """The libraries of PAIRS by (name, whose), for as long as STACK, and why others are left out."""
    found, left_out = {}, {}
    for name, (way, arguments, *modules) in pairs.items():
        try:
            both = [stack.enter_context(peers.Library(bench, way, *arguments, module)) for module in modules]
            found |= {(name, THEIRS): both[0], (name, OURS): both[1]}
        except (measure.LeftOut, RuntimeError) as reason:
            left_out[name] = str(reason)
    return found, left_out


def measure_pairs(bench, pairs, seconds):
    """Of each script and pair: what statistics_of says of both, and the ratio of their medians."""
    rows = []
    with contextlib.ExitStack() as stack:
        found, left_out = started(bench, stack, pairs)
        for script in SCRIPTS:
            able, unable = starts.try_out({key: library.way(script) for key, library in found.items()})
            left_out |= {name: reason for (name, _), reason in unable.items()}
            both = {key: way for key, way in able.items() if {(key[0], THEIRS), (key[0], OURS)} <= set(able)}
            taken = measure.statistics_of(measure.take_turns(both, seconds / len(SCRIPTS), CALLS, REST_MS)) if both else {}
            for name in dict.fromkeys(name for name, _ in taken):
                theirs, ours = taken[name, THEIRS], taken[name, OURS]
                rows.append({"name": name, "script": script.title, THEIRS: theirs, OURS: ours,
                             "ratio": ours["p50"] / theirs["p50"]})
    return rows, left_out


def run(bench, seconds):
    """The report, of which lines() makes text."""
    rows, left_out = measure_pairs(bench, local_pairs(), seconds * 0.6)
    try:
        with environments.engine_of_its_own(bench) as (_, image):
            more, missing = measure_pairs(bench, docker_pairs(image), seconds * 0.4)
            rows, left_out = rows + more, left_out | missing
    except (engine_module.NoEngine, debian.NoDebian) as reason:
        left_out["containers"] = str(reason)
    return {"rows": rows, "left_out": left_out}


def lines(report, busy):
    columns = ["", "script", "theirs, p50 ms", "ours, p50 ms", "ours / theirs", "theirs, p95 ms", "ours, p95 ms", "calls"]
    rows = [[row["name"], row["script"], *map(measure.number, (
        row[THEIRS]["p50"], row[OURS]["p50"], row["ratio"], row[THEIRS]["p95"], row[OURS]["p95"])), str(row[OURS]["calls"])]
        for row in report["rows"]]
    yield from [HEADING.strip(), "", *TEXT.splitlines(), "", f"- The machine: {page.machine()}"]
    if busy:
        yield f"- It was busy with other work (a load of {busy:.0f}): these figures are provisional"
    yield ""
    yield from [*measure.table(columns, rows), "", *measure.left_out_lines(report["left_out"])]


def write(text):
    """Puts TEXT into the document, in place of what stands below its heading there."""
    before, _, behind = DOCUMENT.read_text().partition(HEADING)
    rest = behind.partition("\n## ")[2]
    DOCUMENT.write_text(f"{before}{text.strip()}\n\n## {rest}" if rest else f"{before.rstrip()}\n\n{text.strip()}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    load = page.os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="pyexecd-bench-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        bench = page.Bench(arguments.program, folder)
        # The package finds its program on PATH.
        bench.variables |= {"PYTHONPATH": str(ROOT / "python"),
                            "PATH": f"{pathlib.Path(bench.program).parent}:{bench.variables['PATH']}"}
        report = run(bench, arguments.seconds)
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    text = "\n".join(lines(report, load if load > page.BUSY_LOAD else None)) + "\n"
    print(text, end="")
    if arguments.write:
        write(text)


if __name__ == "__main__":
    main()
