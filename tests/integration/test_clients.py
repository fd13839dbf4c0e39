"""Clients share one server: what one of them takes, uses up or fills is its own."""

import hashlib
import re

import pytest

import client
import leftovers
import wire
from test_approval import ACCEPT, ELICITATION, KEY

DECLINE = {"action": "decline"}


@pytest.fixture
def tokens(tmp_path):
    """A token file with the lines of {name: options}."""
    path = tmp_path / "tokens"

    def write(principals):
        path.write_text("".join(
            f"{name} sha256:{hashlib.sha256(token_of(name).encode()).hexdigest()} {options}\n"
            for name, options in principals.items()))
        path.chmod(0o600)
        return path

    return write


def token_of(name):
    return name * 8


def enter(server, name, revision=wire.NEWEST_LEGACY, capabilities=None):
    """A connection to SERVER as the principal NAME."""
    connection = server.connect()
    connection.send_line(f"Authorization: Bearer {token_of(name)}")
    connection.initialize(revision, capabilities)
    return connection


# Approvals


def ask(connection, code):
    """The state of a call that waits for approval."""
    return connection.request("tools/call", {"name": "run_python", "arguments": {"code": code}})[
        "requestState"]


def answer(connection, code, state, decision):
    return connection.request("tools/call", {
        "name": "run_python", "arguments": {"code": code}, "requestState": state,
        "inputResponses": {KEY: decision}})


def test_approvals_that_one_client_declined_void_nobody_elses(tokens):
    path = tokens({"alice": "calls_per_minute=1000000", "bob": ""})
    config = {"token_file": str(path), "approval": "always"}
    with client.Server(transport="tcp", config=config) as server:
        alice = enter(server, "alice", wire.MODERN, ELICITATION)
        bob = enter(server, "bob", wire.MODERN, ELICITATION)
        state = ask(bob, "print(6 * 7)")
        for _ in range(1100):
            assert answer(alice, "1", ask(alice, "1"), DECLINE)["isError"]
        assert answer(bob, "print(6 * 7)", state, ACCEPT)["structuredContent"]["stdout"] == "42\n"
        alice.close()
        bob.close()


# Places

SLEEP = "import time; time.sleep(60)"


def sleep(connection, count):
    """So many runs of CONNECTION that go, or wait, for longer than any test."""
    return [connection.start_tool("run_python", {"code": SLEEP}) for _ in range(count)]


def prints(connection):
    result = connection.call_tool("run_python", {"code": "print(1)"})
    assert result["structuredContent"]["stdout"] == "1\n", result


def going(server, count):
    """Waits until COUNT runs have begun."""
    assert leftovers.until(lambda: len(re.findall(r"run \d+ started", server.stderr())) == count,
                           client.TIMEOUT), server.stderr()


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_sleeping_runs_of_one_connection_do_not_keep_another_waiting(transport):
    with client.Server("--log-level", "debug", transport=transport) as server:
        server.initialize()
        sleep(server, 6)
        going(server, 4)
        other = server.connect()
        other.initialize()
        prints(other)
        prints(other)
        other.close()


def test_many_connections_of_one_client_leave_places_for_another(tokens):
    path = tokens({"alice": "", "bob": ""})
    with client.Server("--log-level", "debug", transport="tcp",
                       config={"token_file": str(path)}) as server:
        hers = [enter(server, "alice") for _ in range(12)]
        for connection in hers:
            sleep(connection, 4)
        going(server, 6)
        bob = enter(server, "bob")
        for _ in range(3):
            prints(bob)
        for connection in [bob, *hers]:
            connection.close()


def test_who_has_no_run_is_not_told_that_the_server_is_busy(tokens):
    path = tokens({"alice": "", "bob": ""})
    config = {"token_file": str(path), "limits": {"concurrent_runs": 2, "queued_runs": 4}}
    with client.Server("--log-level", "debug", transport="tcp", config=config) as server:
        hers = [enter(server, "alice") for _ in range(3)]
        for connection in hers:
            sleep(connection, 6)
        going(server, 3)
        bob = enter(server, "bob")
        prints(bob)
        for connection in [bob, *hers]:
            connection.close()
