"""The program of a session whose cells a Jupyter kernel executes, in the place of driver.py. Its argument names the kernel.

It lives in the same sandbox or container as the kernel, so that a hostile message can harm only its own session. It starts
the kernel with as few imports as it can, because the first cell waits for that, and then is the relay between the kernel and
the session (kernel_relay.py).

PARTS, which join.py puts before it, are the texts of the programs beside it.
"""

import sys

if sys.path[:1] == [""]:
    del sys.path[0]  # a file of the working directory must not stand for a module of this program

import contextlib
import fcntl
import importlib.util
import json
import os
import re
import signal
import subprocess
import types

PARENT = "/dev/shm"  # no script of the machine's sees it: every tree and every container has its own
PORTS = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}  # numbers behind the path of each socket
PREFIX, MACHINE = os.path.join(sys.prefix, "share/jupyter"), ["/usr/local/share/jupyter", "/usr/share/jupyter"]
NAME = sys.argv[1] if len(sys.argv) > 1 else ""  # of the kernel


def load_part(name, **given):
    part = types.ModuleType(name)
    vars(part).update(given)
    exec(compile(PARTS[name], f"<{name}>", "exec"), vars(part))
    return part


def say(text):
    print(text, file=sys.stderr)


def fail(why):
    say(f"pyexecd: Jupyter kernel {NAME}: {why}")
    os._exit(1)


def new_name():
    return os.urandom(16).hex()


def places():
    """The directories of `jupyter --paths` that have `kernels`."""
    data, home = os.environ.get("JUPYTER_DATA_DIR"), os.environ.get("HOME")
    user = data or home and os.path.join(home, ".local/share/jupyter")
    listed = os.environ.get("JUPYTER_PATH", "").split(":")
    return [os.path.join(place, "kernels") for place in [*listed, PREFIX, user, *MACHINE] if place]


def kernels():
    """The names of those that are there."""
    for place in places():
        with contextlib.suppress(OSError):
            for name in os.listdir(place):
                if os.access(os.path.join(place, name, "kernel.json"), os.R_OK):
                    yield name


def find_spec():
    """What says how the kernel is started, and the directory of that file."""
    for place in places():
        directory = os.path.join(place, NAME)
        try:
            with open(os.path.join(directory, "kernel.json"), "rb") as file:
                text = file.read()
        except OSError:
            continue
        return read_spec(text, directory), directory
    return fail(f'there is no Jupyter kernel "{NAME}" (`jupyter kernelspec list`); there is {", ".join(kernels()) or "none"}')


def read_spec(text, directory):
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        spec = json.loads(text)
        command = spec["argv"]
        if command and isinstance(command, list) and all(isinstance(each, str) for each in command):
            return spec
    return fail(f'{directory}/kernel.json has no list of strings "argv"')


def command_of(spec, directory, connection):
    """A kernelspec that pip has installed says "python", and means the Python of its environment."""
    values = {"{connection_file}": connection, "{resource_dir}": directory, "{prefix}": sys.prefix}
    command = [re.sub("|".join(values), lambda found: values[found.group()], each) for each in spec["argv"]]
    return [sys.executable if re.fullmatch(r"python[0-9.]*", command[0]) else command[0], *command[1:]]


def variables_of(spec):
    theirs = spec.get("env")
    given = {name: value for name, value in theirs.items() if isinstance(value, str)} if isinstance(theirs, dict) else {}
    return {"PYDEVD_DISABLE_FILE_VALIDATION": "1",  # else the debugger of ipykernel warns
            **os.environ, "JPY_PARENT_PID": str(os.getpid()),  # else it explains how to leave it
            **given}


class Connection:
    """A private directory for the sockets, so that no network is needed, and the file in it that the kernel reads. A process
    that can open the directory may listen, but only messages signed with the key are obeyed."""

    def __init__(self):
        self.key = new_name()
        self.directory = os.path.join(PARENT, f"pyexecd-jupyter-{new_name()}")
        self.path = os.path.join(self.directory, "kernel.json")
        try:
            os.mkdir(self.directory, 0o700)
            with open(self.path, "x") as file:
                json.dump({"transport": "ipc", "ip": f"{self.directory}/s", "signature_scheme": "hmac-sha256",
                           "key": self.key, "kernel_name": NAME,
                           **{f"{channel}_port": port for channel, port in PORTS.items()}}, file)
        except OSError as error:
            fail(f"cannot make a directory in {PARENT}: {error.strerror}")

    def address(self, channel):
        return f"ipc://{self.directory}/s-{PORTS[channel]}"


class Kernel:
    """Its process. Its output is ours, and it has no input."""

    def __init__(self, spec, directory, connection):
        self.takes_messages = spec.get("interrupt_mode") == "message"
        command = command_of(spec, directory, connection)
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, env=variables_of(spec))
        except (OSError, ValueError) as error:
            fail(f"cannot execute {command[0]}: {getattr(error, 'strerror', error)}")

    def interrupt(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)


def take_input():
    """The socket is not the kernel's."""
    channel = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return channel


def watch_signals():
    """The end of a pipe from which the numbers of signals come."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    return ours


def main():
    cells, signals = take_input(), watch_signals()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    spec, directory = find_spec()
    if importlib.util.find_spec("zmq") is None:
        fail(f"{sys.executable} has no pyzmq, which sessions in Jupyter kernels need; ipykernel and jupyter_client bring it")
    connection = Connection()
    kernel = Kernel(spec, directory, connection.path)  # it starts while we go on
    rich = load_part("rich", directory=os.getcwd())
    load_part("kernel_relay", connection=connection, kernel=kernel, rich=rich, say=say, fail=fail, new_name=new_name,
              cells=cells, signals=signals).main()


if __name__ == "__main__":
    main()
