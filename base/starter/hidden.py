"""What leads a zygote to modules by places that scripts can write in; loaded into every zygote.

It sees empty places there (process/runner/reserve.c), so that nothing of a script is ever executed in it. A copy sees what is in
them, and has to find all that a Python finds which starts there.
"""

import os
import sys

EXECUTED = ("sitecustomize", "usercustomize")  # by every Python that starts and finds them

empty = os.stat(".").st_dev  # all such places are of one file system, the zygote's own directory among them
left_out = []  # of sys.path: what `site` has not found there, and which entry it comes behind


def is_hidden(path):
    """Whether PATH, which need not exist, is in such a place."""
    path = os.path.abspath(path)
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return os.stat(path).st_dev == empty


def lines_of(folder):
    """The places that the files of FOLDER add to sys.path, as `site` reads them."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".pth"))
    except OSError:
        return
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            text = file.read().decode("utf-8", "surrogateescape")
        for line in text.lstrip("\ufeff").splitlines():
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                yield os.path.abspath(os.path.join(folder, line.rstrip()))


def note_left_out():
    for folder in sys.modules["site"].getsitepackages():
        before = folder
        for place in lines_of(folder):
            if place not in sys.path and place not in dict(left_out) and is_hidden(place):
                left_out.append((place, before))
            before = place


def complete():
    """In a copy: makes sys.path what it is in a Python that starts now. False when that would execute something of them."""
    for place, before in left_out:
        if os.path.exists(place) and place not in sys.path:
            behind = [number for number, each in enumerate(sys.path, 1) if each == before]
            sys.path.insert(behind[-1] if behind else len(sys.path), place)
    return not any(is_executed(place) for place in led)


def is_executed(place):
    try:
        return any(name.partition(".")[0] in EXECUTED for name in os.listdir(place))
    except OSError:
        return False


note_left_out()
led = [place for place in sys.path if is_hidden(place)] + [place for place, _ in left_out]
