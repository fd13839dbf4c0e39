"""The configuration, read again while the server serves: SIGHUP."""

import contextlib
import json
import os
import pathlib
import pty
import signal
import socket
import time

import client
import leftovers
import pytest
from client import NEWS, RpcError, Server

SYSTEM = {"type": "system"}
WAIT = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(.01)\n"
TELL = "import os; print(os.environ.get('GENERATION'))"


def generation(name, **more):
    """A configuration whose scripts can tell that they run in it."""
    return {"environments": {"system": {**SYSTEM, "environment": {"GENERATION": name}}}, **more}


def write(server, configuration):
    """Puts CONFIGURATION, data or text, in the place of the server's."""
    kept = {key: server.config[key] for key in ("listen", "auth") if key in server.config}
    text = configuration if isinstance(configuration, str) else json.dumps({**kept, **configuration})
    fresh = server.folder / "config.yaml.new"
    fresh.write_text(text)
    fresh.chmod(0o600)
    fresh.replace(server.folder / "config.yaml")


def reload(server, configuration, said="the configuration was read again"):
    before = server.stderr().count(said)
    write(server, configuration)
    server.process.send_signal(signal.SIGHUP)
    assert leftovers.until(lambda: server.stderr().count(said) > before, client.TIMEOUT), \
        server.stderr()


def serve(configuration, *arguments, **more):
    return Server("--log-level", "debug", *arguments, config=configuration, **more)


def text_of(result):
    return result["structuredContent"]["stdout"]


def tell(server):
    return text_of(server.call_tool("run_python", {"code": TELL})).strip()


def environments(server):
    return server.find_tool()["inputSchema"]["properties"]["environment"]["enum"]


@pytest.mark.parametrize("transport", ["stdio", "unix", "tcp"])
def test_running_and_queued_calls_go_on_as_they_were_begun(transport):
    with serve(generation("old", limits={"concurrent_runs": 1}), transport=transport) as server:
        server.initialize()
        running = server.start_tool("run_python", {"code": WAIT + TELL})
        queued = server.start_tool("run_python", {"code": TELL})
        assert leftovers.until(lambda: "run 0 started" in server.stderr(), client.TIMEOUT)
        reload(server, generation("new", limits={"concurrent_runs": 2}))
        assert text_of(server.call_tool("run_python", {
            "code": "open('go', 'w')\n" + TELL})).strip() == "new"
        for request in (running, queued):
            assert text_of(server.wait(request)["result"]).strip() == "old"


def test_a_file_with_errors_changes_nothing():
    with serve(generation("old")) as server:
        server.initialize()
        for bad, place in (("environments: {x: {type: system, bad: 1}}\nfoo: 1\n",
                            ":2:1: foo: unknown key"),
                           ("environments: {x: {type: docker, image: python, volumes: {/tmp: /proc}}}\n",
                            ":1:58: environments.x.volumes: nothing of yours can be mounted"),
                           ("default_environment: nowhere\n", ":1:22: default_environment: "),
                           ("environments: [", ":2:1: ")):
            reload(server, bad, "the configuration stays as it was")
            place = f"{server.folder}/config.yaml{place}"
            assert leftovers.until(lambda: place in server.stderr(), client.TIMEOUT)
            assert environments(server) == ["system"]
            assert tell(server) == "old"
        (server.folder / "config.yaml").unlink()
        server.process.send_signal(signal.SIGHUP)
        assert leftovers.until(lambda: "cannot be opened" in server.stderr(), client.TIMEOUT)
        reload(server, generation("new"))
        assert tell(server) == "new"


def test_the_tool_shows_the_environments_that_there_are_now():
    with serve(generation("old")) as server:
        server.initialize()
        reload(server, {"environments": {"one": SYSTEM, "two": {"type": "venv"}},
                        "default_environment": "one"})
        assert environments(server) == ["one", "two"]
        assert "Default: one." in json.dumps(server.find_tool())
        result = server.call_tool("run_python", {"code": "print(1)", "environment": "one"})
        assert text_of(result) == "1\n"
        with contextlib.suppress(RpcError):
            assert server.call_tool("run_python", {"code": "print(1)",
                                                   "environment": "system"})["isError"]


