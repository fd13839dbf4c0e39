"""The output of a call as it comes, for a client that asks for it."""

import json

import pytest

import client
import leftovers
import wire
from client import PREFIX

OUTPUT = "pyexecd/output"  # in `_meta`: a request wants the pieces, and one of them
KEPT = 1 << 20  # bytes of a stream
ROUGHLY = 256 << 10  # a pipe or socket full, and the pieces that wait for it
WAIT = "import os, sys, time\ndef wait(path):\n    while not os.path.exists(path): time.sleep(0.005)\n"
# In 40 times the time between two pieces: as much would wait for a client that does not read.
FLOOD = WAIT + (
    "def flood(length):\n"
    "    for i in range(40): print('x' * length, flush=True); time.sleep(0.06)\n"
    "    open('flooded', 'w')\n")
EACH_WAY = [("stdio", revision) for revision in client.REVISIONS] + [("unix", "2025-11-25"), ("tcp", wire.MODERN)] + \
    [("http", revision) for revision in ("2025-03-26", "2025-11-25", wire.MODERN)]


def serve(folder, transport="stdio", **more):
    return client.Server(transport=transport, config={"working_directory": str(folder), **more})


def start(server, code, tool="run_python", token="p", **arguments):
    if code is not None:
        arguments["code"] = code
    return server.start_request("tools/call", {"name": tool, "arguments": {"timeout": 300, **arguments},
                                               "_meta": {"progressToken": token, OUTPUT: True}})


def pieces(server, stream=None, token="p"):
    """Those that have come, of STREAM or of both."""
    told = [note["_meta"][OUTPUT] for note in server.progress(token) if "_meta" in note]
    return [piece for piece in told if stream in (None, piece["stream"])]


def text(server, stream="stdout", token="p"):
    return "".join(piece["text"] for piece in pieces(server, stream, token))


def receive_until(server, shows):
    """Receives messages until SHOWS(). The call is not answered meanwhile."""
    while not shows():
        message = server.receive()
        assert "method" in message, message
        server.notifications.append(message)


def structured(answer):
    result = answer["result"]
    return result["structuredContent"] if "structuredContent" in result else result["_meta"][client.RESULT]


def end_of(piece):
    return piece["offset"] + piece["length"]


@pytest.mark.shared  # meets its script through files
@pytest.mark.parametrize("transport, revision", EACH_WAY)
def test_output_comes_before_the_program_ends(tmp_path, transport, revision):
    with serve(tmp_path, transport) as server:
        server.initialize(revision)
        call = start(server, WAIT + "print('first', flush=True)\nwait('go')\nprint('second')\nsys.exit('third')")
        receive_until(server, lambda: text(server) == "first\n")
        (tmp_path / "go").touch()
        result = structured(server.wait(call))
        assert (text(server), text(server, "stderr")) == (result["stdout"], result["stderr"]) == \
            ("first\nsecond\n", "third\n")
        assert [piece["offset"] for piece in pieces(server, "stdout")] == [0, 6]
        values = [note["progress"] for note in server.progress("p")]
        assert values == sorted(set(values))


@pytest.mark.shared  # meets its script through files
def test_characters_are_never_split(tmp_path):
    with serve(tmp_path) as server:
        server.initialize()
        call = start(server, WAIT + "write = lambda data: (sys.stdout.buffer.write(data), sys.stdout.flush())\n"
                                    "write(b'a\\xe2\\x82')\nwait('go')\nwrite(b'\\xac\\nb\\xe2')")
        receive_until(server, lambda: pieces(server))
        assert pieces(server) == [{"stream": "stdout", "offset": 0, "length": 1, "text": "a"}]
        (tmp_path / "go").touch()
        result = structured(server.wait(call))
        assert text(server) == result["stdout"] == "a€\nb�"


@pytest.mark.shared  # two calls meet through a file
@pytest.mark.parametrize("asks", [{}, {"progressToken": "p"}, {OUTPUT: True}, {"progressToken": "p", OUTPUT: False}],
                         ids=str)
def test_nobody_gets_it_without_asking(tmp_path, asks):
    with serve(tmp_path) as server:
        server.initialize()
        code = WAIT + "print('first', flush=True)\nwait('go')"
        call = server.start_request("tools/call", {"name": "run_python", "arguments": {"code": code}, "_meta": asks})
        other = server.start_tool("run_python", {"code": "import time; time.sleep(1)\nopen('go', 'w')"})
        server.wait(other)
        server.wait(call)
        assert not pieces(server)
        assert asks.get("progressToken") or not server.progress("p")


def test_what_is_no_boolean_is_refused(tmp_path):
    with serve(tmp_path) as server:
        server.initialize()
        with pytest.raises(client.RpcError, match="pyexecd/output") as caught:
            server.request("tools/call", {"name": "run_python", "arguments": {"code": "1"},
                                          "_meta": {"progressToken": "p", OUTPUT: "stdout"}})
        assert caught.value.code == -32602


