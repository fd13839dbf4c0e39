"""Hostile programs, and what they find when they attack a server.

Each file in programs/ is one program; corpus.py reads what its docstring promises, arena.py runs it
and looks at what is left. The file of tests for each level (how a run is held) takes them all.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from arena import Arena, Arenas  # noqa: E402


@pytest.fixture(scope="module")
def arenas(request):
    """For all programs of a file, whose runs are held by its LEVEL."""
    arenas = Arenas(lambda: Arena(request.module.LEVEL))
    yield arenas
    arenas.close()
