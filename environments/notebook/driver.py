"""The Python of a session executes main() of this program, which executes the cells of the session in one namespace.

Its standard input is a socket: the length of a cell in decimal digits, a newline and the code come from there, and one
byte goes back when the cell has ended, its exit status. The cells have /dev/null for standard input. The line "copy" with
descriptors beside it is the order to make a copy of this process (copy.py). The line "packages PATH" says that something was
installed for this session into the virtual environment at PATH. The line "interrupted" says that the last cell was: one that has
come since then, if there was none before, is that.

PARTS, which embed.py puts before it, are the texts of the programs beside it, which few sessions need.
"""

import sys
from _frozen_importlib_external import PathFinder

import __future__
import _socket
import ast
import builtins
import fcntl
import functools
import io
import linecache
import operator
import os
import signal
import traceback
import types

CHANNEL = 200  # at least: out of the way of descriptors that programs number themselves
KEPT = CHANNEL + 1  # likewise
COPY = b"copy\n"
INTERRUPTED = b"interrupted\n"
PACKAGES = b"packages "
PROGRAMS = []  # directories of programs that packages of the session have
GIVEN = 4  # descriptors with that
BYTES = 4  # of each
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
FUTURES = functools.reduce(operator.or_, (getattr(__future__, each).compiler_flag for each in __future__.all_feature_names))
COROUTINE = 0x80  # of co_flags
RICH = [f"_repr_{form}_" for form in ("mimebundle", "png", "jpeg", "svg", "html", "markdown", "latex")]
MOST_VALUES = 100  # that Out keeps
OURS = [globals()]  # whose frames no traceback shows


def load_part(name, **given):
    part = types.ModuleType(name)
    vars(part).update(given)
    OURS.append(vars(part))
    exec(compile(PARTS[name], f"<{name}>", "exec"), vars(part))
    return part


class Output:
    """Standard output or the standard errors. Cells close it, and put other things there: each cell needs it all the same, or
    has to be told where it leads."""

    all_kept = []

    def __init__(self, fd, name):
        self.fd = fd
        self.name = name
        self.stream = getattr(sys, name)
        self.settings = {each: getattr(self.stream, each) for each in ("encoding", "errors")}
        self.is_by_line = self.stream.line_buffering
        self.kept = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, KEPT)
        self.all_kept.append(self.kept)

    def renew(self):
        """In a copy, whose descriptor leads elsewhere than that of its original."""
        os.dup2(self.fd, self.kept, inheritable=False)

    def leads_here(self, fd):
        """Or to the other one of the two, which comes into results as well."""
        place = os.fstat(fd)
        return any(os.path.samestat(place, os.fstat(each)) for each in self.all_kept)

    def repair(self):
        """Returns what there is to say about it."""
        try:
            self.open_descriptor()
            return self.renew_streams() or self.look_elsewhere()
        except Exception:  # what it needs has been closed or replaced
            return None

    def open_descriptor(self):
        try:
            os.fstat(self.fd)
        except OSError:
            os.dup2(self.kept, self.fd)

    def renew_streams(self):
        name, original = self.name, f"__{self.name}__"
        has_lost, has_lost_original = self.is_lost(getattr(sys, name)), is_closed(getattr(sys, original))
        if has_lost or has_lost_original:
            self.stream = io.open(self.fd, "w", newline="\n", closefd=False, **self.settings)
            self.stream.reconfigure(line_buffering=self.is_by_line)
        if has_lost_original:
            setattr(sys, original, self.stream)
        if has_lost:
            setattr(sys, name, self.stream)
        return f"sys.{name} had been closed; it is a new one now." if has_lost else None

    def is_lost(self, stream):
        """Only what may write to a stream that was closed is tried: a class of the cell does what it likes with that."""
        if is_closed(stream):
            return True
        if stream is None or type(stream) is io.TextIOWrapper or not is_closed(self.stream):
            return False
        try:
            stream.write("")
            return False
        except ValueError:
            return True

    def look_elsewhere(self):
        stream = getattr(sys, self.name)
        if not self.leads_here(self.fd):
            return (f"Descriptor {self.fd} is {os.readlink(f'/proc/self/fd/{self.fd}')} now: sys.{self.name} goes there, and not "
                    "into results. If that is not wanted, restart the session.")
        if stream is None or type(stream) is io.StringIO or type(stream) is io.TextIOWrapper and not self.is_here(stream):
            kind = "None" if stream is None else f"a {type(stream).__name__}"
            return (f"sys.{self.name} is {kind} now: what goes there does not come into results. If that is not wanted: "
                    f"sys.{self.name} = sys.__{self.name}__")
        return None

    def is_here(self, stream):
        try:
            return self.leads_here(stream.fileno())
        except OSError:  # it has none
            return False

    def flush(self):
        for stream in getattr(sys, self.name), getattr(sys, f"__{self.name}__"), self.stream:
            try:
                stream.flush()
            except Exception:  # the cell has closed it, or put something else there
                pass


