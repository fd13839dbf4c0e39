"""Streamable HTTP up to 2025-11-25: sessions, their streams, and clients that lose their
connection."""

import json
import os
import pathlib
import time

import pytest

import client
import leftovers
import wire
from test_progress_cancel import HEARTBEAT, KILL_SECONDS, last_beat, wait_for

FIXTURE = os.environ.get("FIXTURE") or str(
    pathlib.Path(os.environ["PYEXECD"]).parent / "tests" / "fixture" / "fixture")
LEGACY = client.REVISIONS[:-1]
EVENTS = "text/event-stream"


@pytest.fixture(scope="module")
def shared():
    if not os.path.exists(FIXTURE):
        pytest.skip("the fixture is not built here")
    with client.Server(transport="http", command=[FIXTURE]) as server:
        yield server


@pytest.fixture
def server(shared):
    """A server that all tests of this file share."""
    yield shared


def opened(server, revision=wire.NEWEST_LEGACY):
    """A client with a session of its own."""
    connection = server.connect()
    connection.initialize(revision)
    return connection.http


def call(request_id, tool, token=None, **arguments):
    params = {"name": tool, "arguments": arguments}
    if token is not None:
        params["_meta"] = {"progressToken": token}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": "ping", "result": {}}


def hold(http, request_id=1, **arguments):
    """A call that waits, with its stream open."""
    exchange = http.post(call(request_id, "hold", token=5, name="a", **arguments))
    wait_until_read(http)
    return exchange


def wait_until_read(http):
    """What HTTP has sent was read before this is answered."""
    release = http.post(call("probe", "release", name="nobody")).wait()
    assert release.status == 200


def release(http):
    exchange = http.post(call("release", "release", name="a")).wait()
    return exchange.json()["result"]["content"][0]["text"]


def assert_refused(exchange, status, code):
    assert exchange.wait().status == status
    error = exchange.json()
    assert error["error"]["code"] == code
    assert error["jsonrpc"] == "2.0" and error.get("id") is None
    return error["error"]["message"]


# The life of a session


@pytest.mark.parametrize("revision", LEGACY)
def test_a_session_lives_from_initialize_to_delete(server, revision):
    http = opened(server, revision)
    assert http.post(PING).wait().json() == PONG
    deleted = http.delete()
    assert deleted.status == 204 and deleted.body == b""
    assert_refused(http.post(PING), 404, -32001)
    assert_refused(http.get(), 404, -32001)
    assert_refused(http.delete(), 404, -32001)


def test_each_client_has_a_session_of_its_own(server):
    first, second = opened(server), opened(server)
    assert first.session != second.session
    first.delete()
    assert second.post(PING).wait().json() == PONG


def test_a_handshake_that_fails_opens_no_session(server):
    http = server.http_peer()
    for params in ({}, {"protocolVersion": 5}):
        answer = http.post({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                            "params": params}).wait()
        assert answer.status == 200 and answer.json()["error"]["code"] == -32602
        assert "mcp-session-id" not in answer.fields


def test_a_session_is_initialized_once(server):
    http = opened(server)
    again = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                        "clientInfo": client.CLIENT_INFO}}
    answer = http.post(again).wait()
    assert (answer.status, answer.json()["id"], answer.json()["error"]["code"]) == (400, 1, -32600)
    http.session = "0" * 32
    assert_refused(http.post(again), 404, -32001)


