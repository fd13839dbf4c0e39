"""Are the programs held by what is said to hold them? Builds without one defence at a time, and runs them.

    knock_out.py [PATTERN]      those whose defence contains PATTERN; as root

The tree is copied to build-knock-out/ and built there. Each program runs in a process table and a cgroup
of its own, because nothing may hold it: it has to fail, and a harmless one has to pass before it.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys

import corpus
import knock_outs

sys.path[:0] = [str(knock_outs.ROOT / "tests" / folder) for folder in ("checks", "integration")]

import leftovers  # noqa: E402
import tree  # noqa: E402

SCRATCH = knock_outs.ROOT / "build-knock-out"
SOURCE = SCRATCH / "source"
BUILD = SCRATCH / "build"
PROGRAMS = ["pyexecd", "pyexecd-runner"]
CGROUPS = pathlib.Path("/sys/fs/cgroup")
MOST = {"pids": {"pids.max": "400"}, "memory": {"memory.limit_in_bytes": str(2 << 30)}}
CONFINED = ["unshare", "--mount", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc"]
SECONDS = 150
HARMLESS = "harmless"


def build():
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", BUILD, SOURCE], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", BUILD, *PROGRAMS], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def without(knock_out):
    """The program is built with the changes of KNOCK_OUT, and after that the source is as it was."""
    for path, before, after in knock_out.changes:
        text = (SOURCE / path).read_text()
        assert text.count(before) == 1, f"{path}: {before!r}"
        (SOURCE / path).write_text(text.replace(before, after))
    try:
        build()
        yield
    finally:
        for path, _, _ in knock_out.changes:
            tree.copy(path, SOURCE)


def is_removed(folder):
    """Removes a cgroup, unless processes are still ending in it."""
    for inner in folder.glob("*/"):
        if not is_removed(inner):
            return False
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


@contextlib.contextmanager
def cage():
    """Cgroups with few processes and little memory; yields the files that let a process in."""
    entries = []
    for controller, limits in MOST.items():
        folder = CGROUPS / controller / f"pyexecd-knock-out-{os.getpid()}"
        folder.mkdir()
        for name, value in limits.items():
            (folder / name).write_text(value)
        entries.append(folder / "cgroup.procs")
    try:
        yield entries
    finally:
        for entry in entries:
            assert leftovers.until(lambda: is_removed(entry.parent), SECONDS), entry


def is_held(program, level, entries):
    """Runs the test of PROGRAM, by its name, at LEVEL."""
    def enter():
        for entry in entries:
            entry.write_text("0")

    test = f"tests/hostile/test_{level}.py::test_program_is_held[{program}]"
    process = subprocess.Popen(
        [*CONFINED, "/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", test], cwd=tree.ROOT,
        env={**os.environ, "PYEXECD": str(BUILD / "pyexecd"), "SETTLE_SECONDS": "3"}, preexec_fn=enter,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return process.wait(SECONDS) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        process.kill()
        process.wait()


def held_all_the_same(knock_out):
    """The programs that the lack of KNOCK_OUT's defence does not set free."""
    programs = [program.name for program in corpus.at(knock_out.level)
                if knock_out.defence in program.held_by]
    with without(knock_out), cage() as entries:
        if not is_held(HARMLESS, knock_out.level, entries):
            return [f"{HARMLESS}, which fails"]
        return [program for program in programs if is_held(program, knock_out.level, entries)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="")
    chosen = [one for one in knock_outs.KNOCK_OUTS if parser.parse_args().pattern in one.defence]
    for path in tree.files():
        tree.copy(path, SOURCE)
    build()
    failed = 0
    for knock_out in chosen:
        held = held_all_the_same(knock_out)
        print(f"{knock_out.defence} ({knock_out.level}): " + (f"STILL HELD: {', '.join(held)}" if held else "ok"),
              flush=True)
        failed += len(held)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