def test_without_sessions_those_that_are_there_are_closed():
    with leftovers.Watched(config={"sessions": {}}) as server:
        server.initialize()
        begun = server.call_tool("run_python", {"code": "import time", "session": "new"})
        name = begun["structuredContent"]["session"]["name"]
        cell = server.start_tool("run_python", {"code": "open('begun', 'w').close(); time.sleep(60)", "session": name})
        assert leftovers.until(lambda: list(server.home.rglob("begun")))
        kept = {key: value for key, value in server.config.items() if key != "sessions"}
        write(server, kept)
        server.process.send_signal(signal.SIGHUP)
        assert "the session was closed: the server has none any more" in str(server.wait(cell))
        assert not server.survivors()
        assert "session" not in server.find_tool()["inputSchema"]["properties"]
        write(server, {**kept, "sessions": {}})
        server.process.send_signal(signal.SIGHUP)
        assert leftovers.until(lambda: "session" in server.find_tool()["inputSchema"]["properties"])
        answer = server.call_tool("run_python", {"code": "1", "session": name})
        assert "there is no session" in answer["content"][0]["text"]


def test_sessions_that_are_on_their_way_out_are_closed_once():
    with leftovers.Watched(config={"sessions": {}}) as server:
        server.initialize()
        server.call_tool("run_python", {"code": "import time", "session": "new"})
        write(server, {key: value for key, value in server.config.items() if key != "sessions"})
        for _ in range(20):
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.002)
        assert leftovers.until(lambda: "session" not in server.find_tool()["inputSchema"]["properties"])


def test_code_blocks_go_on_in_the_environment_that_they_began_in(tmp_path):
    blocks = {"code_blocks": {}, "working_directory": str(tmp_path)}
    with serve(generation("old", **blocks)) as server:
        server.initialize()
        call = server.start_tool("run_code_blocks", {"blocks": [
            {"language": "python", "code": code} for code in ("open('begun', 'w').close()\n" + WAIT, TELL, TELL)]})
        assert leftovers.until((tmp_path / "begun").exists)
        reload(server, {"environments": {"another": {**SYSTEM, "environment": {"GENERATION": "new"}}}, **blocks})
        (tmp_path / "go").touch()
        text = server.wait(call)["result"]["content"][0]["text"]
        assert (text.count("old"), text.count("new")) == (2, 0), text
        assert tell(server) == "new"


def test_limits_and_the_rules_for_callers_count_for_new_calls():
    endless = {"code": "while True: pass"}
    define = {"code": "print(1)", "environment_definition": SYSTEM}
    with serve({"callers": {"define_environments": True}}) as server:
        server.initialize()
        assert text_of(server.call_tool("run_python", define)) == "1\n"
        reload(server, {"timeout": 0.5, "callers": {"define_environments": False}})
        assert "timed out after 0.5 seconds" in json.dumps(server.call_tool("run_python", endless))
        assert server.call_tool("run_python", define)["isError"]
        reload(server, {"timeout": 0.25, "callers": {"define_environments": True}})
        result = server.call_tool("run_python", {**endless, "environment_definition": SYSTEM})
        assert "timed out after 0.25 seconds" in json.dumps(result)


def test_the_working_directory_of_a_connection_stays():
    with serve(generation("old")) as server:
        server.initialize()
        server.call_tool("run_python", {"code": "open('kept', 'w')"})
        reload(server, generation("new"))
        assert text_of(server.call_tool("run_python", {
            "code": "import os; print(os.path.exists('kept'))"})) == "True\n"


def test_what_counts_at_the_start_only_is_named(tmp_path):
    started = generation("old")
    with serve(started) as server:
        server.initialize()
        reload(server, generation("new", working_directory=str(tmp_path), containment="best-effort",
                                  listen=["unix:/tmp/nowhere"], limits={"connections": 5},
                                  images="file", results="structured"))
        assert tell(server) == "new"
        told = server.stderr()
        for key in ("working_directory", "containment", "listen", "limits.connections"):
            assert f"config.yaml: {key}: changed, which counts when the server is started again" in told
        for key in ("environments", "limits", "images", "results"):
            assert f"config.yaml: {key}: changed" not in told
        reload(server, started)
        assert server.stderr().count("started again") == 4


def test_tokens_are_read_again(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("b" * 43)
    tokens.chmod(0o600)
    configuration = {"token_file": str(tokens)}
    with serve(configuration, transport="tcp") as server:
        server.initialize()
        tokens.write_text("a" * 43)
        reload(server, configuration)
        assert tell(server) == "None"  # who is in stays in
        with contextlib.closing(server.connect()) as late:
            with pytest.raises((EOFError, AssertionError)):
                late.initialize()
        server.token = "a" * 43
        with contextlib.closing(server.connect()) as other:
            other.initialize()
            assert tell(other) == "None"
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_text("c" * 43)
        elsewhere.chmod(0o600)
        reload(server, {"token_file": str(elsewhere)})
        assert "started again" not in server.stderr()
        server.token = "c" * 43
        with contextlib.closing(server.connect()) as other:
            other.initialize()
        elsewhere.write_text("a b c d e f")
        reload(server, {"token_file": str(elsewhere)}, "the configuration stays as it was")
        with contextlib.closing(server.connect()) as other:
            other.initialize()
        reload(server, {"auth": "none"})
        assert "token_file: changed" in server.stderr()
        with contextlib.closing(server.connect()) as other:
            other.initialize()


@pytest.mark.plain
@pytest.mark.long
@pytest.mark.parametrize("changes", [True, False])
def test_memory_does_not_grow(changes):
    count = 100
    with serve(generation("0")) as server:
        server.initialize()

        def resident():
            environments(server)
            status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
            return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)

        def settle(number):
            reload(server, {"environments": {
                "system": {**SYSTEM, "environment": {"GENERATION": str(number * changes)}},
                "other": {"type": "venv", "pip_packages": ["numpy"]}}})

        for number in range(10):
            settle(number)
        before = resident()
        for number in range(count):
            settle(number)
        if not leftovers.sanitized():  # its allocator keeps what is freed
            assert resident() - before < 256
        assert tell(server) == str((count - 1) * changes)


