"""The prompt that tells how to use the tool, in every revision, and with the newest configuration."""

import client
import pytest
import wire
from test_reload import reload, serve

ENVIRONMENTS = {"system": {"type": "system"},
                "science": {"type": "system", "approval": "first", "timeout": 50}}


def text(server, **arguments):
    result = server.request("prompts/get", {"name": "code_writer", "arguments": arguments})
    (message,) = result["messages"]
    assert message["role"] == "user" and message["content"]["type"] == "text"
    return message["content"]["text"]


def completed(server, value):
    result = server.request("completion/complete", {
        "ref": {"type": "ref/prompt", "name": "code_writer"},
        "argument": {"name": "environment", "value": value}})
    return result["completion"]["values"]


@pytest.mark.parametrize("revision", client.REVISIONS)
def test_it_tells_how_to_solve_a_task_here(revision):
    with client.Server(config={"environments": ENVIRONMENTS}) as server:
        server.initialize(revision)
        (prompt,) = server.request("prompts/list")["prompts"]
        assert [argument["name"] for argument in prompt["arguments"]] == ["environment", "task"]
        whole = text(server)
        assert "print() what you want to see" in whole and "- system: system" in whole
        assert "Limits: 30 seconds" in whole
        assert "a person is asked before the first call" in whole
        one = text(server, environment="science", task="Sum it up.")
        assert "; 50 seconds" in one and "- system: system" not in one
        assert one.endswith("The task:\n\nSum it up.\n")
        with pytest.raises(client.RpcError) as unknown:
            text(server, environment="sciense")
        assert unknown.value.code == -32602


@pytest.mark.parametrize("revision", ["2025-11-25", wire.MODERN])
def test_names_of_environments_are_completed_as_they_are_now(revision):
    with serve({"environments": ENVIRONMENTS}) as server:
        server.initialize(revision)
        assert completed(server, "s") == ["system", "science"]
        assert completed(server, "sc") == ["science"]
        reload(server, {"environments": {**ENVIRONMENTS, "scratch": {"type": "system"}}})
        assert completed(server, "sc") == ["science", "scratch"]
        assert "- scratch: system" in text(server)


def test_packages_are_told_as_the_description_tells_them():
    for callers in (True, False):
        config = {"environments": {"science": {"type": "venv", "pip_packages": ["numpy>=1.26"]}},
                  "default_environment": "science", "callers": {"define_environments": callers}}
        with client.Server(config=config) as server:
            begun = server.initialize()
            (tool,) = server.request("tools/list")["tools"]
            (told,) = [line[2:] for line in tool["description"].splitlines() if "Packages" in line]
            assert ("environment_definition" in told) == callers
            assert ("Install none from a program" in told) == (not callers), \
                "it could: and would change the environment for others"
            for words in (begun["instructions"], text(server), text(server, environment="science")):
                assert told in words
                assert "- science: venv, with numpy" in words
