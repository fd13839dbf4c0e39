"""Types the README, as it is written, on a machine that has nothing but its system and Python, as an ordinary user.

    readme.py 12|13|24.04 WHEEL UV

UV is the program uv. The system is Debian, or Ubuntu from the mirror that UBUNTU_MIRROR names. What builds from the source is
typed by fresh.py. Prints what is typed and what comes.
"""

import pathlib
import re
import shutil
import sys
import tempfile

import host
import machine
import roots

README = (machine.ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USER, HOME = "ada", "/home/ada"
CHECKOUT = f"{HOME}/pyexecd"
# As a login has them: the profile of both systems puts ~/.local/bin on PATH if it is there.
LOGIN = ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups", "--", "env", f"HOME={HOME}", f"USER={USER}",
         f"PATH={HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin", "sh", "-ec"]
SERVER = 'python3 -m venv venv && venv/bin/pip install --quiet --no-index dist/pyexecd-*.whl && venv/bin/python program.py'


def block(language, words):
    """The only block in LANGUAGE that has WORDS."""
    (text,) = [text for kind, text in BLOCK.findall(README) if kind == language and words in text]
    return text


class Person:
    """Who reads the README at COMPUTER, in a checkout with WHEEL in dist/. He can read the folder SHARED beside it."""

    def __init__(self, computer, wheel, uv, shared=None):
        self.computer = computer
        self.shared = shared
        for name in ("uv", "uvx"):
            shutil.copy(uv.with_name(name), computer.root / "usr/local/bin" / name)
        self.as_root(f"useradd --create-home --shell /bin/bash {USER}; mkdir -p /srv/data /srv/results; "
                     f"chown {USER} /srv/results; install -d -o {USER} -g {USER} {CHECKOUT} {CHECKOUT}/dist")
        shutil.copy(wheel, computer.root / f"{CHECKOUT}/dist/{wheel.name}".lstrip("/"))

    def _ran(self, command, folder="/", shared=None):
        lines = []
        status = self.computer.run(command, folder, lines.append, host.environment(), shared)
        said = "".join(lines)
        print(said, end="", flush=True)
        assert status == 0, f"ended with {status}"
        return said

    def as_root(self, text):
        return self._ran(["sh", "-ec", text])

    def types(self, text):
        """What comes of TEXT."""
        print(f"$ {text}", flush=True)
        return self._ran([*LOGIN, text], CHECKOUT, self.shared)

    def writes(self, name, text):
        path = self.computer.root / f"{HOME}/{name}".lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.as_root(f"chown -R {USER}: {HOME}/{name.partition('/')[0]}")


def read(person):
    assert person.types(block("sh", "uv tool install")).splitlines()[-1] == "42"
    assert "what the entry starts answers" in person.types(block("sh", "pyexecd install"))
    assert "pyexecd" in person.types("cat ~/.claude.json")
    person.writes("pyexecd/program.py", block("python", "import pyexecd"))
    assert "\nCode output: 42\n" in person.types(SERVER)
    person.writes(".config/pyexecd/config.yaml", block("yaml", "default_environment"))
    assert person.types("pyexecd --check-config").endswith("config.yaml: ok\n")
    assert person.types("pyexecd run --env system -c 'print(6 * 7)'").endswith("42\n")
    assert person.types("pyexecd doctor | head -2").startswith("pyexecd ")
    person.types("pyexecd uninstall claude-code; uv tool uninstall pyexecd; ! pyexecd --version")


def main(release, wheel, uv):
    with tempfile.TemporaryDirectory() as folder, \
            machine.Machine(roots.of_release(release, roots.PYTHON), pathlib.Path(folder)) as computer:
        read(Person(computer, pathlib.Path(wheel), pathlib.Path(uv)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
