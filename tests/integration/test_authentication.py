"""Who comes in over the network, and as whom."""

import hashlib
import http.client
import json
import os
import re
import signal
import socket
import time

import pytest

import client
import leftovers
import ports
from authorization_server import HOUR, AuthorizationServer, Key

UNAUTHORIZED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Unauthorized"}}
LARGEST_MAPPING = 1 << 28  # beyond it, it is the shadow of a sanitizer
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def ask_line(address, token, message=PING):
    """What a TCP client that shows TOKEN is answered."""
    with socket.create_connection(address, client.TIMEOUT) as connection:
        connection.sendall(f"Authorization: Bearer {token}\n".encode() + message)
        with connection.makefile("rb") as stream:
            return json.loads(stream.readline())


def is_in(address, token):
    answer = ask_line(address, token)
    assert answer == UNAUTHORIZED or answer["id"] == 1
    return answer != UNAUTHORIZED


@pytest.fixture
def tokens(tmp_path):
    """A token file with a line for each name: call it with {name: options}."""
    path = tmp_path / "tokens"

    def write(principals):
        lines = [f"{name} sha256:{hashlib.sha256(name.encode() * 4).hexdigest()} {options}\n"
                 for name, options in principals.items()]
        path.write_text("".join(lines))
        path.chmod(0o600)
        return path

    return write


def token_of(name):
    return name * 4


def call(address, token, count=1, **arguments):
    """What a TCP client that shows TOKEN is answered to a call; or with COUNT, to the last of so many
    that it makes at once."""
    initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}
    messages = [initialize, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    messages += [{"jsonrpc": "2.0", "id": number + 1, "method": "tools/call",
                  "params": {"name": "run_python", "arguments": arguments,
                             "_meta": client.STRUCTURED}} for number in range(count)]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    with socket.create_connection(address, client.TIMEOUT) as connection:
        connection.sendall(f"Authorization: Bearer {token}\n{text}".encode())
        with connection.makefile("rb") as stream:
            return next(answer for answer in map(json.loads, stream) if answer.get("id") == count)


class Http:
    """Asks an HTTP server; the last answer is in `status`, `fields` and `body`."""

    def __init__(self):
        self.port = ports.free_port()
        self.address = f"http://127.0.0.1:{self.port}/mcp"

    def ask(self, method, path, body=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=client.TIMEOUT)
        names = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, path, body, names)
        answer = connection.getresponse()
        self.status, self.fields, self.body = answer.status, answer.headers, answer.read()
        connection.close()
        return self.status

    def initialize(self, **fields):
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}})
        return self.ask("POST", "/mcp", body, Content_Type="application/json",
                        Accept="application/json, text/event-stream", **fields)


# Tokens of a file


def serve(**config):
    return client.Server(transport="tcp", config=config)


def test_each_client_has_a_token_of_its_own(tokens):
    with serve(token_file=str(tokens({"alice": "", "bob": ""}))) as server:
        assert is_in(server.address, token_of("alice"))
        assert is_in(server.address, token_of("bob"))
        assert not is_in(server.address, token_of("carol"))
        assert not is_in(server.address, hashlib.sha256(token_of("bob").encode()).hexdigest())


def test_no_token_is_in_the_memory_of_the_server(tokens):
    if os.geteuid() != 0:
        pytest.skip("only root may look into the memory of a server that is not dumpable")
    token = "a-token-that-is-found-nowhere-else"
    peer = Http()
    # A function of a library that is looked up at its first call: registers are saved on the stack,
    # with what was copied last. A sanitizer's library has many of them.
    environment = {"LD_BIND_NOW": "1"} if leftovers.sanitized() else {}
    config = {"token_file": str(tokens({"alice": ""})), "listen": [peer.address]}
    with client.Server(transport="tcp", config=config, environment=environment) as server:
        assert not is_in(server.address, token)
        assert is_in(server.address, token_of("alice"))
        assert peer.initialize(Authorization=f"Bearer {token}") == 401
        assert peer.initialize(Authorization=f"Bearer {token_of('alice')}") == 200
        assert not found_in_memory(server.process.pid, token.encode())
        assert not found_in_memory(server.process.pid, token_of("alice").encode())


