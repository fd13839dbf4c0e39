"""The users of the matrix: what starts a server as each of them, and whose its files are.

Who is not root has only the last two, and is `nobody` itself.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import venv

import leftovers

NOBODY = 65534
LIMITED = pathlib.Path(__file__).with_name("limited.py")
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
IS_ROOT = os.geteuid() == 0
# A root without setns(2) enters no user namespace, and so has no uid of its own for a script.
DENIED = {"root-without-uid": ["setns=EPERM"], "no-user-namespaces": ["clone3=ENOSYS", "CLONE_NEWUSER=EPERM"]}


def here():
    """The users that a server can be started as by who runs the tests."""
    return ("root", "root-without-uid", "nobody", "no-user-namespaces") if IS_ROOT else ("nobody", "no-user-namespaces")


class Place:
    """A folder that everybody may look into: the program under test, and a venv for each user."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pyexecd-test-"))
        self.folder.chmod(0o755)

    def program(self):
        programs = self.folder / "programs"
        if not programs.exists():
            programs.mkdir()
            for program in pathlib.Path(os.environ["PYEXECD"]).parent.glob("pyexecd*"):
                if program.is_file():
                    shutil.copy(program, programs)
        return str(programs / pathlib.Path(os.environ["PYEXECD"]).name)

    def venv(self, user):
        path = self.folder / user
        if not path.exists():
            venv.create(path, symlinks=True)
            give(user, path)
        return str(path)

    def remove(self):
        shutil.rmtree(self.folder)


def command(user, place):
    """What starts a server as USER."""
    if user in DENIED:
        return [sys.executable, str(LIMITED), *DENIED[user], "--", os.environ["PYEXECD"]]
    if user == "nobody" and IS_ROOT:
        return [*AS_NOBODY, place.program()]
    return [os.environ["PYEXECD"]]


def give(user, path):
    """Makes USER the owner of PATH and of what is in it."""
    if user != "nobody" or not IS_ROOT:
        return
    for folder, folders, files in os.walk(path):
        for one in (folder, *(os.path.join(folder, each) for each in (*folders, *files))):
            os.chown(one, NOBODY, NOBODY, follow_symlinks=False)


def has_uid_for_scripts(user):
    """Whether a script of a server of USER has a uid of its own in a sandbox, where the server is root of its machine."""
    return user == "root" and leftovers.read("/proc/self/uid_map").split() == [b"0", b"0", b"4294967295"]
