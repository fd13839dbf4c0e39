"""Our server as the benchmarks start it."""

import json
import subprocess

from measure import LeftOut
from stopwatch import HANDSHAKE, Server, Tool

NAME = "pyexecd"


def is_valid(bench, definition):
    """Whether the program knows all that DEFINITION of an environment says."""
    return subprocess.run([bench.program, "--check-config", "--config", configuration(bench, "check", {"it": definition})],
                          env=bench.variables, capture_output=True).returncode == 0


def configuration(bench, name, environments, **more):
    path = bench.folder / f"{name}.yaml"
    path.write_text(json.dumps({"environments": environments, "default_environment": next(iter(environments)),
                                "results": "structured", **more}))
    path.chmod(0o600)
    return str(path)


def starts(bench, kind):
    """The ways to start scripts of environments of KIND, the words for each: the program may know one only."""
    if is_valid(bench, {"type": kind, "start": "cold"}):
        return {"cold": {"start": "cold"}, "warm": {"start": "warm"}}
    return {"cold": {}}


def server(bench, name, environments, state="state", **more):
    """The program over stdio with ENVIRONMENTS, of which the first is the default, and MORE of a configuration."""
    return Server(bench, name, [bench.program, "--config", configuration(bench, name, environments, **more)],
                  XDG_STATE_HOME=str(bench.folder / state))


def tool(started, script, **arguments):
    """run_python of the server STARTED, with SCRIPT."""
    return Tool(started, "run_python", {"code": script.code, **arguments}, script.expect)


def structured(tool_called):
    """The structured form of one call's result."""
    result = tool_called.result()
    found = result.get("structuredContent", {})
    if not found.get("success"):
        raise LeftOut(result["content"][0]["text"].partition("\n")[0])
    return found


def check_isolation(tool_called, isolation):
    """What is measured as a sandbox is one."""
    found = structured(tool_called)["isolation"]
    if found != isolation:
        raise LeftOut(f"scripts have isolation {found} on this machine")
