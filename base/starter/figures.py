"""Saves the figures of matplotlib that a script shows or leaves open; loaded when it is imported.

`directory` is where the script began, `process` its pid; sitecustomize.py gives both.
"""

import atexit
import collections
import functools
import io
import os
import sys
import warnings
import weakref

LONGEST_SIDE = 2000  # in pixels, unless the script makes a file of its own
# Python leaves frames of this file out of tracebacks of what is being imported.
UNSEEN = "<frozen importlib._bootstrap>"


def find_spec(name, path=None, target=None):
    """A finder of sys.meta_path until pyplot was imported: calls what is to happen then."""
    then = AFTERWARDS.get(name)
    if then is None:
        return None
    for finder in sys.meta_path:
        spec = None if finder is Finder else finder.find_spec(name, path, target)
        if spec is not None:
            call_afterwards(spec.loader, then)
            return spec
    return None


class Finder:
    find_spec = staticmethod(find_spec)


def call_afterwards(loader, then):
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        del loader.exec_module
        then(module)

    exec_module.__code__ = exec_module.__code__.replace(co_filename=UNSEEN)
    loader.exec_module = exec_module


def choose_backend(matplotlib):
    """A script can still choose another one."""
    if not os.environ.get("MPLBACKEND"):
        matplotlib.rcParams["backend"] = "agg"


def watch_pyplot(pyplot):
    from matplotlib._pylab_helpers import Gcf

    if Finder not in sys.meta_path:
        return  # it has been lent (preload.py), and is watched already
    sys.meta_path.remove(Finder)
    warnings.filterwarnings("ignore", "(FigureCanvasAgg is|Matplotlib is currently using agg,) .*non-")
    pyplot.show = make_show(pyplot, Gcf)
    Gcf.figs = Managers(Gcf.figs)
    atexit.register(save_open_figures, Gcf)


AFTERWARDS = {"matplotlib": choose_backend, "matplotlib.pyplot": watch_pyplot}

saved = weakref.WeakSet()  # figures, by the script too


class Managers(collections.OrderedDict):
    """The managers of the open figures by number. It notes which figures are drawn into a file."""

    def __setitem__(self, number, manager):
        super().__setitem__(number, manager)
        manager.canvas.mpl_connect("draw_event", note_saved)


def note_saved(event):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if isinstance(event.canvas, FigureCanvasAgg) and event.canvas.is_saving():
        saved.add(event.canvas.figure)


def make_show(pyplot, gcf):
    show_elsewhere = pyplot.show

    @functools.wraps(show_elsewhere)
    def show(*args, **kwargs):
        if pyplot.get_backend().lower() != "agg":
            return show_elsewhere(*args, **kwargs)
        if False in args or kwargs.get("block") is False:
            return None  # in the middle of a drawing that goes on
        for figure in open_figures(gcf):
            save(figure)
        pyplot.close("all")
        return None

    return show


def open_figures(gcf):
    """Those with something in them that is in no file yet."""
    figures = [manager.canvas.figure for manager in gcf.get_all_fig_managers()]
    return [figure for figure in figures if figure not in saved and len(figure.get_children()) > 1]


def save_open_figures(gcf):
    if os.getpid() != process:
        return
    for figure in open_figures(gcf):
        try:
            save(figure)
        except Exception:  # the script has ended, and has not asked for it
            pass


def save(figure):
    dpi = min(figure.dpi, LONGEST_SIDE / max(figure.get_size_inches()))
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=dpi, bbox_inches="tight")
    with new_file() as file:
        file.write(picture.getbuffer())


def new_file():
    number = 1
    while True:
        try:
            return open(os.path.join(directory, f"figure-{number}.png"), "xb")
        except FileExistsError:
            number += 1


sys.meta_path.insert(0, Finder)
