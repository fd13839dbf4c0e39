"""Which cells the matrix of kinds, ways, users and ends has, which of them cannot be and why, and a few of them in which
every pair of values occurs.

    cells(KINDS)       all that can be, of these kinds
    pairwise(cells)    the sample
    hole_of(cell)      why a cell cannot be, or None
"""

import collections
import itertools
import random

FACTORS = {
    "kind": ("system", "venv", "docker", "kept"),
    "way": ("cold", "warm", "session", "copy", "block", "task"),
    "user": ("root", "root-without-uid", "nobody", "no-user-namespaces"),
    "end": ("plain", "timeout", "cancel", "reload", "kill-worker", "kill-supervisor", "kill-server"),
}
SEED = 29  # any: the same sample each time

Cell = collections.namedtuple("Cell", FACTORS)

# What cannot be: the values that must meet for it, why, and what a call is told that tries it, where it is refused.
Hole = collections.namedtuple("Hole", ("values", "why", "told"))
HOLES = [
    Hole({"kind": ("docker",), "way": ("copy",)}, "a session in a container has no copies", "it is in a container"),
    Hole({"kind": ("kept",), "way": ("session", "copy")}, "a session has a container of its own", "keep_container_running"),
    Hole({"kind": ("system", "venv"), "way": ("copy",), "user": ("nobody",)},
         "a copy takes a cgroup of its own, and nobody may make none", "gives a copy no cgroup"),
    Hole({"kind": ("system", "venv"), "way": ("session", "copy"), "user": ("no-user-namespaces",)},
         "a session is held by a PID namespace", "they need a PID namespace"),
    Hole({"kind": ("system", "venv"), "way": ("warm",), "user": ("no-user-namespaces",)},
         "no Python waits without a PID namespace: such a call is as a cold one", None),
]


def is_in(hole, cell):
    return all(getattr(cell, factor) in given for factor, given in hole.values.items())


def hole_of(cell):
    return next((hole for hole in HOLES if is_in(hole, cell)), None)


def tried(kinds):
    """For each hole in the matrix of KINDS a cell in it."""
    return [next(cell for cell in product(kinds) if is_in(hole, cell)) for hole in HOLES
            if hole.told and set(hole.values["kind"]) <= set(kinds)]


def product(kinds):
    return [Cell(*values) for values in itertools.product(kinds, *list(FACTORS.values())[1:])]


def cells(kinds):
    return [cell for cell in product(kinds) if not hole_of(cell)]


def pairs(cell):
    """All pairs of values that meet in CELL."""
    return set(itertools.combinations(zip(FACTORS, cell), 2))


def pairwise(candidates):
    """A few of CANDIDATES with every pair that is in any of them: the one that adds most is taken next."""
    shuffled = random.Random(SEED).sample(candidates, len(candidates))
    missing = set().union(*map(pairs, candidates))
    chosen = []
    while missing:
        chosen.append(max(shuffled, key=lambda cell: len(pairs(cell) & missing)))
        missing -= pairs(chosen[-1])
    return chosen


def name(cell):
    return "-".join(cell)
