"""What a person sees who types the beginning of a command line in bash, zsh or fish and presses the tabulator."""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

pytestmark = pytest.mark.once

FILES = pathlib.Path(os.environ["PYEXECD"]).resolve().parent / "docs"
SECONDS = 60
SHELLS = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], f"source {FILES}/pyexecd"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({FILES} $fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' menu no"),
}
CASES = {
    "a command": ("pyexecd uni", "pyexecd uninstall"),
    "an option of a command": ("pyexecd install --dr", "pyexecd install --dry-run"),
    "a word that an option takes": ("pyexecd install --client claude-d", "pyexecd install --client claude-desktop"),
    "an option without a command": ("pyexecd --check", "pyexecd --check-config"),
    "a word that every command takes": ("pyexecd doctor --log-level warn", "pyexecd doctor --log-level warning"),
    "a script": ("pyexecd run scr", "pyexecd run script.py"),
    "a configuration": ("pyexecd --config conf", "pyexecd --config config.yaml"),
}


class Terminal:
    """A shell in a terminal, in FOLDER."""

    def __init__(self, command, folder):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm", "LANG": "C.UTF-8"})
        self.shown = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def sees(self, text):
        """Whether TEXT comes, but for what moves, colours or sounds."""
        end = time.monotonic() + SECONDS
        while text not in self.shown and time.monotonic() < end:
            if select.select([self.terminal], [], [], 1)[0]:
                self.shown += re.sub(r"\x1b(\[[\d;?>=]*[A-Za-z]|[=>])|\x07", "",
                                     os.read(self.terminal, 65536).decode(errors="replace"))
        return text in self.shown


def check_shell(shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}: ./dev deps test installs it")
    if not FILES.is_dir():
        pytest.skip(f"no {FILES}: ./dev build makes it")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_person_sees_the_rest(tmp_path, shell, case):
    check_shell(shell)
    command, prepare = SHELLS[shell]
    typed, rest = CASES[case]
    for name in ("script.py", "config.yaml"):
        (tmp_path / name).touch()
    with Terminal(command, tmp_path) as terminal:
        terminal.type(f"{prepare}; PS1=; echo re''ady\n")
        assert terminal.sees("ready"), terminal.shown
        terminal.shown = ""
        terminal.type(f"{typed}\t")
        assert terminal.sees(rest), repr(terminal.shown)


@pytest.mark.parametrize("case", CASES)
def test_fish_offers_the_rest(tmp_path, case):
    check_shell("fish")
    typed, rest = CASES[case]
    for name in ("script.py", "config.yaml"):
        (tmp_path / name).touch()
    done = subprocess.run(["fish", "--no-config", "-c", f"source {FILES}/pyexecd.fish; complete -C '{typed}'"],
                          cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, timeout=SECONDS)
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == [rest.rpartition(" ")[2]], done


@pytest.mark.parametrize("shell, name", [("bash", "pyexecd"), ("zsh", "_pyexecd"), ("fish", "pyexecd.fish")])
def test_the_program_prints_them(shell, name):
    printed = subprocess.run([os.environ["PYEXECD"], "completions", shell], capture_output=True, text=True, check=True)
    assert printed.stdout == (FILES / name).read_text()


def test_another_shell_is_refused():
    refused = subprocess.run([os.environ["PYEXECD"], "completions", "tcsh"], capture_output=True, text=True, check=False)
    assert refused.returncode == 64 and "must be bash, zsh or fish" in refused.stderr
