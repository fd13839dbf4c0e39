"""What containers and venvs cost beside what people use instead.

The engine, its image and a registry are the tests' own (tests/docker), nothing that the machine has is used or changed.
"""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import time

import base_image
import debian
import engine as engine_module
import images as images_module
import measure
import ours
import peers
import registry as registry_module
import scripts
import starts
import wheels
from measure import LeftOut
from stopwatch import Command

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".deps" / "tools" / "bin"
BUNDLED_WHEELS = "/usr/share/python-wheels"  # pip for `uv venv --seed`, without a network
AGAIN_LIMIT_MS = 50
REST_MS = 200  # after a turn: a container is removed behind the answer
CALLS = 2
ALL = "all containers"
AGENT_SECONDS = 1  # between two calls of an agent, which are seldom closer


class Ways:
    """What is compared: functions by name, and why others are left out."""

    def __init__(self):
        self.ways = {}
        self.left_out = {}

    def measure(self, title, seconds, bases, calls=CALLS, rest_ms=REST_MS):
        able, unable = starts.try_out(self.ways)
        found = measure.statistics_of(measure.take_turns(able, seconds, calls, rest_ms))
        return {"title": title, "ms": measure.add_ratios(found, bases), "left_out": self.left_out | unable}


# ---------------------------------------------------------------- containers

def docker(bench, *words):
    return Command(bench, [shutil.which("docker", path=bench.variables["PATH"]), *words], scripts.HELLO.expect)


def in_folder(bench):
    """Options of docker for a container that sees the script."""
    return ["--volume", f"{scripts.HELLO.write(bench.folder).parent}:/workspace", "--workdir", "/workspace"]


@contextlib.contextmanager
def kept_by_hand(bench):
    """A container that only waits, as AG2 keeps one; its name."""
    name = "bench-kept"
    run = functools.partial(subprocess.run, env=bench.variables, check=True, capture_output=True)
    run(["docker", "run", "--detach", "--name", name, "--network", "none", *in_folder(bench), base_image.NAME,
         "tail", "-f", "/dev/null"])
    try:
        yield name
    finally:
        run(["docker", "rm", "--force", name])


def apart(way):
    """WAY, with the time between two calls that an agent takes. Containers do not start in 10 ms."""
    def call(calls):
        taken = []
        for _ in range(calls):
            time.sleep(AGENT_SECONDS)
            taken += way(1)
        return taken
    return call


def containers(bench, image, seconds):
    """A call in a container, by what people use."""
    compared = Ways()
    with contextlib.ExitStack() as stack:
        for start, key in ours.starts(bench, "docker").items():
            for name, kept in (("fresh", False), ("kept", True)):
                definition = {"type": "docker", "keep_container_running": kept, **key}
                server = stack.enter_context(ours.server(bench, f"docker-{name}-{start}", {"box": definition}))
                tool = ours.tool(server, scripts.HELLO)
                compared.ways[f"{ours.NAME}, {name} container, {start}"] = tool
                if start == "warm":
                    compared.ways[f"{ours.NAME}, {name} container, warm, {AGENT_SECONDS} s apart"] = apart(tool)
        kept = stack.enter_context(kept_by_hand(bench))
        run = ["run", "--rm", *in_folder(bench)]
        script = [base_image.NAME, "python3", "script.py"]
        compared.ways |= {"docker exec": docker(bench, "exec", kept, "python3", "/workspace/script.py"),
                          "docker run --rm": docker(bench, *run, *script),
                          "docker run --rm --network none": docker(bench, *run, "--network", "none", *script),
                          starts.BASE: peers.plain(bench, scripts.HELLO)}
        libraries, compared.left_out = peers.libraries(bench, stack, {
            "AG2 DockerPythonEnvironment (kept)": functools.partial(peers.Library, bench, "ag2_docker", image),
            "AutoGen docker executor (kept)": functools.partial(peers.Library, bench, "autogen_docker", image)})
        compared.ways |= {name: library.way(scripts.HELLO) for name, library in libraries.items()}
        return compared.measure("hello in a container", seconds, ["docker exec", "docker run --rm"])


# ---------------------------------------------------------------- venvs

def prepared(server, **arguments):
    """The milliseconds that a call waited for its environment."""
    return ours.structured(ours.tool(server, scripts.HELLO, **arguments))["timings"]["prepare"] * 1000


def venv_tools():
    """How others make a venv: name -> command without the path, and what is left out."""
    ways, left_out = {"python3 -m venv": [scripts.DEBIAN, "-m", "venv"]}, {}
    tools = {
        "virtualenv": [TOOLS / "virtualenv", "--quiet", "--python", scripts.DEBIAN],
        "uv venv --seed": [TOOLS / "uv", "venv", "--quiet", "--python", scripts.DEBIAN, "--seed", "--no-index",
                           "--find-links", BUNDLED_WHEELS],
        "uv venv": [TOOLS / "uv", "venv", "--quiet", "--python", scripts.DEBIAN],
    }
    for name, command in tools.items():
        if command[0].exists():
            ways[name] = command
        else:
            left_out[name] = "no .deps/tools: ./dev deps installs it"
    return ways, left_out


