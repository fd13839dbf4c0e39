"""IPython in a session: its syntax and magics, without its prompt, colours and history.

The program of the session executes all code, so that cells are interrupted, awaited and shown in one way. It gives
`cells`, `display` and `rich`, and loads this when a cell needs it.
"""

import builtins
import os
import signal
import subprocess
import sys
import tempfile
import types

import IPython
from IPython.core import display_functions
from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from IPython.utils.text import LSString, SList
from traitlets.config import Config

folder = os.path.dirname(IPython.__file__) + os.sep
COLOURS = "nocolor" if IPython.version_info[0] >= 9 else "NoColor"


class Shell(InteractiveShell):
    def init_virtualenv(self):
        pass

    def init_prompts(self):
        pass  # matplotlib and others take sys.ps1 for a person at a terminal

    def init_user_ns(self):
        """exit() ends a cell, and files are opened as everywhere."""
        before = dict(self.user_ns)
        super().init_user_ns()
        for name in "exit", "quit", "open", "get_ipython":
            del self.user_ns[name]
        self.user_ns.update(cells.history)
        self.user_ns.update(before)

    def enable_matplotlib(self, gui=None):
        return gui, "agg"  # figures are saved in any case

    def system(self, command):
        self.user_ns["_exit_code"] = run(self.var_expand(command, depth=1))[0]

    system_piped = system_raw = system

    def getoutput(self, command, split=True, depth=0):
        text = run(self.var_expand(command, depth=depth + 1), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                   text=True, errors="backslashreplace")[1]
        return SList(text.splitlines()) if split else LSString(text)

    def run_cell(self, raw_cell, *_, **__):
        """For magics that execute a whole cell."""
        result = ExecutionResult(None)
        result.execution_count = self.execution_count
        try:
            cells.execute_parts(raw_cell, "<cell in a cell>")
        except Exception as error:
            result.error_in_exec = error
            cells.fail(error)
        return result

    def showtraceback(self, *_, **__):
        cells.fail(sys.exc_info()[1])

    def showsyntaxerror(self, *_, **__):
        cells.fail(sys.exc_info()[1])


def run(command, **more):
    """The exit status and the output of a command. An interrupt ends all that it has started."""
    cells.flush()
    process = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, start_new_session=True, **more)
    try:
        output = process.communicate()[0]
        return process.returncode, output
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def publish(data, *_, **__):
    rich().show(None, data)


def page(_shell, text, *_, **__):
    print(text.get("text/plain", "") if isinstance(text, dict) else text)


def make(module):
    """The shell whose names are those of MODULE."""
    quiet = Config({"HistoryManager": {"enabled": False}})
    with tempfile.TemporaryDirectory() as place:  # for a profile, which nothing needs later
        shell = Shell.instance(user_module=module, user_ns=module.__dict__, ipython_dir=place, config=quiet,
                               colors=COLOURS)
    shell.display_pub.publish = publish
    shell.display_pub.clear_output = lambda *_, **__: None
    shell.set_hook("show_in_pager", page, 0)
    for each in IPython.display, IPython.core.display, display_functions:
        each.display = display
    builtins.display = display
    builtins.get_ipython = shell.get_ipython
    manager = shell.history_manager
    manager.input_hist_parsed = manager.input_hist_raw = cells.history["In"]
    return shell


def transform(shell, source):
    return shell.input_transformer_manager.transform_cell(source)


def trigger(shell, when, source):
    """The events on which extensions such as autoreload depend."""
    shell.execution_count = cells.count
    info = types.SimpleNamespace(raw_cell=source, error_before_exec=None, error_in_exec=None, result=None, success=True)
    shell.events.trigger(f"{when}_execute")
    shell.events.trigger(f"{when}_run_cell", info)
