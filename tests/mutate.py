"""Do the unit tests notice when the program is wrong? Changes it in small ways, one at a time, and runs them.

The tree is copied to build-mutate/ and built there once, sanitized. A mutated file is compiled alone, and linked before
the libraries with each test that has its functions in it, so nothing else is ever rebuilt. Tests run with a process
table and a /tmp of their own on a read-only root: a mutant may kill and remove anything.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "checks"))
import c_source  # noqa: E402
import mutations  # noqa: E402
import names  # noqa: E402
import tree  # noqa: E402

SCRATCH = tree.ROOT / "build-mutate"
SOURCE = SCRATCH / "source"
BUILD = SCRATCH / "build"
STARTED = ["pyexecd-runner", "pyexecd-picture", "tests/unit/slow_runner"]  # programs of ours that unit tests start
OPTIONS = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1"]

WORKERS = 2
COMPILE_SECONDS = 120
MUTANT_SECONDS = 90  # for all tests of a mutant; none begins after that
PATIENCE = 5  # times as long as without a mutation, and
GRACE_SECONDS = 10  # that much may a test take
SHOWN_LINES = 12  # of a test that fails without a mutation
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:hard_rss_limit_mb=2048",
    "UBSAN_OPTIONS": "halt_on_error=1",
}
# Of a mutant. One that survives because its file has no unit test of its own is "untested": what sees it, if anything,
# are the tests of the whole program.
KINDS = ("killed", "survived", "untested", "accepted", "not compiled")
# The shell is pid 1 of what it starts, so that the test is an ordinary process.
CONFINED = 'mount --bind "$0" /tmp && mount -o remount,bind,ro / || exit 125; "$@"; exit $?'


class Interrupted(Exception):
    pass


@dataclasses.dataclass
class Test:
    name: str  # layer/file
    program: str
    environment: dict
    functions: set  # those of ours that are linked into it
    seconds: float = 0

    def is_of(self, path):
        return self.is_near(path) and self.name.split("/")[1] == path.stem

    def is_near(self, path):
        return self.name.split("/")[0] in path.parts


@dataclasses.dataclass
class Verdict:
    kind: str  # one of KINDS
    detail: str = ""


# Processes


class Processes:
    """Those that run now, so that none is left when it is over."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.is_over = False

    def run(self, command, timeout, **options):
        """The exit status and the output of COMMAND, or None when it took longer than TIMEOUT."""
        with self.lock:
            if self.is_over:
                raise Interrupted
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True, **options)
            self.running.add(process)
        try:
            output, _ = process.communicate(timeout=timeout)
        except BaseException as ended:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(ended, subprocess.TimeoutExpired):
                return None
            raise
        finally:
            with self.lock:
                self.running.discard(process)
        if self.is_over:
            raise Interrupted
        return process.returncode, output.decode(errors="replace")

    def end_all(self):
        with self.lock:
            self.is_over = True
            for process in self.running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


processes = Processes()


def confined(folder, command):
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
            "sh", "-c", CONFINED, str(folder), *command]


# The scratch copy and its build


def copied():
    return sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_file())


def copy_tree():
    wanted = set(tree.files())
    for path in set(copied()) - wanted:
        (SOURCE / path).unlink()
    for path in wanted:
        tree.copy(path, SOURCE)


def text(path):
    """Of the copy: whoever works in the tree meanwhile changes nothing here."""
    return (SOURCE / path).read_text()


def checked(command):
    done = processes.run(command, timeout=None, cwd=SOURCE)
    if done[0] != 0:
        sys.exit(f"{done[1]}\nmutate: this failed: {shlex.join(map(str, command))}")
    return done[1]


def build():
    copy_tree()
    if not (BUILD / "build.ninja").exists():
        checked(["meson", "setup", BUILD, SOURCE, *OPTIONS])
    checked(["ninja", "-C", BUILD, "build.ninja"])
    tests = unit_tests()
    checked(["ninja", "-C", BUILD, *STARTED, *[os.path.relpath(test.program, BUILD) for test in tests]])
    for test in tests:
        test.functions = functions_in(test.program)
    return tests


