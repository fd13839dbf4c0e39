"""The scripts that are measured."""

import dataclasses

DEBIAN = "/usr/bin/python3"


@dataclasses.dataclass(frozen=True)
class Script:
    title: str
    code: str
    expect: str  # in its output, and not in its code
    python: str = DEBIAN
    environment: str = "debian"  # that has its Python

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

BESIDE = "libraries"  # the environment in which others import much
LIBRARIES = """\
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from scipy import stats
from sklearn.linear_model import LinearRegression
print("figure", np.arange(5).shape)
"""


def with_packages(python):
    """Those that need packages, with a PYTHON that has them."""
    return [Script("numpy", NUMPY, "sum 45", python, "packages"),
            Script("pandas", PANDAS, "sums {'a': 4, 'b': 2}", python, "packages")]


def with_libraries(python):
    """What imports the libraries that data work has, with a PYTHON that has them, and what only runs beside them."""
    return [Script("five libraries", LIBRARIES, "figure (5,)", python, BESIDE),
            Script("hello beside five libraries", HELLO.code, HELLO.expect, python, BESIDE)]
