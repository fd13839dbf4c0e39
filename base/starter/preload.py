"""Modules that a zygote imports ahead of any script; loaded into it when there are some.

A script does not see them before it imports them: they are out of sys.modules until then, and are
lent to it, with all that came with them. What cannot be undone spoils the zygote: it ends, and
the next one is without that module.
"""

import _locale
import _signal
import atexit
import builtins
import gc
import os
import sys
import time
from _operator import attrgetter, is_

BUDGET_BYTES = 512 << 20  # of memory, after which nothing more is imported
LONGEST_REASON = 200
UNSEEN = "<frozen importlib._bootstrap>"  # see figures.py

SESSION = "pyexecd session"  # the program of sessions, in the archive of the starter
NEEDED = dict.fromkeys(("tools", "pyexecd_tools"), ("json", "select", "threading"))  # by what a script is lent (tools.py)

MACHINERY = ("importlib._bootstrap", "importlib._bootstrap_external")  # who imports by these is not known

kept = {}  # modules by name, in the order in which they came; or another name for one that is not kept
needs = {}  # the names of those that each one has imported, likewise kept
packages = {}  # of kept modules, by name: those whose attribute they are when they are lent
functions = {}  # by name: what that has registered with atexit, and with which arguments
variables = {}  # by name: how the import of that has changed os.environ
closures = {}  # by name: see there
register = atexit.register  # Python's own
loaded = []  # the names that have been asked for and are there
asked = set()  # the names for which a finder of others is asked
places = []  # sys.path then
figures = None  # of matplotlib: what watches for it, see sitecustomize.py; None: nothing does
hidden = ()  # likewise, see hidden.py: places of sys.path in which a copy finds more than the zygote


class Spoilt(Exception):
    """What cannot be undone."""


class Watch:
    """Stands in place of __import__, and notes who imports what; what is to be called at the end; and what nobody can list."""

    HOOKS = ((sys, "addaudithook", "a hook for audits"), (sys.modules["codecs"], "register", "a search for codecs"))

    def __init__(self):
        self.original = builtins.__import__
        self.register = atexit.register
        self.adders = [(place, name, getattr(place, name), what) for place, name, what in self.HOOKS]
        self.hook = None

    def __enter__(self):
        builtins.__import__ = self
        atexit.register = self.note_function
        for place, name, add, what in self.adders:
            setattr(place, name, self.note_hooks(add, what))
        return self

    def __exit__(self, *_):
        builtins.__import__ = self.original
        atexit.register = self.register
        for place, name, add, _what in self.adders:
            setattr(place, name, add)

    def note_hooks(self, add, what):
        def note_and_add(*args):
            self.hook = what
            return add(*args)

        return note_and_add

    def note_function(self, function, *args, **kwargs):
        if builtins.__import__ is not self:
            return self.register(function, *args, **kwargs)  # it has been kept
        who = sys._getframe(1).f_globals.get("__name__")
        functions.setdefault(who, []).append((function, args, kwargs))
        return function

    def __call__(self, name, globals=None, locals=None, fromlist=(), level=0):
        count = len(sys.modules)
        module = self.original(name, globals, locals, fromlist, level)
        came = list(sys.modules)[count:] if len(sys.modules) > count else []
        names = self.names(name, module, fromlist, level)
        need((globals or {}).get("__name__"), [*came, *names])
        need(names[0], came)
        return module

    @staticmethod
    def names(name, module, fromlist, level):
        if fromlist:
            own = getattr(module, "__name__", "")
            return [own, *(f"{own}.{each}" for each in fromlist)]
        # Without a list the first part is returned; all of them are needed.
        return [name] if level == 0 else [getattr(module, "__name__", "")]


def need(importer, names):
    """What has come before needs nothing that comes now: that is asked for by somebody else."""
    if importer not in kept and importer not in MACHINERY:
        needs.setdefault(importer, {}).update(dict.fromkeys(names))


def are_same(objects, others):
    return len(objects) == len(others) and all(map(is_, objects, others))


