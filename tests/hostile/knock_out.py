"""Are the programs held by what is said to hold them? Builds without one defence at a time, and runs them.

    knock_out.py [PATTERN]      those whose defence contains PATTERN; as root

The tree is copied to build-knock-out/ and built there. Each program runs in a process table, mounts,
cgroups and a network of its own, because nothing may hold it: its test has to fail, one with a harmless
program has to pass before it, and its own has to pass with nothing taken away. In containers, which the
engine holds as well, programs follow each other. The table says of each program at which level and for
which user it got through, and how that showed. What no program attacks has tests of the suite, which have
to pass, and to fail without it.
"""

import argparse
import collections
import contextlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor

import corpus
import knock_outs

sys.path[:0] = [str(knock_outs.ROOT / "tests" / folder) for folder in (".", "checks", "integration")]

import leftovers  # noqa: E402
import stages  # noqa: E402
import tree  # noqa: E402

SCRATCH = knock_outs.ROOT / "build-knock-out"
SOURCE = SCRATCH / "source"
BUILD = SCRATCH / "build"
PROGRAMS = ["pyexecd", "pyexecd-runner", "pyexecd-core.so", "pyexecd-init", "pyexecd-picture", "pyexecd-proxy"]
CGROUPS = pathlib.Path("/sys/fs/cgroup")
MOST = {"pids": {"pids.max": "600"}, "memory": {"memory.limit_in_bytes": str(2 << 30)}}
# What would last on the machine, whoever has a mount namespace of his own.
KEPT = ",".join(f"-{name}" for name in ("sys_time", "sys_module", "sys_boot", "sys_rawio", "syslog"))
CONFINED = ["unshare", "--mount", "--ipc", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc",
            "sh", "-c", 'mount --bind "$1" /mnt && cd "$2" && shift 2 && exec "$@"', "sh", str(SCRATCH)]
# All that is sent is lost. An engine has the machine's network.
LEADS_NOWHERE = ["unshare", "--net", "sh", "-c",
                 'ip link set lo up && ip route add default dev lo && exec "$@"', "sh"]
# Whoever may not read the tree finds the copy in his mounts.
PLACES = {"root": (tree.ROOT, BUILD, ["setpriv", f"--bounding-set={KEPT}"]),
          "user": (pathlib.Path("/mnt/source"), pathlib.Path("/mnt/build"), stages.AS_NOBODY)}
SECONDS = 600  # for one test; a client that waits for ever has more patience on a busy machine
START_SECONDS = 200  # of an engine and its images
SIDE_BY_SIDE = 3
MOST_OF_A_REASON = 100
HARMLESS = "harmless"
HELD, NOT_RUN = "held", "not run"

numbers = itertools.count()


def build():
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", BUILD, SOURCE], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", BUILD, *PROGRAMS], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def without(changes):
    """The program is built with CHANGES, and after that the source is as it was."""
    for path, before, after in changes:
        text = (SOURCE / path).read_text()
        assert text.count(before) == 1, f"{path}: {before!r}"
        (SOURCE / path).write_text(text.replace(before, after))
    try:
        build()
        yield
    finally:
        for path, _, _ in changes:
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
    name = f"pyexecd-knock-out-{os.getpid()}-{next(numbers)}"
    for controller, limits in MOST.items():
        folder = CGROUPS / controller / name
        folder.mkdir()
        for limit, value in limits.items():
            (folder / limit).write_text(value)
        entries.append(folder / "cgroup.procs")
    try:
        yield entries
    finally:
        for entry in entries:
            assert leftovers.until(lambda: is_removed(entry.parent), SECONDS), entry


def reason(case):
    """How a test has ended, from its element of JUnit's XML; None if it is only what came after it."""
    for failure in case:
        message = (failure.get("message") or "no message").splitlines()[0]
        message = message.removeprefix("AssertionError: ")[:MOST_OF_A_REASON]
        if failure.tag == "failure":
            return message
        if failure.tag in ("error", "skipped"):
            return None if "on teardown" in message else f"{NOT_RUN}: {message}"
    return HELD


def reported(path):
    """The reasons by program, of a test run that may have been killed."""
    try:
        cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        return {}
    ended = [(case.get("name").partition("[")[2].rstrip("]"), reason(case)) for case in cases]
    return {name: how for name, how in reversed(ended) if how}


def end_of(process, patience):
    """What is to be said of tests that PROCESS has not reported: a program took it along."""
    try:
        return f"the test could not report, and ended with {process.wait(patience)}"
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return f"{NOT_RUN}: no end within {patience} s"


