"""Modules that the Python which is copied has imported ahead of a script (base/starter/preload.py)."""

import contextlib
import functools
import hashlib
import json
import numbers
import os
import pathlib
import subprocess
import time
import venv

import pytest
from leftovers import PATIENCE, Watched, descendants, is_zygote, read, until, until_one_waits
from test_reload import reload

# Modules of the environment.
MODULES = {
    "early": "import time\nwhen = time.monotonic()\n",
    "later": "import time\nwhen = time.monotonic()\n",
    "early_again": "import early\nfrom early import when\n",
    "random_part": "import random\nown = random.random()\n",
    "variable": "import os\nos.environ['SET_BY_MODULE'] = '1'\nvalue = os.environ.get('WANTED')\n",
    "at_end": "import atexit\natexit.register(print, 'at the end')\n",
    "of_the_end": "import atexit, gc\n",
    "imports_at_end": "import atexit\natexit.register(lambda: __import__('needed_at_end'))\n",
    "needed_at_end": "",
    "imports_ahead_at_end": "import atexit\natexit.register(lambda: __import__('silent_at_end'))\n",
    "silent_at_end": "import atexit\natexit.register(int)\n",
    "goes_on_at_end": "import atexit, signal, time\natexit.register(lambda: (signal.alarm(0), time.sleep(30)))\n",
    # As h5py and HDF5 are: what a C library does at the end needs a Python, unless the module's own function was called.
    "held_by_library": """
import atexit, ctypes
library = ctypes.PyDLL(None)
mark = ctypes.c_void_p(id(library))
library.__cxa_atexit(ctypes.cast(ctypes.pythonapi.PyGILState_Ensure, ctypes.c_void_p), None, mark)
atexit.register(library.__cxa_finalize, mark)
""",
    # As libraries of C++ do for an object that has a destructor.
    "destroys": """
import ctypes
library = ctypes.CDLL(None)
library.strdup.restype = ctypes.c_void_p
destroy = ctypes.cast(library.puts, ctypes.c_void_p)
library.__cxa_atexit(destroy, ctypes.c_void_p(library.strdup(b"destroyed")), destroy)
""",
    # And as those do that use std::cout.
    "streams": """
import ctypes
library = ctypes.CDLL("libstdc++.so.6")
mark = ctypes.create_string_buffer(8)
library._ZNSt8ios_base4InitC1Ev(mark)
ctypes.CDLL(None).__cxa_atexit(ctypes.cast(library._ZNSt8ios_base4InitD1Ev, ctypes.c_void_p), mark, ctypes.c_void_p(id(mark)))
library._ZNSt8ios_base15sync_with_stdioEb(False)

def write(text):
    cout = ctypes.c_void_p.in_dll(library, "_ZSt4cout")
    insert = library._ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l
    insert(ctypes.byref(cout), text, ctypes.c_long(len(text)))
""",
    "says_when_it_is_taken_apart": "class Thing:\n    def __del__(self): print('taken apart')\nthing = Thing()\n",
    "fails": "1 / 0\n",
    "leaves_thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n",
    # As Arrow does, whose allocator has one that gives free memory back.
    "has_allocator": """
import os, threading, time
if 'background_thread:false' not in os.environ.get('JE_ARROW_MALLOC_CONF', ''):
    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
ahead = os.getpid() > 2
""",
    "takes_long": """
import os, time
while os.getpid() > 2 and not os.path.exists(os.path.dirname(__file__) + "/go"):
    time.sleep(0.01)
ahead = os.getpid() > 2
""",
    "takes_forever": "import os, time\nwhile os.getpid() > 2: time.sleep(1)\n",
    "leaves_file": "left = open('/dev/null')\n",
    "leaves_process": "import subprocess\nleft = subprocess.Popen(['sleep', '9'])\n",
    "leaves_handler": "import signal\nsignal.signal(signal.SIGUSR1, print)\n",
    "large": "held = b'1' * (600 << 20)\n",
    # It comes first, as that of setuptools does, and is another one after some imports.
    "finder": """
import sys, time

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "turns_finder":
            self.is_turned = True
        return type(sys.__spec__)(name, self) if name == "found" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.when = time.monotonic()

sys.meta_path.insert(0, Finder())
""",
    "ends": "import os\nif os.getpid() > 2: os._exit(3)\n",  # in no script
    "leaves_daemon": "import os, time\nif os.getpid() > 2 and os.fork() == 0:\n    if os.fork() == 0:\n        time.sleep(9)\n"
                     "    os._exit(0)\n",
    "prints": "print('printed')\n",
    "writes": "import os\nos.write(2, b'written')\n",
    "warns": "import warnings\nwarnings.warn('warned')\n",
}
# Modules that change what calls have which do not import them, and what is said of each. They come one after another, so
# json is there before those that change it.
CHANGES = {
    "replaces": ("import sys, types\nsys.modules['stat'] = types.ModuleType('stat')\n", "replaces stat"),
    "changes": ("import os\nos.getlogin = print\n", "changes os.getlogin"),
    "changes_builtins": ("import builtins\nbuiltins.added = print\n", "changes builtins.added"),
    "turns_finder": ("", "leaves another way to import"),
    "changes_kept": ("import json\njson.dumps = print\n", "changes json.dumps"),
    "changes_class": ("import json\njson.JSONEncoder.default = print\n", "changes json.JSONEncoder.default"),
    "changes_code": ("import os.path\nos.path.join.__code__ = (lambda a, *p: a).__code__\n", "join.__code__"),
    "changes_defaults": ("import os\nos.makedirs.__defaults__ = (0o777, True)\n", "changes os.makedirs.__defaults__"),
    "umask": ("import os\nos.umask(0)\n", "changes the umask"),
    "rlimit": ("import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
               "resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))\n", "changes a limit of the process"),
    "nice": ("import os\nos.nice(5)\n", "changes the priority"),
    "affinity": ("import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n", "changes the CPU affinity"),
    "mask": ("import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n", "changes the signal mask"),
    "locale_of_all": ("import locale\nlocale.setlocale(locale.LC_ALL, 'C')\n", "changes the locale"),
    "zone": ("import os, time\nos.environ['TZ'] = 'America/New_York'\ntime.tzset()\n", "changes the time zone"),
    "no_garbage": ("import gc\ngc.disable()\n", "changes the garbage collector"),
    "recursion": ("import sys\nsys.setrecursionlimit(5000)\n", "changes a limit of Python"),
    "switching": ("import sys\nsys.setswitchinterval(0.5)\n", "changes a limit of Python"),
    "options": ("import sys\nsys.warnoptions.append('x')\n", "changes sys.warnoptions"),
    "sockets": ("import socket\nsocket.setdefaulttimeout(7)\n", "changes the timeout of sockets"),
    "digits": ("import decimal\ndecimal.getcontext().prec = 5\n", "changes the decimal context"),
    "logs": ("import logging\nlogging.basicConfig(level=10)\n", "changes the root logger"),
    "audits": ("import sys\nsys.addaudithook(lambda *args: None)\n", "leaves a hook for audits"),
    "codec": ("import codecs\ncodecs.register(lambda name: None)\n", "leaves a search for codecs"),
    "shares": ("import mmap\nmemory = mmap.mmap(-1, 4096)\n", "leaves shared memory"),
    "shares_lock": ("import multiprocessing\nlock = multiprocessing.Lock()\n", "leaves shared memory"),
}
# Do what well-known packages do, so that they are not refused.
WELL_KNOWN = {
    "filters": "import warnings\nwarnings.simplefilter('always', ImportWarning)\n",
    "pickles": "import copyreg\nclass Own: pass\ncopyreg.pickle(Own, repr)\n",
    "changes_private": "import typing, typing as t\nt._check_generic = print\n",
    "adds": "import json\njson.added = print\n",
    "computes": "import decimal\ndecimal.Decimal(1) / 3\n",
    "needs_sockets": "import socket, logging, decimal, locale, gc\n",
    "unshares": "import mmap\nmmap.mmap(-1, 4096).close()\n",
}
# As torch has it, with a finalizer for each library of operators.
OPERATORS = """
import weakref
class Library: pass
def _del_library(): print("deleted")
def close(): print("closed")
library, other = Library(), Library()
weakref.finalize(library, _del_library)
weakref.finalize(other, close)
"""
# Says whether a module was imported before this script began.
WHEN = """
import sys, time
now = time.monotonic()
unseen = 'early' not in sys.modules
import early
print(unseen, early.when < now, sys.modules['early'] is early)
"""
# The same of another module.
LATER = "import time\nnow = time.monotonic()\nimport later\nprint(later.when < now)\n"
DATA = pathlib.Path(__file__).parents[2] / ".deps/data"
WITH_NUMPY = {"type": "venv", "venv_path": str(DATA), "isolation": "sandbox"}
needs_numpy = pytest.mark.skipif(not DATA.exists(), reason="no numpy; ./dev deps installs it")
SHOWN_SECONDS = 3  # after which a copy has shown what scripts change, or has been ended
AHEAD, NOT_AHEAD = "True True True\n", "True False True\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with MODULES."""
    folder = tmp_path_factory.mktemp("preload") / "venv"
    venv.create(folder)
    (packages,) = folder.glob("lib/python3*/site-packages")
    for name, code in {**MODULES, **WELL_KNOWN, **{name: code for name, (code, _) in CHANGES.items()}}.items():
        (packages / f"{name}.py").write_text(code)
    (packages / "finder.pth").write_text("import finder\n")
    (packages / "torch").mkdir()
    (packages / "torch/library.py").write_text(OPERATORS)
    (packages / "program").mkdir()
    (packages / "program/__main__.py").write_text("import early\n")
    return {"type": "venv", "venv_path": str(folder), "isolation": "sandbox"}


