"""The tree's programs in Python find their modules wherever they are started, not only below pytest."""

import os
import re
import subprocess

import pytest
import tree

START = "if __name__ == \"__main__\":"
PROGRAMS = [path for path in tree.files(".py")
            if START in tree.text(path) and "honest" not in path.parts and not path.stem.startswith("test_")]
LOAD = "import runpy, sys; sys.path[0] = sys.argv[1]; runpy.run_path(sys.argv[2])"


@pytest.mark.parametrize("path", PROGRAMS, ids=str)
def test_finds_its_modules(path):
    loaded = subprocess.run(
        ["/usr/bin/python3", "-c", LOAD, (tree.ROOT / path).parent, tree.ROOT / path], cwd="/",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True)
    missing = re.findall(r"^ModuleNotFoundError: No module named '(\w+)", loaded.stderr, re.MULTILINE)
    # Those of the package are found by its name.
    ours = {each.stem for each in tree.files(".py") if each.parts[0] != "python"}
    assert loaded.returncode == 0 or missing and missing[0] not in ours, loaded.stderr