class State:
    """What an import may leave behind beside modules; and what every script has, which it must leave as it is."""

    def __init__(self):
        self.descriptors = os.listdir("/proc/self/fd")
        self.signals = [_signal.getsignal(number) for number in range(1, 32)]
        self.streams = [sys.stdin, sys.stdout, sys.stderr, sys.excepthook, sys.displayhook, sys.unraisablehook,
                        sys.gettrace(), sys.getprofile()]
        self.search = list(sys.path)
        self.finders = [*sys.meta_path, *sys.path_hooks,
                        *(value for finder in sys.meta_path for value in getattr(finder, "__dict__", {}).values())]
        self.at_end = atexit._ncallbacks()
        self.settings = settings()

    def compare(self):
        end_helpers()
        if len(os.listdir("/proc/self/task")) > 1:
            raise Spoilt("leaves a thread")
        now = State()
        for what, is_left in (("a descriptor", self.descriptors != now.descriptors),
                              ("a handler of a signal", not are_same(self.signals, now.signals)),
                              ("another stream or hook", not are_same(self.streams, now.streams)),
                              ("another way to import", self.search != now.search or not are_same(self.finders, now.finders)),
                              ("a function for the end", self.at_end != now.at_end)):
            if is_left:
                raise Spoilt(f"leaves {what}")
        for what, value in self.settings.items():
            if now.settings[what] != value:
                raise Spoilt(f"changes {what}")


def settings():
    """Of the process and of Python, by the words for them. Not those that many packages change when they are imported:
    filters of warnings, copyreg, what is done at a fork."""
    umask = os.umask(0o77)
    os.umask(umask)
    with open("/proc/self/limits") as file:
        limits = file.read()
    return {
        "the umask": umask,
        "a limit of the process": limits,
        "the priority": (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)),
        "the CPU affinity": os.sched_getaffinity(0),
        "the signal mask": _signal.pthread_sigmask(_signal.SIG_BLOCK, []),
        "the locale": _locale.setlocale(_locale.LC_ALL),
        "the time zone": (time.tzname, time.timezone),
        "the garbage collector": (gc.isenabled(), gc.get_threshold(), gc.get_debug(), [id(each) for each in gc.callbacks]),
        "a limit of Python": (sys.getrecursionlimit(), sys.getswitchinterval(), getattr(sys, "get_int_max_str_digits", int)()),
        "the flags of dlopen": sys.getdlopenflags(),
        "sys.warnoptions": list(sys.warnoptions),
        "the timeout of sockets": timeout_of_sockets(),
        "the decimal context": decimal_context(),
        "the root logger": root_logger(),
    }


def there(name):
    return kept.get(name) or sys.modules.get(name)


# What Python begins with, where the module has not come yet.


def timeout_of_sockets():
    sockets = there("_socket")
    return sockets.getdefaulttimeout() if sockets else None


def in_a_copy(function):
    """What FUNCTION returns; variables that it leaves in its context are not left in this one, nor is a module."""
    known = there("_contextvars")
    contexts = known or __import__("_contextvars")
    if not known:
        del sys.modules["_contextvars"]
    return contexts.copy_context().run(function)


def decimal_context():
    """Without its flags: to compute something sets them."""
    decimal = there("_decimal")
    if not decimal:
        return [(28, "ROUND_HALF_EVEN", -999999, 999999, 1, 0, {"InvalidOperation", "DivisionByZero", "Overflow"})] * 2
    return [(each.prec, each.rounding, each.Emin, each.Emax, each.capitals, each.clamp,
             {trap.__name__ for trap, is_set in each.traps.items() if is_set})
            for each in (in_a_copy(decimal.getcontext), decimal.DefaultContext)]


def root_logger():
    logging = there("logging")
    if not logging:
        return [], 30, 0, "Logger"
    root = logging.root
    return [id(each) for each in root.handlers], root.level, root.manager.disable, logging.getLoggerClass().__name__


