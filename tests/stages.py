"""The stages of `./dev test`: which run side by side, and which have to be alone.

    stages.py [--long | --release] [--times] [PATTERN]

Most tests wait most of their time, for a timer or for the kernel. So several stages run at a time,
and some have several workers, which take a file of tests each. With --long or a PATTERN, what is marked
long or heavy is among them; what is marked serial comes after all others, alone. The output of a stage
is kept until the stage ends, and printed then. Result files go to build/test-results; times.py tells where
the time went, and summary.py counts them.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import threading
import time

import summary
import times

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
SANITIZED = ROOT / "build-asan"
RESULTS = BUILD / "test-results"
CLIENTS = ROOT / ".deps" / "clients"
PYTHON = "/usr/bin/python3"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

STAGE_SECONDS = 3600  # a stage that takes longer, on a slow machine too, will never end
END_SECONDS = 30
NOTHING_MATCHES = 5  # pytest's exit status
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
# How often tests repeat themselves with --release.
REPETITIONS = {"SOAK_RUNS": "500", "LIFETIME_RUNS": "2000", "HOSTILE_RUNS": "10000",
               "INJECTIONS": "100", "MIXED_SECONDS": "1200", "WARM_RUNS": "100000", "STORM_SECONDS": "600",
               "BALANCED_CALLS": "10000"}
OTHERS = "not heavy and not serial"
SOON = f"{OTHERS} and not long"


def files_of(folder, marks):
    """The files of FOLDER that may have tests that MARKS choose: to read a file that has none takes time as well."""
    wanted = [mark for mark in ("heavy", "serial", "plain", "nodes") if re.search(rf"(?<!not ){mark}", marks)]
    twice = {mark: (ROOT / f"tests/{mark}.txt").read_text() for mark in ("plain", "nodes")}

    def may_have(path, mark):
        return f"mark.{mark}" in path.read_text() or f"{folder}/{path.name}" in twice.get(mark, "")

    found = [path.relative_to(ROOT) for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))
             if all(may_have(path, mark) for mark in wanted)]
    return found or [f"tests/{folder}"]  # where none is, pytest says so


class Stage:
    """One command. NAME is that of its result file in RESULTS, copied from RESULT where the command
    leaves it elsewhere; TITLE is for people, MORE is for Popen. ACCEPTED are the exit statuses that
    need no failed test to explain them."""

    def __init__(self, name, title, command, result=None, accepted=(0,), **more):
        self.name = name
        self.title = title
        self.command = [str(word) for word in command]
        self.result = result
        self.accepted = accepted
        self.more = {"cwd": ROOT, **more}
        self.process = None

    def run(self):
        """Runs it to its end; what there is to tell of it."""
        begun = time.monotonic()
        with tempfile.TemporaryFile() as output:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, start_new_session=True,
                                            **self.more)
            used = self.wait()
            output.seek(0)
            text = output.read().decode(errors="replace")
        taken = time.monotonic() - begun
        if taken > STAGE_SECONDS:
            text += f"This has not come to its end in {STAGE_SECONDS} s, and was ended.\n"
        self.keep_result()
        if "pytest" in self.command and self.process.returncode == NOTHING_MATCHES:
            return ""
        self.keep_times(taken, used.ru_utime + used.ru_stime)
        return (f"\n== {self.title}: {taken:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU\n"
                f"{text}")

    def wait(self):
        """Waits for its end, not for ever; what it has used."""
        limit = threading.Timer(STAGE_SECONDS, self.end)
        limit.start()
        _, status, used = os.wait4(self.process.pid, 0)
        limit.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return used

    def keep_result(self):
        if self.result and self.result.exists():
            shutil.copy(self.result, RESULTS / f"{self.name}{self.result.suffix}")
        if self.process.returncode not in self.accepted:
            self.keep_status(self.process.returncode)

    def keep_times(self, wall, cpu):
        took = {"title": self.title, "wall": wall, "cpu": cpu}
        (RESULTS / f"{self.name}.took").write_text(json.dumps(took))

    def keep_status(self, status):
        (RESULTS / f"{self.name}.status").write_text(f"{status}\n")

    def end(self):
        """Asks it to end, with all that it has started, and sees to it that it does."""
        self.signal(signal.SIGINT)
        reminder = threading.Timer(END_SECONDS, self.signal, [signal.SIGKILL])
        reminder.daemon = True
        reminder.start()

    def signal(self, number):
        if self.process and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Suite:
    """Makes the stages for the tests that CHOSEN, what the command line says, names; COPY is a tree that nobody
    may read."""

    def __init__(self, chosen, copy):
        self.pattern = chosen.pattern
        self.release = chosen.release
        self.whole = bool(chosen.long or chosen.release or chosen.pattern)
        self.plainly = "not once" if chosen.release else "plain"
        self.copy = copy

    def side_by_side(self):
        """Those that take longest first: a lane that is free takes the next."""
        marks = OTHERS if self.whole else SOON
        return [
            self.sanitized_integration(marks, workers=5),
            self.docker(marks, workers=2),
            self.clients(marks, workers=1),
            *([self.plain_integration(f"{OTHERS} and {self.plainly}", workers=2),
               self.on_nodes("shared", workers=2), self.on_nodes("copied", workers=2)] if self.whole else []),
            *self.heavy(), *self.meson(),
            *([self.hostile_plain(f"{OTHERS} and {self.plainly}", workers=2)] if self.whole else []),
            self.hostile(marks, workers=2), self.conformance(), *self.node_clients(),
        ]

    def heavy(self):
        return [
            self.clients("heavy"), self.docker("heavy"), self.hostile_plain(f"heavy and {self.plainly}"),
            self.plain_integration(f"heavy and {self.plainly}"), self.sanitized_integration("heavy"), self.hostile("heavy"),
        ] if self.whole else []

    def alone(self):
        return [self.sanitized_integration("serial"), self.clients("serial"),
                *([self.plain_integration(f"serial and {self.plainly}")] if self.whole else [])]

    def meson(self):
        """Unit tests, the fuzz corpus and checks; the transcripts are among the integration tests."""
        listed = subprocess.run(["meson", "test", "-C", SANITIZED, "--no-rebuild", "--list"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        tests = [line.partition(" / ")[::2] for line in listed.stdout.splitlines()]
        names = [name for suite, name in tests
                 if self.pattern.lower() in name.lower() and not suite.endswith(":integration")]
        if names:
            yield Stage("unit", "unit tests, fuzz corpus and checks, sanitized", [
                "meson", "test", "-C", SANITIZED, "--no-rebuild", "--print-errorlogs",
                "--timeout-multiplier", "4", *names],
                result=SANITIZED / "meson-logs/testlog.json")

    def pytest(self, name, title, folder, environment, marks="", workers=0):
        if marks.startswith("heavy"):
            name, title = f"{name}-heavy", f"{title}, what is heavy"
        if marks.startswith("serial"):
            name, title = f"{name}-serial", f"{title}, one at a time"
        command = [PYTHON, "-m", "pytest", *self.choice(marks, workers),
                   f"--junitxml={RESULTS / name}.xml", *files_of(folder, marks)]
        return Stage(name, title, command, accepted=(0, NOTHING_MATCHES), env={**os.environ, **environment})

    def choice(self, marks, workers):
        # A word of its own would be taken for a path, and another pytest.ini looked for.
        return [f"--matching={self.pattern}", "-m", marks, *["--release"] * self.release,
                *(["-n", workers, "--dist", "loadfile"] if workers else [])]

    def sanitized_integration(self, marks, workers=0):
        return self.pytest("integration-sanitized", "integration tests, sanitized", "integration",
                           {"PYEXECD": f"{SANITIZED}/pyexecd"}, marks, workers)

    def plain_integration(self, marks, workers=0):
        return self.plain("integration", "integration tests", marks, workers)

    def plain(self, folder, title, marks, workers):
        """Without sanitizers; where root runs the tests, as a user without rights."""
        if not self.copy:
            return self.pytest(f"{folder}-plain", title, folder, {"PYEXECD": f"{BUILD}/pyexecd"},
                               marks, workers)
        stage = self.pytest(f"{folder}-unprivileged", f"{title} as an unprivileged user", folder, {},
                            marks, workers)
        return self.copy.for_nobody(stage)

    def on_nodes(self, files, workers):
        """FILES is how the nodes get those of working directories."""
        left_out = {"shared": "here", "copied": "here or shared"}[files]
        return self.pytest(f"integration-nodes-{files}", f"integration tests on nodes with files {files}, sanitized", "integration",
                           {"PYEXECD": f"{SANITIZED}/pyexecd", "ON_NODES": files},
                           f"{OTHERS} and nodes and not ({left_out}) and not long", workers)

    def hostile(self, marks, workers=0):
        return self.pytest("hostile-sanitized", "hostile programs, sanitized", "hostile",
                           {"PYEXECD": f"{SANITIZED}/pyexecd"}, marks, workers)

    def hostile_plain(self, marks, workers=0):
        return self.plain("hostile", "hostile programs", marks, workers)

    def docker(self, marks, workers=0):
        """Each worker has an engine of its own."""
        return self.pytest("docker", "containers, sanitized", "docker",
                           {"PYEXECD": f"{SANITIZED}/pyexecd"}, marks, workers)

    def conformance(self):
        return self.pytest("conformance", "the official conformance suite, sanitized",
                           "conformance", {
                               "PYEXECD": f"{SANITIZED}/pyexecd",
                               "CONFORMANCE_SERVER": f"{SANITIZED}/tests/conformance/conformance_server"})

    def clients(self, marks, workers=0):
        return self.pytest("clients", "examples and real clients", "clients",
                           {"PYEXECD": f"{BUILD}/pyexecd"}, marks, workers)

    def node_clients(self):
        if not (CLIENTS / "installed").exists():
            (RESULTS / "clients-node.json").write_text(
                '{"name": "TypeScript clients", "result": "SKIP", "stdout": "./dev deps installs them"}')
            return
        # Its pattern is a regular expression.
        names = [f"--test-name-pattern=/{re.escape(self.pattern)}/i"] if self.pattern else []
        yield Stage("clients-node", "TypeScript clients", [
            ROOT / ".deps/node/bin/node", "--test", *names,
            "--test-reporter=spec", "--test-reporter-destination=stdout",
            "--test-reporter=junit", f"--test-reporter-destination={RESULTS}/clients-node.xml",
            "tests/clients/client.test.mjs",
        ], env={**os.environ, "PYEXECD": f"{BUILD}/pyexecd", "CLIENTS": str(CLIENTS)})


def link_or_copy(source, place):
    """PLACE is the same file where it can be: the packages have a gigabyte."""
    try:
        os.link(source, place)
    except OSError:
        shutil.copy2(source, place)


class Copy:
    """A copy of the tree, with a home, for a user who may not read the tree itself."""

    PARTS = ["dev", "examples", "schemas", "systemd", "tests"]
    PACKAGES = ["data", "ipython", "jupyter"]

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pyexecd-test-"))
        self.source = self.folder / "source"
        self.home = self.folder / "home"
        self.places = iter(string.ascii_lowercase)
        for path in [*(ROOT / part for part in self.PARTS), *self.programs(), ROOT / ".deps/tools/bin/uv"]:
            if path.exists():
                self.add(path, self.source / path.relative_to(ROOT))
        for path in (ROOT / ".deps" / name for name in self.PACKAGES):
            if path.exists():
                shutil.copytree(path, self.source / path.relative_to(ROOT), symlinks=True, copy_function=link_or_copy)
        schemas = ROOT.parent / "shared/mcp-schema"
        if schemas.exists():
            self.add(schemas, self.folder / "shared/mcp-schema")
        subprocess.run(["chmod", "-R", "a+rX", self.folder], check=True)
        self.home.mkdir()
        os.chown(self.home, NOBODY, NOBODY)
        return self

    @staticmethod
    def programs():
        built = [path for path in BUILD.iterdir() if path.is_file() and os.access(path, os.X_OK)]
        return [*built, BUILD / "tests/fixture/fixture"]

    @staticmethod
    def add(path, place):
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, place)
        else:
            shutil.copy(path, place)

    def for_nobody(self, stage):
        """STAGE as that user runs it, in the copy."""
        command = [word.replace(str(RESULTS), str(self.home)) for word in stage.command]
        # Its own, as another stage may run beside it; the path of a socket is at most 107 bytes.
        short = f"--basetemp={self.home}/{next(self.places)}"
        return Stage(
            stage.name, stage.title, [*AS_NOBODY, *command, short],
            result=self.home / f"{stage.name}.xml", accepted=stage.accepted, cwd=self.source,
            env={"HOME": str(self.home), "TMPDIR": str(self.home), "LANG": "C.UTF-8",
                 "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
                 "TEST_BYTECODE": f"{self.home}/bytecode",
                 "PYEXECD": str(self.source / "build/pyexecd"),
                 **{name: os.environ[name] for name in REPETITIONS if name in os.environ}})

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


class Run:
    """Runs stages, several at a time, and tells of each when it ends."""

    def __init__(self):
        self.telling = threading.Lock()
        self.running = set()
        self.ending = False

    def lane(self, stages):
        """Runs what is left of STAGES, which other lanes take from as well."""
        while not self.ending:
            try:
                stage = stages.popleft()
            except IndexError:
                return
            self.running.add(stage)
            self.tell(f"   begins: {stage.title}\n")
            try:
                report = stage.run()
            except OSError as error:
                report = f"\n== {stage.title}: {error}\n"
                stage.keep_status(error)
            self.running.remove(stage)
            self.tell(report)

    def tell(self, text):
        with self.telling:
            print(text, end="", flush=True)

    def side_by_side(self, stages, lanes):
        stages = collections.deque(stages)
        threads = [threading.Thread(target=self.lane, args=(stages,), daemon=True) for _ in range(lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def end(self):
        deadline = time.monotonic() + 2 * END_SECONDS
        self.ending = True
        for stage in list(self.running):
            stage.end()
        while self.running and time.monotonic() < deadline:
            time.sleep(0.1)


def on_signal(number, _):
    raise SystemExit(128 + number)


@contextlib.contextmanager
def sanitizer_reports():
    """Sanitizers write to files, so that no report is lost with the output of a process that a test
    starts. They are where a process of any user can write, and come to RESULTS at the end."""
    with tempfile.TemporaryDirectory(prefix="pyexecd-reports-") as folder:
        os.chmod(folder, 0o1777)
        os.environ["ASAN_OPTIONS"] = f"detect_leaks=1:log_path={folder}/sanitizer"
        os.environ["UBSAN_OPTIONS"] = \
            f"print_stacktrace=1:halt_on_error=1:log_path={folder}/sanitizer"
        try:
            yield
        finally:
            for report in pathlib.Path(folder).iterdir():
                shutil.copy(report, RESULTS)


def environment(release):
    """Of all stages. PATH leads to Debian's programs: a shim for Pythons, as some people have, is started with every
    server and costs more than it does."""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["TEST_BYTECODE"] = str(BUILD / "test-bytecode")
    os.environ["PATH"] = PATH
    for name, count in REPETITIONS.items() if release else ():
        os.environ.setdefault(name, count)


def what_is_chosen():
    parser = argparse.ArgumentParser(prog="./dev test", description="Runs the tests.")
    parser.add_argument("--long", action="store_true", help="what stands in long.txt, what builds packages or fills the machine, and what runs twice (plain.txt)")
    parser.add_argument("--release", action="store_true",
                        help="that and the benchmarks, and long repetitions, and all files twice: some hours")
    parser.add_argument("--times", action="store_true", help="where the time went, also for a PATTERN")
    parser.add_argument("pattern", nargs="?", default="")
    return parser.parse_args()


def main():
    chosen = what_is_chosen()
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    environment(chosen.release)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    run = Run()
    with sanitizer_reports(), Copy() if os.geteuid() == 0 else contextlib.nullcontext() as copy:
        suite = Suite(chosen, copy)
        try:
            run.side_by_side(suite.side_by_side(), lanes=4)
            run.side_by_side(suite.alone(), lanes=1)
        finally:
            run.end()
    if chosen.times or not chosen.pattern:
        times.report(RESULTS)
    print("\n== in all", flush=True)
    if not suite.whole:
        print("Left to ./dev test --long: other people's programs and more ways (tests/long.txt), what builds packages or fills "
              "the machine, and what runs a second time without sanitizers, as a user without rights.")
    return summary.report(RESULTS, "./dev lint" if suite.whole else "./dev test --long, as CI does")


if __name__ == "__main__":
    sys.exit(main())