def is_closed(stream):
    try:
        return getattr(stream, "closed", False) is True
    except ValueError:  # it has been detached from what it writes to
        return True


class Library:
    """The C library, whose own output code that is not Python writes to."""

    def __init__(self):
        self.flush_stream = None
        self.modules = 0

    def is_used(self):
        """Whether a module is there that Python has not brought along, or one that calls any function."""
        if len(sys.modules) == self.modules:
            return False
        self.modules = len(sys.modules)
        return "_ctypes" in sys.modules or any(map(is_foreign, list(sys.modules.values())))

    def flush(self):
        try:
            if self.flush_stream is None and self.is_used():
                import ctypes

                library = ctypes.CDLL(None)
                self.flush_stream = functools.partial(library.fflush, ctypes.c_void_p.in_dll(library, "stdout"))
            if self.flush_stream:
                self.flush_stream()
        except Exception:  # there is no ctypes, or another C library
            pass


def is_foreign(module):
    place = getattr(getattr(module, "__spec__", None), "origin", None)
    return isinstance(place, str) and place.endswith(".so") and "/lib-dynload/" not in place


class Cells:
    def __init__(self, module, link):
        self.link = link
        self.outputs = [Output(1, "stdout"), Output(2, "stderr")]
        self.library = Library()
        self.module = module
        self.names = vars(module)
        self.count = 0
        self.flags = AWAIT
        self.is_coming = False  # a cell, of which this has read something
        self.is_interrupted = False  # before it was at work
        self.was_interrupted = False  # the one before it
        self.is_busy = False
        self.has_failed = False
        self.loop = None
        self.rich = None
        self.ipython = self.shell = None  # the part, and what it has made
        self.history = {"In": [""], "Out": {}}
        self.has_ipython = PathFinder.find_spec("IPython") is not None
        if self.has_ipython:
            self.names.update(self.history)
        self.directory = os.getcwd()
        self.copier = None
        self.left = []  # loops of those that this is a copy of: to close one would change it for them

    def copy(self, channel, given):
        """True in the copy. GIVEN came with the order, and are closed."""
        try:
            self.copier = self.copier or load_part("copy")
        except BaseException:  # a cell has broken what it needs; the supervisor sees the end of the gate
            for fd in given:
                os.close(fd)
            return False
        if not self.copier.make_copy(channel, given, self.loop, Output.all_kept):
            return False
        for each in self.outputs:
            each.renew()
        self.left.append(self.loop)
        self.loop = None
        return True

    def interrupt(self, _number, _frame):
        """Between two cells it was meant for the former, unless the latter has been sent."""
        if self.is_busy:
            self.was_interrupted = True
            raise KeyboardInterrupt
        if self.is_coming or has_come(self.link):
            self.is_interrupted = True
        else:
            self.was_interrupted = True

    def forget(self):
        """A cell that has come is over."""
        self.is_coming = False
        self.is_interrupted = False

    def receive(self):
        """The code of a cell, and no descriptors; or no code, but those of an order to copy this process."""
        head, given = receive_head(self.link)
        if head == COPY:
            return None, given
        if head == INTERRUPTED:
            if not self.was_interrupted:
                self.is_interrupted = False  # that was for the former
            return self.receive()
        if head.startswith(PACKAGES):
            add_packages(os.fsdecode(head[len(PACKAGES):-1]))
            return self.receive()
        return receive_code(self.link, int(head)), given

    def execute(self, source):
        """The exit status of a cell."""
        self.count += 1
        name = f"<cell {self.count}>"
        self.has_failed = False
        self.was_interrupted = self.is_interrupted
        if self.rich:
            self.rich.begin_cell()
        try:
            try:
                self.is_busy = True
                self.execute_whole(source, name)
                save_figures()
            finally:
                self.is_busy = False
                self.forget()
            return int(self.has_failed)
        except SystemExit as end:
            return status_of(end)
        except BaseException as error:
            self.fail(error)
            return 1

    def execute_whole(self, source, name):
        if self.has_ipython:
            self.history["In"].append(source)
        if self.is_interrupted:
            raise KeyboardInterrupt
        if self.has_ipython and ("IPython" in sys.modules or "ipython" in source.lower()):
            self.need_shell()
        if self.shell is None:
            self.execute_parts(source, name)
            return
        self.ipython.trigger(self.shell, "pre", source)
        try:
            self.execute_parts(source, name)
        finally:
            self.ipython.trigger(self.shell, "post", source)

    def need_shell(self):
        """One that cannot be loaded is not tried again."""
        if self.shell is not None:
            return
        try:
            self.ipython = load_part("shell", cells=self, display=self.display, rich=self.need_rich)
            self.shell = self.ipython.make(self.module)
        except Exception as error:
            self.has_ipython = False
            print(f"IPython cannot be used: {type(error).__name__}: {str(error)[:500]}", file=sys.stderr)

    def need_rich(self):
        if self.rich is None:
            self.rich = load_part("rich", directory=self.directory)
        return self.rich

    def parse(self, source, name):
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        return compile(source, name, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)

    def parse_any(self, source, name):
        """The tree of SOURCE, in the syntax of IPython if it is not Python and IPython is there."""
        try:
            return self.parse(source, name)
        except SyntaxError as error:
            wrong = error
        if self.has_ipython and looks_like_ipython(source):
            self.need_shell()
            other = self.ipython.transform(self.shell, source) if self.shell else source
            if other.strip() != source.strip():
                return self.parse(other, name)
        raise wrong

    def execute_parts(self, source, name):
        tree = self.parse_any(source, name)
        last = []
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not ends_quietly(tree.body[-1], name):
            last = [ast.Interactive([tree.body.pop()])]  # which shows its value
        for part in [tree] + last:
            mode = "exec" if part is tree else "single"
            code = compile(part, name, mode, self.flags, dont_inherit=True)
            self.flags |= code.co_flags & FUTURES
            if code.co_flags & COROUTINE:
                self.wait_for(eval(code, self.names))
            else:
                exec(code, self.names)

    def show_value(self, value):
        """What sys.displayhook is."""
        if value is None:
            return
        if is_rich(value):
            self.need_rich().show(value)
            builtins._ = value
        else:
            sys.__displayhook__(value)
        if self.has_ipython:
            self.keep(value)

    def keep(self, value):
        out = self.history["Out"]
        out[self.count] = self.names[f"_{self.count}"] = value
        if len(out) > MOST_VALUES:
            oldest = next(iter(out))
            del out[oldest]
            self.names.pop(f"_{oldest}", None)

    def display(self, *objects, raw=False, **_others):
        """Shows OBJECTS: pictures and pages become files of the working directory, other things are text."""
        for each in objects:
            if raw and isinstance(each, dict):
                self.need_rich().show(None, each)
            elif is_rich(each):
                self.need_rich().show(each)
            else:
                print(repr(each))

    def fail(self, error):
        """Shows ERROR. The cell goes on if that is IPython's way."""
        self.has_failed = True
        for each in self.outputs:
            each.repair()
        show(error, self.ipython)

    def flush(self):
        """Before what is no Python writes, and at the end of a cell: then it comes in the order in which it was written."""
        for each in self.outputs:
            each.flush()

    def finish(self):
        """At the end of a cell, whose output is its own, and not that of the next one."""
        found = [each.repair() for each in self.outputs]
        self.flush()
        self.library.flush()
        for text in filter(None, found):
            self.tell(text)

    def tell(self, text):
        """Says something about the session, wherever sys.stderr leads."""
        try:
            os.write(self.outputs[1].kept, text.encode("utf-8", "backslashreplace") + b"\n")
        except OSError:
            pass

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


