"""The source tree: which files it has, for all checks."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def files(*suffixes):
    """Files of the project (all, or those with these suffixes), relative to ROOT."""
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "--cached", "--others",
         "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    )
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # an unpacked archive
        names = [
            os.path.relpath(os.path.join(folder, name), ROOT)
            for folder, folders, inside in os.walk(ROOT)
            for name in inside
            if not os.path.relpath(folder, ROOT).startswith(("build", ".deps", ".git"))
        ]
    paths = (pathlib.Path(name) for name in names)
    return sorted(
        path for path in paths
        if (ROOT / path).is_file() and (not suffixes or path.suffix in suffixes)
    )


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def at(revision):
    """While it lasts, the tree is that of REVISION."""
    global ROOT
    here = ROOT
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as archive:
        subprocess.run(["git", "archive", "--format=tar", revision], cwd=here, stdout=archive, check=True)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as packed:
            packed.extractall(folder)
        ROOT = pathlib.Path(folder)
        try:
            yield
        finally:
            ROOT = here


def copy(path, folder):
    """The file at PATH, into FOLDER, a copy of the tree, unless it is the same there already."""
    source, target = ROOT / path, folder / path
    content = source.read_bytes()
    if target.is_file() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    shutil.copymode(source, target)
