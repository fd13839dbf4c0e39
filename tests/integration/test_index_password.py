"""The password of a package index: no script, and nothing that a script has planted, gets to see it."""

import pathlib
import subprocess
import sys

import pytest

import box
import wheels

SECRET = "correct-horse-battery"
SPY = "import os, sys; open({log!r}, 'a').write(repr(dict(os.environ)) + open('/proc/self/cmdline').read())\n"
VERSION = "import gadget; print(gadget.VERSION)"


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "packages"
    folder.mkdir()
    wheels.wheel(folder, "gadget", "1.0")
    with wheels.Index(folder) as index:
        yield index.url.replace("://", f"://name:{SECRET}@")


def test_a_planted_file_does_not_see_it(index, tmp_path):
    venv = tmp_path / "venv"
    log = venv / "log"  # an installer can write there
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    site, = venv.glob("lib/python*/site-packages")
    (site / "planted.pth").write_text(SPY.format(log=str(log)))
    with box.Box({"type": "venv", "venv_path": str(venv), "pip_packages": ["gadget"],
                  "pip_index_url": index}) as server:
        server.initialize()
        result = server.run(VERSION)
    assert not log.exists() or SECRET not in log.read_text()
    assert result["stdout"] == "1.0\n" and SECRET not in str(result), result


def test_a_new_venv_keeps_nothing_of_it(index):
    with box.Box({"type": "venv", "pip_packages": ["gadget"], "pip_index_url": index}) as server:
        server.initialize()
        result = server.run("import gadget, os; print(gadget.VERSION, dict(os.environ))")
        assert result["success"] and SECRET not in str(result), result
        holders = [path for path in pathlib.Path(server.home).rglob("*")
                   if path.is_file() and SECRET.encode() in path.read_bytes()]
        assert not [path for path in holders if path.suffix != ".yaml"], holders
