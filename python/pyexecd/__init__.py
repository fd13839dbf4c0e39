"""pyexecd runs Python that language models write. The program `pyexecd` comes with this package."""

from importlib.metadata import version

__version__ = version("pyexecd")