def made_by(bench, command):
    """The way that makes a venv with COMMAND, and removes it, which is not timed."""
    path = bench.folder / "venv"

    def make(calls):
        taken = []
        for _ in range(calls):
            begun = time.perf_counter()
            subprocess.run(list(map(str, [*command, path])), env=bench.variables, check=True, capture_output=True)
            taken.append((time.perf_counter() - begun) * 1000)
            shutil.rmtree(path)
        return taken

    return make


def venvs(bench, seconds):
    """Creating a venv with pip and without packages. Ours is what the first call waits for."""
    compared = Ways()
    tools, compared.left_out = venv_tools()
    names = [f"venv{number}" for number in range(60)]
    unused = iter(names)
    with ours.server(bench, "venvs", {name: {"type": "venv", "python_path": scripts.DEBIAN,
                                             "venv_path": str(bench.folder / name)} for name in names}) as server:
        compared.ways = {ours.NAME: lambda calls: [prepared(server, environment=next(unused)) for _ in range(calls)],
                         **{name: made_by(bench, command) for name, command in tools.items()}}
        return compared.measure("creating a venv with pip", seconds, ["python3 -m venv"], 1, measure.GAP_MS)


# ---------------------------------------------------------------- again

def again(bench, kind, definition, seconds):
    """Preparing after a restart what an earlier server has made."""
    def prepare(_):
        with ours.server(bench, "again", {"again": definition}, state=f"state of {kind}") as server:
            return [prepared(server)]

    first = prepare(1)[0]
    times = measure.take_turns({kind: prepare}, seconds, 1, 0)
    return {"first": first, **measure.statistics_of(times)[kind]}


def restarts(bench, seconds, engine=None):
    """What is found again; the package comes from an index that containers can reach, too."""
    folder = bench.folder / "wheels"
    folder.mkdir()
    wheels.wheel(folder, "gadget")
    definitions = {"venv": {"type": "venv", "python_path": scripts.DEBIAN}}
    if engine:
        definitions["docker"] = {"type": "docker"}
    with wheels.Index(folder, engine.gateway if engine else "127.0.0.1") as index:
        packages = {"pip_packages": ["gadget"], "pip_index_url": index.url}
        bench.variables["PIP_TRUSTED_HOST"] = index.host  # not over TLS
        found = {}
        for kind, definition in definitions.items():
            found[kind] = again(bench, kind, definition, seconds / 2 / len(definitions))
            name = f"{kind} with a package"
            found[name] = again(bench, name, {**definition, **packages}, seconds / 2 / len(definitions))
    return {"limit_ms": AGAIN_LIMIT_MS, "ms": found}


# ---------------------------------------------------------------- the report

@contextlib.contextmanager
def engine_of_its_own(bench):
    """An engine with the base image, and the name by which others pull it."""
    images = images_module.Images(bench.folder)
    with engine_module.Engine() as engine, registry_module.Registry() as registry:
        images.load(engine, images.base)
        before = dict(bench.variables)
        bench.variables.update(engine.environment)
        try:
            yield engine, registry.serve(images.base)
        finally:
            bench.variables = before


def run(bench, seconds):
    """The report, of which lines() makes text."""
    report = {"venv": venvs(bench, seconds * 0.4)}
    try:
        with engine_of_its_own(bench) as (engine, image):
            version = engine.api.get("/version")
            report["engine"] = f"Docker {version['Version']}, {engine.api.get('/info')['Driver']}"
            report["containers"] = containers(bench, image, seconds * 0.5)
            report["again"] = restarts(bench, seconds * 0.1, engine)
    except (engine_module.NoEngine, debian.NoDebian) as reason:
        report["left_out"] = {ALL: str(reason)}
        report["again"] = restarts(bench, seconds * 0.1)
    return report


TEXT = f"""\
## Containers and venvs

A fresh container is made for the call, and removed with it; in a kept one, files and processes of earlier calls stay.
Ours is hardened: no network, no capability, the image read-only, a list of system calls.
"""


def lines(report):
    yield from TEXT.splitlines()
    if "engine" in report:
        yield f"The engine is one of the tests' own: {report['engine']}."
    for name in ("containers", "venv"):
        if name in report:
            yield from ["", f"### {report[name]['title']}", "", *measure.times_table(report[name]["ms"]), ""]
            yield from measure.left_out_lines(report[name]["left_out"])
    yield from measure.left_out_lines(report.get("left_out", {}))
    rows = [[name, *(measure.number(found[key]) for key in ("first", "p50", "p95"))]
            for name, found in report["again"]["ms"].items()]
    yield from ["", f"### preparing again after a restart: at most {AGAIN_LIMIT_MS} ms", "",
                *measure.table(["", "first ms", "again, p50 ms", "p95 ms"], rows), ""]


def panels(report):
    return {report[name]["title"]: report[name]["ms"] for name in ("containers",) if name in report}