def run_tests(names, level, user):
    """Runs the tests of programs in one cage; how each has ended, by its name."""
    source, built, become = PLACES[user]
    is_docker = level == "docker"
    file = "docker/test_hostile.py" if is_docker else f"hostile/test_{level.replace(' ', '_')}.py"
    tests = [f"tests/{file}::test_program_is_held[{name}]" for name in names]
    patience = SECONDS * len(names) + (START_SECONDS if is_docker else 0)
    with cage() as entries, tempfile.TemporaryDirectory(prefix="pyexecd-") as folder:
        os.chmod(folder, 0o777)
        process = subprocess.Popen(
            [*([] if is_docker else LEADS_NOWHERE), *CONFINED, source, *become,
             "/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider",
             f"--basetemp={folder}/t", f"--junitxml={folder}/report.xml", *tests],
            env={**os.environ, "HOME": folder, "PYEXECD": str(built / "pyexecd"), "SETTLE_SECONDS": "3",
                 "PATIENCE_SECONDS": "40", "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: [entry.write_text("0") for entry in entries],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = end_of(process, patience)
        found = reported(f"{folder}/report.xml")
    return {name: found.get(name, end) for name in names}


def tell(row):
    print(" | ".join(row), flush=True)


def apart(names, level, user):
    """How the test of each program has ended; none can disturb another's."""
    if level == "docker":
        return run_tests(names, level, user)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        ended = pool.map(lambda name: run_tests([name], level, user)[name], names)
        return dict(zip(names, ended))


def is_free(how):
    return how != HELD and not how.startswith(NOT_RUN)


def knocked_out_at(knock_out, level, user):
    """Tells of each program whether it gets through; how many do not."""
    names = [program.name for program in knock_out.programs_at(level, user)]
    ended = apart([HARMLESS, *names], level, user) if names else {}
    wrong = 0
    for name, how in ended.items():
        is_right = how == HELD if name == HARMLESS else is_free(how)
        wrong += not is_right
        if name != HARMLESS or not is_right:
            tell([knock_out.title(), f"{level}, {user}", name, how if is_right else f"WRONG: {how}"])
    return wrong


def knocked_out(knock_out):
    """How many programs do not get through without KNOCK_OUT's defence."""
    if knock_out.lacks():
        tell([knock_out.title(), "", "", f"NOT SHOWN: {knock_out.lacks()}"])
        return 0
    with without(knock_out.changes()):
        return sum(knocked_out_at(knock_out, *setting) for setting in knock_outs.SETTINGS)


def ends_of_tests(tests):
    """How each of TESTS has ended: where it has several cases, the worst of them."""
    with tempfile.TemporaryDirectory(prefix="pyexecd-") as folder:
        report = pathlib.Path(folder) / "report.xml"
        subprocess.run(
            ["/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={folder}/t", f"--junitxml={report}",
             *(f"tests/{test}" for test in tests)],
            cwd=knock_outs.ROOT, env={**os.environ, "PYEXECD": str(BUILD / "pyexecd"), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS * len(tests))
        ended = collections.defaultdict(list)
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            ended[case.get("name").partition("[")[0]].append(reason(case) or HELD)
    names = {test: test.rpartition("::")[2] for test in tests}
    return {test: max(ended[name], key=is_free, default=f"{NOT_RUN}: no such test") for test, name in names.items()}


def shown(defence):
    """Tells of each test that shows DEFENCE how it fails; how many do not."""
    with without(knock_outs.CHANGES[defence]):
        ended = ends_of_tests(knock_outs.SHOWN[defence])
    for test, how in ended.items():
        tell([defence, "", test, how if is_free(how) else f"WRONG: {how}"])
    return sum(not is_free(how) for how in ended.values())


def all_shown(defences):
    """The same of all DEFENCES, whose tests have to pass with nothing taken away."""
    tests = sorted({test for defence in defences for test in knock_outs.SHOWN[defence]})
    wrong = {test: how for test, how in ends_of_tests(tests).items() if how != HELD} if tests else {}
    for test, how in wrong.items():
        tell(["nothing", "", test, f"WRONG: {how}"])
    return len(wrong) + sum(shown(defence) for defence in defences)


def held_at(chosen, level, user):
    """With nothing taken away: how many programs are not held even so."""
    names = {program.name for knock_out in chosen for program in knock_out.programs_at(level, user)}
    ended = run_tests(sorted(names), level, user) if names else {}
    wrong = {name: how for name, how in ended.items() if how != HELD}
    for name, how in wrong.items():
        tell(["nothing", f"{level}, {user}", name, f"WRONG: {how}"])
    tell(["nothing", f"{level}, {user}", f"{len(ended)} programs", f"{len(ended) - len(wrong)} held"])
    return len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="")
    pattern = parser.parse_args().pattern
    chosen = [one for one in knock_outs.KNOCK_OUTS if pattern in one.defence]
    for path in tree.files():
        tree.copy(path, SOURCE)
    build()
    tell(["taken away", "level, user", "program", "what came of it"])
    wrong = sum(held_at(chosen, *setting) for setting in knock_outs.SETTINGS)
    wrong += sum(knocked_out(knock_out) for knock_out in chosen)
    wrong += all_shown([defence for defence in knock_outs.SHOWN if pattern in defence])
    print(f"{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
