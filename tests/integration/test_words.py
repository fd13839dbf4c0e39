"""What a model is told before its first call: short, and the same from everywhere."""

import json
import os
import re

import client
import pytest
import wire

# Debian's Python: the packages of another that comes first on PATH may have long names, which are listed.
ENVIRONMENTS = {"system": {"type": "system", "executable": "/usr/bin/python3"},
                "science": {"type": "venv", "pip_packages": ["numpy>=1.26", "pandas"], "timeout": 90},
                "box": {"type": "docker", "image": "python:3.11-slim"}}
CONFIG = {"environments": ENVIRONMENTS, "default_environment": "system"}


def listed(server, **more):
    return server.request("tools/list", {"_meta": {"pyexecd/results": "text"}, **more})


def size(value):
    """Of its JSON. The directory of the server, which a sandbox shows, counts as one character."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace(os.getcwd(), "."))


@pytest.mark.parametrize("revision", client.REVISIONS)
def test_three_environments_are_listed_in_few_words(revision):
    with client.Server(config=CONFIG) as server:
        server.initialize(revision)
        result = listed(server)
    (tool,) = result["tools"]
    assert size(result["tools"]) < 4000
    assert len(tool["description"]) <= 1024  # OpenAI's limit


def test_limits_are_said_once():
    with client.Server(config=CONFIG) as server:
        server.initialize()
        (tool,) = listed(server)["tools"]
    told = tool["description"] + tool["inputSchema"]["properties"]["environment"]["description"]
    assert told.count("30 seconds unless") == 1
    assert re.search("\n- science: venv, with numpy, pandas(; network and files as in system)?; "
                     "90 seconds unless `timeout` is given, at most 600\n", told)
    assert "- box: docker, image python:3.11-slim" in told


def test_an_image_that_is_built_is_told_by_its_dockerfile(tmp_path):
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text("FROM python:3.11-slim\n")
    box = {"type": "docker", "dockerfile": str(dockerfile)}
    with client.Server(config={"environments": {"box": box}, "default_environment": "box"}) as server:
        server.initialize()
        (tool,) = listed(server)["tools"]
    told = tool["inputSchema"]["properties"]["environment"]["description"]
    assert f"- box: docker, image built from {dockerfile}" in told


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_a_session_begins_with_what_the_tool_is_for(revision):
    with client.Server(config=CONFIG) as server:
        told = server.initialize(revision)["instructions"]
    assert told.startswith("`run_python` runs Python programs")
    assert "- science: venv, with numpy, pandas" in told and "Environments (default: system)" in told
    assert len(told) <= 1024


def test_who_has_no_session_discovers_it():
    with client.Server(config=CONFIG) as server:
        server.initialize(wire.MODERN)
        told = server.request("server/discover")
    assert told["instructions"].startswith("`run_python` runs Python programs")


def test_an_environment_is_told_by_its_name_before_anything_is_known_of_it(tmp_path):
    with client.Server(environment={"XDG_STATE_HOME": str(tmp_path)}) as server:
        told = server.initialize()["instructions"]
    assert re.search("\n- system: system(; no network, .*)?\n", told)