@contextlib.contextmanager
def serving(environment, **settings):
    with Watched(config={"environments": {"venv": {**environment, **settings}}}) as server:
        server.initialize()
        yield server


def call(server, code):
    return server.call_tool("run_python", {"code": code})["structuredContent"]


def doctor(config, state):
    """What `pyexecd doctor` says of CONFIG, with the variables STATE."""
    return subprocess.run([os.environ["PYEXECD"], "doctor", "-c", "/dev/stdin"], input=json.dumps(config), text=True,
                          capture_output=True, env={**os.environ, **state}).stdout


def wait_for_copy(server):
    assert until_one_waits(server, lambda: call(server, "pass"))


def ahead(server, code, first="pass"):
    """What CODE prints in a copy; FIRST is a call before it."""
    call(server, first)
    wait_for_copy(server)
    result = call(server, code)
    assert result["success"] and result["timings"]["warm"], result
    return result["stdout"]


@pytest.mark.plain
def test_what_a_script_imports_is_there_before_the_next(environment):
    with serving(environment) as server:
        assert call(server, WHEN)["stdout"] == NOT_AHEAD
        wait_for_copy(server)
        assert call(server, WHEN)["stdout"] == AHEAD


def test_what_is_imported_later_comes_to_the_same_python(environment):
    with serving(environment) as server:
        call(server, "pass")
        wait_for_copy(server)
        (zygote,) = filter(is_zygote, descendants(server.process.pid))
        assert call(server, WHEN)["stdout"] == NOT_AHEAD
        assert until(lambda: call(server, WHEN)["stdout"] == AHEAD)
        assert list(filter(is_zygote, descendants(server.process.pid))) == [zygote]


