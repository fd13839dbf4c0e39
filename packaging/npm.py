"""The npm packages of pyexecd, as npm itself packs them, on standard output.

    npm.py launcher WHEEL >pyexecd-VERSION.tgz
    npm.py programs WHEEL >pyexecd-linux-x64-VERSION.tgz

The first is the one that a user names. npm installs the second with it, which has the programs of WHEEL for one kind of
machine. The same wheel has the same packages.
"""

import json
import pathlib
import sys

import archive
from server_json import NAME
from wheel import MACHINES, Wheel

PARTS = pathlib.Path(__file__).with_name("npm")


def described(wheel, name, description, **more):
    """The text of a package.json."""
    whole = {"name": name, "version": wheel.version, "description": description, "license": "Apache-2.0", **more}
    return json.dumps(whole, indent=2).encode() + b"\n"


def launcher(wheel):
    """path -> (contents, mode)"""
    programs = {f"{wheel.name}-linux-{machine}": wheel.version for machine in MACHINES.values()}
    package = described(wheel, wheel.name, "An MCP server that runs the Python that language models write",
                        keywords=["mcp", "python", "sandbox"], mcpName=NAME, bin={wheel.name: "pyexecd.js"},
                        engines={"node": ">=18"}, optionalDependencies=programs)
    return {"package.json": (package, 0o644),
            "pyexecd.js": ((PARTS / "pyexecd.js").read_bytes(), 0o755),
            "README.md": ((PARTS / "README.md").read_bytes(), 0o644),
            "LICENSE": (wheel.licences()["LICENSE"], 0o644)}


def programs(wheel):
    """path -> (contents, mode)"""
    package = described(wheel, f"{wheel.name}-linux-{wheel.machine}", f"The programs of {wheel.name}",
                        os=["linux"], cpu=[wheel.machine], libc=["glibc"])
    return {"package.json": (package, 0o644), **wheel.placed("programs", "licenses")}


if __name__ == "__main__":
    made = {"launcher": launcher, "programs": programs}[sys.argv[1]](Wheel(sys.argv[2]))
    archive.write({f"package/{path}": file for path, file in made.items()}, sys.stdout.buffer)