def found_in_memory(pid, text):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            begin, end = (int(part, 16) for part in span.split("-"))
            if "rw" not in rights or "[v" in line or end - begin > LARGEST_MAPPING:
                continue
            memory.seek(begin)
            if text in memory.read(end - begin):
                return True
    return False


@pytest.mark.serial
def test_who_guesses_is_answered_late(tokens):
    with serve(token_file=str(tokens({"alice": ""}))) as server:
        times = []
        for _ in range(7):
            begin = time.monotonic()
            assert not is_in(server.address, "wrong")
            times.append(time.monotonic() - begin)
        assert min(times[:5]) < 0.2 < min(times[5:])  # the least: a machine may be slow at times
        assert is_in(server.address, token_of("alice"))


def test_http_asks_for_a_token_in_its_field(tokens):
    peer = Http()
    with serve(token_file=str(tokens({"alice": ""})), listen=[peer.address]):
        assert peer.initialize() == 401
        assert peer.fields["WWW-Authenticate"] == 'Bearer realm="mcp"'
        assert peer.initialize(Authorization="Bearer wrong") == 401
        assert peer.fields["WWW-Authenticate"] == 'Bearer realm="mcp", error="invalid_token"'
        assert peer.initialize(Authorization="Bearer two words") == 400
        assert peer.initialize(Authorization=f"Bearer {token_of('alice')}") == 200
        assert peer.ask("GET", "/mcp") == peer.ask("DELETE", "/mcp") == 401
        assert peer.ask("GET", f"/mcp?access_token={token_of('alice')}") == 401
        # There is nobody to ask for a token: a client that believed so would never end.
        assert peer.ask("GET", "/.well-known/oauth-protected-resource") == 404


def test_a_session_is_nobody_elses(tokens):
    peer = Http()
    with serve(token_file=str(tokens({"alice": "", "bob": ""})), listen=[peer.address]):
        assert peer.initialize(Authorization=f"Bearer {token_of('alice')}") == 200
        session = peer.fields["Mcp-Session-Id"]
        for name, status in (("bob", 404), ("alice", 204)):
            assert peer.ask("DELETE", "/mcp", Mcp_Session_Id=session,
                            Authorization=f"Bearer {token_of(name)}") == status


# What each may do


def test_too_many_calls_are_told_when_to_try_again(tokens):
    path = tokens({"alice": "calls_per_minute=6", "bob": ""})
    with serve(token_file=str(path)) as server:
        answer = call(server.address, token_of("alice"), 3, code="1")
        assert answer["result"]["isError"]
        assert re.fullmatch(r"too many calls: 6 a minute are allowed; try again in (10|[5-9]) s",  # on a busy machine
                            answer["result"]["content"][0]["text"])
        again = call(server.address, token_of("alice"), code="1")  # another connection, the same client
        assert again["result"]["isError"]
        assert not call(server.address, token_of("bob"), 3, code="1")["result"]["isError"]


def test_a_share_of_calls_is_used_up_after_a_reload_too(tokens):
    path = tokens({"alice": "calls_per_minute=6", "bob": ""})
    said = "the configuration was read again"
    with client.Server("--log-level", "info", transport="tcp", config={"token_file": str(path)}) as server:
        assert call(server.address, token_of("alice"), 3, code="1")["result"]["isError"]
        for number, options in enumerate(("calls_per_minute=6", "calls_per_minute=7"), 1):
            tokens({"alice": options, "bob": "", f"carol{number}": ""})
            server.process.send_signal(signal.SIGHUP)
            assert leftovers.until(lambda: server.stderr().count(said) == number, client.TIMEOUT), server.stderr()
            assert "too many calls" in str(call(server.address, token_of("alice"), code="1"))
            assert not call(server.address, token_of("bob"), code="1")["result"]["isError"]


