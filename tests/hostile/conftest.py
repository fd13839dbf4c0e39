"""Hostile programs, and what they find when they attack a server.

Each file in programs/ is one program; corpus.py reads what its docstring promises, arena.py runs it
and looks at what is left. The file of tests for each level (how a run is held) takes them all.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))


@pytest.fixture(scope="session", autouse=True)
def own_places(tmp_path_factory):
    """No test reads the configuration or fills the state directory of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        for name in ("PYEXECD_CONFIG", "STATE_DIRECTORY"):
            patch.delenv(name, raising=False)
        yield
