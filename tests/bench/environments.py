"""What environments cost beside what people use instead; `./dev bench environments` runs it.

    environments.py PROGRAM [--json] [--rounds N]

PROGRAM is a client's server over stdio, measured from outside. What is compared takes turns, so
that whatever else the machine does falls on all alike. The engine, its image and a registry are the
tests' own (tests/docker), nothing that the machine has is used or changed. Every number is
milliseconds; a ratio is ours divided by theirs.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests", "tests/docker", "tests/integration"):
    sys.path.insert(0, str(ROOT / folder))

import base_image  # noqa: E402
import debian  # noqa: E402
import engine as engine_module  # noqa: E402
import images as images_module  # noqa: E402
import registry as registry_module  # noqa: E402
import wheels  # noqa: E402

PYTHON = "/usr/bin/python3"
TOOLS = ROOT / ".deps" / "tools" / "bin"
AG2 = ROOT / ".deps" / "ag2" / "bin" / "python"
BUNDLED_WHEELS = "/usr/share/python-wheels"  # pip for `uv venv --seed`, without a network
SCRIPT = "print('hello')\n"
AGAIN_LIMIT_MS = 50
OURS = "pyexecd"


class LeftOut(Exception):
    """Something cannot be measured here; the message says why."""


def milliseconds(action):
    """What ACTION() takes."""
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000


def run(*command, environment=None):
    """Runs COMMAND, which has to work; its output is kept for the error only."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done.stdout


def in_turn(rounds, ways):
    """The times of each of WAYS (name -> function that returns milliseconds), one round after the
    other, after one that does not count."""
    times = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            taken = way()
            if number > 0:
                times[name].append(taken)
    return times


def quantiles(times):
    ordered = sorted(times)
    return {"p50": statistics.median(ordered), "p95": ordered[int(0.95 * len(ordered))]}