def answer_to(number, stream):
    """The next answer to request NUMBER."""
    while True:
        message = json.loads(stream.readline())
        if message.get("id") == number:
            return message


def test_a_task_that_is_one_call_too_many_is_a_task_that_has_failed(tokens):
    initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}
    calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
        "name": "run_python", "arguments": {"code": "1"}, "task": {}}} for number in range(1, 4)]
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in [initialize, *calls])
    with serve(token_file=str(tokens({"alice": "calls_per_minute=6"}))) as server:
        with socket.create_connection(server.address, client.TIMEOUT) as connection:
            with connection.makefile("rwb") as stream:
                stream.write(f"Authorization: Bearer {token_of('alice')}\n".encode() + lines)
                stream.flush()
                task = answer_to(3, stream)["result"]["task"]
                stream.write(json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tasks/result",
                                         "params": {"taskId": task["taskId"]}}).encode() + b"\n")
                stream.flush()
                result = answer_to(4, stream)["result"]
    assert result["isError"] and "too many calls" in result["content"][0]["text"]


def test_calls_a_minute_are_limited_for_all_who_show_a_token(tokens):
    with serve(token_file=str(tokens({"alice": ""})), limits={"calls_per_minute": 3}) as server:
        assert call(server.address, token_of("alice"), 2, code="1")["result"]["isError"]


def test_who_shows_none_is_not_limited():
    with serve(limits={"calls_per_minute": 3}) as server:
        server.initialize()
        for _ in range(3):
            assert not server.call_tool("run_python", {"code": "1"})["isError"]


def test_a_client_may_be_kept_to_some_environments(tokens):
    environments = {"system": {"type": "system"}, "plain": {"type": "system"}}
    path = tokens({"alice": "environments=plain", "bob": ""})
    with serve(token_file=str(path), environments=environments,
               callers={"define_environments": True}) as server:
        assert not call(server.address, token_of("alice"), code="1")["result"]["isError"]
        refused = call(server.address, token_of("alice"), code="1",
                       environment="system")["error"]["message"]
        assert 'you may not use environment "system"; you may use: plain' in refused
        refused = call(server.address, token_of("alice"), code="1",
                       environment_definition={"type": "system"})["error"]["message"]
        assert "you may not define environments" in refused
        for name, environment in (("alice", "plain"), ("bob", "system")):
            answer = call(server.address, token_of(name), code="1", environment=environment)
            assert not answer["result"]["isError"]


def test_a_client_that_is_kept_to_some_environments_hears_of_no_others(tokens):
    environments = {"secret": {"type": "system"}, "plain": {"type": "system"}}
    path = tokens({"alice": "environments=plain", "bob": ""})
    prompt = {"type": "ref/prompt", "name": "code_writer"}
    with serve(token_file=str(path), environments=environments, default_environment="plain") as server:
        for name, known in (("alice", ["plain"]), ("bob", ["secret", "plain"])):
            server.token = token_of(name)
            caller = server.connect()
            caller.initialize()
            completed = caller.request("completion/complete", {
                "ref": prompt, "argument": {"name": "environment", "value": ""}})
            assert completed["completion"]["values"] == known
            assert ("secret" in str(caller.request("prompts/get", {"name": "code_writer"}))) is (name == "bob")
            named = {"name": "code_writer", "arguments": {"environment": "secret"}}
            if name == "alice":
                with pytest.raises(client.RpcError, match="there is no environment"):
                    caller.request("prompts/get", named)
            else:
                assert caller.request("prompts/get", named)["messages"]


def test_a_client_may_be_kept_to_some_runs_at_a_time(tokens):
    with serve(token_file=str(tokens({"alice": "concurrent_runs=1"}))) as server:
        begin = time.monotonic()
        call(server.address, token_of("alice"), 3, code="import time; time.sleep(0.3)")
        assert time.monotonic() - begin >= 0.9


