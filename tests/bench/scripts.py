"""The scripts that are measured."""

import dataclasses

DEBIAN = "/usr/bin/python3"


@dataclasses.dataclass(frozen=True)
class Script:
    title: str
    code: str
    expect: str  # in its output, and not in its code
    python: str = DEBIAN

    @property
    def environment(self):
        """What the environment with its Python is called."""
        return "debian" if self.python == DEBIAN else "packages"

    def write(self, folder):
        """It as a script.py of its own, somewhere in FOLDER: the path."""
        path = folder / self.title / "script.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(self.code)
        return path


HELLO = Script("hello", "print('hello', 6 * 7)\n", "hello 42")

STDLIB = Script("stdlib-heavy", """\
import argparse, asyncio, collections, csv, dataclasses, datetime, decimal, email, functools, hashlib, http.client
import itertools, json, logging, pathlib, random, re, sqlite3, statistics, subprocess, tempfile, typing, urllib.request
import uuid, xml.etree.ElementTree, zipfile
data = json.loads('{"values": [3, 1, 2]}')
print("median", statistics.median(data["values"]), re.sub("x", "y", "axb"))
""", "median 2 ayb")

NUMPY = """\
import numpy as np
print("sum", int(np.arange(10).sum()))
"""

PANDAS = """\
import pandas as pd
frame = pd.DataFrame({"kind": ["a", "b", "a"], "value": [1, 2, 3]})
print("sums", frame.groupby("kind")["value"].sum().to_dict())
"""


def with_packages(python):
    """Those that need packages, with a PYTHON that has them."""
    return [Script("numpy", NUMPY, "sum 45", python), Script("pandas", PANDAS, "sums {'a': 4, 'b': 2}", python)]
