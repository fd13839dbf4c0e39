"""The scripts in scripts/, written as models write them. The docstring of each is TOML:

    shows = "a column that is not there"   what it is about, for people
    reads = ['KeyError: .pries']           regular expressions that the result's text has to have
    next = 'did you mean'                  one for the line that a model can go on from
    environment = "data"                   where it runs; default: system
    timeout = 1                            seconds that the call asks for
    packages = ["gadget"]                  the call defines a venv with them
    agents = true                          test_agents.py has it run by real agents, too
    varies = true                          the text differs between machines or runs

What follows the docstring is the code of the call, which need not be Python. Lines `#%%` part calls:
what is looked at is the last one.
"""

import contextlib
import json
import pathlib
import re
import sys
import time
import tomllib

import installed

sys.path += [str(installed.ROOT / "examples"), str(installed.ROOT / "tests" / "integration")]

from client import Client  # noqa: E402
import wheels  # noqa: E402

FOLDER = pathlib.Path(__file__).with_name("scripts")
KEYS = {"shows", "reads", "next", "environment", "timeout", "packages", "agents", "varies"}
# Debian's own: another python3 that comes first on PATH may have NumPy.
PYTHON = "/usr/bin/python3"
SECONDS = 120  # on a busy machine
FORM = re.compile(r"'''\n(.*?)'''\n(.*)", re.S)


class Script:
    def __init__(self, path):
        self.name = path.stem
        self.group = path.parent.name
        header, code = FORM.fullmatch(path.read_text()).groups()
        header = tomllib.loads(header)
        assert not header.keys() - KEYS, f"{path}: {header.keys() - KEYS}"
        self.shows = header["shows"]
        self.reads = header["reads"]
        self.next = header["next"]
        self.of_agents = header.get("agents", False)
        self.varies = header.get("varies", False)
        *self.before, self.code = re.split("^#%%\n", code, flags=re.M)
        self.more = {key: header[key] for key in ("environment", "timeout") if key in header}
        if "packages" in header:
            self.more["environment_definition"] = {"type": "venv", "pip_packages": header["packages"]}

    def __repr__(self):
        return self.name

    def arguments(self, code=None):
        return {"code": code or self.code, **self.more}

    def missing(self, text):
        """What TEXT should have and has not."""
        return [each for each in [*self.reads, self.next] if not re.search(each, text, re.M)]

    def next_step(self, text):
        """The line that a model can go on from."""
        return next((line for line in text.splitlines() if re.search(self.next, line)), None)

    def result(self, folder, index=None):
        """The text of the last call, by a server of its own with its files in FOLDER."""
        with server(folder, index) as client:
            if self.more.get("environment") == "data":
                wait_until_known(client)
            for code in [*self.before, self.code]:
                answer = client.request("tools/call", {"name": "run_python",
                                                       "arguments": self.arguments(code)})
        return "\n".join(shown(part) for part in answer["content"])


def wait_until_known(client):
    """Which packages an environment has is asked in the background, when the server has nothing else to do."""
    deadline = time.monotonic() + SECONDS
    while "pandas" not in json.dumps(client.request("tools/list", {})):
        assert time.monotonic() < deadline, "the packages of the environment are not known"
        time.sleep(0.2)


def shown(part):
    return part["text"] if part["type"] == "text" else f"[{part['type']}: {part.get('mimeType')}]"


def every():
    return [Script(path) for path in sorted(FOLDER.glob("*/*.py"))]


def of_agents():
    """Those with one call, in any directory."""
    return [script for script in every() if script.of_agents]


def configuration(**more):
    """Python as Debian has it, and an environment for data; also over HTTP calls may define others. MORE of its keys."""
    data = pathlib.Path(installed.python("data")).parents[1].resolve()
    return {"environments": {"system": {"type": "system", "executable": PYTHON},
                             "data": {"type": "venv", "venv_path": str(data)}},
            "default_environment": "system", "callers": {"define_environments": True}, **more}


def command(folder, **more):
    """The program with that configuration, for clients that start it."""
    file = pathlib.Path(folder) / "pyexecd.yaml"
    file.write_text(json.dumps(configuration(**more)))
    file.chmod(0o600)
    return [installed.PYEXECD, "--config", str(file)]


@contextlib.contextmanager
def index_of_packages(folder):
    """An index on loopback, for scripts that want packages."""
    wheels.wheel(folder, "gadget")
    with wheels.Index(folder) as index:
        yield index


def server(folder, index=None):
    """A client of the program, which keeps its files in FOLDER and gets packages from INDEX."""
    variables = {"XDG_STATE_HOME": folder, "PIP_INDEX_URL": index.url if index else "",
                 "PATH": "/usr/local/bin:/usr/bin:/bin"}
    return Client("/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()),
                  *command(folder))