@pytest.mark.parametrize("code", ["import sys; sys.mine = 1", "pass", "import held_by_library"])
def test_what_a_library_does_at_the_end_finds_a_python(environment, code):
    """The first one is taken apart as Python does it: what is new in `sys` may refer to anything."""
    with serving(environment, preload=["held_by_library"]) as server:
        assert ahead(server, f"{code}\nprint(1)") == "1\n"


def test_a_function_for_the_end_that_imports_leaves_the_others_called(environment):
    modules = ["held_by_library", "of_the_end", "silent_at_end", "imports_ahead_at_end"]
    with serving(environment, preload=modules) as server:
        assert ahead(server, "import sys; sys.mine = 1\nprint(1)") == "1\n"


@pytest.mark.parametrize("code", ["pass", "import multiprocessing", "import sys; sys.exit()", "raise SystemExit('text')",
                                  "import argparse\nargparse.ArgumentParser().error('')", "raise KeyboardInterrupt", "1 / 0"])
def test_no_module_that_a_script_has_not_imported_is_taken_apart_at_its_end(environment, code):
    """multiprocessing gives the script's module a second name."""
    with serving(environment, preload=["multiprocessing", "says_when_it_is_taken_apart"]) as server:
        call(server, "pass")
        wait_for_copy(server)
        result = call(server, code)
        assert result["timings"]["warm"] and result["stdout"] == "", result


@pytest.mark.parametrize("code", ["pass", "import destroys"])
def test_what_a_library_has_in_memory_ahead_of_a_script_is_not_destroyed_at_its_end(environment, code):
    with serving(environment, preload=["destroys"]) as server:
        assert ahead(server, f"{code}\nprint(1)") == "1\n"


