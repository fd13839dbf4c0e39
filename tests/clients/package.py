"""The Python package of the source tree, as programs in the environments of installed.py use it."""

import json
import pathlib

import installed

PACKAGE = installed.ROOT / "python"
HERE = pathlib.Path(__file__).parent


def variables(**more):
    """The variables of a program that finds the package, and the server on its PATH."""
    path = f"{pathlib.Path(installed.PYEXECD).parent}:/usr/local/bin:/usr/bin:/bin"
    return {"PATH": path, "PYTHONPATH": f"{PACKAGE}:{HERE}", **more}


def run(venv, *arguments, home, text="", timeout=180, **more):
    """Runs a Python program in the virtual environment VENV, in HOME, and returns what it printed."""
    done = installed.subprocess.run(
        [installed.python(venv), *map(str, arguments)], input=text, cwd=home, capture_output=True, text=True,
        timeout=timeout, env=variables(**{"HOME": str(home), "LANG": "C.UTF-8", **more}))
    assert done.returncode == 0, done
    return done.stdout


def executed(name, steps, home, *file, environment=None, **options):
    """What a program of AutoGen sees of STEPS, lists of pairs of a language and code, that the executor NAME runs.
    ENVIRONMENT has further variables of the program."""
    lines = run("autogen", HERE / "autogen_blocks.py", name, json.dumps(options), *file, home=home,
                text="".join(json.dumps(step) + "\n" for step in steps), **(environment or {}))
    return [json.loads(line) for line in lines.splitlines()]
