"""A user who has set nothing, whose home and state directory are a test's."""

import os

SETTINGS = ("PIP_", "UV_", "PYENV_", "XDG_", "CONDA_", "ASDF_")


def become(monkeypatch, folder):
    """For the rest of the test; the home is made in FOLDER."""
    for name in list(os.environ):
        if name.startswith(SETTINGS):
            monkeypatch.delenv(name)
    (folder / "home").mkdir()
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