def unit_tests():
    listed = json.loads((BUILD / "meson-info" / "intro-tests.json").read_text())
    return [
        Test(test["name"], test["cmd"][0], test["env"], set())
        for test in listed if any(suite.endswith(":unit") for suite in test["suite"])
    ]


def functions_in(program):
    lines = checked(["nm", "--defined-only", "--extern-only", program]).splitlines()
    return {line.split()[-1] for line in lines}


def public_functions(path):
    return {function.name for function in c_source.parse(text(path)).functions if not function.is_static}


@functools.cache
def compile_commands():
    """How each source file is compiled for a library of its layer."""
    listed = json.loads((BUILD / "compile_commands.json").read_text())
    return {
        os.path.relpath(BUILD / entry["file"], SOURCE): shlex.split(entry["command"])
        for entry in listed if ".a.p/" in entry["output"]
    }


def compile_mutant(mutation, folder):
    """Returns the object file, or None when it does not compile."""
    command = list(compile_commands()[mutation.path])
    source = folder / pathlib.Path(mutation.path).name
    source.write_text(mutation.apply(text(mutation.path)))
    object_file = folder / "mutant.o"
    command[command.index("-o") + 1] = str(object_file)
    command[command.index("-MF") + 1] = str(folder / "mutant.d")
    command[command.index("-c") + 1] = str(source)
    done = processes.run(command, COMPILE_SECONDS, cwd=BUILD)
    return object_file if done and done[0] == 0 else None


@functools.cache
def link_command(program):
    commands = checked(["ninja", "-C", BUILD, "-t", "commands", "-s", os.path.relpath(program, BUILD)])
    return shlex.split(commands.splitlines()[-1])


def link(test, object_file, folder):
    """The TEST with OBJECT_FILE in place of the one in the library, which is not looked for then."""
    command = list(link_command(test.program))
    output = folder / "test"
    place = command.index("-o") + 1
    command[place:place + 1] = [str(output), str(object_file)]
    done = processes.run(command, COMPILE_SECONDS, cwd=BUILD)
    return output if done and done[0] == 0 else None


# Runs


@contextlib.contextmanager
def scratch_folder():
    """A directory for whatever a mutant does: it may make others that are deeper than shutil can go."""
    folder = tempfile.mkdtemp(dir=SCRATCH)
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", folder], check=False)


def run_test(test, program, timeout):
    with scratch_folder() as folder:
        environment = {**os.environ, **SANITIZERS, **test.environment, "TMPDIR": "/tmp"}
        os.chmod(folder, 0o1777)
        return processes.run(confined(folder, [str(program)]), timeout, cwd=BUILD, env=environment)


def measure(test):
    """Runs TEST as it is. Returns whether it passes."""
    begun = time.monotonic()
    done = run_test(test, test.program, timeout=120)
    test.seconds = time.monotonic() - begun
    if not done or done[0] != 0:
        told = [line for line in done[1].splitlines() if not re.match(r"\[ +(RUN|OK) ", line)] if done else ["it takes too long"]
        print(f"{test.name} fails without a mutation and is left out:", *told[:SHOWN_LINES], sep="\n", flush=True)
        return False
    return True


def tests_of(path, tests):
    """The TESTS that have functions of PATH in them, those that are about it first."""
    functions = public_functions(path)
    path = pathlib.Path(path)
    linked = [test for test in tests if functions & test.functions]
    return sorted(linked, key=lambda test: (not test.is_of(path), not test.is_near(path), test.seconds))