def is_rich(value):
    kind = type(value)
    return any(hasattr(kind, name) for name in RICH) and not isinstance(value, type)


def ends_quietly(last, name):
    """True when a semicolon stands behind the LAST expression of the cell NAME; in a comment it is none."""
    line = linecache.cache[name][2][last.end_lineno - 1]
    return line.encode()[last.end_col_offset:].lstrip().startswith(b";")


def looks_like_ipython(source):
    return any(mark in source for mark in "%!?") or source[:1] in " \t>I"


def visible(link, ipython):
    """The frames of a traceback from the first line of a cell on, without those of programs that execute cells."""
    kept = []
    while link is not None:
        code, names = link.tb_frame.f_code, link.tb_frame.f_globals
        is_hidden = any(names is each for each in OURS) or ipython and code.co_filename.startswith(ipython.folder)
        if not is_hidden and (kept or code.co_filename.startswith("<cell ")):
            kept.append(link)
        link = link.tb_next
    for each, following in zip(kept, [*kept[1:], None]):
        each.tb_next = following
    return kept[0] if kept else None


def show(error, ipython):
    try:
        if ipython and isinstance(error, ipython.UsageError):
            print(f"UsageError: {error}", file=sys.stderr)
        elif sys.excepthook is sys.__excepthook__:
            traceback.print_exception(type(error), error, visible(error.__traceback__, ipython))
        else:
            sys.excepthook(type(error), error, visible(error.__traceback__, ipython))
    except BaseException as another:
        os.write(2, f"{type(error).__name__}, and it could not be shown: {type(another).__name__}\n".encode())