class Server:
    """The program over stdio, spoken to with as little as possible: this is measured, too."""

    def __init__(self, *command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment)
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.send({"id": 1, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if "id" in answer:
                return answer.get("result", answer)
        raise RuntimeError(f"the server ended with {self.process.wait()}")

    def run_python(self, **arguments):
        """The milliseconds of one call, and what came of it."""
        begun = time.perf_counter()
        result = self.request("tools/call", {"name": "run_python", "arguments": arguments})
        taken = (time.perf_counter() - begun) * 1000
        structured = result.get("_meta", {}).get("pyexecd/result", {})
        if structured.get("stdout") != "hello\n":
            raise RuntimeError(f"{OURS}: {json.dumps(result)}")
        return taken, structured

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Bench:
    """What the measurements share: the program, a folder of their own, variables without anything
    of whoever runs this."""

    def __init__(self, program, rounds, folder):
        self.program = program
        self.rounds = rounds
        self.folder = folder
        self.script = folder / "script.py"
        self.script.write_text(SCRIPT)
        self.environment = {"PATH": engine_module.PROGRAMS, "LANG": "C.UTF-8", "HOME": str(folder),
                            "XDG_CACHE_HOME": str(folder / "cache")}

    def use(self, engine):
        self.environment.update(engine.environment)

    def server(self, environments, state="state"):
        """The program with ENVIRONMENTS, of which the first is the default."""
        path = self.folder / "config.yaml"
        path.write_text(json.dumps({"environments": environments,
                                    "default_environment": next(iter(environments))}))
        path.chmod(0o600)
        return Server(self.program, "--config", str(path), environment={
            **self.environment, "XDG_STATE_HOME": str(self.folder / state)})

    def compare(self, title, ways, left_out=()):
        """One section of the report: OURS beside the others."""
        times = in_turn(self.rounds, ways)
        found = {name: quantiles(taken) for name, taken in times.items()}
        ratios = {name: found[OURS]["p50"] / found[name]["p50"] for name in found if name != OURS}
        return {"title": title, "ms": found, "ratios": ratios, "left_out": dict(left_out)}


# ---------------------------------------------------------------- containers

def fresh_containers(bench):
    """A call with a container of its own beside the docker command."""
    def docker_run(*options):
        return lambda: milliseconds(lambda: run(
            "docker", "run", "--rm", *options, "--volume", f"{bench.folder}:/workspace",
            "--workdir", "/workspace", base_image.NAME, "python3", "script.py",
            environment=bench.environment))

    with bench.server({"box": {"type": "docker"}}) as server:
        return bench.compare("a call in a fresh container", {
            OURS: lambda: server.run_python(code=SCRIPT)[0],
            "docker run --rm --network none": docker_run("--network", "none"),
            "docker run --rm": docker_run(),
        })


@contextlib.contextmanager
def ag2_environment(bench, image):
    """AG2's environment in a process of its own; the function that times one run in it."""
    if not AG2.exists():
        raise LeftOut("no .deps/ag2: ./dev deps installs it")
    command = [AG2, ROOT / "tests" / "bench" / "ag2_docker.py", image, bench.script]
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env=bench.environment) as process:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("AG2's environment did not start")

        def time_one():
            process.stdin.write("\n")
            process.stdin.flush()
            return float(process.stdout.readline())

        yield time_one
        process.stdin.close()


@contextlib.contextmanager
def kept_by_hand(bench):
    """A container that only waits, as AG2 keeps one; its name."""
    name = "bench-kept"
    run("docker", "run", "--detach", "--name", name, "--network", "none", "--volume",
        f"{bench.folder}:/workspace", "--workdir", "/workspace", base_image.NAME, "tail", "-f",
        "/dev/null", environment=bench.environment)
    try:
        yield name
    finally:
        run("docker", "rm", "--force", name, environment=bench.environment)


def kept_containers(bench, image):
    """A call in a container that is kept beside `docker exec`, by hand and by AG2 itself."""
    left_out = {}
    box = {"type": "docker", "keep_container_running": True}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(bench.server({"box": box}))
        kept = stack.enter_context(kept_by_hand(bench))
        ways = {
            OURS: lambda: server.run_python(code=SCRIPT)[0],
            "docker exec": lambda: milliseconds(lambda: run(
                "docker", "exec", kept, "python", "/workspace/script.py",
                environment=bench.environment)),
        }
        try:
            ways["AG2"] = stack.enter_context(ag2_environment(bench, image))
        except LeftOut as reason:
            left_out["AG2"] = str(reason)
        return bench.compare("a call in a container that is kept", ways, left_out)


# ---------------------------------------------------------------- venvs

def prepared(server, **arguments):
    """The milliseconds that a call waited for its environment."""
    return server.run_python(code=SCRIPT, **arguments)[1]["timings"]["prepare"] * 1000


def venv_tools(bench):
    """How others make a venv: name -> command without the path, and what is left out."""
    ways, left_out = {"python3 -m venv": [PYTHON, "-m", "venv"]}, {}
    tools = {
        "virtualenv": [TOOLS / "virtualenv", "--quiet", "--python", PYTHON],
        "uv venv --seed": [TOOLS / "uv", "venv", "--quiet", "--python", PYTHON, "--seed",
                           "--no-index", "--find-links", BUNDLED_WHEELS],
        "uv venv": [TOOLS / "uv", "venv", "--quiet", "--python", PYTHON],
    }
    for name, command in tools.items():
        if command[0].exists():
            ways[name] = command
        else:
            left_out[name] = "no .deps/tools: ./dev deps installs it"
    return ways, left_out


def venvs(bench):
    """Creating a venv with pip and without packages. Ours is what the first call waits for."""
    def made_by(command):
        path = bench.folder / "venv"

        def make():
            taken = milliseconds(lambda: run(*command, path, environment=bench.environment))
            shutil.rmtree(path)
            return taken

        return make

    tools, left_out = venv_tools(bench)
    names = [f"venv{number}" for number in range(bench.rounds + 1)]
    definitions = {name: {"type": "venv", "python_path": PYTHON,
                          "venv_path": str(bench.folder / name)} for name in names}
    unused = iter(names)
    with bench.server(definitions) as server:
        return bench.compare("creating a venv", {
            OURS: lambda: prepared(server, environment=next(unused)),
            **{name: made_by(command) for name, command in tools.items()}}, left_out)


# ---------------------------------------------------------------- again

def again(bench, kind, definition):
    """Preparing after a restart what an earlier server has made."""
    def prepare():
        with bench.server({"again": definition}, state=f"state of {kind}") as server:
            return prepared(server)

    first = prepare()
    times = in_turn(bench.rounds, {kind: prepare})[kind]
    return {"first": first, **quantiles(times)}


def restarts(bench, engine=None):
    """What is found again; the package comes from an index that containers can reach, too."""
    folder = bench.folder / "wheels"
    folder.mkdir()
    wheels.wheel(folder, "gadget")
    definitions = {"venv": {"type": "venv", "python_path": PYTHON}}
    if engine:
        definitions["docker"] = {"type": "docker"}
    with wheels.Index(folder, engine.gateway if engine else "127.0.0.1") as index:
        packages = {"pip_packages": ["gadget"], "pip_index_url": index.url}
        bench.environment["PIP_TRUSTED_HOST"] = index.host  # not over TLS
        found = {}
        for kind, definition in definitions.items():
            found[kind] = again(bench, kind, definition)
            name = f"{kind} with a package"
            found[name] = again(bench, name, {**definition, **packages})
    return {"title": "preparing again after a restart", "limit_ms": AGAIN_LIMIT_MS, "ms": found}


# ---------------------------------------------------------------- the report

@contextlib.contextmanager
def engine_of_its_own(bench):
    """An engine with the base image, and the name by which AG2 pulls it."""
    images = images_module.Images(bench.folder)
    with engine_module.Engine() as engine, registry_module.Registry() as registry:
        images.load(engine, images.base)
        bench.use(engine)
        yield engine, registry.serve(images.base)


def measure_containers(bench, report):
    try:
        with engine_of_its_own(bench) as (engine, image):
            version = engine.api.get("/version")
            report["engine"] = f"Docker {version['Version']}, {engine.api.get('/info')['Driver']}"
            report["fresh_container"] = fresh_containers(bench)
            report["kept_container"] = kept_containers(bench, image)
            report["again"] = restarts(bench, engine)
    except (engine_module.NoEngine, debian.NoDebian) as reason:
        report["left_out"] = f"containers: {reason}"
        report["again"] = restarts(bench)


def measure(program, rounds):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bench-environments-"))
    folder.chmod(0o755)
    try:
        bench = Bench(program, rounds, folder)
        report = {"rounds": rounds, "venv": venvs(bench)}
        measure_containers(bench, report)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return report


def print_section(section):
    print(f"\n{section['title']:<40} {'p50':>12} {'p95':>12}   ours is")
    for name, found in section["ms"].items():
        ratio = section.get("ratios", {}).get(name)
        times = f"{ratio:.4f} times that" if ratio else ""
        if "first" in found:
            times = f"first {found['first']:.1f} ms; at most {section['limit_ms']} ms"
        print(f"  {name:<38} {found['p50']:9.2f} ms {found['p95']:9.2f} ms   {times}")
    for name, reason in section.get("left_out", {}).items():
        print(f"  {name:<38} {reason}")


def print_table(report):
    print(f"{report['rounds']} rounds in turn; {report.get('engine', report.get('left_out'))}")
    for name in ("fresh_container", "kept_container", "venv", "again"):
        if name in report:
            print_section(report[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    report = measure(os.path.abspath(arguments.program), arguments.rounds)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        print_table(report)


if __name__ == "__main__":
    main()
