"""What models read in Claude Code, Codex and Gemini CLI: the real agents, over stdio and HTTP, with
a stand-in for the model's API (standin.py). Each has one conversation, which all tests look at."""

import json
import re
import subprocess

import agents
import drawings
import http_server
import installed
import model_scripts
import poem
import pytest
import standin

def poem_is_read(readings):
    return poem.read(readings[NAMES.index("poem written")].plain)


def figure_in_session(readings):
    """The last expression of a cell, in the session that an earlier reading names."""
    begun = readings[NAMES.index("session begun")].plain
    return {"code": drawings.OPEN_FIGURE + "figure", "session": SESSION.search(begun)[1], "timeout": 200}


BOTH = {"sessions": {}, "code_blocks": {}}
SESSION = re.compile(r'pass session: "([^"]+)"')

STEPS = {
    "answer": {"code": "print(42)"},
    "poem written": {"code": poem.WRITE},
    "poem read": poem_is_read,
    "small picture": {"code": drawings.SMALL},
    "large picture": {"code": drawings.LARGE},
    "figure": {"code": drawings.FIGURE, "environment": "data", "timeout": 200},
    "session begun": {"code": "shade = 'red'", "session": "new", "environment": "data", "timeout": 200},
    "session figure": figure_in_session,
    "block figure": standin.Call("run_code_blocks", message=f"A plot:\n```python\n{drawings.FIGURE}```\n",
                                 environment="data", timeout=200),
    **{script.name: script.arguments() for script in model_scripts.of_agents()},
}
NAMES = list(STEPS)


class Conversation:
    def __init__(self, agent, transport, model):
        self.agent = agent
        self.transport = transport
        self.model = model

    def reading(self, name):
        assert len(self.model.readings) == len(STEPS), (
            f"{len(self.model.readings)} of {len(STEPS)} calls: {self.model.trouble}, "
            f"{self.agent.said()}")
        return self.model.readings[NAMES.index(name)]


def conversations():
    """Each agent over stdio, and one over HTTP: what an agent shows of an answer is the same, but for a release."""
    for agent in agents.ALL:
        for transport in ("stdio", "http"):
            once_more = transport == "http" and agent is not agents.Claude
            yield pytest.param((agent, transport), id=f"{agent.__name__.lower()}-{transport}",
                               marks=[pytest.mark.release] * once_more)


@pytest.fixture(scope="module", params=conversations())
def conversation(request, tmp_path_factory):
    agent, transport = request.param
    installed.node_program(agent.program)
    home = tmp_path_factory.mktemp(agent.__name__)
    with standin.Model(list(STEPS.values())) as model:
        agent = agent(home, model.url)
        converse(agent, transport, tmp_path_factory.mktemp("server"))
        yield Conversation(agent, transport, model)


def converse(agent, transport, folder):
    if transport == "stdio":
        agent.converse(model_scripts.command(folder, **BOTH))
        return
    with http_server.served(folder, **model_scripts.configuration(**BOTH)) as url:
        agent.converse(url)


def test_the_conversation_comes_to_its_end(conversation):
    conversation.reading("answer")
    assert conversation.model.ended
    assert not conversation.model.trouble


def test_nothing_but_loopback_is_asked(conversation):
    assert conversation.model.outside == []


def test_an_answer_costs_at_most_100_bytes(conversation):
    reading = conversation.reading("answer")
    assert "42" in reading.text
    assert len(reading.text.encode()) <= 100, reading


def test_no_structured_form_is_read(conversation):
    """Not that of a failure either, of which Gemini CLI shows everything."""
    conversation.reading("answer")
    for name, reading in zip(NAMES, conversation.model.readings):
        for member in ("structuredContent", "returncode", "containment", "cpu_seconds"):
            assert f'"{member}' not in reading.text, f"{name}: {reading}"


def test_no_failure_is_read_twice(conversation):
    """What Gemini CLI wraps it in is the call, which has the code, and an object of JSON."""
    for script in model_scripts.of_agents():
        reading = conversation.reading(script.name)
        wrapped = len(json.dumps(script.code)) + 400 if reading.text != reading.plain else 0
        assert len(reading.text) <= 1.25 * len(reading.plain) + wrapped, reading


def test_the_poem_is_read_back(conversation):
    """Whatever the agent's way to connect: the model follows what it has read."""
    assert "poem.txt" in conversation.reading("poem written").plain
    assert poem.TEXT in conversation.reading("poem read").plain


def test_the_handle_arrives_where_each_request_stands_alone(conversation):
    """Claude Code speaks 2026-07-28 over HTTP."""
    offered = poem.HANDLE.search(conversation.reading("poem written").plain)
    if conversation.transport == "http" and isinstance(conversation.agent, agents.Claude):
        assert offered, conversation.reading("poem written")


def test_pictures_are_seen(conversation):
    """The pixels that the agent has sent to its model."""
    for name, blur in (("small picture", 20), ("large picture", 45), ("figure", 60), ("session figure", 60),
                       ("block figure", 60)):
        images = conversation.reading(name).images
        assert len(images) == 1, f"{name}: {conversation.reading(name)}"
        (seen,) = drawings.looked_at(images)
        assert drawings.is_red_and_blue(seen, blur), f"{name}: {seen}"
        assert len(images[0]) < 1 << 20, f"{name}: {len(images[0])}"


def test_pictures_are_files_too(conversation):
    for name, file in ("small picture", "small.png"), ("large picture", "large.png"), (
            "figure", "figure-1.png"), ("session figure", "display-1.png"), ("block figure", "figure-"):
        assert file in conversation.reading(name).plain, name


@pytest.mark.parametrize("script", model_scripts.of_agents(), ids=str)
def test_hints_and_files_arrive(conversation, script):
    assert script.missing(conversation.reading(script.name).plain) == []


def told_by_server(folder):
    """The instructions and the description of the tool, as any client is given them."""
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    done = subprocess.run(model_scripts.command(folder, **BOTH), capture_output=True, text=True, timeout=60,
                          input="".join(json.dumps(message) + "\n" for message in asked))
    told, listed = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    (tool,) = [tool for tool in listed["tools"] if tool["name"] == standin.TOOL]
    return told["instructions"], tool["description"]


def lasting(text):
    """The lines of TEXT, but those of an environment, whose Python may have been asked meanwhile."""
    return [line for line in text.splitlines() if not re.match(r"- \S+: (system|venv|docker)", line)]


def test_the_words_of_the_server_arrive(conversation, tmp_path):
    """The instructions before the model has called anything, and the whole description."""
    instructions, description = told_by_server(tmp_path)
    conversation.reading("answer")
    first = json.dumps(conversation.model.first_request, ensure_ascii=False)
    for line in lasting(instructions):
        assert json.dumps(line, ensure_ascii=False)[1:-1] in first
    (tool,) = [tool for tool in conversation.model.tools if tool["name"].endswith(standin.TOOL)]
    for line in lasting(description):
        assert line in tool["description"]
