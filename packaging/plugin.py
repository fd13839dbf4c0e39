"""A plugin for Claude Code that is an extension for Gemini CLI, too, as a compressed tar on standard output.

    plugin.py WHEEL >linux.x64.pyexecd-VERSION.tar.gz

It has the programs of WHEEL, the settings that start the server, and a skill that says when to use the tool. Unpacked, it
is a marketplace with this one plugin. Gemini CLI looks for a file of this name in a release. The same wheel has the same tar.
"""

import json
import pathlib
import sys

import archive
from wheel import Wheel

DESCRIPTION = "Runs the Python that the model writes, each run in a sandbox of its own"
AUTHOR = {"name": "The pyexecd authors"}
SKILL = pathlib.Path(__file__).with_name("SKILL.md")
CALL_MILLISECONDS = 630000  # the longest timeout of a call by default, and 30 seconds


def server(root):
    return {"command": f"{root}/server/pyexecd", "args": []}


def plugin(wheel):
    return {
        "name": wheel.name,
        "version": wheel.version,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "license": "Apache-2.0",
        "keywords": ["python", "sandbox", "code execution"],
        "mcpServers": {wheel.name: server("${CLAUDE_PLUGIN_ROOT}")},
    }


def marketplace(wheel):
    return {
        "name": wheel.name,
        "description": DESCRIPTION,
        "owner": AUTHOR,
        "plugins": [{"name": wheel.name, "source": "./", "description": DESCRIPTION}],
    }


def extension(wheel):
    return {
        "name": wheel.name,
        "version": wheel.version,
        "description": DESCRIPTION,
        "mcpServers": {wheel.name: {**server("${extensionPath}"), "timeout": CALL_MILLISECONDS}},
    }


def files(wheel):
    """path -> (contents, mode)"""
    settings = {".claude-plugin/plugin.json": plugin(wheel), ".claude-plugin/marketplace.json": marketplace(wheel),
                "gemini-extension.json": extension(wheel)}
    texts = {name: json.dumps(content, indent=2).encode() + b"\n" for name, content in settings.items()}
    texts["skills/run-python/SKILL.md"] = SKILL.read_bytes()
    return {**{name: (text, 0o644) for name, text in texts.items()}, **wheel.placed("server", "licenses")}


if __name__ == "__main__":
    archive.write(files(Wheel(sys.argv[1])), sys.stdout.buffer)
