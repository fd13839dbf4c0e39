"""A call that takes long: what its caller is told meanwhile, and how it can be stopped."""

import contextlib
import os
import time

import pytest

import client
import leftovers

SILENCE = 3.5  # seconds without news, after which the last line is told again
KILL_SECONDS = 10.0  # on any machine, and before a run would end by itself

# Says where it is and then writes the time into a file until it is killed.
HEARTBEAT = """
import os, sys, time
open("started", "w").close()
print(os.getcwd(), flush=True)
while True:
    with open("beat.tmp", "w") as file:
        file.write(repr(time.time()))
    os.rename("beat.tmp", "beat")
    time.sleep(0.002)
"""


def wait_for(path, timeout=60):
    deadline = time.monotonic() + timeout
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.005)


def last_beat(folder, patience=0.5):
    """The time of the last beat, once no more are coming."""
    beat = folder / "beat"
    seen, since = None, time.monotonic()
    while time.monotonic() - since < patience:
        now = beat.read_text()
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.005)
    return float(seen)


@contextlib.contextmanager
def beating(folder, transport="stdio"):
    """A server whose run beats in FOLDER, and which the test ends."""
    server = client.Server(transport=transport, config={"working_directory": str(folder)})
    try:
        server.initialize()
        server.start_tool("run_python", {"code": HEARTBEAT})
        wait_for(folder / "beat")
        yield server
    finally:
        server.kill()


@pytest.fixture(params=["stdio", "unix"])
def server(request, tmp_path):
    config = {"working_directory": str(tmp_path)}
    with client.Server(transport=request.param, config=config) as server:
        server.initialize()
        yield server


# Cancellation


@pytest.mark.shared  # meets its script through files
def test_cancelling_kills_at_once_and_no_answer_follows(server, tmp_path):
    call = server.start_tool("run_python", {"code": HEARTBEAT})
    wait_for(tmp_path / "beat")
    cancelled = time.time()
    server.cancel(call)
    assert last_beat(tmp_path) - cancelled < KILL_SECONDS
    server.assert_silent(0.3)
    assert server.call_tool("run_python", {"code": "print(1)"})["isError"] is False


@pytest.mark.shared  # meets its script through files
def test_cancelling_a_call_that_waits_forgets_it(tmp_path):
    config = {"working_directory": str(tmp_path), "limits": {"concurrent_runs": 1}}
    with client.Server(config=config) as server:
        server.initialize()
        first = server.start_tool("run_python", {"code": HEARTBEAT})
        wait_for(tmp_path / "beat")
        second = server.start_tool("run_python", {"code": "open('second', 'w')"})
        server.cancel(second)
        server.cancel(first)
        server.assert_silent(0.3)
        assert server.call_tool("run_python", {"code": "print(1)"})["isError"] is False
    assert not (tmp_path / "second").exists()


def test_cancelling_twice_or_the_unknown_does_nothing(server):
    server.cancel("nothing")
    call = server.start_tool("run_python", {"code": "import time; time.sleep(60)"})
    server.cancel(call)
    server.cancel(call)
    server.assert_silent(0.3)


def test_one_call_of_several_is_cancelled(server):
    slow = server.start_tool("run_python", {"code": "import time; time.sleep(60)"})
    quick = server.start_tool("run_python", {"code": "import time; time.sleep(0.5); print('ok')"})
    server.cancel(slow)
    answer = server.wait(quick)["result"]
    assert answer["structuredContent"]["stdout"] == "ok\n"
    server.assert_silent(0.3)


@pytest.mark.shared  # meets its script through files
def test_closing_the_connection_kills_its_runs(tmp_path):
    config = {"working_directory": str(tmp_path)}
    with client.Server(transport="unix", config=config) as server:
        server.initialize()
        other = server.connect()
        other.initialize()
        other.start_tool("run_python", {"code": HEARTBEAT})
        wait_for(tmp_path / "beat")
        closed = time.time()
        other.close()
        assert last_beat(tmp_path) - closed < KILL_SECONDS
        assert server.call_tool("run_python", {"code": "print(1)"})["isError"] is False


@pytest.mark.shared  # meets its script through files
def test_the_end_of_stdin_kills_everything_and_ends_the_server(tmp_path):
    with beating(tmp_path) as server:
        closed = time.time()
        assert server.stop() == 0
        assert last_beat(tmp_path) - closed < KILL_SECONDS


