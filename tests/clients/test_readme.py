"""What the README and docs/clients.md say is to be typed does what they say; only the port is another one."""

import json
import os
import re
import sys

import http_server
import installed
import pytest
import python_package

sys.path.insert(0, str(installed.ROOT / "docs"))

import terminal_picture  # noqa: E402

README = (installed.ROOT / "README.md").read_text()
CLIENTS = (installed.ROOT / "docs" / "clients.md").read_text()
PORT = "8808"


def blocks(language, *words):
    """The code blocks of both pages in LANGUAGE that have all WORDS in them."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", README + CLIENTS, re.M | re.S)
    return [block for block in found if all(word in block for word in words)]


def typed(block, url, home, **environment):
    """Runs BLOCK in a shell, against the server at URL."""
    port = url.split(":")[2].split("/")[0]
    return installed.run("/bin/sh", "-ec", block.replace(PORT, port), home=home, **environment)


@pytest.mark.parametrize("block", blocks("sh", "curl"), ids=["alone", "session"])
def test_curl_is_answered(block, tmp_path):
    with http_server.served(tmp_path) as url:
        done = typed(block, url, tmp_path)
    assert done.returncode == 0, done
    answer = json.loads(done.stdout)
    assert answer["result"]["content"][0]["text"].endswith("\nCode output: 42\n")


@pytest.mark.parametrize("client, block", [
    pytest.param(line.split()[0], line, id=line.split()[0])
    for block in blocks("sh", "mcp add", "http://") for line in block.splitlines()
    if line.split()[0] in ("claude", "gemini")
])
def test_command_line_clients_connect(client, block, tmp_path):
    installed.node_program(client)
    path = f"{installed.DEPS}/clients/node_modules/.bin:{installed.DEPS}/node/bin:/usr/bin:/bin"
    quiet = {"PATH": path, "DISABLE_AUTOUPDATER": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true",
             "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    with http_server.served(tmp_path) as url:
        added = typed(block, url, tmp_path, **quiet)
        assert added.returncode == 0, added
        listed = typed(f"{client} mcp list", url, tmp_path, **quiet)
    line = next(line for line in (listed.stdout + listed.stderr).splitlines() if "python:" in line)
    assert line.endswith("Connected"), listed


@pytest.mark.parametrize("block", blocks("json", PORT), ids=lambda block: block[:40])
def test_configuration_of_clients_is_json(block):
    json.loads(block)


def test_the_first_screen_has_what_a_visitor_needs():
    """One sentence, an installation without a compiler, a client, a figure and its command, the platforms."""
    screen = README.partition("## ")[0]
    wanted = ["is an MCP server", "uv tool install dist/pyexecd-", "pyexecd install claude-code", "./dev bench",
              "isolated by default"]
    assert [screen.index(text) for text in wanted] == sorted(screen.index(text) for text in wanted)
    for text in ["Linux", "WSL2", "macOS"]:
        assert text in screen


def test_the_picture_is_what_the_program_prints(tmp_path):
    assert "](docs/terminal.svg)" in README.partition("## ")[0]
    held = python_package.program(tmp_path, """
import os, pyexecd
with pyexecd.Client(os.environ["PYEXECD"], config={}) as client:
    print(*client.run_python("").structured["containment"]["layers"].values())
""").stdout
    if set(held.split()) != {"enforced"}:
        pytest.skip("the sandbox of this machine lacks a layer")
    assert terminal_picture.drawn(installed.PYEXECD) == terminal_picture.PICTURE.read_text(), (
        "docs/terminal_picture.py PROGRAM --write makes it anew")


def test_it_is_short():
    assert len(README.split()) <= 1000


def test_what_a_caller_needs_comes_before_what_an_operator_needs():
    sections = re.findall(r"^## (.*)", README, re.M)
    wanted = ["A call", "A configuration", "Where to read on"]
    assert [section for section in sections if section in wanted] == wanted


def test_the_program_in_python_does_what_it_says(tmp_path):
    (program,) = blocks("python")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pyexecd").symlink_to(installed.PYEXECD)
    done = python_package.program(tmp_path, program, PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    assert done.returncode == 0 and "Code output: 42" in done.stdout, done


def test_what_installs_it_is_said_of_the_same_file_as_in_the_installation():
    page = (installed.ROOT / "docs" / "installation.md").read_text()
    (block,) = blocks("sh", "uv tool install")
    assert block.partition("#")[0].strip() in page
