"""Clients share one server: what one of them takes, uses up or fills is its own."""

import hashlib
import time

import pytest

import client
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