def test_a_service_manager_is_told(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "manager"))
        manager.settimeout(client.TIMEOUT)
        with serve(generation("old"), environment={"NOTIFY_SOCKET": str(tmp_path / "manager")},
                   transport="unix") as server:
            assert manager.recv(1000) == b"READY=1"
            for configuration in (generation("new"), "nonsense: 1"):
                before = time.monotonic()
                write(server, configuration)
                server.process.send_signal(signal.SIGHUP)
                reloading, stamp = manager.recv(1000).decode().splitlines()
                assert reloading == "RELOADING=1"
                microseconds = int(stamp.removeprefix("MONOTONIC_USEC="))
                assert before <= microseconds / 1e6 <= time.monotonic()
                assert manager.recv(1000) == b"READY=1"


@pytest.mark.parametrize("transport", ["stdio", "unix", "http"])
def test_clients_are_told_that_the_tools_have_changed(transport):
    with serve(generation("old"), transport=transport) as server:
        server.initialize()
        if transport == "http":
            server.http.listen()
        reload(server, {"environments": {"one": SYSTEM}})
        assert server.receive_any()["method"] == NEWS
        assert environments(server) == ["one"]
        reload(server, {"environments": {"one": {**SYSTEM, "environment": {"A": "1"}}}})
        with pytest.raises(TimeoutError):  # the tool looks as before
            server.receive_any(0.3)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_who_listens_is_told_that_the_tools_have_changed(transport):
    with serve(generation("old"), transport=transport) as server:
        server.send({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen",
                     "params": {"notifications": {"toolsListChanged": True},
                                "_meta": client.modern_meta()}})
        assert server.receive()["method"] == "notifications/subscriptions/acknowledged"
        reload(server, {"environments": {"one": SYSTEM}})
        assert server.receive_any()["method"] == NEWS
        server.process.send_signal(signal.SIGTERM)
        assert server.receive()["result"]["resultType"] == "complete"
        assert server.wait_exit() == 0


@contextlib.contextmanager
def on_a_terminal(tmp_path, *command):
    """The program in the foreground of a terminal; the process and a function that closes that."""
    with open(tmp_path / "stderr", "wb") as stderr:
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(stderr.fileno(), 1)  # no terminal, or nohup would write nohup.out
            os.dup2(stderr.fileno(), 2)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run after nohup
            os.execvp(command[0], command)
    open_terminals = [terminal]
    try:
        yield pid, lambda: os.close(open_terminals.pop())
    finally:
        for descriptor in open_terminals:
            os.close(descriptor)


def wait_exit(pid):
    """The exit code of the child PID, which is killed when it does not end in time."""
    state = leftovers.until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT),
                            client.STOP_TIMEOUT)
    if not state:
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def ready(path):
    return leftovers.until(path.exists, client.START_TIMEOUT)


def test_a_server_ends_with_its_terminal(tmp_path):
    address = tmp_path / "socket"
    with on_a_terminal(tmp_path, os.environ["PYEXECD"], "--listen", f"unix:{address}",
                       "--log-level", "info") as (pid, close):
        assert ready(address)
        close()
        assert wait_exit(pid) == 0
    assert "stopping on Hangup" in (tmp_path / "stderr").read_text()
    assert not address.exists()


def test_after_nohup_a_server_outlives_its_terminal(tmp_path):
    address = tmp_path / "socket"
    with on_a_terminal(tmp_path, "nohup", os.environ["PYEXECD"], "--listen", f"unix:{address}",
                       "--log-level", "info") as (pid, close):
        assert ready(address)
        close()
        assert leftovers.until(lambda: "was read again" in (tmp_path / "stderr").read_text(),
                               client.TIMEOUT)
        os.kill(pid, signal.SIGTERM)
        assert wait_exit(pid) == 0
