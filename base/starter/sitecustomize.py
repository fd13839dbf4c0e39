"""What every Python of a script loads before the script, unseen by it; see starter.h.

Python's own `site` imports this file. It takes back all that brought it here, and then imports the
file of the same name that Python would have found without it. It must be quick: no imports but of
what is loaded already.
"""

import _signal
import os
import sys

PERIODICAL = _signal.SIGURG  # sent once in a while by who runs the script; it is ignored by default


def leave_no_trace(archive):
    theirs = os.environ["PYTHONPATH"][len(archive) + 1 :]
    if theirs:
        os.environ["PYTHONPATH"] = theirs
    else:
        del os.environ["PYTHONPATH"]
    sys.path.remove(archive)
    sys.path_importer_cache.pop(archive, None)
    forget_files(archive)


def forget_files(archive):
    """Of ARCHIVE, which Python reads again whenever something is loaded from it."""
    sys.modules["zipimport"]._zip_directory_cache.pop(archive, None)


def flush_regularly():
    text_stream = type(sys.__stdout__)

    # Whatever else a script calls its output is flushed by nobody but itself.
    def flush(stream, original):
        try:
            (stream if type(stream) is text_stream else original).flush()
        except Exception:  # it is just being written to, or closed
            pass

    def flush_all(_number, _frame):
        nonlocal flushes
        flushes += 1
        flush(sys.stdout, sys.__stdout__)
        flush(sys.stderr, sys.__stderr__)

    # The only wait of Python that any signal ends.
    def pause():
        """Wait until a signal arrives."""
        before = None
        while before != flushes:
            before = flushes
            pause_once()

    flushes = 0
    pause_once, _signal.pause = _signal.pause, pause
    _signal.signal(PERIODICAL, flush_all)


class Figures:
    """Watches for matplotlib, whose figures are to be saved; what does so is loaded with it."""

    def __init__(self, source):
        directory = os.getcwd()

        class Finder:
            @staticmethod
            def find_spec(name, path=None, target=None):
                return load()["find_spec"](name, path, target) if name == "matplotlib" else None

        def load():
            sys.meta_path.remove(Finder)
            figures = {"__name__": "figures", "directory": directory, "process": process}
            exec(compile(source, "figures.py", "exec"), figures)
            self.then = figures["AFTERWARDS"]
            return figures

        def note_imported(name, module):
            """A module of matplotlib is there that no finder was asked for."""
            if Finder in sys.meta_path:
                load()
            if name in self.then:
                self.then[name](module)

        self.Finder = Finder
        self.note_imported = note_imported
        sys.meta_path.insert(0, Finder)


def import_theirs():
    """The sitecustomize that Python would have found, or the error that there is none."""
    ours = sys.modules.pop(__name__)
    try:
        import sitecustomize  # noqa: F401
    except BaseException:
        sys.modules[__name__] = ours  # who imports this file takes it away again
        raise


def come_home():
    """Started ahead of a call, Python must not execute what earlier ones have left in their home."""
    site = sys.modules["site"]
    os.environ["HOME"] = os.environ.pop("PYEXECD_HOME", "")
    if site.USER_SITE is not None:
        site.USER_BASE = site.USER_SITE = None
        site.getusersitepackages()


def wait_at(gate):
    """Started ahead of its code: the script is not read before that has come."""
    tools = -1
    try:
        os.write(gate, b"w")
        is_open = os.read(gate, 1)
        if is_open == TOOLS_FOLLOW:
            tools = receive(gate)
            is_open = os.read(gate, 1)
    except OSError:  # who holds the other end has ended
        is_open = b""
    if not is_open:
        os._exit(0)
    os.close(gate)
    go_on(tools=tools)


def receive(gate):
    """The descriptor beside the next byte, which stays open in what is executed."""
    sockets = sys.modules.get("_socket") or __import__("_socket")
    socket = sockets.socket(fileno=os.dup(gate))
    size = sockets.CMSG_SPACE(4)
    (_level, _type, data), = socket.recvmsg(1, size)[1]
    socket.close()
    descriptor = int.from_bytes(data, sys.byteorder)
    os.dup2(descriptor, TOOLS)
    os.close(descriptor)
    return TOOLS


def look_at(paths):
    seen = []
    for path in paths:
        try:
            file = os.stat(path)
            seen.append((file.st_dev, file.st_ino, file.st_mtime_ns, file.st_ctime_ns))
        except OSError:
            seen.append(None)
    return seen


