"""What a script can find out is what it finds out when `python3 script.py` runs it: each script of as_plain/
runs that way and in every way of WAYS, and must print the same, end the same and leave the same files; with
Debian's Python, and with the newest (newest.py) where it is copied; with those before it, before a release.

A file of as_plain/ is a group: a line about it, and then the scripts, each after a line `#### name`. A script
prints what must be equal; what cannot be, such as a pid or an address, it brings into a form that is.
"""

import concurrent.futures
import contextlib
import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from client import Server
from leftovers import processes, read, until, waits_for_code
from newest import newest
from test_honest import files

HERE = pathlib.Path(__file__).parent
PYTHON = "/usr/bin/python3"
SECONDS = 300  # on a busy machine
PARALLEL = 4
PLACE = "WORKING_DIRECTORY"

# How a script is started: the settings of an environment.
WAYS = {
    "unconfined": {"isolation": "none"},
    "sandboxed": {"isolation": "sandbox", "start": "cold"},
    "warm": {"isolation": "sandbox", "preload": "none"},
    "preloaded": {"isolation": "sandbox", "preload": [
        "argparse", "asyncio", "collections", "concurrent.futures", "csv", "ctypes", "dataclasses", "datetime", "decimal",
        "hashlib", "http.client", "importlib.metadata", "inspect", "json", "logging", "multiprocessing", "pathlib",
        "random", "re", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "typing", "unittest", "uuid", "weakref",
        "xml.etree.ElementTree", "zoneinfo"]},
}
COPIED = ("warm", "preloaded")
SANDBOXED = ("sandboxed", *COPIED)

# A script whose text a file of scripts cannot hold.
ODD = {
    "byte_order_mark": "\ufeffprint('read', ascii(open('script.py', 'rb').read(3)))\n",
    "carriage_returns": "print('''a\r\nb'''.encode())\r\nif True:\r\n    1 / 0\r\n",
    "form_feed": "print(1)\n\f\nprint(2)\n",
    "null_byte": "print(1)\nx = '\0'\n",
    "null_byte_in_a_comment": "print(1)\n# \0 print(2)\nprint(3)\n",
    "huge": "total = 0\n" + "total += 1\n" * 20_000 + "print(total)\n",
    "deeply_nested": "print(" + "(" * 150 + "1" + ")" * 150 + ")\n",
    "too_deeply_nested": "print(" + "(" * 300 + "1" + ")" * 300 + ")\n",
    "long_string": f"print(len({'x' * 1_000_000!r}))\n",
    "only_white_space": " \n\t\n\n",
    "declared_encoding": "# -*- coding: utf-8 -*-\nprint(ascii('ü€😀'))\n",
    "unknown_encoding": "# -*- coding: there-is-none -*-\nprint(1)\n",
    "shebang": "#!/usr/bin/env python3\nprint(__import__('linecache').getline('script.py', 1))\n",
}

# What differs, in which ways, and why; docs/environments.md tells it to users.
EVERY = tuple(WAYS)
LAID_OVER = "the code lies over the file and cannot be changed"
STARTER = "the starter"
OLD = "what was there before a script of a copied Python has been looked at by us"
AHEAD = "what was imported ahead has other finders, company and ends"
TEXT = "code comes as text: nothing in it is about the bytes of a file"
KNOWN = {
    "odd_source-byte_order_mark": (EVERY, TEXT),
    "odd_source-unknown_encoding": (EVERY, TEXT),
    "imports-customizations": (SANDBOXED, "Debian's file is a link to a place that a sandbox does not have"),
    "imports-finder_of_the_starter": (EVERY, STARTER),
    "process-way_in_of_the_starter": (EVERY, STARTER),
    "process-environment_of_the_kernel": (COPIED, "a Python that is started ahead gets its home later"),
    "process-signal_of_the_starter": (EVERY, STARTER),
    "process-script_can_be_changed": (EVERY, LAID_OVER),
    "process-script_can_be_renamed": (EVERY, LAID_OVER),
    "process-libraries_loaded": (COPIED, "the core is a library"),
    "process-deleted_mappings": (COPIED, "the core has memory for the stacks at a timeout"),
    "process-executable_mappings": (COPIED, "code that copies use a lot is in large pages"),
    "state-garbage_counts": (COPIED, OLD),
    "state-modules_of_heap": (COPIED, OLD),
    "state-collections_at_start": (("preloaded",), OLD),
    "state-tracked_objects": (("preloaded",), OLD),
    "state-functions_tracked": (("preloaded",), OLD),
    "state-classes": (("preloaded",), OLD),
    "state-caches": (("preloaded",), OLD),
    "imports-meta_path": (("preloaded",), AHEAD),
    "imports-what_random_loads": (("preloaded",), AHEAD),
    "imports-modules_are_fresh": (("preloaded",), AHEAD),
    "imports-frozen_modules": (("preloaded",), AHEAD),
    "kept-showwarning": (("preloaded",), AHEAD),
    "kept-copyreg": (("preloaded",), AHEAD),
    "process-limits": (EVERY, "limits of a run"),
    "process-capabilities": (EVERY, "a script has no rights to give up"),
    "process-no_terminal": (SANDBOXED, "a sandbox has no /dev/tty, where others cannot open it"),
}
# The same since a version of Python.
FINDS_LESS = "Python's own end finds less of what a script has put into modules from before it"
KNOWN_SINCE = {
    (3, 13): {"tracebacks-circular_import": (COPIED, "the directory of the script is not what Python has begun with"),
              "kept-os_attribute": (COPIED, FINDS_LESS), "kept-os_thing": (COPIED, FINDS_LESS),
              "kept-os_patched": (COPIED, FINDS_LESS), "kept-os_path_patched": (COPIED, FINDS_LESS)},
    (3, 14): {"state-collections_at_start": (COPIED, OLD),
              "kept-process_pool": (SANDBOXED, "what a server of forks has started ends with the call")},
    (3, 15): {"kept-settrace": (COPIED, "what the starter leaves for the collector is collected during the trace")},
}


