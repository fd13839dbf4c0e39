"""Requests that listen, at the end of it all. What they are told is in tests/transcripts."""

import signal

import pytest
from client import Server, modern_meta


def _listen(connection):
    connection.send({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen",
                     "params": {"notifications": {"toolsListChanged": True},
                                "_meta": modern_meta()}})
    assert connection.receive()["method"] == "notifications/subscriptions/acknowledged"


def _is_answered(connection):
    message = connection.receive()
    subscription = message["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
    return (message["id"], message["result"]["resultType"], subscription) == ("l", "complete", "l")


def test_end_of_input_ends_what_listens():
    with Server() as server:
        _listen(server)
        server.finish_writing()
        assert _is_answered(server)
        assert server.wait_exit() == 0


@pytest.mark.parametrize("transport", ["stdio", "unix", "tcp"])
def test_a_server_that_stops_ends_what_listens(transport):
    with Server(transport=transport) as server:
        _listen(server)
        server.process.send_signal(signal.SIGTERM)
        assert _is_answered(server)
        assert server.wait_exit() == 0
