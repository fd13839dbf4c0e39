"""Scripts that say what they need in a block of their own (PEP 723), and code in a fence."""

import os

import pytest

import client
import wheels
from test_inline import needs_pip

BLOCK = """# /// script
# requires-python = ">=3.8"
# dependencies = [
#   "gadget<2",  # the old one
# ]
# ///
"""
GADGET = BLOCK + "import gadget; print(gadget.VERSION)"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A package index of the tests' own, which servers that are started meanwhile use."""
    folder = tmp_path_factory.mktemp("index")
    wheels.wheel(folder, "gadget", "1.0")
    wheels.wheel(folder, "gadget", "2.0")
    with wheels.Index(folder) as index, pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("PIP_", "UV_")):
                patch.delenv(name)
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("PIP_INDEX_URL", index.url)
        patch.setenv("PIP_TRUSTED_HOST", index.host)
        yield index


@pytest.fixture(scope="module")
def server(index):
    with client.Server() as server:
        server.initialize()
        yield server


def call(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments}, timeout=120)


def text(result):
    block, *links = result["content"]
    assert all(link["type"] == "resource_link" for link in links)
    return block["text"]


@needs_pip
def test_a_script_gets_the_venv_that_it_asks_for(server, index):
    result = call(server, GADGET)
    assert result["structuredContent"]["stdout"] == "1.0\n", text(result)
    asked = len(index.requests)
    assert call(server, GADGET)["structuredContent"]["stdout"] == "1.0\n"
    assert len(index.requests) == asked
    definition = {"type": "venv", "python_version": ">=3.8", "pip_packages": ["gadget<2"]}
    again = call(server, "import gadget; print(gadget.VERSION)", environment_definition=definition)
    assert again["structuredContent"]["stdout"] == "1.0\n"
    assert len(index.requests) == asked


@needs_pip
def test_its_preparation_is_told(server):
    arguments = {"code": GADGET.replace("gadget<2", "gadget==2.0")}
    assert not server.call_tool("run_python", arguments, 7, timeout=120)["isError"]
    told = [each.get("message", "") for each in server.progress(7)]
    assert any("gadget" in message for message in told), told


def test_a_python_that_is_not_there_is_named(server):
    result = call(server, BLOCK.replace(">=3.8", ">=3.99") + "print(1)")
    assert result["isError"]
    assert "there is no Python >=3.99 on this machine; found: 3." in text(result)


@pytest.mark.parametrize("old, new, words", [
    ('"gadget<2",', '"gadget<2"; 1', "the script's block (# /// script): line 3: an array is"),
    ('"gadget<2"', '"gadget @ http://x/y"', "the script's block (# /// script) cannot be used"),
    ('">=3.8"', '"2.7"', "the script's block (# /// script) cannot be used"),
    ("dependencies = [", "dependencies = 7\n# x = [", "dependencies must be an array of strings"),
])
def test_a_block_that_cannot_be_used_is_an_error(server, old, new, words):
    result = call(server, BLOCK.replace(old, new) + "print(1)")
    assert result["isError"]
    assert words in text(result), text(result)


def test_an_environment_of_the_call_comes_first(server):
    result = call(server, BLOCK + "print(1)", environment="system")
    assert result["structuredContent"]["environment"] == "system"
    result = call(server, BLOCK + "print(1)", environment_definition={"type": "system"})
    assert result["structuredContent"]["stdout"] == "1\n"


def test_it_is_passed_over_where_calls_define_nothing():
    with client.Server(config={"callers": {"define_environments": False}}) as server:
        server.initialize()
        result = call(server, BLOCK + "print(1)")
        assert result["structuredContent"]["environment"] == "system"
        assert result["structuredContent"]["stdout"] == "1\n"


def test_code_in_a_fence_runs_with_the_lines_that_were_sent(server):
    result = call(server, "```python\nprint(6 * 7)\n1 / 0\n```")
    assert result["structuredContent"]["stdout"] == "42\n"
    assert "line 3" in result["structuredContent"]["stderr"]