# Tokens that an authorization server has signed


@pytest.fixture
def issuer(tmp_path):
    with AuthorizationServer(tmp_path) as server:
        yield server


def test_a_signed_token_lets_in(issuer):
    with serve(oauth=issuer.config(scopes=["run"])) as server:
        assert is_in(server.address, issuer.token())
        assert is_in(server.address, issuer.token(aud=["x", issuer.resource], scope="read run"))
        assert is_in(server.address, issuer.token(alg="PS256"))
    assert issuer.questions == {"/.well-known/oauth-authorization-server": 1, "/keys": 1}


def test_what_is_not_good_about_a_token_keeps_out(issuer, tmp_path):
    now = time.time()
    stranger = Key(tmp_path, "stranger")
    good = issuer.token()
    header, claims, signature = good.split(".")
    other_claims = issuer.token(sub="mallory").split(".")[1]
    bad = {
        "none": issuer.forge("none"),
        "HS256 with the public key": issuer.forge("HS256", issuer.keys[0].public()),
        "tampered": f"{header}.{other_claims}.{signature}",
        "no signature": f"{header}.{claims}.",
        "another audience": issuer.token(aud="https://other.example.org/mcp"),
        "no audience": issuer.token(aud=None),
        "another issuer": issuer.token(iss="https://other.example.org"),
        "expired": issuer.token(exp=now - 60),
        "without an end": issuer.token(exp=None),
        "not yet valid": issuer.token(nbf=now + HOUR),
        "nobody's": issuer.token(sub=None),
        "unknown key": issuer.token(stranger),
        "another's key": issuer.token(stranger, header={"kid": issuer.keys[0].kid}),
        "too little scope": issuer.token(scope="read"),
        "no word": "not.a.token",
    }
    with serve(oauth=issuer.config(scopes=["run"])) as server:
        assert is_in(server.address, good)
        for what, token in bad.items():
            assert not is_in(server.address, token), what
        assert is_in(server.address, issuer.token(exp=time.time() - 15))  # clocks differ; bad tokens take their time


def test_a_key_that_is_exchanged_is_asked_for(issuer, tmp_path):
    old = issuer.keys[0]
    with serve(oauth=issuer.config()) as server:
        assert is_in(server.address, issuer.token())
        issuer.keys = [Key(tmp_path, "second", "EC")]
        assert is_in(server.address, issuer.token(alg="ES256"))
        assert not is_in(server.address, issuer.token(old))
        assert issuer.questions["/keys"] == 2


def test_unknown_keys_make_no_more_than_one_question_a_minute(issuer, tmp_path):
    strangers = [Key(tmp_path, f"stranger-{number}", "EC") for number in range(3)]
    with serve(oauth=issuer.config()) as server:
        assert is_in(server.address, issuer.token())
        for stranger in strangers:
            assert not is_in(server.address, issuer.token(stranger, alg="ES256"))
        assert issuer.questions["/keys"] == 2


def test_a_key_that_is_new_before_the_first_question_works(issuer, tmp_path):
    issuer.keys.append(Key(tmp_path, "second", "EC"))
    with serve(oauth=issuer.config(jwks_uri=f"{issuer.issuer}/keys")) as server:
        assert is_in(server.address, issuer.token(issuer.keys[1], alg="ES256"))
        assert is_in(server.address, issuer.token())
    assert issuer.questions == {"/keys": 1}


def test_metadata_of_another_issuer_is_not_believed(issuer):
    issuer.answers["/.well-known/oauth-authorization-server"] = {
        "issuer": "https://other.example.org", "jwks_uri": f"{issuer.issuer}/keys"}
    with serve(oauth=issuer.config()) as server:
        assert not is_in(server.address, issuer.token())
    assert "/keys" not in issuer.questions


