"""What `./dev deps` has installed for these tests, and how to run it; and what `./dev` makes for other machines."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPS = ROOT / ".deps"
PYEXECD = os.environ["PYEXECD"]
BUILD_SECONDS = 900  # while other tests run


def python(name):
    """The interpreter of the virtual environment NAME."""
    path = DEPS / name / "bin" / "python"
    if not (DEPS / name / "installed").exists():
        pytest.skip(f"no {path.relative_to(ROOT)}: ./dev deps installs it")
    return str(path)


def node_program(name):
    """The command of an installed Node package."""
    path = DEPS / "clients" / "node_modules" / ".bin" / name
    if not (DEPS / "clients" / "installed").exists():
        pytest.skip(f"no {path.relative_to(ROOT)}: ./dev deps installs it")
    return str(path)


def run(*command, home, timeout=180, **more):
    """Runs COMMAND with an empty home of its own; what it printed and how it ended."""
    path = f"{DEPS / 'node' / 'bin'}:{os.environ['PATH']}"
    environment = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", **more}
    return subprocess.run(command, env=environment, cwd=home, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout)


def made_by(command, folder, *options):
    """The folder FOLDER with what `./dev COMMAND OPTIONS` puts into it."""
    done = subprocess.run([ROOT / "dev", command, *options, folder], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stdout
    return folder