def test_requests_without_a_session_are_told_so(server):
    http = server.http_peer()
    assert "Mcp-Session-Id" in assert_refused(http.post(PING), 400, -32000)
    assert_refused(http.post({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                   400, -32000)
    refused = http.get().wait()
    assert (refused.status, refused.fields["allow"]) == (405, "POST")
    assert http.delete().status == 405


@pytest.mark.parametrize("session", ["", "x", "0" * 32, "a" * 4000, "../../x", "%00"])
def test_an_unknown_session_is_not_found(server, session):
    http = server.http_peer()
    assert_refused(http.post(PING, {"Mcp-Session-Id": session}), 404, -32001)


def test_a_session_is_named_once(server):
    http = opened(server)
    fields = [*http.post_fields(PING).items(), ("mcp-session-id", http.session)]
    assert_refused(http.start("POST", fields, json.dumps(PING).encode()), 400, -32000)


@pytest.mark.parametrize("version, status", [("2025-06-18", 200), ("2025-11-25", 200),
                                             ("2024-11-05", 200), ("2031-01-01", 400), ("x", 400)])
def test_the_version_in_a_session_must_be_known(server, version, status):
    http = opened(server)
    assert http.post(PING, {"MCP-Protocol-Version": version}).wait().status == status
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = http.post(notification, {"MCP-Protocol-Version": version}).wait()
    assert answer.status == (202 if status == 200 else 400)


def test_what_is_not_answered_is_accepted(server):
    http = opened(server)
    for message in ({"jsonrpc": "2.0", "method": "notifications/initialized"},
                    {"jsonrpc": "2.0", "id": 77, "result": {}}):
        answer = http.post(message).wait()
        assert (answer.status, answer.body) == (202, b"")


def test_errors_of_requests_travel_as_any_answer(server):
    http = opened(server)
    answer = http.post({"jsonrpc": "2.0", "id": 1, "method": "no/such"}).wait()
    assert (answer.status, answer.json()["error"]["code"]) == (200, -32601)
    for text in (b"{", b"[1", b"", b"{}", b'{"jsonrpc":"1.0","id":1,"method":"ping"}'):
        answer = http.post(text).wait()
        assert answer.status == 400 and answer.json()["error"]["code"] in (-32700, -32600)


def test_batches_are_of_one_revision(server):
    batch = [PING, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    answer = opened(server, "2025-03-26").post(batch).wait()
    assert (answer.status, answer.json()) == (200, [PONG])
    accepted = opened(server, "2025-03-26").post(batch[1:]).wait()
    assert (accepted.status, accepted.body) == (202, b"")
    for http in (opened(server, "2025-11-25"), opened(server, "2024-11-05"), server.http_peer()):
        answer = http.post(batch).wait()
        assert (answer.status, answer.json()["error"]["code"]) == (400, -32600)


# Streams


def test_what_comes_before_the_answer_makes_a_stream(server):
    http = opened(server)
    answer = http.post(call(1, "progress", token="t", steps=[1, 2])).wait()
    assert answer.status == 200 and answer.fields["content-type"] == EVENTS
    first, *events = answer.events
    assert (first.data, first.event) == ("", None) and int(first.retry) > 0
    assert [event.message().get("method") for event in events] == \
        ["notifications/progress", "notifications/progress", None]
    ids = [event.id for event in answer.events]
    assert len(set(ids)) == len(ids) and all(ids)


@pytest.mark.parametrize("revision", LEGACY[:-1])
def test_older_revisions_get_no_event_without_data(server, revision):
    answer = opened(server, revision).post(call(1, "progress", token="t", steps=[1])).wait()
    assert len(answer.events) == 2 and all(event.data for event in answer.events)


def test_a_client_that_takes_no_events_gets_the_answer_only(server):
    http = opened(server)
    answer = http.post(call(1, "progress", token="t", steps=[1]), {"Accept": "application/json"})
    assert answer.wait().json()["id"] == 1
    assert http.get(Accept="application/json").wait().status == 406


def test_a_session_has_one_stream_of_its_own(server):
    http = opened(server)
    first = http.get()
    first.wait(lambda: first.status)
    assert (first.status, first.fields["content-type"]) == (200, EVENTS)
    assert_refused(http.get(), 409, -32000)
    first.close()
    assert leftovers.until(lambda: _listens(http))


def _listens(http):
    exchange = http.get()
    exchange.wait(lambda: exchange.status)
    listens = exchange.status == 200
    exchange.close()
    return listens


def test_the_end_of_a_session_ends_its_streams_and_calls(server):
    http = opened(server)
    stream = http.get()
    stream.wait(lambda: stream.status)
    waiting = hold(http)
    assert http.delete().status == 204
    stream.wait()
    assert not stream.closed
    assert_refused(waiting, 404, -32001)


@pytest.mark.once
def test_a_call_that_takes_long_becomes_a_stream(server):
    """In either era, so that the client hears of us and proxies leave the connection alone."""
    http = opened(server)
    request = call(1, "hold", name="a")
    waiting = [http.post(request), http.post({**request, "params": {
        **request["params"], "_meta": client.modern_meta()}})]
    unable = http.post(call(2, "hold", name="a"), {"Accept": "application/json"})
    for exchange in waiting:
        exchange.wait(lambda: exchange.status, 120)
        assert exchange.status == 200 and exchange.is_stream and not exchange.messages()
    assert unable.status is None
    for exchange in (*waiting, unable):
        exchange.close()


# Broken connections


def test_a_call_goes_on_when_its_connection_breaks(server):
    http = opened(server)
    hold(http).close()
    assert release(http) == "released"


def test_a_stream_is_continued_where_it_broke(server):
    http = opened(server)
    answer = http.post(call(1, "progress", token="t", steps=[1, 2, 3])).wait()
    for i, event in enumerate(answer.events):
        resumed = http.get(last_event_id=event.id).wait()
        assert resumed.status == 200
        assert [again.id for again in resumed.events if again.data] == \
            [later.id for later in answer.events[i + 1:] if later.data]
        assert resumed.messages() == answer.messages()[i:]


def test_an_answer_that_came_meanwhile_is_there_for_who_comes_back(server):
    http = opened(server)
    waiting = hold(http, release_client=True).wait()
    (first,) = waiting.events
    assert first.data == "" and not waiting.closed
    assert release(http) == "released"
    resumed = http.get(last_event_id=first.id).wait()
    assert [message.get("id") for message in resumed.messages()] == [None, 1]
    assert resumed.messages()[0]["method"] == "notifications/progress"


def test_who_comes_back_early_waits_for_the_rest(server):
    http = opened(server)
    first = hold(http, release_client=True).wait().events[0]
    resumed = http.get(last_event_id=first.id)
    resumed.wait(lambda: resumed.status)
    assert not resumed.messages()
    release(http)
    assert resumed.wait().messages()[-1]["id"] == 1


def test_who_comes_back_twice_is_served_on_the_newer_connection(server):
    http = opened(server)
    first = hold(http, release_client=True).wait().events[0]
    older = http.get(last_event_id=first.id)
    older.wait(lambda: older.status)
    newer = http.get(last_event_id=first.id)
    older.wait()
    release(http)
    assert not older.messages()
    assert newer.wait().messages()[-1]["id"] == 1


@pytest.mark.parametrize("revision", LEGACY[:-1])
def test_older_clients_are_not_let_go(server, revision):
    http = opened(server, revision)
    waiting = hold(http, release_client=True)
    assert waiting.status is None
    release(http)
    assert waiting.wait().messages()[-1]["id"] == 1


@pytest.mark.parametrize("event", ["", "1", "x:y", "1:", ":1", "99:1", "1:99", "1:-1", "-1:1",
                                   "1:1:1", "18446744073709551617:0", " 1:0"])
def test_an_event_that_never_was_cannot_be_continued_from(server, event):
    http = opened(server)
    http.post(call(1, "progress", token="t", steps=[1])).wait()
    assert_refused(http.get(last_event_id=event), 400, -32000)


def test_the_events_of_others_cannot_be_had(server):
    first, second = opened(server), opened(server)
    answer = first.post(call(1, "progress", token="t", steps=[1])).wait()
    assert_refused(second.get(last_event_id=answer.events[0].id), 400, -32000)


# Cancelling


def cancel(http, request_id):
    answer = http.post({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": request_id}}).wait()
    assert answer.status == 202


def test_a_cancelled_call_ends_without_an_answer(server):
    http = opened(server)
    waiting = hold(http)
    cancel(http, 1)
    waiting.wait()
    assert waiting.is_stream and not waiting.closed and waiting.messages() == []
    assert release(http) == "no call is held as a"


def test_a_cancelled_call_of_who_takes_no_events_ends_with_its_connection(server):
    http = opened(server)
    waiting = http.post(call(1, "hold", name="a"), {"Accept": "application/json"})
    wait_until_read(http)
    cancel(http, 1)
    assert waiting.wait().closed


def test_a_stream_that_was_cancelled_cannot_be_continued(server):
    http = opened(server)
    first = hold(http, release_client=True).wait().events[0]
    cancel(http, 1)
    assert_refused(http.get(last_event_id=first.id), 400, -32000)


# Asking the client


ASK = {"rounds": [{"name": {"method": "elicitation/create", "params": {
    "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}}]}


def test_the_client_is_asked_on_the_stream_of_its_request(server):
    connection = server.connect()
    http = connection.http
    http.version = "2025-11-25"
    http.send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": client.CLIENT_INFO}}).encode())
    http.receive(client.TIMEOUT)
    general = http.get()
    answer = http.post(call(1, "ask", **ASK))
    answer.wait_events(2)
    question = answer.messages()[0]
    assert question["method"] == "elicitation/create"
    accepted = http.post({"jsonrpc": "2.0", "id": question["id"],
                          "result": {"action": "accept", "content": {}}}).wait()
    assert accepted.status == 202
    assert answer.wait().messages()[-1]["id"] == 1
    assert general.messages() == []


# With the program itself


def test_disconnecting_is_no_cancellation_and_cancelling_kills(tmp_path):
    config = {"working_directory": str(tmp_path)}
    with client.Server(transport="http", config=config) as server:
        http = opened(server)
        running = http.post(call(1, "run_python", code=HEARTBEAT))
        wait_for(tmp_path / "beat")
        running.close()
        time.sleep(0.3)
        before = (tmp_path / "beat").read_text()
        assert leftovers.until(lambda: (tmp_path / "beat").read_text() != before)
        cancelled = time.time()
        cancel(http, 1)
        assert last_beat(tmp_path) - cancelled < KILL_SECONDS


def test_an_idle_session_ends(tmp_path):
    idle_seconds = 4
    config = {"http": {"session_idle": idle_seconds}}

    def has_ended(http):
        time.sleep(1.5 * idle_seconds)  # asking sooner would keep it
        return http.post(PING).wait().status == 404

    with client.Server(transport="http", config=config) as server:
        listening = opened(server)
        stream = listening.get()
        stream.wait(lambda: stream.status)
        working = opened(server)
        kept = working.post(call(1, "run_python", code="import time; time.sleep(100)", timeout=90))
        idle = opened(server)
        assert leftovers.until(lambda: has_ended(idle))
        assert_refused(idle.post(PING), 404, -32001)
        assert listening.post(PING).wait().json() == PONG
        assert working.post(PING).wait().json() == PONG
        kept.close()


def test_a_new_session_takes_the_place_of_the_longest_idle():
    config = {"http": {"sessions": 8}}
    with client.Server(transport="http", config=config) as server:
        peers = [opened(server) for _ in range(4)]  # half of all, for one client
        stream = peers[0].get()
        stream.wait(lambda: stream.status)
        peers[1].post(PING).wait()
        opened(server)
        statuses = [peer.post(PING).wait().status for peer in peers]
        assert statuses == [200, 200, 404, 200]


def test_when_all_sessions_are_busy_there_is_no_further_one():
    config = {"http": {"sessions": 2}}
    with client.Server(transport="http", config=config) as server:
        busy = opened(server)
        stream = busy.get()
        stream.wait(lambda: stream.status)
        refused = server.http_peer().post({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                       "clientInfo": client.CLIENT_INFO}}).wait()
        assert (refused.status, refused.fields["retry-after"]) == (503, "60")
        assert busy.post(PING).wait().json() == PONG


def test_streams_end_with_the_server():
    with client.Server(transport="http") as server:
        http = opened(server)
        stream = http.get()
        stream.wait(lambda: stream.status)
        waiting = http.post(call(1, "run_python", code="import time; time.sleep(60)"))
        http.post(PING).wait()
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 20  # before the run ends by itself
        stream.wait()
        assert not stream.closed
        waiting.wait()