def test_what_a_script_has_loaded_itself_is_destroyed_at_its_end(environment):
    with serving(environment, preload="none") as server:
        assert ahead(server, "import destroys\nprint(1)") == "1\ndestroyed\n"


@pytest.mark.parametrize("preload", [["streams"], "none"], ids=str)
def test_what_a_library_holds_of_its_output_is_written_at_the_end(environment, preload):
    with serving(environment, preload=preload) as server:
        assert ahead(server, "import streams\nstreams.write(b'of C++\\n')") == "of C++\n"


def test_the_next_server_knows_it(environment, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    for expected in (NOT_AHEAD, AHEAD):
        with Watched(config={"environments": {"venv": environment}}, environment=state) as server:
            server.initialize()
            assert ahead(server, WHEN) == expected


def test_the_operator_can_say_what_it_is(environment):
    with serving(environment, preload=["early_again"]) as server:
        assert ahead(server, WHEN) == AHEAD
    with serving(environment, preload="none") as server:
        assert ahead(server, WHEN, first=WHEN) == NOT_AHEAD


def zygotes(server):
    return list(filter(is_zygote, descendants(server.process.pid)))


def test_calls_are_copies_while_something_new_is_imported(environment):
    """The zygote's stand-in makes them."""
    (go,) = pathlib.Path(environment["venv_path"]).glob("lib/python3*/site-packages")
    go /= "go"
    imports = "import takes_long\nprint(takes_long.ahead)"
    with serving(environment) as server:
        assert ahead(server, imports) == "False\n"
        assert until(lambda: len(zygotes(server)) == 2)
        for _ in range(3):
            result = call(server, "import os\nprint(os.getpid())")
            assert result["timings"]["warm"] and result["stdout"] == "2\n", result
        assert len(zygotes(server)) == 2
        go.touch()
        try:
            assert until(lambda: call(server, imports)["stdout"] == "True\n")
            assert until(lambda: len(zygotes(server)) == 1)
        finally:
            go.unlink()


def test_a_server_that_stops_waits_for_no_import(environment):
    """Nobody but the server reaps a stand-in, and the PID namespace cannot end before."""
    with Watched("--log-level", "debug", config={"environments": {"venv": environment}}) as server:
        server.initialize()
        assert ahead(server, "if 0:\n    import takes_long\nprint(1)") == "1\n"
        assert until(lambda: len(zygotes(server)) == 2)
        assert server.stop() == 0
        assert "is not empty after" not in server.stderr()


def nurseries(server):
    """The PID namespaces of its zygotes."""
    found = set()
    for pid in zygotes(server):
        with contextlib.suppress(OSError):  # it has ended
            found.add(os.stat(f"/proc/{pid}/ns/pid").st_ino)
    return found


def calls_until_refused(server, name, config, state, seconds=PATIENCE):
    """Calls that import `later`, until that is ahead and NAME is refused; what each has told of its start."""
    starts = []

    def is_over():
        result = call(server, LATER)
        starts.append(result["timings"])
        return result["stdout"] == "True\n" and f"{name}: " in doctor(config, state)

    assert until(is_over, seconds), doctor(config, state)
    return starts


@contextlib.contextmanager
def all_ahead(environment, tmp_path):
    """A server that has imported what is known ahead, its configuration and its state."""
    config = {"environments": {"venv": environment}}
    state = {"XDG_STATE_HOME": str(tmp_path)}
    with Watched(config=config, environment=state) as server:
        server.initialize()
        # Where all is slow the first copy of a zygote may be late, and then there is no other one for a while.
        assert until(lambda: call(server, WHEN)["stdout"] == AHEAD, 2 * PATIENCE)
        yield server, config, state


@pytest.mark.plain
@pytest.mark.parametrize("name", ["leaves_thread", "leaves_file", "changes", "prints", "ends",
                                  pytest.param("takes_forever", marks=[pytest.mark.once, pytest.mark.first])])
def test_calls_stay_copies_when_a_module_spoils_the_python(environment, tmp_path, name):
    """The stand-in becomes the zygote: what was imported before is there, and what is wanted behind it comes."""
    with all_ahead(environment, tmp_path) as (server, config, state):
        before = nurseries(server)
        starts = [call(server, f"if 0:\n    import {name}\n{LATER}")["timings"]]
        starts += calls_until_refused(server, name, config, state, 2 * PATIENCE)
        assert all(start["warm"] for start in starts), starts
        assert call(server, WHEN)["stdout"] == AHEAD
        assert until(lambda: len(zygotes(server)) == 1) and nurseries(server) == before


def test_what_an_import_leaves_running_ends_with_its_zygote(environment, tmp_path):
    """Nothing takes its place in that PID namespace."""
    with all_ahead(environment, tmp_path) as (server, config, state):
        before = nurseries(server)
        call(server, f"if 0:\n    import leaves_process\n{LATER}")
        calls_until_refused(server, "leaves_process", config, state)
        assert until(lambda: not before & nurseries(server))
        assert until(lambda: b"sleep\0009\0" not in [read(f"/proc/{pid}/cmdline") for pid in descendants(server.process.pid)])


@pytest.mark.parametrize("changed", ["", "1"])
def test_a_reload_of_the_configuration_during_an_import(environment, changed):
    """Of an environment that stays as it was, the stand-in serves on. Another one has its own Python."""
    (go,) = pathlib.Path(environment["venv_path"]).glob("lib/python3*/site-packages")
    go /= "go"
    with Watched("--log-level", "debug", config={"environments": {"venv": environment}}) as server:
        server.initialize()
        assert ahead(server, "if 0:\n    import takes_long\nprint(1)") == "1\n"
        assert until(lambda: len(zygotes(server)) == 2)
        before = nurseries(server)
        reload(server, {"environments": {"venv": {**environment, **({"environment": {"CHANGED": changed}} if changed else {})}}})
        result = call(server, "import os\nprint(os.environ.get('CHANGED', ''))")
        assert result["stdout"] == f"{changed}\n" and result["timings"]["warm"] is not bool(changed), result
        assert changed or nurseries(server) == before
        go.touch()
        try:
            assert until(lambda: call(server, "import takes_long\nprint(takes_long.ahead)")["stdout"] == "True\n")
        finally:
            go.unlink()


def test_only_what_a_module_needs_comes_with_it(environment):
    with serving(environment, preload=["early_again", "json", "asyncio"]) as server:
        seen = "import sys, {}\nprint([name in sys.modules for name in ('early', 'early_again', 'json', 'asyncio')])"
        assert ahead(server, seen.format("early")) == "[True, False, False, False]\n"
        wait_for_copy(server)
        assert call(server, seen.format("early_again"))["stdout"] == "[True, True, False, False]\n"
        wait_for_copy(server)
        assert call(server, seen.format("json"))["stdout"] == "[False, False, True, False]\n"


def test_a_module_in_the_scripts_directory_comes_first(environment):
    with serving(environment, preload=["early", "early_again"]) as server:
        assert ahead(server, "import early; print(early.mine)", first="open('early.py', 'w').write('mine = when = 0')") == "0\n"
        wait_for_copy(server)
        assert call(server, "import early_again; print(early_again.when)")["stdout"] == "0\n"


def test_a_module_in_a_place_that_the_script_names_comes_first(environment):
    with serving(environment, preload=["early"]) as server:
        code = "import os, sys\nos.mkdir('more')\nopen('more/early.py', 'w').write('mine = 1')\n" \
               "sys.path.insert(0, 'more')\nimport early\nprint(early.mine)"
        assert ahead(server, code) == "1\n"


def test_a_folder_of_that_name_is_no_module(environment):
    with serving(environment, preload=["early"]) as server:
        assert ahead(server, WHEN, first="import os; os.mkdir('early')") == AHEAD


def test_variables_that_a_script_sets_before_are_seen_by_the_module(environment):
    with serving(environment, preload=["variable"]) as server:
        code = "import os\nos.environ['WANTED'] = 'yes'\nimport variable\nprint(variable.value)"
        assert ahead(server, code) == "yes\n"


def test_variables_that_a_module_sets_are_there_when_it_is_imported(environment):
    with serving(environment, preload=["variable"]) as server:
        code = "import os\nprint(os.environ.get('SET_BY_MODULE'))\nimport variable\nprint(os.environ.get('SET_BY_MODULE'))"
        assert ahead(server, code) == "None\n1\n"


@pytest.mark.plain
def test_random_numbers_are_each_calls_own(environment):
    with serving(environment, preload=["random_part", "uuid", "secrets", "tempfile"]) as server:
        code = "import random, secrets, tempfile, uuid\nprint(random.random(), secrets.token_hex(), uuid.uuid4(), uuid.uuid1(), tempfile.mktemp())"
        numbers = ahead(server, code).split()
        for _ in range(3):
            wait_for_copy(server)
            numbers += call(server, code)["stdout"].split()
        assert len(set(numbers)) == 20


def test_what_a_module_does_at_the_end_is_done_for_who_imports_it(environment):
    with serving(environment, preload=["at_end"]) as server:
        assert ahead(server, "print(1)") == "1\n"
        wait_for_copy(server)
        assert call(server, "import at_end\nprint(1)")["stdout"] == "1\nat the end\n"


def test_what_only_frees_memory_is_not_done_at_the_end(environment):
    with serving(environment, preload=["torch.library"]) as server:
        assert ahead(server, "import torch.library\nprint(1)") == "1\nclosed\n"


@pytest.mark.parametrize("value, says", [("None", "import of early halted"), ("type(sys)('early')", "cannot import name 'when'")])
def test_what_a_script_has_put_in_its_place_is_used(environment, value, says):
    with serving(environment, preload=["early_again"]) as server:
        assert ahead(server, WHEN) == AHEAD
        wait_for_copy(server)
        result = call(server, f"import sys\nsys.modules['early'] = {value}\nimport early_again")
        assert result["timings"]["warm"] and says in result["stderr"], result


@needs_numpy
@pytest.mark.parametrize("code", [
    "import sys, types\nsys.modules['cython_runtime'] = types.ModuleType('cython_runtime')",  # as an extension does
    "import sys\nsys.modules['numbers'] = __import__('numbers')",
    "import numbers, os, shutil, sys\nos.mkdir('lib')\nshutil.copy(numbers.__file__, 'lib')\n"
    "del sys.modules['numbers']\nsys.path.insert(0, 'lib')",
])
def test_an_extension_is_loaded_once_whatever_a_script_has_changed_before(code):
    with serving(WITH_NUMPY, preload=["numpy.random"]) as server:
        assert ahead(server, f"{code}\nimport numpy\nprint(numpy.random.rand() < 1, numpy.ones(2).sum())") == "True 2.0\n"


@needs_numpy
def test_a_module_beside_the_script_that_an_extension_imports_is_the_scripts(tmp_path):
    with Watched(config={"environments": {"venv": {**WITH_NUMPY, "preload": ["numpy.random"]}},
                         "working_directory": str(tmp_path)}) as server:
        server.initialize()
        assert ahead(server, "import numpy; print(1)") == "1\n"
        (tmp_path / "numbers.py").write_text(pathlib.Path(numbers.__file__).read_text())
        wait_for_copy(server)
        result = call(server, "import numpy, numbers\nprint(numbers.__file__, numpy.ones(2).sum())")
        assert result["stdout"] == f"{tmp_path}/numbers.py 2.0\n", result


@pytest.mark.plain
def test_nothing_that_a_script_has_left_is_imported_between_calls(environment, tmp_path):
    """A copy shows which memory scripts change, and what it does at its end is what a module does there."""
    code = "import os; open('trace', 'w').close()"
    with Watched(config={"environments": {"venv": environment}, "working_directory": str(tmp_path / "work")}) as server:
        server.initialize()
        ahead(server, "import imports_at_end", first="import imports_at_end")
        call(server, f"open('needed_at_end.py', 'w').write({code!r})")
        call(server, "import early")
        ahead(server, "import early")
        time.sleep(SHOWN_SECONDS)
        assert call(server, "import os; print(sorted(os.listdir('.')))")["stdout"] == "['needed_at_end.py', 'script.py']\n"


def test_a_module_that_goes_on_at_the_end_does_not_hold_up_the_next_calls(environment):
    with serving(environment) as server:
        ahead(server, "import goes_on_at_end, os; os._exit(0)", first="import goes_on_at_end, os; os._exit(0)")
        time.sleep(SHOWN_SECONDS)
        assert [ahead(server, "print(1)") for _ in range(5)] == ["1\n"] * 5


@pytest.mark.parametrize("name", ["atexit", "gc"])
def test_what_its_end_uses_is_one_module_for_all(environment, name):
    with serving(environment, preload=["of_the_end"]) as server:
        assert ahead(server, f"import of_the_end, {name}\nprint({name} is of_the_end.{name})") == "True\n"


@pytest.mark.parametrize("name, error", [("fails", "ZeroDivisionError: division by zero"),
                                         ("missing_one", "ModuleNotFoundError: No module named 'missing_one'")])
def test_what_cannot_be_imported_fails_as_ever(environment, name, error):
    with serving(environment, preload=[name, "early"]) as server:
        assert ahead(server, WHEN) == AHEAD
        wait_for_copy(server)
        assert error in call(server, f"import {name}")["stderr"]


@pytest.mark.plain
@pytest.mark.parametrize("name, why", [
    ("leaves_thread", "leaves a thread"), ("leaves_file", "leaves a descriptor"), ("leaves_process", "leaves a process"),
    ("leaves_daemon", "leaves a process"), ("leaves_handler", "leaves a handler of a signal"), ("ends", "the import ends Python"),
    ("prints", "prints something"), ("writes", "prints something"), ("warns", "prints something"),
])
def test_what_cannot_be_undone_is_refused_by_name(environment, tmp_path, name, why):
    config = {"environments": {"venv": environment}}
    state = {"XDG_STATE_HOME": str(tmp_path)}

    def is_said():
        call(server, "pass")
        return f"{name}: {why}" in doctor(config, state)

    with Watched(config=config, environment=state) as server:
        server.initialize()
        call(server, f"if 0:\n    import {name}\nimport early")
        assert until(is_said), doctor(config, state)
        assert until(lambda: call(server, WHEN)["stdout"] == AHEAD), "without that one"
        assert call(server, f"import {name}")["success"]


def test_an_allocator_does_without_its_thread_ahead_and_no_script_sees_how(environment):
    with serving(environment, preload=["has_allocator"]) as server:
        code = "import has_allocator, os\nprint(has_allocator.ahead, os.environ.get('JE_ARROW_MALLOC_CONF'))"
        assert ahead(server, code) == "True None\n"
        wait_for_copy(server)
        found = call(server, "import subprocess\nprint(subprocess.run(['env'], capture_output=True, text=True).stdout)")["stdout"]
        assert "PATH=" in found and "MALLOC_CONF" not in found


def test_what_the_operator_tells_an_allocator_counts(environment):
    told = {"JE_ARROW_MALLOC_CONF": "narenas:2"}
    with serving({**environment, "environment": told}, preload=["has_allocator", "early"]) as server:
        call(server, "pass")
        assert until(lambda: call(server, WHEN)["stdout"] == AHEAD), "without has_allocator"
        assert call(server, "import has_allocator, os\nprint(os.environ['JE_ARROW_MALLOC_CONF'])")["stdout"] == "narenas:2\n"


@pytest.mark.parametrize("names", [list(CHANGES)[at:at + 7] for at in range(0, len(CHANGES), 7)], ids=lambda names: names[0])
def test_what_changes_the_python_of_scripts_that_do_not_import_it_is_refused_by_name(environment, tmp_path, names):
    config = {"environments": {"venv": environment}}
    state = {"XDG_STATE_HOME": str(tmp_path)}

    def missing():
        call(server, "pass")
        lines = doctor(config, state).splitlines()
        return [name for name in names if not any(f" {name}: " in line and CHANGES[name][1] in line for line in lines)]

    with Watched(config=config, environment=state) as server:
        server.initialize()
        call(server, f"import json\nif 0:\n    import {', '.join(names)}\nimport early")
        assert until(lambda: not missing(), 100), missing()  # each one costs a zygote
        assert until(lambda: call(server, WHEN)["stdout"] == AHEAD), "without those"


@pytest.mark.parametrize("name", WELL_KNOWN)
def test_what_well_known_packages_do_is_not_refused(environment, name):
    with serving(environment, preload=["json", "typing", name, "early"]) as server:
        assert ahead(server, WHEN) == AHEAD
        wait_for_copy(server)
        assert call(server, f"import sys\nfinder = sys.meta_path[0].find_spec('{name}')\nprint(finder is not None)")["stdout"] == "True\n"


def test_a_finder_of_the_environment_comes_first(environment):
    with serving(environment, preload=["found", "early"]) as server:
        assert ahead(server, WHEN) == AHEAD
        wait_for_copy(server)
        assert call(server, WHEN.replace("early", "found"))["stdout"] == NOT_AHEAD


def test_what_another_principal_imports_is_nobody_elses(environment, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{name} sha256:{hashlib.sha256(name.encode() * 4).hexdigest()}\n" for name in ("alice", "bob")))
    tokens.chmod(0o600)
    with Watched(transport="tcp", config={"environments": {"venv": environment}, "token_file": str(tokens)}) as server:
        callers = []
        for name in ("alice", "bob"):
            server.token = name * 4
            callers.append(server.connect())
            callers[-1].initialize()
        alice, bob = callers
        assert until(lambda: call(alice, WHEN)["stdout"] == AHEAD)
        assert until(lambda: call(bob, "pass")["timings"]["warm"])
        assert until_one_waits(server, lambda: call(bob, "pass"))
        result = call(bob, WHEN)
        assert result["timings"]["warm"] and result["stdout"] == NOT_AHEAD, result


def test_what_an_import_prints_is_in_the_output_of_who_imports_it(environment):
    with serving(environment) as server:
        call(server, "if 0:\n    import prints, warns\nimport early")
        for _ in range(3):
            assert ahead(server, "print(1)") == "1\n"
        for _ in range(2):
            wait_for_copy(server)
            result = call(server, "import prints, warns")
            assert result["stdout"] == "printed\n" and "warned" in result["stderr"]


def test_what_python_prints_when_it_starts_is_in_the_output_of_each_call(tmp_path):
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "early.pth").write_text("import sys; print('early'); print('too', file=sys.stderr)\n")
    plain = subprocess.run([tmp_path / "venv/bin/python", "-c", "print(1)"], text=True, capture_output=True)
    with serving({"type": "venv", "venv_path": str(tmp_path / "venv"), "isolation": "sandbox"}) as server:
        for _ in range(3):
            result = call(server, "print(1)")
            assert (result["stdout"], result["stderr"]) == (plain.stdout, plain.stderr)
            wait_for_copy(server)


def test_a_wait_for_fonts_is_no_scripts_business(tmp_path):
    """On a slow machine matplotlib says that it is looking for them, the first time."""
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (packages / "matplotlib").mkdir()
    (packages / "matplotlib/__init__.py").write_text("def get_configdir(): pass\ndef get_cachedir(): pass\nrcParams = {}\n")
    (packages / "matplotlib/font_manager.py").write_text("import logging, os\nby = os.getpid()\nlog = logging.getLogger(__name__)\n"
                                                         "log.warning('looks for fonts')\n")
    environment = {"type": "venv", "venv_path": str(tmp_path / "venv"), "isolation": "sandbox"}
    with serving(environment, preload=["matplotlib.font_manager"]) as server:
        code = "import os\nfrom matplotlib import font_manager\nprint(font_manager.by == os.getpid())\nfont_manager.log.warning('on')"
        call(server, "pass")
        wait_for_copy(server)
        result = call(server, code)
        assert (result["stdout"], result["stderr"]) == ("False\n", "on\n")


def test_no_program_is_run_ahead(environment):
    with serving(environment, preload=["program.__main__"]) as server:
        assert ahead(server, WHEN) == NOT_AHEAD


def test_a_module_that_is_rewritten_in_place_is_the_new_one(tmp_path):
    """As in a project that its owner works on, of which the Python has an editable installation."""
    venv.create(tmp_path / "venv")
    (packages,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    project = tmp_path / "project"
    project.mkdir()
    (packages / "editable.pth").write_text(f"{project}\n")
    environment = {"type": "venv", "venv_path": str(tmp_path / "venv"), "isolation": "sandbox", "read": [str(project)]}
    with serving(environment) as server:
        for value in range(3):
            (project / "mine.py").write_text(f"value = {value}\n")
            for _ in range(2):
                assert ahead(server, "import mine; print(mine.value)") == f"{value}\n"


@pytest.mark.plain
def test_the_memory_of_all_that_is_ahead_has_a_bound(environment):
    both = {name: {**environment, "preload": ["large"], "limits": {"memory": memory}}
            for name, memory in (("first", "2GiB"), ("second", "3GiB"))}
    with Watched(config={"default_environment": "first", "environments": both}) as server:
        server.initialize()
        for name in ("first", "second"):
            call_it = functools.partial(server.call_tool, "run_python", {"code": "pass", "environment": name})
            assert until(lambda call=call_it: call()["structuredContent"]["timings"]["warm"])
        assert until(lambda: len(list(filter(is_zygote, descendants(server.process.pid)))) == 1)