def save_figures():
    """The starter has put its own function there if it saves figures."""
    shown = getattr(sys.modules.get("matplotlib.pyplot"), "show", None)
    if getattr(getattr(shown, "__code__", None), "co_filename", None) == "figures.py":
        shown()


def leave(channel):
    try:
        os.close(channel)
    except OSError:  # it is a copy on its way
        pass


def take_channel():
    channel = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, CHANNEL)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.register_at_fork(after_in_child=functools.partial(leave, channel))
    return channel


def has_come(link, flags=_socket.MSG_DONTWAIT):
    """Whether there is something to read."""
    try:
        return bool(link.recv(1, flags | _socket.MSG_PEEK))
    except OSError:  # not now, or a cell has closed it
        return False


def receive_byte(link):
    """The next one of a head, and the descriptors beside it."""
    byte, beside, _flags, _address = link.recvmsg(1, _socket.CMSG_SPACE(GIVEN * BYTES), _socket.MSG_CMSG_CLOEXEC)
    if not byte:
        os._exit(0)
    data = b"".join(data for level, kind, data in beside if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS))
    return byte, [int.from_bytes(data[at:at + BYTES], sys.byteorder) for at in range(0, len(data), BYTES)]


def receive_head(link):
    """A line, and the descriptors beside it."""
    head, given = b"", []
    while not head.endswith(b"\n"):
        byte, more = receive_byte(link)
        head += byte
        given += more
    return head, given


def receive_code(link, left):
    parts = []
    while left:
        parts.append(link.recv(left))
        if not parts[-1]:
            os._exit(0)
        left -= len(parts[-1])
    return b"".join(parts).decode("utf-8", "surrogateescape")


def add_packages(place):
    """What is installed in PLACE comes before what is installed for all, here and in programs that cells start. These know of it
    by variables, as nothing can be written where their Python would look."""
    minor = os.path.basename(os.path.dirname(os.__file__))
    site = f"{place}/lib/{minor}/site-packages"
    if site not in sys.path:
        ends = [each.rsplit("/", 1)[-1] in ("site-packages", "dist-packages") for each in sys.path]
        sys.path.insert(ends.index(True) if True in ends else len(sys.path), site)
        others = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{site}:{others}" if others else site
        add_programs(f"{place}/bin")
    for finder in sys.meta_path:
        getattr(finder, "invalidate_caches", int)()


def add_programs(place):
    """Programs of PLACE come behind all others but those of earlier packages: `python3` and `pip` stay what they are."""
    path = os.environ.get("PATH", os.defpath).split(":")
    earlier = [path.index(each) for each in PROGRAMS if each in path]
    path.insert(min(earlier, default=len(path)), place)
    PROGRAMS.append(place)
    os.environ["PATH"] = ":".join(path)


def answer(channel, status):
    try:
        os.write(channel, bytes([status]))
    except OSError:
        os.write(2, f"The cell has closed or used descriptor {channel}, which is that of its session.\n".encode())
        os._exit(1)


def main():
    process = os.getpid()
    channel = take_channel()
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, channel)
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    ours, sys.modules["__main__"] = sys.modules["__main__"], module
    sys.argv = [""]
    cells = Cells(module, link)
    builtins.display = cells.display
    sys.displayhook = cells.show_value
    signal.signal(signal.SIGINT, cells.interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    while ours:
        cells.is_coming = has_come(link, 0)
        source, given = cells.receive()
        if source is None:
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # in the copy it is for what comes to that
            if cells.copy(channel, given):
                process = os.getpid()
                cells.forget()
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            continue
        status = cells.execute(source)
        cells.finish()
        if os.getpid() != process:
            os._exit(status)  # a cell has forked, and this is the child
        answer(channel, status)