def test_openid_discovery_is_where_the_keys_may_be_found(issuer):
    documents = issuer.documents()
    issuer.answers = {"/.well-known/oauth-authorization-server": None,
                      "/.well-known/openid-configuration":
                          documents["/.well-known/oauth-authorization-server"]}
    with serve(oauth=issuer.config()) as server:
        assert is_in(server.address, issuer.token())


def test_both_kinds_of_tokens_work_side_by_side(issuer, tokens):
    with serve(oauth=issuer.config(), token_file=str(tokens({"bob": ""}))) as server:
        assert is_in(server.address, token_of("bob"))
        assert is_in(server.address, issuer.token())
        assert not is_in(server.address, token_of("alice"))


def test_a_server_starts_without_its_authorization_server(issuer, tokens):
    issuer.answers = {"/.well-known/oauth-authorization-server": None}
    with serve(oauth=issuer.config(), token_file=str(tokens({"bob": ""}))) as server:
        assert not is_in(server.address, issuer.token())
        assert is_in(server.address, token_of("bob"))


def test_http_says_where_a_token_is_had(issuer):
    peer = Http()
    place = "https://python.example.org/.well-known/oauth-protected-resource/mcp"
    challenge = f'Bearer resource_metadata="{place}", scope="run"'
    with serve(oauth=issuer.config(scopes=["run"]), listen=[peer.address]):
        assert peer.initialize() == 401
        assert peer.fields["WWW-Authenticate"] == challenge
        assert peer.initialize(Authorization=f"Bearer {issuer.token(aud='x')}") == 401
        assert peer.fields["WWW-Authenticate"] == (
            f'{challenge}, error="invalid_token", '
            'error_description="the token is for another resource"')
        assert peer.initialize(Authorization=f"Bearer {issuer.token(scope='read')}") == 403
        assert peer.fields["WWW-Authenticate"] == (
            f'{challenge}, error="insufficient_scope", '
            'error_description="the token does not allow enough"')
        assert peer.initialize(Authorization=f"Bearer {issuer.token()}") == 200


def test_http_tells_a_server_without_keys_from_a_bad_token(issuer):
    peer = Http()
    issuer.answers = {"/keys": None}
    with serve(oauth=issuer.config(), listen=[peer.address]):
        assert peer.initialize(Authorization=f"Bearer {issuer.token()}") == 503


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_metadata_is_for_everybody(issuer, path):
    peer = Http()
    place = f"/.well-known/oauth-protected-resource{path}"
    with serve(oauth=issuer.config(scopes=["run"]), listen=[peer.address]):
        assert peer.ask("GET", place, Origin="https://page.example.org") == 200
        assert peer.fields["Access-Control-Allow-Origin"] == "*"
        assert peer.fields["Content-Type"] == "application/json"
        assert json.loads(peer.body) == {
            "resource": issuer.resource, "authorization_servers": [issuer.issuer],
            "scopes_supported": ["run"], "bearer_methods_supported": ["header"],
            "resource_name": "pyexecd"}
        assert peer.ask("OPTIONS", place, Origin="https://page.example.org",
                        Access_Control_Request_Method="GET",
                        Access_Control_Request_Headers="mcp-protocol-version") == 204
        assert peer.fields["Access-Control-Allow-Headers"] == "*"
        assert peer.ask("POST", place, "{}") == 405
        assert peer.ask("GET", "/.well-known/oauth-protected-resourcex") == 404


def test_a_name_from_elsewhere_is_kept_apart(issuer, tokens):
    """Whoever calls itself "bob" over there is not our bob: what it left behind is not found."""
    with serve(oauth=issuer.config(), token_file=str(tokens({"bob": ""}))) as server:
        made = call(server.address, token_of("bob"), code="open('here', 'w').close()")
        handle = made["result"]["structuredContent"]["working_directory"]
        again = call(server.address, token_of("bob"), code="open('here')", working_directory=handle)
        assert not again["result"]["isError"]
        other = call(server.address, issuer.token(sub="bob"), code="1", working_directory=handle)
        assert "no such working directory" in other["error"]["message"]
