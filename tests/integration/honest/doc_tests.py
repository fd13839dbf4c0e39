"""doctest, of this script and of a file; pydoc; inspect.

>>> add(1, 2)
3
>>> add(1, "a")
Traceback (most recent call last):
TypeError: unsupported operand type(s) for +: 'int' and 'str'
"""
import doctest
import inspect
import pathlib
import pydoc
import subprocess
import sys


def add(a, b):
    """The sum of A and B."""
    return a + b


if __name__ == "__main__":
    print(doctest.testmod())
    pathlib.Path("text.txt").write_text(">>> 6 * 7\n42\n>>> 1\n2\n")
    print(doctest.testfile("text.txt", module_relative=False, verbose=False, report=False).failed)
    print(inspect.getsource(add).splitlines()[0], inspect.signature(add))
    print(pydoc.render_doc(add, renderer=pydoc.plaintext).splitlines()[0].split(" in ")[0])
    print(subprocess.run([sys.executable, "-m", "pydoc", "json.tool"], stdout=subprocess.PIPE).stdout[:60])