def judge(mutation, tests, accepted):
    if mutation.identity() in accepted:
        return Verdict("accepted", accepted[mutation.identity()])
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        folder = pathlib.Path(folder)
        object_file = compile_mutant(mutation, folder)
        if not object_file:
            return Verdict("not compiled")
        survived = "survived" if tests and tests[0].is_of(pathlib.Path(mutation.path)) else "untested"
        begun = time.monotonic()
        for count, test in enumerate(tests):
            if time.monotonic() - begun > MUTANT_SECONDS:
                return Verdict(survived, f"{count} of {len(tests)} tests, the time is up")
            program = link(test, object_file, folder)
            if not program:
                return Verdict("not compiled")
            done = run_test(test, program, test.seconds * PATIENCE + GRACE_SECONDS)
            if not done or done[0] != 0:
                return Verdict("killed", test.name + ("" if done else ", by its time"))
        return Verdict(survived, f"{len(tests)} tests")


def choose(pattern, count, seed, tests):
    """COUNT mutations of the files whose path contains PATTERN, of those that a unit test has in it."""
    paths = [str(path) for path in names.sources(copied()) if path.suffix == ".c" and pattern in str(path)]
    tested = [path for path in paths if path in compile_commands() and tests_of(path, tests)]
    if not tested:
        sys.exit(f"mutate: no source file that a unit test links has {pattern} in its path")
    found = [mutation for path in tested for mutation in mutations.of_text(path, text(path))]
    chosen = random.Random(seed).sample(found, min(count, len(found)))
    print(f"{len(chosen)} of {len(found)} mutations of {len(tested)} files, seed {seed}; "
          f"{len(paths) - len(tested)} files are in no unit test", flush=True)
    return chosen


def show_stale(pattern):
    """What the list accepts, and is not in the tree any more."""
    for path, function, before, after in mutations.accepted(mutations.ACCEPTED.read_text()):
        if pattern in path and not ((SOURCE / path).exists() and (path, function, before, after) in {
                mutation.identity() for mutation in mutations.of_text(path, text(path))}):
            print(f"{path}: accepted in {function}, but not there any more\n    - {before}\n    + {after}")


def show(mutation, verdict):
    print(f"{mutation.path}:{mutation.line}: {verdict.kind} in {mutation.function} ({verdict.detail})\n"
          f"    - {mutation.before}\n    + {mutation.after}", flush=True)


def run_all(chosen, tests, counts):
    accepted = mutations.accepted(mutations.ACCEPTED.read_text())
    tests_by_path = {path: tests_of(path, tests) for path in {mutation.path for mutation in chosen}}
    needed = {test.name: test for some in tests_by_path.values() for test in some}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        try:
            passing = {test.name for test, passes in zip(needed.values(), pool.map(measure, needed.values())) if passes}
            tests_by_path = {
                path: [test for test in tests_of(path, tests) if test.name in passing] for path in tests_by_path
            }
            running = {
                pool.submit(judge, mutation, tests_by_path[mutation.path], accepted): mutation for mutation in chosen
            }
            for done in concurrent.futures.as_completed(running):
                verdict = done.result()
                counts[verdict.kind] += 1
                if verdict.kind in ("survived", "untested", "accepted"):
                    show(running[done], verdict)
        except BaseException:
            processes.end_all()
            pool.shutdown(cancel_futures=True)
            raise


def on_signal(number, frame):
    raise KeyboardInterrupt


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="only files whose path contains this")
    parser.add_argument("--count", type=int, default=60, help="how many mutations (60)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    arguments = parser.parse_args()
    counts = collections.Counter()
    status = 0
    SCRATCH.mkdir(exist_ok=True)
    try:
        tests = build()
        show_stale(arguments.pattern)
        run_all(choose(arguments.pattern, arguments.count, arguments.seed, tests), tests, counts)
    except KeyboardInterrupt:
        processes.end_all()
        status = 130
    print(", ".join(f"{counts[kind]} {kind}" for kind in KINDS))
    return status or (1 if counts["survived"] else 0)


if __name__ == "__main__":
    sys.exit(main())