def remember(paths):
    """What Python has looked at, and would see changed if it did so when the code comes."""
    places.extend(paths)
    before.extend(look_at(paths))


def start_anew(tools):
    with open("/proc/self/cmdline", "rb") as file:
        arguments = file.read().split(b"\0")[:-1]
    with open("/proc/self/environ", "rb") as file:
        variables = dict(part.split(b"=", 1) for part in file.read().split(b"\0") if b"=" in part)
    variables.pop(b"PYEXECD_GATE", None)
    variables.pop(b"LD_PRELOAD", None)
    variables[b"HOME"] = variables.pop(b"PYEXECD_HOME", b"")
    if tools >= 0:
        variables[b"PYEXECD_TOOLS"] = b"%d" % tools
    os.execvpe(arguments[0], arguments, variables)


def ahead_suits():
    if not ahead:
        return True
    with open(sys.argv[0], "rb") as file:
        return ahead["suits"](file.read())


def go_on(is_rehearsal=False, tools=-1):
    """Its code is there, and is about to be read. A rehearsal is to make that quick, so it does all of the work that it
    can, and ends a copy of what is out of date. TOOLS is the socket to them, if the script has some."""
    global process
    if look_at(places) != before:
        os._exit(0) if is_rehearsal else start_anew(tools)
    process = os.getpid()
    suits = not os.path.exists(sys.modules["site"].USER_SITE or "") and ahead_suits()
    if is_rehearsal:
        return
    if not suits or (hidden and not hidden["complete"]()):
        start_anew(tools)
    lend_tools(tools)
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed()


def lend_tools(descriptor):
    if descriptor < 0:
        os.close(archive)
        return
    variables = {}
    exec(lender or code_of("lender"), variables)
    variables["lend"](archive, descriptor)


def code_of(name):
    """The code of a part of the starter, as long as its archive is open."""
    code = __loader__.get_code(name)
    forget_files(__loader__.archive)
    return code


def load_part(name, variables):
    """In a zygote: defines VARIABLES as a part of the starter does."""
    variables["__name__"] = name
    seen = set(sys.modules)
    exec(code_of(name), variables)
    for module in sys.modules.keys() - seen:
        del sys.modules[module]


def load_ahead(name):
    """In a zygote, of which all else is a copy: imports a module ahead of any script. Returns what has to be known of
    all that have been imported so, why this one has not, or None, and show_all; without the former, the zygote is
    spoilt."""
    if not ahead:
        load_part("preload", ahead)
        ahead["figures"] = figures
        ahead["hidden"] = led
    try:
        failure = ahead["load"](name, code_of)
    except ahead["Spoilt"] as spoilt:
        return [None, None, str(spoilt)]
    remember([file for file in ahead["changeable_files"]() if file not in places])
    return [ahead["kept"], ahead["packages"], failure, ahead["show_all"]]


def use_ahead(has_imports):
    if ahead:
        ahead["use"](has_imports)


process = os.getpid()  # of the script
figures_source = __loader__.get_data("figures.py")
ahead = {}  # what preload.py defines, once there is something
hidden = {}  # likewise of hidden.py, in a zygote that is led to what it does not see
led = ()  # likewise: the places of sys.path where it does not
lender = None  # the code of lender.py, in a zygote: each script would have to read the archive
places, before = [], []  # what Python has looked at, and how that was
TOOLS, TOOLS_FOLLOW = 102, b"t"  # see starter.h
archive = int(__loader__.archive.rpartition("/")[2])
leave_no_trace(__loader__.archive)
flush_regularly()
figures = Figures(figures_source) if os.environ.pop("PYEXECD_FIGURES", None) != "off" else None
gate = os.environ.pop("PYEXECD_GATE", None)
is_ahead = "PYEXECD_HOME" in os.environ
tools = int(os.environ.pop("PYEXECD_TOOLS", -1))
if is_ahead:
    come_home()
else:
    lend_tools(tools)
if is_ahead and gate is not None:
    # Before theirs, which can lie where scripts write.
    remember([sys.executable or "", *sys.path])
    wait_at(int(gate))
try:
    import_theirs()
finally:
    if is_ahead and gate is None:
        lender = code_of("lender")
        load_part("hidden", hidden)
        led = hidden["led"]
        if not led:
            hidden.clear()
        remember([sys.executable or "", *(place for place in sys.path if place not in led)])
        # The core takes them.
        sys._pyexecd_go_on, sys._pyexecd_load_ahead, sys._pyexecd_use_ahead = go_on, load_ahead, use_ahead
