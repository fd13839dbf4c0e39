"""Functions that the operator gives to the scripts of an environment (`functions: FILE.py`)."""

import os
import signal

import leftovers
import pytest
import wheels
from client import Server

FUNCTIONS = '''"""Shares."""
import statistics

def mean(prices: list, *, days: int = 1) -> float:
    """The mean of the last days.

    More is not told."""
    return statistics.mean(prices[-days:])

def _hidden():
    pass
'''
CALL = "from functions import mean\nprint(mean([1, 2, 4], days=2))"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "market.py"
    path.write_text(FUNCTIONS)
    return path


def serve(**definition):
    return Server("--log-level", "debug", config={"environments": {"it": {"type": "system", **definition}}})


def run(server, code, **more):
    return server.call_tool("run_python", {"code": code, **more})["structuredContent"]


@pytest.mark.parametrize("isolation", ["none", "auto"])
def test_scripts_import_them(file, isolation):
    with serve(functions=str(file), isolation=isolation) as server:
        server.initialize()
        for _ in range(3):
            result = run(server, CALL)
            assert (result["stdout"], result["files"]) == ("3\n", []), result


def test_models_are_told_what_there_is(file):
    with serve(functions=str(file)) as server:
        instructions = server.initialize()["instructions"]
        schema = server.find_tool()["inputSchema"]["properties"]["environment"]
    for text in (instructions, schema["description"]):
        assert "import functions" in text
        assert "\n  - mean(prices: list, *, days: int = 1) -> float: The mean of the last days.\n" in text + "\n"
        assert "hidden" not in text and "More" not in text


def test_what_a_script_writes_over_is_there_again(file):
    with serve(functions=str(file)) as server:
        server.initialize()
        first = run(server, "open('functions.py', 'w').write('def mean(*_, **__): return 0')\n" + CALL)
        second = run(server, CALL, working_directory=first["working_directory"])
    assert (first["stdout"], second["stdout"]) == ("0\n", "3\n")


def test_a_change_counts_when_the_configuration_is_read_again(file):
    with serve(functions=str(file)) as server:
        server.initialize()
        assert run(server, CALL)["stdout"] == "3\n"
        file.write_text(FUNCTIONS.replace("mean(prices", "max(prices"))
        server.process.send_signal(signal.SIGHUP)
        assert leftovers.until(lambda: "the configuration was read again" in server.stderr())
        result = run(server, "from functions import max\nprint(max)")
        assert result["success"], result
        assert "max(prices: list" in server.find_tool()["inputSchema"]["properties"]["environment"]["description"]


def test_a_venv_gets_the_packages_that_they_need(tmp_path):
    wheels.wheel(tmp_path, "gadget", "2.0")
    file = tmp_path / "functions.py"
    file.write_text("# /// script\n# dependencies = ['gadget>=2']\n# ///\nimport gadget\n\n"
                    "def version(): return gadget.VERSION\n")
    with serve(type="venv", functions=str(file), pip_find_links=str(tmp_path)) as server:
        server.initialize()
        result = run(server, "import functions\nprint(functions.version())", timeout=100)
    assert result["stdout"] == "2.0\n", result


def test_a_call_cannot_give_some(file):
    with serve() as server:
        server.initialize()
        definition = {"type": "venv", "functions": str(file)}
        result = server.call_tool("run_python", {"code": CALL, "environment_definition": definition})
    assert result["isError"] and "only the operator can set this" in result["content"][0]["text"]


def test_a_link_of_the_operator_is_followed(file, tmp_path):
    os.symlink(file, tmp_path / "link.py")
    with serve(functions=str(tmp_path / "link.py")) as server:
        server.initialize()
        assert run(server, CALL)["stdout"] == "3\n"