def known_for(python):
    """What differs with PYTHON."""
    shown = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, check=True)
    version = tuple(map(int, shown.stdout.split()))
    return {**KNOWN, **{name: known for since, names in KNOWN_SINCE.items() if since <= version for name, known in names.items()}}


def scripts_of(path):
    """(name, code) for each script of a group."""
    _, *parts = re.split(r"^#### (\w+)\n", path.read_text(), flags=re.MULTILINE)
    return zip(parts[::2], parts[1::2])


SCRIPTS = {f"{path.stem}-{name}": code for path in sorted((HERE / "as_plain").glob("*.txt"))
           for name, code in scripts_of(path)}
SCRIPTS.update({f"odd_source-{name}": code for name, code in ODD.items()})


def normalised(text, folder):
    """TEXT without what differs rightly: the working directory, addresses, and the pid in a warning."""
    text = re.sub(r"\b0x[0-9a-f]{8,}", "ADDRESS", text.replace(str(folder), PLACE))
    return re.sub(r"\(pid=\d+\)", "(pid=PID)", text)


def folder_of(handle):
    """The working directory that a result calls HANDLE."""
    (folder,) = pathlib.Path(os.environ["XDG_STATE_HOME"], "pyexecd", "work").glob(f"*/{handle}")
    return folder


def facts(folder, **told):
    told["stdout"], told["stderr"] = (normalised(told[name], folder) for name in ("stdout", "stderr"))
    return {"files": files(folder), **told}


def become_like_served():
    """A run has signals as they are by default, whatever those of who runs the tests, and files of its own."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o077)


def is_waited_for(handle):
    """True when a Python waits for the next call in the directory that results call HANDLE."""
    return any(handle.encode() in read(f"/proc/{pid}/cmdline") and waits_for_code(pid) for pid in processes())


def is_as_new(folder):
    """Removes what a script has left in FOLDER, but script.py. Of another user's, not all can be removed."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != "script.py":
            path.unlink(missing_ok=True)
    return os.listdir(folder) == ["script.py"]


