"""What is invoked asks its client: in an answer with a state to come back with (2026-07-28), or in
requests while its own waits (before). The tool `ask` of tests/fixture asks whatever it is told to."""

import pytest
import wire
from client import Server, modern_meta
from test_transcripts import FIXTURE

CAPABILITIES = {"elicitation": {}, "sampling": {}, "roots": {}}
FORM = {"method": "elicitation/create", "params": {
    "mode": "form", "message": "Who?", "requestedSchema": {
        "type": "object", "properties": {"name": {"type": "string", "default": "Ada"}}}}}
MODEL = {"method": "sampling/createMessage", "params": {
    "maxTokens": 9, "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]}}
ROOTS = {"method": "roots/list", "params": {}}
ACCEPTED = {"action": "accept", "content": {"name": "Ada"}}
SAID = {"role": "assistant", "content": {"type": "text", "text": "Ho"}, "model": "m"}
ANSWERS = {"form": ACCEPTED, "model": SAID, "roots": {"roots": []}}
REFUSED = -32602


@pytest.fixture(params=["stdio", "unix"])
def server(request):
    with Server(transport=request.param, command=[FIXTURE]) as server:
        yield server


def _initialize(connection, revision, capabilities):
    connection.send({"jsonrpc": "2.0", "id": "i", "method": "initialize",
                     "params": {"protocolVersion": revision, "capabilities": capabilities,
                                "clientInfo": {"name": "t", "version": "1"}}})
    assert connection.receive()["result"]["protocolVersion"] == revision


def _start(connection, *rounds, method="tools/call", params=None):
    connection.send({"jsonrpc": "2.0", "id": 1, "method": method,
                     "params": params or {"name": "ask", "arguments": {"rounds": list(rounds)}}})


def _modern(connection, *rounds, capabilities=CAPABILITIES, number=1, **params):
    meta = modern_meta(**{"io.modelcontextprotocol/clientCapabilities": capabilities})
    connection.send({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                     "params": {"name": "ask", "arguments": {"rounds": list(rounds)},
                                "_meta": meta, **params}})
    return connection.receive()


# Since 2026-07-28


def test_a_round_is_answered_with_what_is_asked_and_a_state(server):
    asked = _modern(server, {"form": FORM, "model": MODEL}, {"roots": ROOTS})["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"] == {"form": FORM, "model": MODEL}
    again = _modern(server, {"form": FORM, "model": MODEL}, {"roots": ROOTS}, number=2,
                    requestState=asked["requestState"],
                    inputResponses={"form": ACCEPTED, "model": SAID, "other": {}})["result"]
    assert again["inputRequests"] == {"roots": ROOTS}
    assert again["requestState"] != asked["requestState"]
    last = _modern(server, {"form": FORM, "model": MODEL}, {"roots": ROOTS}, number=3,
                   requestState=again["requestState"],
                   inputResponses={"roots": {"roots": []}})["result"]
    assert last["resultType"] == "complete"
    assert last["structuredContent"] == ANSWERS


@pytest.mark.parametrize("responses", [None, {}, {"wrong": ACCEPTED}, {"form": 1}, {"form": None}])
def test_what_is_not_answered_is_asked_again(server, responses):
    asked = _modern(server, {"form": FORM})["result"]
    more = {} if responses is None else {"inputResponses": responses}
    again = _modern(server, {"form": FORM}, requestState=asked["requestState"], **more)["result"]
    assert again["inputRequests"] == {"form": FORM}


def test_answers_without_their_state_answer_nothing(server):
    asked = _modern(server, {"form": FORM}, inputResponses={"form": ACCEPTED})["result"]
    assert asked["resultType"] == "input_required"


def test_a_state_is_used_once_and_for_its_own_call(server):
    state = _modern(server, {"form": FORM})["result"]["requestState"]
    answer = {"inputResponses": {"form": ACCEPTED}}
    for wrong in (state + "-TAMPERED", state[:-1], "", "v1.a.b"):
        assert _modern(server, {"form": FORM}, requestState=wrong,
                       **answer)["error"]["code"] == REFUSED
    other = _modern(server, {"form": FORM}, {"roots": ROOTS}, requestState=state, **answer)
    assert other["error"]["code"] == REFUSED
    assert "result" in _modern(server, {"form": FORM}, requestState=state, **answer)
    assert _modern(server, {"form": FORM}, requestState=state,
                   **answer)["error"]["code"] == REFUSED


@pytest.mark.parametrize("params", [{"requestState": 1}, {"requestState": None},
                                    {"inputResponses": []}, {"inputResponses": None}])
def test_states_and_answers_of_other_types_are_refused(server, params):
    assert _modern(server, {"form": FORM}, **params)["error"]["code"] == REFUSED


@pytest.mark.parametrize("question, capability", [
    (FORM, {"elicitation": {}}), (MODEL, {"sampling": {}}), (ROOTS, {"roots": {}}),
    ({"method": "elicitation/create",
      "params": {"mode": "url", "message": "m", "url": "https://a", "elicitationId": "1"}},
     {"elicitation": {"url": {}}}),
])
def test_who_cannot_be_asked_is_told_what_it_lacks(server, question, capability):
    error = _modern(server, {"a": question}, capabilities={})["error"]
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": capability}
    asked = _modern(server, {"a": question}, capabilities=capability)["result"]
    assert asked["inputRequests"]["a"]["method"] == question["method"]


def test_prompts_and_resources_ask_in_the_same_way(server):
    meta = modern_meta(**{"io.modelcontextprotocol/clientCapabilities": CAPABILITIES})
    for method, params, key in (("prompts/get", {"name": "form"}, "name"),
                                ("resources/read", {"uri": "fixture://form"}, "ok")):
        server.send({"jsonrpc": "2.0", "id": 1, "method": method,
                     "params": {**params, "_meta": meta}})
        asked = server.receive()["result"]
        assert asked["resultType"] == "input_required"
        server.send({"jsonrpc": "2.0", "id": 2, "method": method,
                     "params": {**params, "_meta": meta, "requestState": asked["requestState"],
                                "inputResponses": {key: ACCEPTED}}})
        assert server.receive()["result"]["resultType"] == "complete"


# Up to 2025-11-25


def _take_questions(connection, count):
    """What is asked, by method."""
    return {message["method"]: message for message in
            (connection.receive() for _ in range(count))}


def _answer(connection, question, result):
    connection.send({"jsonrpc": "2.0", "id": question["id"], "result": result})


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_the_client_is_asked_while_its_request_waits(server, revision):
    _initialize(server, revision, CAPABILITIES)
    _start(server, {"form": FORM, "model": MODEL}, {"roots": ROOTS})
    asked = _take_questions(server, 2)
    form = asked["elicitation/create"]["params"]
    name = form["requestedSchema"]["properties"]["name"]
    assert ("mode" in form) == ("default" in name) == (revision == "2025-11-25")
    _answer(server, asked["sampling/createMessage"], SAID)
    _answer(server, asked["elicitation/create"], ACCEPTED)
    _answer(server, _take_questions(server, 1)["roots/list"], {"roots": []})
    result = server.receive()["result"]
    assert result["structuredContent"] == ANSWERS


@pytest.mark.parametrize("revision, filled_in", [
    ("2025-06-18", {"on.ham": True, "on.egg": False}), ("2025-11-25", {"on": ["ham"]})])
def test_several_choices_are_fields_that_the_client_knows(server, revision, filled_in):
    _initialize(server, revision, CAPABILITIES)
    _start(server, {"form": {"method": "elicitation/create", "params": {
        "mode": "form", "message": "What on it?", "requestedSchema": {
            "type": "object", "properties": {
                "on": {"type": "array", "items": {"type": "string", "enum": ["ham", "egg"]}}}}}}})
    question = _take_questions(server, 1)["elicitation/create"]
    fields = question["params"]["requestedSchema"]["properties"]
    assert fields.keys() == filled_in.keys()
    assert {field["type"] for field in fields.values()} == \
        {"boolean" if revision == "2025-06-18" else "array"}
    _answer(server, question, {"action": "accept", "content": filled_in})
    answers = server.receive()["result"]["structuredContent"]
    assert answers == {"form": {"action": "accept", "content": {"on": ["ham"]}}}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_older_clients_can_be_asked_for_what_there_was(server, revision):
    _initialize(server, revision, CAPABILITIES)
    _start(server, {"form": FORM})
    assert server.receive()["result"]["isError"]
    _start(server, {"model": MODEL, "roots": ROOTS})
    asked = _take_questions(server, 2)
    _answer(server, asked["sampling/createMessage"], SAID)
    _answer(server, asked["roots/list"], {"roots": []})
    assert not server.receive()["result"]["isError"]


def test_a_client_without_the_capability_is_not_asked(server):
    _initialize(server, "2025-11-25", {"elicitation": {"url": {}}})
    for question in (FORM, MODEL, ROOTS):
        _start(server, {"a": question})
        assert server.receive()["result"]["isError"]
    _initialize(server, "2025-11-25", CAPABILITIES)
    _start(server, method="prompts/get", params={"name": "form"})
    _answer(server, server.receive(), ACCEPTED)
    assert server.receive()["result"]["messages"]


def test_an_error_counts_as_not_asked_and_withdraws_the_rest(server):
    _initialize(server, "2025-11-25", CAPABILITIES)
    _start(server, {"form": FORM, "model": MODEL})
    asked = _take_questions(server, 2)
    server.send({"jsonrpc": "2.0", "id": asked["sampling/createMessage"]["id"],
                 "error": {"code": -1, "message": "no model today"}})
    withdrawn = server.receive()
    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"]["requestId"] == asked["elicitation/create"]["id"]
    result = server.receive()["result"]
    assert result["isError"] and "no model today" in result["content"][0]["text"]
    _answer(server, asked["elicitation/create"], ACCEPTED)  # too late: dropped
    server.request("ping")


def test_a_cancelled_request_withdraws_what_it_asked(server):
    _initialize(server, "2025-11-25", CAPABILITIES)
    _start(server, {"form": FORM})
    asked = server.receive()
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    withdrawn = server.receive()
    assert withdrawn["params"]["requestId"] == asked["id"]
    server.assert_silent(0.2)


def test_who_asks_too_often_is_stopped(server):
    _initialize(server, "2025-11-25", CAPABILITIES)
    _start(server, *({f"q{number}": ROOTS} for number in range(9)))
    for _ in range(8):
        _answer(server, server.receive(), {"roots": []})
    result = server.receive()["result"]
    assert result["isError"] and "more than 8 rounds" in result["content"][0]["text"]


def test_states_and_answers_mean_nothing_to_older_revisions(server):
    _initialize(server, wire.NEWEST_LEGACY, {})
    _start(server, params={"name": "ask", "arguments": {"rounds": []}, "requestState": 1,
                           "inputResponses": 1})
    assert not server.receive()["result"]["isError"]
