"""Packages as scripts import them: warm, where others were imported before, as with plain Python.

    packages.py PYEXECD VENV [ROUNDS] [SEED]

Imports every package of VENV after another one, in a random order and in the opposite order, in calls of one server;
after ROUNDS (1) prints a table: what an import takes with plain Python and in a call once all has been seen, and what
failed in a call and not with plain Python. Its exit status is 1 where there is such a package.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import client  # noqa: E402

SECONDS = 120  # for one script, on a busy machine
# The name that each distribution is imported by: its own, or else the shortest.
LIST = """
import importlib.metadata, json
found = {}
for name, owners in importlib.metadata.packages_distributions().items():
    if name.isidentifier() and not name.startswith('_'):
        for owner in owners:
            found.setdefault(owner, []).append(name)
print(json.dumps(sorted({min(names, key=lambda name: (name.lower() != owner.replace('-', '_').lower(), len(name)))
                         for owner, names in found.items()})))
"""
# Imports NAMES, and says which they are; what they write is theirs.
SCRIPT = """
import sys, time
begun = time.perf_counter()
{imports}
taken = time.perf_counter() - begun
print("imported", *[sys.modules[name].__name__ for name in {names}], round(1000 * taken), file=sys.__stdout__)
"""


def script(*names):
    return SCRIPT.format(imports="\n".join(f"import {name}" for name in names), names=names)


def python_of(venv):
    return pathlib.Path(venv).resolve() / "bin/python"


def names_of(venv):
    listed = subprocess.run([python_of(venv), "-Ic", LIST], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)


class Outcome:
    """How one script ended."""

    def __init__(self, returncode, stdout, stderr):
        self.is_right = returncode == 0 and "imported " in stdout
        self.milliseconds = int(stdout.split()[-1]) if self.is_right else None
        self.error = (stderr.strip().splitlines() or [f"status {returncode}"])[-1]


def plainly(venv, *names):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "script.py")
        path.write_text(script(*names))
        try:
            done = subprocess.run([python_of(venv), path], cwd=folder, capture_output=True, text=True, errors="replace",
                                  stdin=subprocess.DEVNULL, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Outcome(None, "", f"did not end in {SECONDS} seconds")
        return Outcome(done.returncode, done.stdout, done.stderr)


class Corpus:
    """A server with VENV alone, whose calls import its packages."""

    def __init__(self, venv):
        self.venv = pathlib.Path(venv).resolve()
        definition = {"type": "venv", "venv_path": str(self.venv), "isolation": "sandbox"}
        self.server = client.Server(transport="unix", config={"environments": {"venv": definition}, "max_timeout": SECONDS})

    def __enter__(self):
        self.server.__enter__()
        self.server.initialize()
        return self

    def __exit__(self, *error):
        return self.server.__exit__(*error)

    def call(self, *names):
        result = self.server.call_tool("run_python", {"code": script(*names), "timeout": SECONDS})["structuredContent"]
        return Outcome(result["returncode"], result["stdout"], result["stderr"] or result["error"] or "")

    def failures(self, names, seed):
        """{names: what was said} of those that fail in a call and not with plain Python."""
        order = random.Random(seed).sample(names, len(names))
        pairs = list(zip(order, order[1:] + order[:1]))
        found = {}
        for pair in [*pairs, *(pair[::-1] for pair in pairs)]:
            outcome = self.call(*pair)
            if not outcome.is_right and plainly(self.venv, *pair).is_right:
                found[pair] = outcome.error
        return found


def main(pyexecd, venv, rounds="1", seed="1"):
    """Learns nothing from what the server has seen before, and leaves nothing."""
    with tempfile.TemporaryDirectory() as state:
        os.environ.update(PYEXECD=pyexecd, XDG_STATE_HOME=state)
        return report(venv, int(rounds), int(seed))


def report(venv, rounds, seed):
    names = [name for name in names_of(venv) if plainly(venv, name).is_right]
    failures = {}
    with Corpus(venv) as corpus:
        for turn in range(rounds):
            failures.update(corpus.failures(names, seed + turn))
        print("| package | plain, ms | in a call, ms | |\n|---|---|---|---|")
        for name in names:
            corpus.call(name)
            again = corpus.call(name)
            said = again.error if not again.is_right else ""
            print(f"| {name} | {plainly(venv, name).milliseconds} | {again.milliseconds} | {said} |", flush=True)
    for pair, error in failures.items():
        print(f"{' and '.join(pair)}: {error}")
    print(f"{len(names)} packages, {2 * rounds * len(names)} pairs, {len(failures)} failed in a call alone")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
