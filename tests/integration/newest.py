"""The newest Pythons, which `./dev deps` unpacks (tests/fresh/pythons.py)."""

import pathlib
import re

FOLDER = pathlib.Path(__file__).parents[2] / ".deps/pythons"


def newest():
    """The path of each by its version, such as 3.14."""
    found = {path.name.removeprefix("python"): str(path.resolve()) for path in FOLDER.glob("usr/bin/python3.*")}
    return dict(sorted(found.items(), key=lambda each: [int(number) for number in re.findall(r"\d+", each[0])]))