class Definitions:
    """What modules define that can be called. An import may add to those that were imported ahead, as to a package that
    looks for its parts when they are asked for; and change what is private to them, as typing_extensions does. Of the
    modules that Python begins with and of its library, also what their functions and classes are made of."""

    FUNCTION = type(are_same)
    PARTS = ("__code__", "__defaults__", "__kwdefaults__")
    CHANGEABLE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
    LIBRARY = getattr(sys, "stdlib_module_names", ())
    parts = attrgetter(*PARTS)

    def __init__(self, seen):
        modules = {name: vars(module) for name, module in {**kept, **seen}.items() if hasattr(module, "__dict__")}
        self.scopes = [(name, scope, dict(scope), name not in seen) for name, scope in modules.items()]
        self.functions = []
        deep = {id(value): (f"{name}.{key}", value) for name, scope in modules.items()
                if name in seen or name.partition(".")[0] in self.LIBRARY
                for key, value in scope.items() if type(value) is self.FUNCTION or isinstance(value, type)}
        for name, value in deep.values():
            if type(value) is self.FUNCTION:
                self.functions.append((name, value, self.parts(value)))
            elif value.__flags__ & self.CHANGEABLE:
                self.scopes.append((name, vars(value), dict(vars(value)), False))

    def compare(self):
        for name, scope, before, may_grow in self.scopes:
            if not are_same(before.values(), scope.values()):
                self.compare_scope(name, before, scope, may_grow)
        for name, function, before in self.functions:
            now = self.parts(function)
            if not are_same(before, now):
                self.compare_scope(name, dict(zip(self.PARTS, before)), dict(zip(self.PARTS, now)), False)

    @classmethod
    def compare_scope(cls, name, before, now, may_grow):
        for key in before if may_grow else {*before, *now}:
            one, other = before.get(key), now.get(key)
            if (one is not other and (key in cls.PARTS or cls.is_definition(one) or cls.is_definition(other))
                    and not (may_grow and key.startswith("_"))):
                raise Spoilt(f"changes {name}.{key}"[:LONGEST_REASON])

    @staticmethod
    def is_definition(value):
        return callable(value) or hasattr(value, "__get__")


def compare_modules(before):
    for name, module in before.items():
        if sys.modules.get(name) is not module:
            raise Spoilt(f"replaces {name}"[:LONGEST_REASON])


def end_helpers():
    """Libraries that have threads of their own, such as OpenBLAS, end them for a fork; a timer that was cancelled ends soon."""
    threading = kept.get("threading") or sys.modules.get("threading")
    for thread in threading.enumerate() if threading else ():
        if isinstance(thread, threading.Timer) and thread.finished.is_set():
            thread.join()
    if len(os.listdir("/proc/self/task")) == 1:
        return
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


class Elsewhere:
    """Away from the home, which in a copy has what scripts have left there. Nothing watches for figures there, and of fonts that
    take long to find nothing is said: no script has to wait for them."""

    # Allocators read it when their library is loaded. Arrow's would have a thread that gives free memory back, which no
    # copy has; without the thread, who frees memory gives it back.
    ALLOCATORS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}

    def __enter__(self):
        self.variables = dict(os.environ)
        self.finders = list(sys.meta_path)
        os.environ.update(HOME="/nonexistent", MPLCONFIGDIR=Plotting.PLACE)
        for name, value in self.ALLOCATORS.items():
            os.environ.setdefault(name, value)
        if figures:
            sys.meta_path.remove(figures.Finder)
        sys.meta_path.insert(0, QuietFonts)

    def __exit__(self, *_):
        change_variables({name: self.variables.get(name) for name in ("HOME", "MPLCONFIGDIR", "XDG_CACHE_HOME", *self.ALLOCATORS)})
        sys.meta_path.remove(QuietFonts)
        QuietFonts.say_again()
        if figures:
            sys.meta_path.insert(self.finders.index(figures.Finder), figures.Finder)


class QuietFonts:
    """A finder that finds nothing: the module that it is asked for looks for fonts when it is imported, and tells who waits.
    What it asks for them tells when it has no place for what it finds."""

    NAME = "matplotlib.font_manager"

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == cls.NAME:
            builtins.__import__("logging").getLogger(name).disabled = True
            os.environ["XDG_CACHE_HOME"] = Plotting.PLACE

    @classmethod
    def say_again(cls):
        if cls.NAME in sys.modules:
            builtins.__import__("logging").getLogger(cls.NAME).disabled = False


