"""Streamable HTTP of 2026-07-28: every request stands alone; and what all requests have to pass."""

import json
import time

import pytest

import client
import wire
from test_http_sessions import EVENTS, PING, PONG, assert_refused, call, opened
from test_http_sessions import shared, server  # noqa: F401
from test_progress_cancel import HEARTBEAT, KILL_SECONDS, last_beat, wait_for

PREFIX = client.PREFIX


def modern(message, **more):
    """MESSAGE as a request of the revision."""
    params = dict(message.get("params", {}))
    params["_meta"] = {**client.modern_meta(), **params.get("_meta", {}), **more}
    return {**message, "params": params}


LIST = modern({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
DISCOVER = modern({"jsonrpc": "2.0", "id": 1, "method": "server/discover"})


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


def post(http, message, fields):
    """POSTs with exactly these FIELDS."""
    return http.start("POST", fields, json.dumps(message).encode()).wait()


def assert_error(exchange, status, code, request_id=1):
    assert exchange.status == status, exchange.body
    assert exchange.json()["error"]["code"] == code
    assert exchange.json()["id"] == request_id
    return exchange.json()["error"]


def test_requests_need_nothing_before_them(server):
    answer = server.http_peer().post(LIST).wait()
    assert answer.status == 200 and answer.json()["result"]["resultType"] == "complete"
    assert "mcp-session-id" not in answer.fields


def test_what_belongs_to_sessions_is_ignored(server):
    answer = server.http_peer().post(LIST, {"Mcp-Session-Id": "x", "Last-Event-ID": "1:1"}).wait()
    assert answer.status == 200 and answer.json()["id"] == 1


def test_both_eras_are_served_at_once(server):
    http = opened(server)
    for _ in range(3):
        assert http.post(LIST).wait().json()["result"]["resultType"] == "complete"
        assert http.post(PING).wait().json() == PONG
        assert "resultType" not in http.post(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).wait().json()["result"]


def test_the_header_must_say_what_the_body_says(server):
    http = server.http_peer()
    fields = http.post_fields(LIST)
    assert_error(post(http, LIST, without(fields, "MCP-Protocol-Version")), 400, -32020)
    assert_error(post(http, LIST, {**fields, "MCP-Protocol-Version": "2025-11-25"}), 400, -32020)
    assert_error(post(http, LIST, {**fields, "MCP-Protocol-Version": "v999.0.0"}), 400, -32020)
    assert_error(post(http, LIST, without(fields, "Mcp-Method")), 400, -32020)
    assert_error(post(http, LIST, {**fields, "Mcp-Method": "TOOLS/LIST"}), 400, -32020)
    for name in ("MCP-Protocol-Version", "Mcp-Method"):
        twice = [*fields.items(), (name.lower(), fields[name])]
        assert_error(post(http, LIST, twice), 400, -32020)


def test_the_body_must_have_an_envelope(server):
    http = server.http_peer()
    fields = http.post_fields(LIST)
    bare = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert_error(post(http, bare, fields), 400, -32602)
    assert_error(post(http, bare, {**fields, "MCP-Protocol-Version": "2031-01-01"}), 400, -32602)
    lacking = modern(bare)
    del lacking["params"]["_meta"][PREFIX + "clientCapabilities"]
    assert_error(post(http, lacking, fields), 400, -32602)


def test_versions_that_are_not_served(server):
    unknown = modern(LIST, **{PREFIX + "protocolVersion": "v999.0.0"})
    error = assert_error(server.http_peer().post(unknown).wait(), 400, -32022)
    assert error["data"]["requested"] == "v999.0.0"
    legacy = modern(LIST, **{PREFIX + "protocolVersion": "2025-11-25"})
    assert_error(server.http_peer().post(legacy, {"MCP-Protocol-Version": "2026-07-28"}).wait(),
                 400, -32020)


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "no/such"])
def test_methods_that_the_revision_lacks(server, method):
    request = modern({"jsonrpc": "2.0", "id": "m", "method": method})
    assert_error(server.http_peer().post(request).wait(), 404, -32601, "m")


def test_initialize_without_an_envelope_but_with_the_header(server):
    http = server.http_peer()
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
               "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                          "clientInfo": client.CLIENT_INFO}}
    answer = http.post(request, {"MCP-Protocol-Version": "2026-07-28"}).wait()
    assert answer.status == 400 and "mcp-session-id" not in answer.fields


