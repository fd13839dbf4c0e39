"""The hostile programs, as programs/*.py have them. The docstring of each is TOML:

    tries = "to leave a daemon behind"          what it is after, for people
    held_by = ["pid namespace", "engine: ..."]  defences, by their names in knock_outs.py; where none of
                                                them is at work, what else holds it
    limit = 1                                   seconds it may take; default 20 (arena.py ends sooner what never ends)
    files = 8                                   how many the result names; default: any number
    needs = "a uid of its own"                  what the machine must have; as a result says that it is missing
    [outcome]
    any = "exit 0: left"                        a regular expression: its end, its last line
    landlock = "timeout: .*"                    at one level, and at those that have it below (BELOW)
    "root landlock" = "-"                       for one user; "-": it is not run there, the comment says why

The outcome is how the run ended (`exit 3`, `SIGKILL`, `timeout`, `memory`, `disk` or `error`) and,
after a colon, the last line on stdout if there is one. A program can read from its environment the
mark (leftovers.VARIABLE) with which it is to name what it makes outside of its directory.
"""

import ast
import os
import pathlib
import re
import tomllib

PROGRAMS = pathlib.Path(__file__).with_name("programs")
KEYS = {"tries", "held_by", "limit", "files", "needs", "outcome"}
LEVELS = ("namespace", "cgroup", "landlock", "docker", "sandbox", "sandbox landlock", "sandbox hosts")
# By which its process tree is held.
BELOW = {"sandbox": "namespace", "sandbox landlock": "landlock", "sandbox hosts": "namespace"}
NAMED = ("sandbox hosts",)  # held as the level above, but for what programs that name it attack
USERS = ("root", "user")
NOT_RUN = "-"
DEFAULT_SECONDS = 20


def user():
    return "root" if os.geteuid() == 0 else "user"


class Program:
    def __init__(self, path):
        self.name = path.stem
        self.code = path.read_text()
        header = tomllib.loads(ast.get_docstring(ast.parse(self.code)))
        assert not header.keys() - KEYS, f"{path}: {header.keys() - KEYS}"
        self.tries = header["tries"]
        self.held_by = header["held_by"]
        self.limit = header.get("limit", DEFAULT_SECONDS)
        self.files = header.get("files")
        self.needs = header.get("needs")
        self.outcomes = header["outcome"]

    def __repr__(self):
        return self.name

    def expected(self, level, who=None):
        """The outcome at LEVEL as a regular expression, NOT_RUN, or None where nothing is promised."""
        who = who or user()
        if level in NAMED:
            return self.outcomes.get(f"{who} {level}", self.outcomes.get(level, NOT_RUN))
        levels = [level, *filter(None, [BELOW.get(level)])]
        of_levels = [key for one in levels for key in (f"{who} {one}", one)]
        for key in (*of_levels, who, "any"):
            if key in self.outcomes:
                return self.outcomes[key]
        return None

    def is_run(self, level, who=None):
        return self.expected(level, who) not in (NOT_RUN, None)

    def is_expected(self, outcome, level):
        return re.fullmatch(self.expected(level), outcome) is not None


def programs():
    return [Program(path) for path in sorted(PROGRAMS.glob("*.py"))]


def at(level):
    """The programs that this user runs at LEVEL."""
    return [program for program in programs() if program.is_run(level)]


def outcome(result):
    """How a run ended, from the structured content of its RESULT."""
    end = f"exit {result['returncode']}"
    if result["timed_out"]:
        end = "timeout"
    elif result["out_of_memory"]:
        end = "memory"
    elif result["error"] and "its files grew" in result["error"]:
        end = "disk"
    elif result["signal"]:
        end = result["signal"]
    elif result["returncode"] is None:
        end = f"error {result['error']}"
    lines = result["stdout"].splitlines()
    return f"{end}: {lines[-1]}" if lines else end