class Plotting:
    """What matplotlib has beside other modules: settings, fonts and a cache in the home of who imports it, which it looks
    for once; and figures that are saved for a script."""

    NAME = "matplotlib"
    PLACE = "/tmp/matplotlib"  # in place of both; no script sees that /tmp
    VARIABLES = ("MATPLOTLIBRC", "MPLBACKEND")

    @classmethod
    def is_own(cls):
        """Whether a script has settings or fonts of its own, so that it has to import matplotlib itself."""
        home = os.environ.get("HOME", "")
        config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        settings = os.environ.get("MPLCONFIGDIR") or f"{config}/matplotlib"
        data = os.environ.get("XDG_DATA_HOME") or f"{home}/.local/share"
        files = ("matplotlibrc", f"{settings}/matplotlibrc", f"{settings}/stylelib", f"{home}/.fonts", f"{data}/fonts")
        return any(name in os.environ for name in cls.VARIABLES) or any(map(os.path.exists, files))

    @classmethod
    def import_more(cls):
        """What draws figures, which pyplot imports with the first of them."""
        if f"{cls.NAME}.pyplot" in sys.modules:
            builtins.__import__(f"{cls.NAME}.backends.backend_agg")

    @classmethod
    def forget_places(cls, matplotlib):
        """They are remembered by the cells of a function. Elsewhere they stay what they were, and are made when needed."""
        for function in (matplotlib.get_configdir, matplotlib.get_cachedir):
            names = function.__code__.co_freevars
            if "called" in names:
                function.__closure__[names.index("called")].cell_contents = False

    @classmethod
    def note_lent(cls, name, module):
        if name == cls.NAME:
            cls.forget_places(module)
        if figures:
            figures.note_imported(name, module)


def changes(before):
    """What has become of os.environ, which is as BEFORE then."""
    now = dict(os.environ)
    found = {name: now.get(name) for name in {*before, *now} if before.get(name) != now.get(name)}
    change_variables({name: before.get(name) for name in found})
    return found


def change_variables(values):
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def keep_new(seen):
    """Takes what was not SEEN before out of sys.modules, and out of its package."""
    names = {id(module): name for name, module in seen.items()}
    for name in [name for name in sys.modules if name not in seen]:
        module = sys.modules.pop(name)
        kept[name] = names.get(id(module), module)  # __mp_main__ is another name for __main__
        parent, _, child = name.rpartition(".")
        package = seen.get(parent) or kept.get(parent)
        if vars(package or Spoilt).get(child) is module:
            packages[name] = package
            delattr(package, child)


def spare_finalizers():
    """What only frees memory is not done at the end of a script: it would have to be copied first."""
    weakref = kept.get("weakref") or sys.modules.get("weakref")
    for finalizer, info in list(getattr(getattr(weakref, "finalize", None), "_registry", {}).items()):
        if (getattr(info.func, "__module__", None), getattr(info.func, "__name__", None)) in FREEING:
            finalizer.atexit = False


def give_attributes():
    """Of a package, those modules that are always lent with it: nobody sees them before, and lending has less to do."""
    together = {}
    for name, module in kept.items():
        parent, _, child = name.rpartition(".")
        if name not in packages or parent not in kept or isinstance(module, str):
            continue
        if name in together.setdefault(parent, closure(parent)):
            setattr(packages.pop(name), child, module)


def give(modules):
    """Modules, or other names of some that are there, by name."""
    sys.modules.update(modules)
    for name, module in modules.items():
        if isinstance(module, str):
            sys.modules[name] = sys.modules.get(module)
    for name in packages.keys() & modules.keys():
        setattr(packages.pop(name), name.rpartition(".")[2], sys.modules[name])


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def import_session(code_of):
    session = sys.modules[SESSION] = type(sys)(SESSION)
    exec(code_of("session"), vars(session))


