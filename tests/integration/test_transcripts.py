"""Every transcript, at each of its revisions, over each transport, against each server it is for.

The servers are the program ($PYEXECD) and the fixture: the same server with tools that do anything
on demand ($FIXTURE, or where the build leaves it beside the program).
"""

import os
import pathlib

import pytest
import transcript
import wire
from client import Server

PROGRAM = os.environ.get("PYEXECD")
FIXTURE = os.environ.get("FIXTURE") or PROGRAM and str(
    pathlib.Path(PROGRAM).parent / "tests" / "fixture" / "fixture")

pytestmark = pytest.mark.once

SERVERS = {"pyexecd": PROGRAM, "fixture": FIXTURE}
TRANSPORTS = ["stdio", "unix", "tcp", "http"]
SOCKET_REVISIONS = ["2025-11-25", transcript.NONE]


def _transports(document, server):
    if document.server == server or (document.server, server) == ("any", "pyexecd"):
        return TRANSPORTS
    return ["stdio"] if document.server == "any" else []  # enough where the program runs it, too


def _marks(transport, revision):
    """Lines are lines: over a socket one revision, which has most, shows what stdio does not."""
    return [pytest.mark.release] if transport in ("unix", "tcp") and revision not in SOCKET_REVISIONS else []


def _runs():
    documents = transcript.load_all()
    for server, path in SERVERS.items():
        if not path or not os.path.exists(path):
            yield pytest.param(None, None, None, None, id=server,
                               marks=pytest.mark.skip(f"{server} is not built here"))
            continue
        for document in documents:
            for transport in _transports(document, server):
                for revision in document.revisions:
                    for case in document.cases_at(revision, transport):
                        name = f"{document.name}-{revision}-{server}-{transport}-{case.name}"
                        yield pytest.param(server, transport, revision, case, id=name, marks=_marks(transport, revision))


class Pool:
    """Servers that stay between cases; one that a case has spoilt is replaced."""

    def __init__(self):
        self.servers = {}

    def connection(self, name, transport, revision):
        """A connection that has done the handshake of REVISION."""
        server = self.servers.get((name, transport))
        if server and transport == "stdio" and server.wire.negotiated and \
                revision in (transcript.NONE, wire.MODERN):
            self.drop(name, transport)
            server = None
        if not server:
            server = Server(transport=transport, command=[SERVERS[name]])
            self.servers[name, transport] = server
        connection = server if transport == "stdio" else server.connect()
        if revision not in (transcript.NONE, wire.MODERN):
            connection.initialize(revision)
            if connection.http:
                connection.http.listen()
        elif connection.http:
            connection.http.version = wire.MODERN
        return connection

    def drop(self, name, transport):
        server = self.servers.pop((name, transport), None)
        if server:
            with server:
                pass


@pytest.fixture(scope="module")
def pool():
    pool = Pool()
    yield pool
    for name, transport in list(pool.servers):
        pool.drop(name, transport)


@pytest.mark.parametrize("name, transport, revision, case", list(_runs()))
def test_case(pool, name, transport, revision, case):
    connection = pool.connection(name, transport, revision)
    try:
        transcript.run(case, connection, revision)
    except BaseException:
        pool.servers.pop((name, transport)).kill()
        raise
    finally:
        if transport != "stdio":
            connection.close()


def test_messages_are_checked_against_the_schemas():
    if wire.UNAVAILABLE:
        pytest.skip(wire.UNAVAILABLE)
    checked = wire.Wire()
    checked.sent({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    checked.received({"jsonrpc": "2.0", "id": 1, "result": {}})
    with pytest.raises(wire.InvalidMessage):
        checked.received({"jsonrpc": "2.0", "id": 1.5, "result": {}})
    with pytest.raises(wire.InvalidMessage):
        checked.received({"jsonrpc": "2.0", "id": 1, "result": []})
    assert checked.checked == 1