class Runs:
    """The scripts, each run plainly and in every way, several at a time, in a directory that is as new."""

    def __init__(self, python, server, folder):
        self.python = python
        self.known = known_for(python)
        self.server = server
        self.folder = folder
        self.pool = concurrent.futures.ThreadPoolExecutor(PARALLEL)
        self.idle = {way: [] for way in WAYS}  # connections whose directories are as new
        shown = self.served("import json, os; print(json.dumps(dict(os.environ)))", next(iter(WAYS)))
        self.environment = json.loads(shown["stdout"])
        self.futures = {}

    def start(self, name, ways):
        code = SCRIPTS[name]
        self.futures[name] = {"plain": self.pool.submit(self.plain, name, code),
                              **{way: self.pool.submit(self.served, code, way) for way in ways}}

    def plain(self, name, code):
        folder = self.folder / name
        folder.mkdir()
        script = folder / "script.py"
        script.write_text(code, encoding="utf-8", newline="")
        script.chmod(0o600)
        environment = {key: value.replace(PLACE, str(folder)) for key, value in self.environment.items()}
        process = subprocess.run([self.python, script], cwd=folder, env=environment, capture_output=True,
                                 stdin=subprocess.DEVNULL, timeout=SECONDS, start_new_session=True,
                                 preexec_fn=become_like_served)
        ended = process.returncode
        return facts(folder, stdout=process.stdout.decode(errors="replace"),
                     stderr=process.stderr.decode(errors="replace"),
                     ended=signal.Signals(-ended).name if ended < 0 else ended)

    def served(self, code, way):
        """Again, if the copy that waited was not ready in the two seconds that it has: a busy machine."""
        for _ in range(5):
            with self.connection(way) as connection:
                result = connection.call_tool("run_python", {"code": code, "environment": way, "timeout": SECONDS},
                                              timeout=SECONDS + 60)["structuredContent"]
                told = facts(folder_of(result["working_directory"]), stdout=result["stdout"],
                             stderr=result["stderr"], ended=result["signal"] or result["returncode"])
            if result["timings"]["warm"] is (way in COPIED):
                break
        assert result["timings"]["warm"] is (way in COPIED)
        return told

    @contextlib.contextmanager
    def connection(self, way):
        """A connection whose directory has nothing in it but script.py; where WAY copies a Python, one waits there.
        To import thirty modules for each script would take longer than all else here."""
        try:
            connection = self.idle[way].pop()
        except IndexError:
            connection = self.server.connect()
            connection.initialize()
            connection.folder = self.used(connection, way)
        if way in COPIED:
            self.wait_for_copy(connection, way)
        yield connection
        if is_as_new(connection.folder):
            self.idle[way].append(connection)
        else:
            connection.close()  # and its directory goes

    @staticmethod
    def used(connection, way):
        """The directory of CONNECTION, after a call that brings a Python which waits, if WAY has one."""
        arguments = {"code": "pass", "environment": way}
        return folder_of(connection.call_tool("run_python", arguments)["structuredContent"]["working_directory"])

    def wait_for_copy(self, connection, way):
        for _ in range(8):  # one that is not ready within two seconds is ended, and only a call brings another one
            if until(lambda: is_waited_for(connection.folder.name), 15):
                return
            self.used(connection, way)
        raise AssertionError("nothing waits")


def difference(plain, served):
    """Lines about what is only in one of the two."""
    return [line for key in plain if plain[key] != served[key]
            for line in difflib.unified_diff(str(plain[key]).splitlines(), str(served[key]).splitlines(),
                                             f"plain {key}", f"served {key}", n=0, lineterm="")]


@contextlib.contextmanager
def begun(python, wanted, folder):
    """The runs with PYTHON that are WANTED, each a dictionary of `name` and `way`."""
    variables = {"GIT_CONFIG_NOSYSTEM": "1"}  # which all sandboxes have
    environments = {way: {"type": "system", "executable": python, "environment": variables, **settings}
                    for way, settings in WAYS.items()}
    config = {"environments": environments, "default_environment": next(iter(WAYS)), "max_timeout": SECONDS}
    with Server(transport="unix", config=config) as server:
        runs = Runs(python, server, folder)
        for name in sorted({each["name"] for each in wanted}):
            runs.start(name, [way for way in WAYS if {"name": name, "way": way} in wanted])
        yield runs
        runs.pool.shutdown(cancel_futures=True)


def wanted_by(request, function, **of_this):
    """The parameters of each test of FUNCTION that is to run, without OF_THIS, which they all have."""
    chosen = [item.callspec.params for item in request.session.items if item.function.__name__ == function]
    return [{key: value for key, value in each.items() if key not in of_this} for each in chosen
            if of_this.items() <= each.items()]


@pytest.fixture(scope="session")
def runs(request, tmp_path_factory):
    with begun(PYTHON, wanted_by(request, "test_as_plain"), tmp_path_factory.mktemp("plain")) as all_of_them:
        yield all_of_them


@pytest.fixture(scope="session", params=[pytest.param(version, marks=[pytest.mark.release] * (version != list(newest())[-1]))
                                         for version in newest()])
def newest_runs(request, tmp_path_factory):
    wanted = wanted_by(request, "test_newest_as_plain", newest_runs=request.param)
    with begun(newest()[request.param], wanted, tmp_path_factory.mktemp("newest")) as all_of_them:
        yield all_of_them


def compare(runs, name, way):
    plain, served = (runs.futures[name][each].result() for each in ("plain", way))
    ways, reason = runs.known.get(name, ((), None))
    if way in ways and served != plain:
        pytest.xfail(reason)
    assert served == plain, "\n".join(difference(plain, served))


@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.plain] * (way == "preloaded") +
                                                         [pytest.mark.long] * (way not in COPIED)) for way in WAYS])
@pytest.mark.parametrize("name", SCRIPTS)
def test_as_plain(runs, name, way):
    compare(runs, name, way)


@pytest.mark.long
@pytest.mark.once
@pytest.mark.parametrize("way", [pytest.param(way, marks=[pytest.mark.release] * (way != "preloaded")) for way in COPIED])
@pytest.mark.parametrize("name", SCRIPTS)
def test_newest_as_plain(newest_runs, name, way):
    compare(newest_runs, name, way)