def load(name, code_of):
    """Imports NAME ahead. Returns why that failed, or None. CODE_OF returns the code of a part of the starter."""
    if name.rpartition(".")[2] == "__main__":
        return "is a program"
    if resident_bytes() - at_first > BUDGET_BYTES:
        return "there is much in memory already"
    seen, searched, before = dict(sys.modules), set(sys.path_importer_cache), dict(os.environ)
    state, definitions, failure = State(), Definitions(seen), None
    give({"atexit": atexit, **kept})
    before_it = dict(sys.modules)
    with Elsewhere(), Watch() as watch:
        try:
            for each in NEEDED.get(name, ()):
                builtins.__import__(each)
            import_session(code_of) if name == SESSION else builtins.__import__(name)
            Plotting.import_more()
        except Spoilt:
            raise
        except BaseException as error:
            failure = type(error).__name__
    if watch.hook:
        raise Spoilt(f"leaves {watch.hook}")
    compare_modules(before_it)
    changed = changes(before)
    if changed:
        variables[name] = changed
    keep_new(seen)
    spare_finalizers()
    for place in sys.path_importer_cache.keys() - searched:
        del sys.path_importer_cache[place]
    closures[name] = closure(name)
    give_attributes()
    state.compare()
    definitions.compare()
    if Lender not in sys.meta_path:
        sys.meta_path.insert(0, Lender)
        places.extend(place for place in sys.path if place not in hidden)
    if failure is None:
        loaded.append(name)
    return failure


def changeable_files():
    """Of modules that lie elsewhere than packages are installed, as in a project that is worked on: their owner may write them
    anew, which does not change the directory."""
    installed = tuple(f"{place}/" for place in (os.path.dirname(os.__file__), *sys.modules["site"].getsitepackages()))
    files = [getattr(module, "__dict__", {}).get("__file__") for module in kept.values()]
    return [file for file in files if isinstance(file, str) and not file.startswith(installed)]


def use(has_imports):
    """In a copy that shows which memory scripts change: does what they are expected to."""
    Elsewhere().__enter__()
    for name in loaded if has_imports else ():
        try:
            builtins.__import__(name)
        except Exception:
            continue
    numpy = sys.modules.get("numpy")
    if numpy is not None:  # its first sum and the first of its texts change much
        str(numpy.ones((2, 2)).sum()) + str(numpy.arange(2) + 1.0)


def suits(code):
    """False for a script that seems to change variables before it imports what reads them then, and for one that has
    modules beside it which an extension in memory would import: that is lent as it is, since it is loaded once."""
    if is_extension_hidden(hidden_names([os.path.dirname(sys.argv[0])])):
        return False
    if b"putenv" not in code and b"dotenv" not in code and code.count(b"environ") == code.count(b"environ.get("):
        return True
    return not any(name.encode() in code for name in kept if "." not in name and is_package_of_others(kept[name]))


def is_package_of_others(module):
    return "-packages" in (getattr(module, "__file__", None) or "")


class Lender:
    """A finder of sys.meta_path."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        module = kept.get(name)
        if module is None:
            return None
        names = closures.get(name) or closure(name)
        if Plotting.NAME in names and Plotting.is_own():
            return None
        hidden = hidden_names(sys.path)
        if name.partition(".")[0] in hidden:
            return None
        if has_extension(names):
            return Loan(module, names).spec(name)
        if is_replaced(names) or not hidden.isdisjoint(first_parts(names)):
            return None
        return find_by_others(name, path, target) or Loan(module, names).spec(name)


def find_by_others(name, *more):
    """By what a package has put between a Lender and Python's own finders. It may ask all others in its turn."""
    if name in asked or Lender not in sys.meta_path:
        return None
    asked.add(name)
    try:
        for finder in sys.meta_path[sys.meta_path.index(Lender) + 1 :]:
            if finder is sys.modules["_frozen_importlib"].BuiltinImporter:
                return None
            is_ours = figures is not None and finder is figures.Finder
            spec = None if is_ours or not hasattr(finder, "find_spec") else finder.find_spec(name, *more)
            if spec is not None:
                return spec
    finally:
        asked.discard(name)
    return None