def test_notifications_are_accepted(server):
    http = server.http_peer()
    answer = http.post({"jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": {"requestId": 1}}, {"MCP-Protocol-Version": "2026-07-28"}).wait()
    assert (answer.status, answer.body) == (202, b"")


def test_there_is_nothing_to_respond_to(server):
    http = server.http_peer()
    answer = http.post({"jsonrpc": "2.0", "id": 1, "result": {}},
                       {"MCP-Protocol-Version": "2026-07-28"}).wait()
    assert (answer.status, answer.json()["error"]["code"]) == (400, -32600)


def test_refusals_have_no_codes_of_the_older_transport(server):
    http = server.http_peer()
    wrong = ({"Host": "evil.example"}, {"Origin": "null"}, {"Content-Type": "text/plain"},
             {"Accept": "text/html"})
    for field in wrong:
        answer = http.post(LIST, {"MCP-Protocol-Version": "2026-07-28", **field}).wait()
        assert (answer.status // 100, answer.json()["error"]["code"]) == (4, -32600), field


def test_errors_of_tools_are_answers(server):
    http = server.http_peer()
    answer = http.post(modern(call(1, "nobody"))).wait()
    assert_error(answer, 200, -32602)
    answer = http.post(modern(call(1, "fail"))).wait()
    assert answer.status == 200 and answer.json()["result"]["isError"]


def test_what_comes_before_the_answer_makes_a_stream(server):
    answer = server.http_peer().post(modern(call(1, "progress", token="t", steps=[1, 2]))).wait()
    assert answer.status == 200 and answer.fields["content-type"] == EVENTS
    assert [message.get("method") for message in answer.messages()] == \
        ["notifications/progress", "notifications/progress", None]
    assert not any(event.id or event.retry for event in answer.events)
    assert answer.fields["cache-control"] == "no-cache, no-transform"


def test_a_client_that_takes_no_events_gets_the_answer_only(server):
    request = modern(call(1, "progress", token="t", steps=[1]))
    answer = server.http_peer().post(request, {"Accept": "application/json"}).wait()
    assert answer.json()["result"]["content"][0]["text"]


# Disconnecting


def test_disconnecting_cancels(tmp_path):
    config = {"working_directory": str(tmp_path)}
    with client.Server(transport="http", config=config) as server:
        running = server.http_peer().post(modern(call(1, "run_python", code=HEARTBEAT)))
        wait_for(tmp_path / "beat")
        gone = time.time()
        running.close()
        assert last_beat(tmp_path) - gone < KILL_SECONDS


def test_disconnecting_from_a_stream_cancels(tmp_path):
    config = {"working_directory": str(tmp_path)}
    with client.Server(transport="http", config=config) as server:
        running = server.http_peer().post(
            modern(call(1, "run_python", token=1, code=HEARTBEAT)))
        running.wait_events(1)
        wait_for(tmp_path / "beat")
        gone = time.time()
        running.close()
        assert last_beat(tmp_path) - gone < KILL_SECONDS


# Listening


def listen(http, **kinds):
    """A stream of what changes; it has been acknowledged."""
    request = modern({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen",
                      "params": {"notifications": kinds}})
    stream = http.post(request)
    stream.wait_events(1)
    assert stream.messages()[0]["method"] == "notifications/subscriptions/acknowledged"
    return stream


def test_listening_opens_a_stream_at_once(server):
    http = server.http_peer()
    stream = listen(http, toolsListChanged=True)
    deaf = listen(http, promptsListChanged=True)
    for _ in range(2):
        http.post(modern(call(1, "change", kind="tool", key="new_tool"))).wait()
    stream.wait_events(2)
    changed = stream.messages()[1]
    assert changed["method"] == "notifications/tools/list_changed"
    assert changed["params"]["_meta"][PREFIX + "subscriptionId"] == "l"
    assert len(deaf.messages()) == 1
    stream.close()
    deaf.close()


def test_who_takes_no_events_cannot_listen(server):
    request = modern({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
                      "params": {"notifications": {}}})
    refused = server.http_peer().post(request, {"Accept": "application/json"}).wait()
    assert refused.status == 406


def test_listening_ends_with_the_server():
    with client.Server(transport="http") as server:
        stream = listen(server.http_peer(), toolsListChanged=True)
        server.stop()
        stream.wait()
        assert not stream.closed and stream.messages()[-1]["id"] == "l"
        assert stream.messages()[-1]["result"]["resultType"] == "complete"


# What all requests have to pass


@pytest.mark.parametrize("host, status", [
    ("evil.example.com", 421), ("localhost.:{port}", 421), ("localhost", 421),
    ("127.0.0.1.evil.example:{port}", 421), ("user@localhost:{port}", 400), ("", 400),
    ("localhost:{port}", 200), ("LocalHost:{port}", 200), ("[::1]:{port}", 200),
])
def test_only_its_own_names_are_served(server, host, status):
    http = server.http_peer()
    answer = http.post(LIST, {"Host": host.format(port=server.address[1])}).wait()
    assert answer.status == status


def test_one_host_is_needed(server):
    http = server.http_peer()
    fields = without(http.post_fields(LIST), "Host")
    assert post(http, LIST, fields).status == 400
    assert post(http, LIST, [("Host", http.host), ("Host", http.host), *fields.items()]).status == 400


@pytest.mark.parametrize("origin, status", [
    ("http://evil.example.com", 403), ("null", 403), ("", 403), ("http://localhost", 403),
    ("http://localhost:{port}.evil.example", 403), ("http://localhost:{port}", 200),
    ("http://127.0.0.1:{port}", 200),
])
def test_pages_from_elsewhere_are_refused(server, origin, status):
    http = server.http_peer()
    answer = http.post(LIST, {"Origin": origin.format(port=server.address[1])}).wait()
    assert answer.status == status
    assert "access-control-allow-origin" not in answer.fields


def test_listed_hosts_and_origins_are_let_in():
    config = {"http": {"allowed_hosts": ["mcp.example"],
                       "allowed_origins": ["https://chat.example"]}}
    page = {"Host": "mcp.example", "Origin": "https://chat.example"}
    with client.Server(transport="http", config=config) as server:
        http = server.http_peer()
        answer = http.post(LIST, page).wait()
        assert answer.status == 200
        assert answer.fields["access-control-allow-origin"] == "https://chat.example"
        assert "Mcp-Session-Id" in answer.fields["access-control-expose-headers"]
        assert http.post(LIST, {"Origin": "http://chat.example"}).wait().status == 403
        asked = {**page, "Access-Control-Request-Method": "POST",
                 "Access-Control-Request-Headers": "content-type,mcp-param-x"}
        preflight = http.start("OPTIONS", asked).wait()
        assert preflight.status == 204
        assert preflight.fields["access-control-allow-headers"] == "content-type,mcp-param-x"
        assert "POST" in preflight.fields["access-control-allow-methods"]
        stream = http.post(modern(call(1, "run_python", token=1, code="1")), page).wait()
        assert stream.fields["access-control-allow-origin"] == "https://chat.example"


def test_the_order_of_the_checks(server):
    http = server.http_peer()
    wrong = [("Host", "evil.example"), ("Origin", "null"), ("Content-Type", "text/plain"),
             ("Accept", "text/html")]
    right = [("Host", http.host), None, ("Content-Type", "application/json"), ("Accept", "*/*")]
    statuses = []
    for i in range(5):
        fields = [field for field in [*right[:i], *wrong[i:]] if field]
        statuses.append(http.start("POST", fields, b"{").wait().status)
    assert statuses == [421, 403, 415, 406, 400]


@pytest.mark.parametrize("content_type, status", [
    ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415), ("application/jsonp", 415), ("", 415),
])
def test_only_json_is_taken(server, content_type, status):
    http = server.http_peer()
    assert http.post(LIST, {"Content-Type": content_type}).wait().status == status
    assert post(http, LIST, without(http.post_fields(LIST), "Content-Type")).status == 415


def test_other_methods_and_paths(server):
    http = server.http_peer()
    refused = http.start("PUT", http.post_fields(LIST), b"{}").wait()
    assert (refused.status, refused.fields["allow"]) == (405, "GET, POST, DELETE, OPTIONS")
    for path in ("/", "/mcp/", "/MCP", "/mcp/x", "//mcp", "/%6dcp"):
        http.path = path
        assert http.post(LIST).wait().status == 404
    http.path = "/mcp?x=1"
    assert http.post(LIST).wait().status == 200


def test_a_body_of_exactly_the_limit_and_one_byte_more(server):
    limit = 4 * 1024 * 1024
    http = server.http_peer()
    largest = json.dumps({**LIST, "padding": ""}).encode()
    largest = largest.replace(b'"padding": ""', b'"padding": "%s"' % (b"x" * (limit - len(largest))))
    fields = http.post_fields(LIST)
    assert http.start("POST", fields, largest).wait().json()["id"] == 1
    assert http.start("POST", fields, largest + b" ").wait().status == 413
