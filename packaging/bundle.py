"""An MCP bundle (.mcpb), which Claude Desktop and others install by a click, from a wheel.

    bundle.py WHEEL >pyexecd.mcpb

The same wheel has the same bundle.
"""

import io
import json
import sys
import time
import zipfile

from wheel import Wheel, epoch

PROGRAM = "server/pyexecd"
REGULAR_FILE = 0o100000


def manifest(wheel):
    return {
        "manifest_version": "0.3",
        "name": wheel.name,
        "display_name": "Python",
        "version": wheel.version,
        "description": "Runs the Python that the model writes, each run in a sandbox of its own",
        "long_description": "Nothing that a run starts outlives it. Where Linux has a sandbox, a run has no network and sees no "
                            "files but its own and those that the user allows. Each result says how the run was held.",
        "author": {"name": "The pyexecd authors"},
        "license": "Apache-2.0",
        "keywords": ["python", "sandbox", "code execution"],
        "server": {
            "type": "binary",
            "entry_point": PROGRAM,
            "mcp_config": {"command": f"${{__dirname}}/{PROGRAM}", "args": []},
        },
        "tools": [{"name": "run_python", "description": "Runs a script; returns its output, files and pictures"}],
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["linux"]},
    }


def write(wheel, output):
    files = {"manifest.json": (json.dumps(manifest(wheel), indent=2).encode() + b"\n", 0o644),
             **wheel.placed("server", "licenses")}
    # A file is sought in while it is written, and standard output may be a pipe.
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (contents, mode) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(epoch())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (REGULAR_FILE | mode) << 16
            archive.writestr(entry, contents)
    output.write(whole.getvalue())


if __name__ == "__main__":
    write(Wheel(sys.argv[1]), sys.stdout.buffer)