class Loan:
    """The loader of a module that is there already."""

    def __init__(self, module, names):
        self.module = module
        self.names = names
        self.theirs = getattr(module, "__spec__", None)

    def __getattr__(self, name):
        return getattr(self.theirs.loader, name)

    def spec(self, name):
        spec = type(sys.__spec__)(name, self)
        for each in ("origin", "submodule_search_locations", "cached", "has_location"):
            if hasattr(self.theirs, each):
                setattr(spec, "_set_fileattr" if each == "has_location" else each, getattr(self.theirs, each))
        return spec

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        try:
            module.__spec__ = self.theirs
        except AttributeError:
            pass  # it is no module
        lend(self.names)


def closure(name):
    """The names of what comes with NAME, as they came."""
    found, waiting = set(), [name]
    while waiting:
        each = waiting.pop()
        if each in kept and each not in found:
            found.add(each)
            waiting += needs.get(each, ())
            waiting.append(each.rpartition(".")[0])
    return [each for each in kept if each in found]


def first_parts(names):
    return {each.partition(".")[0] for each in names}


def is_replaced(names):
    """Whether a script has put something in the place of one of them, or forbidden it."""
    return any(each in kept and each in sys.modules for each in names)


def has_extension(names):
    """Many extensions of packages can be loaded once only. Those that are in memory are lent whatever a script has done: to import
    them again would fail, and it is too late for another Python."""
    extension = sys.modules["_frozen_importlib_external"].ExtensionFileLoader
    return any(isinstance(getattr(getattr(kept.get(each), "__spec__", None), "loader", None), extension)
               and is_package_of_others(kept[each]) for each in names)


def is_extension_hidden(hidden):
    return bool(hidden) and any(has_extension(closures[name]) and not hidden.isdisjoint(first_parts(closures[name]))
                                for name in loaded)


def hidden_names(search):
    """The first parts of names that lead elsewhere by those places of SEARCH that have come to sys.path since, such as
    the script's directory."""
    found = set()
    finder = sys.modules["_frozen_importlib_external"].PathFinder
    for place in search:
        if place in places:
            continue
        try:
            names = {each.partition(".")[0] for each in os.listdir(place or ".")}
        except OSError:
            continue
        for name in names.intersection(kept).difference(sys.builtin_module_names):
            spec = finder.find_spec(name, [place])
            if spec is not None and spec.loader is not None:
                found.add(name)
    return found


def lend(names):
    """NAMES came in this order. What else is to be done for one is done when all are there."""
    # But for what another import has lent, and what the script has in its place.
    lent = {name: kept.pop(name) for name in names if name in kept and sys.modules.get(name, kept[name]) is kept[name]}
    give(lent)
    for name in filter(has_rest, lent):
        lend_rest(name, sys.modules[name])


def has_rest(name):
    return name in variables or name in functions or name in RENEWALS or name.partition(".")[0] == Plotting.NAME


def lend_rest(name, module):
    change_variables(variables.pop(name, {}))
    for function, args, kwargs in functions.pop(name, ()):
        atexit.register(function, *args, **kwargs)
    if name in RENEWALS:
        RENEWALS[name](module)
    elif name.partition(".")[0] == Plotting.NAME:
        Plotting.note_lent(name, module)


def call_functions():
    """What goes wrong is nothing that the script has asked for."""
    while functions:  # a function may import a module that has some, too
        for function, args, kwargs in reversed(functions.popitem()[1]):
            try:
                function(*args, **kwargs)
            except BaseException:
                pass


def show_all():
    """Python is about to take apart all modules in its own way. Those that no script has imported may refer to modules of
    the script, so they are taken apart, too. Their functions for the end are called first: a C library that holds objects
    of Python would otherwise meet them after the end of Python, as HDF5 does in h5py. `threading` has no thread left to
    wait for."""
    call_functions()
    kept.pop("threading", None)
    give(dict(kept))
    kept.clear()


FREEING = {("torch.library", "_del_library")}  # functions of finalizers: the latter forgets operators of torch
RENEWALS = {  # of what was the zygote's
    "numpy.random": lambda random: random.seed(),
    "threading": lambda threading: threading.main_thread()._set_native_id(),
}
at_first = resident_bytes()
