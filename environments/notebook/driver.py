"""The Python of a session executes this program, which executes the cells of the session in one namespace.

Its standard input is a socket: the length of a cell in decimal digits, a newline and the code come from there, and one
byte goes back when the cell has ended, its exit status. The cells have /dev/null for standard input.
"""

import sys

place = sys.path[:1]
if place == [""]:
    del sys.path[0]  # a file there must not stand for a module of these

import __future__
import ast
import builtins
import fcntl
import functools
import linecache
import operator
import os
import signal
import traceback
import types

if place == [""]:
    sys.path.insert(0, os.getcwd())

CHANNEL = 200  # at least: out of the way of descriptors that programs number themselves
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FUTURES = functools.reduce(operator.or_, (getattr(__future__, each).compiler_flag for each in __future__.all_feature_names))
COROUTINE = 0x80  # of co_flags


class Cells:
    def __init__(self, names):
        self.names = names
        self.count = 0
        self.flags = AWAIT
        self.is_busy = False
        self.loop = None

    def interrupt(self, _number, _frame):
        if self.is_busy:
            raise KeyboardInterrupt

    def execute(self, source):
        """The exit status of a cell."""
        self.count += 1
        name = f"<cell {self.count}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        try:
            try:
                self.is_busy = True
                self.execute_parts(source, name)
                save_figures()
            finally:
                self.is_busy = False
            return 0
        except SystemExit as end:
            return status_of(end)
        except BaseException as error:
            show(error)
            return 1

    def execute_parts(self, source, name):
        tree = compile(source, name, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        last = []
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = [ast.Interactive([tree.body.pop()])]  # which shows its value
        for part in [tree] + last:
            mode = "exec" if part is tree else "single"
            code = compile(part, name, mode, self.flags, dont_inherit=True)
            self.flags |= code.co_flags & FUTURES
            if code.co_flags & COROUTINE:
                self.wait_for(eval(code, self.names))
            else:
                exec(code, self.names)

    def wait_for(self, coroutine):
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            self.loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            self.loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
            raise


def status_of(end):
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 255
    print(end.code, file=sys.stderr)
    return 1


def show(error):
    """Prints the traceback of ERROR from the first line of a cell on."""
    frames = error.__traceback__
    while frames is not None and not frames.tb_frame.f_code.co_filename.startswith("<cell "):
        frames = frames.tb_next
    each = frames
    while each is not None:
        if each.tb_next is not None and each.tb_next.tb_frame.f_globals is globals():
            each.tb_next = None  # of the interrupt
        each = each.tb_next
    try:
        if sys.excepthook is sys.__excepthook__:
            traceback.print_exception(type(error), error, frames)
        else:
            sys.excepthook(type(error), error, frames)
    except BaseException as another:
        os.write(2, f"{type(error).__name__}, and it could not be shown: {type(another).__name__}\n".encode())


def save_figures():
    """The starter has put its own function there if it saves figures."""
    shown = getattr(sys.modules.get("matplotlib.pyplot"), "show", None)
    if getattr(getattr(shown, "__code__", None), "co_filename", None) == "figures.py":
        shown()


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the cell has closed it, or put something else there
            pass


def take_channel():
    channel = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, CHANNEL)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.register_at_fork(after_in_child=functools.partial(os.close, channel))
    return channel


def receive(channel):
    head = b""
    while not head.endswith(b"\n"):
        byte = os.read(channel, 1)
        if not byte:
            os._exit(0)
        head += byte
    left, parts = int(head), []
    while left:
        parts.append(os.read(channel, left))
        if not parts[-1]:
            os._exit(0)
        left -= len(parts[-1])
    return b"".join(parts).decode("utf-8", "surrogateescape")


def main():
    process = os.getpid()
    channel = take_channel()
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    ours, sys.modules["__main__"] = sys.modules["__main__"], module
    sys.argv = [""]
    cells = Cells(module.__dict__)
    signal.signal(signal.SIGINT, cells.interrupt)
    while ours:
        status = cells.execute(receive(channel))
        flush()
        if os.getpid() != process:
            os._exit(status)  # a cell has forked, and this is the child
        os.write(channel, bytes([status]))


main()
