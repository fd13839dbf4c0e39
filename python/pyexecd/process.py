"""A server that is started for one client, on its standard input and output."""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import re
import stat
import sys
import threading
import weakref
from typing import IO, TYPE_CHECKING, Any, Deque, List, Mapping, Optional, Sequence, Union

from .configuration import Config, Path, filled, users_own
from .connection import Connection
from .errors import ConfigurationError, ConnectionLost
from .lines import Lines, log_info

if TYPE_CHECKING:
    import subprocess

Command = Union[Sequence[Path], Path, None]

PROGRAM = "pyexecd"
CONFIGURATION_STATUSES = (os.EX_CONFIG, os.EX_NOINPUT)  # of a server: it is wrong, or the file is not there
STOP_SECONDS = 10.0  # that a server gets to end by itself
LAST_LINES = 20
LINE_BYTES = 1000


@functools.lru_cache(maxsize=None)
def find_program() -> str:
    """The path of the program: beside this Python, where this environment has its scripts, or on PATH. It is looked for
    once: later, scripts may have put another one into these places.

    Raises ConnectionLost if it is in none of these places."""
    import shutil
    import sysconfig
    folders = [os.path.dirname(sys.executable or ""), sysconfig.get_path("scripts") or "",
               os.path.join(os.path.expanduser("~"), ".local", "bin")]
    for folder in folders:
        found = folder and shutil.which(PROGRAM, path=folder)
        if found:
            return os.path.abspath(found)
    found = shutil.which(PROGRAM)
    if not found:
        raise ConnectionLost(f"the program {PROGRAM} is neither beside {sys.executable} nor on PATH; "
                             "install it, or name it with command=")
    return os.path.abspath(found)


_started: weakref.WeakSet[Process] = weakref.WeakSet()


def _let_go_in_a_fork() -> None:
    """A child of this process has copies of the pipes, and a server ends when nobody can write to it any more. They
    become /dev/null, as the files of the child still name their descriptors, and may be locked by a thread that the
    child has not."""
    if not _started:
        return
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for process in _started:
        for pipe in process.pipes():
            with contextlib.suppress(OSError, ValueError):  # It is closed.
                os.dup2(nothing, pipe.fileno(), inheritable=False)
    os.close(nothing)


os.register_at_fork(after_in_child=_let_go_in_a_fork)


def _is_alone(command: Command) -> bool:
    """Whether COMMAND has no arguments, which could name a configuration or lead to another machine."""
    return command is None or isinstance(command, (str, os.PathLike))


def _words(command: Command) -> List[str]:
    """The program and its arguments."""
    if command is None:
        return [find_program()]
    return [os.fspath(word) for word in ([command] if isinstance(command, (str, os.PathLike)) else command)]


class Process(Lines):
    """COMMAND is the program and its arguments. CONFIG is the path of a YAML file, or what it would hold; without it
    the server has the user's configuration, or that of a program.

    Whatever this process has in os.environ is handed on, unless ENVIRON takes its place.
    """

    def __init__(self, command: Command, config: Config, environ: Optional[Mapping[str, str]],
                 cwd: Optional[Path]) -> None:
        super().__init__()
        self._command = command
        self._config = config
        self._environ = environ
        self._cwd = cwd
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._errors: Optional[threading.Thread] = None
        self._last_lines: Deque[str] = collections.deque(maxlen=LAST_LINES)
        self._config_path: Optional[str] = None
        self._config_descriptor: Optional[int] = None
        self._closing = threading.RLock()

    def start(self, connection: Connection) -> None:
        import subprocess  # only here: it takes long, and a server at a URL needs none of it
        try:
            command = self._whole_command()
            # A group of its own: Ctrl-C cancels the call, and the server lives on for the next one.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self._cwd,
                env=None if self._environ is None else dict(self._environ), start_new_session=True,
                pass_fds=[] if self._config_descriptor is None else [self._config_descriptor])
        except OSError as error:
            self._forget_config()
            raise ConnectionLost(f"cannot start the server: {error}") from error
        _started.add(self)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        try:
            self._errors = threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True)
            self._errors.start()
            self._begin(connection, self._process.stdout, self._process.stdin)
        except BaseException:  # No thread may be there that could tell the server to end.
            self._process.kill()
            self._wait(STOP_SECONDS)
            self._forget_config()
            raise

    def pipes(self) -> List[IO[bytes]]:
        """Its ends of the pipes to the server."""
        process = self._process
        return [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe] if process else []

    def close(self) -> None:
        with self._closing:
            self._finish_writing()
            self._wait(STOP_SECONDS)
            self._forget_config()

    def _whole_command(self) -> List[str]:
        command = _words(self._command)
        config = self._config
        if config is None and _is_alone(self._command) and not users_own(self._environ):
            config = {}
        if isinstance(config, Mapping):
            command += ["--config", self._hand_over(filled(config))]
        elif config is not None:
            command += ["--config", os.fspath(config)]
        return command

    def _hand_over(self, config: Mapping[str, Any]) -> str:
        """JSON is YAML. The file stays as long as the server, which may read it again. It has no name: scripts may be
        able to change what lies where temporary files do. Only a command, which may close descriptors, gets one, in a
        folder of its own, which scripts that work among temporary files only read."""
        import tempfile
        text = json.dumps(config, ensure_ascii=False, default=os.fspath)
        if self._command is None:
            self._config_descriptor = descriptor = os.memfd_create("pyexecd.yaml")
            os.fchmod(descriptor, stat.S_IRUSR | stat.S_IWUSR)
            self._config_path = f"/proc/self/fd/{descriptor}"
        else:
            self._config_path = os.path.join(tempfile.mkdtemp(prefix="pyexecd-"), "pyexecd.yaml")
            descriptor = os.open(self._config_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
        with open(descriptor, "w", encoding="utf-8", closefd=self._config_descriptor is None) as file:
            file.write(text)
        return self._config_path

    def _forget_config(self) -> None:
        if self._config_descriptor is not None:
            os.close(self._config_descriptor)
        elif self._config_path:
            with contextlib.suppress(OSError):
                os.unlink(self._config_path)
                os.rmdir(os.path.dirname(self._config_path))
        self._config_path = self._config_descriptor = None

    def _wait(self, seconds: float) -> None:
        """Waits for the end of the server; after SECONDS it is killed."""
        if not self._process:
            return
        import subprocess
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ended(self) -> ConnectionLost:
        self._wait(STOP_SECONDS)
        assert self._process and self._errors and self._process.stdout
        self._process.stdout.close()
        self._errors.join(1)
        status = self._process.returncode
        if status in CONFIGURATION_STATUSES:
            return ConfigurationError("\n".join(map(self._without_place, self._last_lines)))
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        return ConnectionLost("\n".join([f"the server has ended ({how})", *self._last_lines]))

    def _without_place(self, line: str) -> str:
        """LINE without the place in a file that nobody has seen."""
        return re.sub(rf"^{re.escape(self._config_path)}:\d+:\d+: ", "", line) if self._config_path else line

    def _read_errors(self, source: IO[bytes]) -> None:
        with source:
            for line in iter(lambda: source.readline(LINE_BYTES), b""):
                text = line.decode("utf-8", "replace").rstrip("\n")
                self._last_lines.append(text)
                log_info("%s", text)