@pytest.mark.shared  # meets its script through files
@pytest.mark.parametrize("transport", ["stdio", "unix"])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_kills_everything_and_ends_the_server(tmp_path, transport, name):
    with beating(tmp_path, transport) as server:
        sent = time.time()
        server.process.send_signal(getattr(client.signal, name))
        assert server.wait_exit() == 0
        assert last_beat(tmp_path) - sent < KILL_SECONDS
        if transport == "unix":
            assert not os.path.exists(server.address), "the socket is removed"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_second_signal_ends_the_server_at_once(tmp_path, name):
    """The first one waits a while for a client that does not take its answers."""
    server = client.Server("--log-level", "info", transport="unix",
                           config={"working_directory": str(tmp_path)})
    try:
        server.initialize()
        for number in range(8):
            server.start_tool("run_python", {"code": f"open('{number}', 'w')\nprint('x' * 1000000)"})
        wait_for(tmp_path / "7")  # the answers of most others do not fit into the socket
        server.process.send_signal(getattr(client.signal, name))
        assert leftovers.until(lambda: "stopping" in server.stderr())
        with contextlib.suppress(ProcessLookupError):
            server.process.send_signal(getattr(client.signal, name))
        assert server.wait_exit() in (0, 128 + getattr(client.signal, name))
        assert not os.path.exists(server.address), "the socket is removed"
    finally:
        server.kill()


@pytest.mark.shared  # meets its script through files
def test_kill_of_the_server_kills_its_runs(tmp_path):
    with beating(tmp_path) as server:
        killed = time.time()
        server.process.kill()
        server.wait_exit()
        assert last_beat(tmp_path) - killed < KILL_SECONDS


# Progress


def progress_of(code, transport="stdio", **arguments):
    """The progress notifications of a call, and its result."""
    with client.Server(transport=transport) as server:
        server.initialize()
        server.call_tool("run_python", {"code": "pass"})  # what is prepared is not told again
        call = server.start_tool("run_python", {"code": code, **arguments}, progress_token="p")
        result = server.wait(call)["result"]
        server.assert_silent(0.2)
        return server.progress("p"), result


@pytest.mark.once
def test_new_lines_are_told_once_a_second():
    code = ("import time\n"
            "for i in range(35):\n"
            "    print('step', i, flush=True)\n"
            "    time.sleep(0.1)\n")
    notes, result = progress_of(code)
    assert result["isError"] is False
    assert 2 <= len(notes) <= notes[-1]["progress"] + 1
    numbers = [int(note["message"].split()[1]) for note in notes if note["message"] != "running"]
    assert numbers and numbers == sorted(numbers)
    times = [note["progress"] for note in notes]
    assert times == sorted(set(times))
    assert all("total" not in note for note in notes)


@pytest.mark.once
def test_a_silent_run_is_told_to_be_alive_every_five_seconds():
    notes, result = progress_of("import time; time.sleep(11)", timeout=60)
    assert result["isError"] is False
    times = [0] + [note["progress"] for note in notes]
    assert len(notes) >= 2 and all(later - earlier >= SILENCE for earlier, later in zip(times, times[1:]))
    assert {note["message"] for note in notes} == {"running"}


@pytest.mark.once
def test_the_same_line_again_is_no_news():
    notes, _ = progress_of("import time\nprint('once', flush=True)\ntime.sleep(4)")
    times = [note["progress"] for note in notes if note["message"] == "once"]
    assert times
    assert all(later - earlier >= SILENCE for earlier, later in zip(times, times[1:]))  # it is alive


@pytest.mark.once
@pytest.mark.here  # on nodes the second call has a node of its own
def test_a_waiting_call_says_so(tmp_path):
    with client.Server(config={"limits": {"concurrent_runs": 1}, "working_directory": str(tmp_path)}) as server:
        server.initialize()
        first = server.start_tool("run_python", {
            "code": "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)", "timeout": 100})
        second = server.start_tool("run_python", {"code": "print(1)"}, progress_token=7)
        while not server.progress(7):
            server.notifications.append(server.receive())
        (tmp_path / "go").touch()
        server.wait(first)
        server.wait(second)
        assert server.progress(7)[0]["message"] == "waiting"


def test_a_message_is_a_line_without_control_characters():
    notes, _ = progress_of("import time\nprint('\\x1b[31mred\\x1b[0m\\0!', flush=True)\n"
                           "time.sleep(4)")
    assert all(character.isprintable() for note in notes for character in note["message"])
    assert any("red" in note["message"] for note in notes)


def test_without_a_token_nothing_is_told():
    with client.Server() as server:
        server.initialize()
        server.call_tool("run_python", {"code": "import time\nprint(1, flush=True)\ntime.sleep(2.2)"})
        assert not [message for message in server.notifications if message["method"] != client.NEWS]


def test_none_comes_after_the_answer_of_a_cancelled_call():
    with client.Server() as server:
        server.initialize()
        code = "import time\nfor i in range(100): print(i, flush=True); time.sleep(0.1)"
        call = server.start_tool("run_python", {"code": code}, progress_token="p")
        while not server.progress("p"):
            server.notifications.append(server.receive())
        server.cancel(call)
        server.request("ping")  # the cancellation was read before
        server.assert_silent(1.5)
