"""What a wheel of pyexecd holds, for packages of other forms, and how those are equal whenever they are made."""

import os
import pathlib
import zipfile

MACHINES = {"x86_64": "x64", "aarch64": "arm64"}  # as Node calls them


class Wheel:
    """The wheel at PATH."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name, self.version = self.path.name.split("-")[:2]
        self.machine = next(ours for name, ours in MACHINES.items() if self.path.stem.endswith(name))
        with zipfile.ZipFile(self.path) as archive:
            self.files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}

    def _below(self, part):
        return {name.partition(part)[2]: contents for name, contents in sorted(self.files.items()) if part in name}

    def programs(self):
        """name -> contents of the program and its helper programs, which also work in one folder."""
        return {**self._below(".data/scripts/"), **self._below(".data/data/libexec/pyexecd/")}

    def licences(self):
        """name -> text: of pyexecd itself, and of what is linked into its programs."""
        return {**self._below("dist-info/licenses/"), **self._below("/pyexecd/licenses/")}

    def placed(self, programs, licences):
        """path -> (contents, mode): programs in the folder PROGRAMS, licences in the folder LICENCES."""
        files = {f"{programs}/{name}": (contents, 0o755 if contents.startswith(b"\x7fELF") else 0o644)
                 for name, contents in self.programs().items()}
        return {**files, **{f"{licences}/{name}": (text, 0o644) for name, text in self.licences().items()}}


def epoch():
    """The time of the commit, which every file gets."""
    return int(os.environ["SOURCE_DATE_EPOCH"])
