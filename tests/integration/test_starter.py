"""The starter: code of ours that every Python of a script loads first, and that a script must not notice."""

import glob
import json
import os
import shutil
import signal
import subprocess

import pytest
from client import Server
from newest import newest

PROBE = """
import gc, json, os, signal, subprocess, sys, threading, warnings
ONCE = "import json, os, sys; print(json.dumps([sys.path, str(sys.flags), dict(os.environ), sorted(sys.modules)]))"
def of_a_child(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
seen = {
    "path": sys.path, "argv": sys.argv, "orig_argv": getattr(sys, "orig_argv", None), "flags": str(sys.flags),
    "options": [sys.warnoptions, list(sys._xoptions)], "names": sorted(globals()),
    "modules": sorted(sys.modules), "environment": dict(os.environ), "threads": threading.active_count(),
    "importers": sorted(sys.path_importer_cache), "archives": list(sys.modules["zipimport"]._zip_directory_cache),
    "filters": [str(each) for each in warnings.filters],
    "descriptors": sorted(os.listdir("/proc/self/fd")), "is_outermost": sys._getframe().f_back is None,
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.gettrace()],
    "finders": [type(each).__name__ for each in sys.meta_path if getattr(each, "__module__", "") != "sitecustomize"],
    "signals": {each: str(signal.getsignal(each)) for each in range(1, 65)
                if each not in (signal.SIGURG, signal.SIGKILL, signal.SIGSTOP)},
    "python": of_a_child(sys.executable, "-c", ONCE), "program": of_a_child("env"),
}
print(json.dumps(seen))
"""
FAILS = ["raise KeyError('plum')", "import there_is_none", "def f(): f()\nf()", "1 +", "import sys; sys.exit('gone')",
         "import warnings; warnings.warn('look')", "import json; json.loads('[')"]
FORKS = """
import multiprocessing, os, sys, warnings
warnings.simplefilter("error")
def work(queue):
    queue.put((sys.path[0] == os.getcwd(), "PYTHONPATH" in os.environ))
if __name__ == "__main__":
    child = os.fork()
    if child == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if sys.version_info > (3, 9) else 7)
    for method in "fork", "spawn":
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=work, args=[queue])
        process.start()
        print(method, queue.get(), process.join())
"""


def path_of(python):
    """Where the interpreter is that PYTHON starts; None when it is too old, or none."""
    asked = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 8) and sys.executable or '')"],
                           capture_output=True, text=True)
    return os.path.realpath(asked.stdout.strip()) if asked.stdout.strip() else None


def pythons():
    """Every Python that there is, Debian's first."""
    found = ["/usr/bin/python3", *filter(None, (shutil.which(f"python3.{minor}") for minor in range(8, 16))),
             *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))), *newest().values()]
    return [each for each in dict.fromkeys(map(path_of, found)) if each]


def forget_signals():
    """Whoever runs the tests may ignore some, as a shell does for what is in its background."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="module", params=pythons())
def both(request, tmp_path_factory):
    """Runs code in the server, and as plain Python would: (stdout, stderr) of each."""
    folder = tmp_path_factory.mktemp("starter")
    config = {"working_directory": str(folder), "default_environment": "this",
              "environments": {"this": {"type": "system", "executable": request.param, "isolation": "none"}}}
    with Server(config=config) as server:
        server.initialize()
        environment = json.loads(run(server, "import json, os; print(json.dumps(dict(os.environ)))")[0])

        def run_both(code):
            ours = run(server, code)
            script = folder / "script.py"
            script.unlink(missing_ok=True)
            script.write_text(code)
            plain = subprocess.run([request.param, script], cwd=folder, env=environment, capture_output=True,
                                   text=True, stdin=subprocess.DEVNULL,
                                   preexec_fn=forget_signals)
            return ours, (plain.stdout, plain.stderr)

        yield run_both


def run(server, code):
    result = server.call_tool("run_python", {"code": code})["structuredContent"]
    return result["stdout"], result["stderr"]


def test_a_script_sees_what_it_would_see_without_it(both):
    ours, plain = both(PROBE)
    assert not ours[1]
    assert json.loads(ours[0]) == json.loads(plain[0])


@pytest.mark.parametrize("code", FAILS)
def test_a_script_fails_as_it_would_without_it(both, code):
    ours, plain = both(code)
    assert ours == plain


def test_children_of_every_kind_are_as_without_it(both):
    ours, plain = both(FORKS)
    assert ours == plain
    assert ours[0].splitlines()[1] == "fork (True, False) None"


def test_another_program_in_the_place_of_the_script_is_not_disturbed(both):
    ours, plain = both("import os; os.execv('/bin/sh', ['sh', '-c', 'sleep 2.2; echo slept'])")
    assert ours == plain == ("slept\n", "")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "site").mkdir()
    return tmp_path


def test_a_search_path_of_the_operator_stays(folder):
    (folder / "site" / "sitecustomize.py").write_text("import builtins\nbuiltins.found = __file__\n")
    with Server(config={"environments": {"system": {"type": "system", "executable": "/usr/bin/python3",
                                                    "read": [f"{folder}/site"],
                                                    "environment": {"PYTHONPATH": f"{folder}/site"}}}}) as server:
        server.initialize()
        out, err = run(server, "import os, sys; print(os.environ['PYTHONPATH'], sys.path[1], found)")
    assert (out.split(), err) == ([f"{folder}/site", f"{folder}/site", f"{folder}/site/sitecustomize.py"], "")
