"""Lends a script the module `tools`; loaded where it has a socket to them. A zygote reads the code ahead.

`archive` is the descriptor of the starter, `descriptor` the socket. Both stay open in this process, are closed in programs
that it starts, and go to the processes of multiprocessing, where this file is loaded again.
"""

import os
import sys

NAMES = ("tools", "pyexecd_tools")  # the second where a file of the script has the first


def code_of(name):
    importer = sys.modules.get("zipimport") or __import__("zipimport")
    loader = importer.zipimporter(f"/proc/self/fd/{archive}")
    code = loader.get_code(name)
    importer._zip_directory_cache.pop(loader.archive, None)
    return code


class Finder:
    """The last of sys.meta_path: any other module of that name is found first. It ends with the script, as does the
    module that it keeps."""

    def __init__(self):
        self.module = None

    def find_spec(self, name, path=None, target=None):
        return type(sys.__spec__)(name, self, origin="tools.py") if name in NAMES else None

    def create_module(self, spec):
        return self.module or type(sys)(spec.name)

    def exec_module(self, module):
        if not self.module:
            module._descriptor = descriptor
            exec(code_of("tools"), vars(module))
            self.module = module


class Watcher:
    """The first of sys.meta_path until multiprocessing comes."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "multiprocessing.spawn":
            return None
        sys.meta_path.remove(Watcher)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                execute = spec.loader.exec_module
                spec.loader.exec_module = lambda module: (execute(module), lend_to_processes(module))
                return spec
        return None


class Loan:
    """Unpickled in a process of multiprocessing, it lends it the module."""

    def __reduce__(self):
        place = f"/proc/self/fd/{archive}"
        lines = (f"import zipimport\nexec(zipimport.zipimporter({place!r}).get_code('lender'), variables)\n"
                 f"variables['lend']({archive}, {descriptor})")
        return exec, (lines, {"variables": {}})


def lend_to_processes(spawn):
    """Those that start anew, not by fork alone."""
    from multiprocessing import util

    describe, start = spawn.get_preparation_data, util.spawnv_passfds

    def get_preparation_data(*args):
        return {**describe(*args), "tools": Loan()}

    def spawnv_passfds(path, args, passfds):
        return start(path, args, [*passfds, *filter(is_open, (archive, descriptor))])

    spawn.get_preparation_data, util.spawnv_passfds = get_preparation_data, spawnv_passfds


def is_open(descriptor):
    try:
        return os.fstat(descriptor) is not None
    except OSError:
        return False


def lend(from_archive, by_descriptor):
    global archive, descriptor
    archive, descriptor = from_archive, by_descriptor
    for each in (archive, descriptor):
        os.set_inheritable(each, False)
    sys.meta_path.append(Finder())
    if "multiprocessing.spawn" in sys.modules:
        lend_to_processes(sys.modules["multiprocessing.spawn"])
    else:
        sys.meta_path.insert(0, Watcher)