def test_what_is_left_out_of_a_burst_is_counted(tmp_path):
    """All of it comes at once, just before the answer."""
    with serve(tmp_path) as server:
        server.initialize()
        call = start(server, "import sys\nsys.stderr.write('aside')\nsys.stdout.write('x' * (4 << 20))")
        result = structured(server.wait(call))
        assert result["stdout_bytes"] == 4 << 20
        assert end_of(pieces(server, "stdout")[-1]) == 4 << 20
        assert text(server, "stderr") == "aside"
        for before, after in zip(pieces(server, "stdout"), pieces(server, "stdout")[1:]):
            assert end_of(before) <= after["offset"]


@pytest.mark.shared  # meets its script through files
@pytest.mark.parametrize("transport, revision", [("stdio", "2025-11-25"), ("unix", wire.MODERN)])
def test_a_flood_waits_for_a_client_that_does_not_read(tmp_path, transport, revision):
    """Afterwards it gets what is kept anyway, and an answer that is as ever."""
    with serve(tmp_path, transport) as server:
        server.initialize(revision)
        call = start(server, FLOOD + "flood(1 << 20)\nwait('go')")
        assert leftovers.until((tmp_path / "flooded").exists)
        (tmp_path / "go").touch()
        result = structured(server.wait(call))
        written = 40 * ((1 << 20) + 1)
        assert result["success"] and result["stdout_bytes"] == written == end_of(pieces(server)[-1])
        assert sum(piece["length"] for piece in pieces(server)) <= KEPT + 2 * ROUGHLY


@pytest.mark.parametrize("revision", ["2025-11-25", wire.MODERN])
def test_a_flood_over_http_does_not_lose_the_answer(tmp_path, revision):
    with serve(tmp_path, "http") as server:
        server.initialize(revision)
        call = start(server, FLOOD + "flood(1 << 20)")
        assert leftovers.until((tmp_path / "flooded").exists)
        result = structured(server.wait(call))
        assert result["success"] and result["stdout_bytes"] == end_of(pieces(server)[-1])


@pytest.mark.shared  # meets its script through files
@pytest.mark.parametrize("transport", ["stdio", "unix"])
def test_a_flood_is_not_in_the_way_of_other_answers(tmp_path, transport):
    """What lies before the answer to a ping is what the client had not read when it sent the ping."""
    with serve(tmp_path, transport) as server:
        server.initialize()
        call = start(server, FLOOD + "flood(1 << 20)\nwait('go')")
        assert leftovers.until((tmp_path / "flooded").exists)
        server.request("ping")
        assert sum(len(piece["text"]) for piece in pieces(server)) <= 2 * ROUGHLY
        assert json.dumps(call) not in server.responses
        (tmp_path / "go").touch()
        assert structured(server.wait(call))["success"]


def test_none_comes_after_a_cancellation(tmp_path):
    with serve(tmp_path) as server:
        server.initialize()
        call = start(server, WAIT + "while True: print('again', flush=True)")
        receive_until(server, lambda: pieces(server))
        server.cancel(call)
        server.request("ping")  # the cancellation was read before
        server.assert_silent(0.3)
        assert server.call_tool("run_python", {"code": "print(1)"})["isError"] is False


@pytest.mark.shared  # meets its script through files
def test_none_comes_after_the_call_has_become_a_task(tmp_path):
    with serve(tmp_path) as server:
        server.initialize(wire.MODERN, {"extensions": {PREFIX + "tasks": {}}})
        call = start(server, WAIT + "print('first', flush=True)\nwait('go')\nprint('second', flush=True)\nwait('stop')")
        task = server.wait(call)["result"]
        before = text(server)  # on a busy machine nothing
        (tmp_path / "go").touch()
        server.assert_silent(0.5)
        (tmp_path / "stop").touch()
        assert leftovers.until(lambda: server.request("tasks/get", {"taskId": task["taskId"]})["status"] == "completed")
        assert text(server) == before in ("", "first\n")


@pytest.mark.shared  # meets its script through files
def test_a_cell_has_its_own_output(tmp_path):
    with serve(tmp_path, sessions={}) as server:
        server.initialize()
        call = start(server, "print('begun')", session="new")
        name = structured(server.wait(call))["session"]["name"]
        assert text(server) == "begun\n"
        server.notifications.clear()
        call = start(server, WAIT + "print('first', flush=True)\nwait('go')\n6 * 7", session=name)
        waits = start(server, "print('other')", token="q", session=name)
        receive_until(server, lambda: text(server) == "first\n")
        (tmp_path / "go").touch()
        assert structured(server.wait(call))["stdout"] == text(server) == "first\n42\n"
        server.wait(waits)
        assert (text(server), text(server, token="q")) == ("first\n42\n", "other\n")


@pytest.mark.shared  # meets its script through files
def test_each_code_block_counts_from_the_start(tmp_path):
    with serve(tmp_path, code_blocks={}) as server:
        server.initialize()
        blocks = [{"language": "python", "code": "print('one')"}, {"language": "sh", "code": "echo two"},
                  {"language": "python", "code": WAIT + "print('three', flush=True)\nwait('go')"}]
        call = start(server, None, "run_code_blocks", blocks=blocks)
        receive_until(server, lambda: text(server) == "one\ntwo\nthree\n")
        (tmp_path / "go").touch()
        assert structured(server.wait(call))["exit_code"] == 0
        assert [piece["offset"] for piece in pieces(server)] == [0, 0, 0]
