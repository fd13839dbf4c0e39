"""Scripts in containers that call tools of the operator: those of tools_upstream.py in the integration tests."""

import contextlib
import hashlib
import os
import pathlib
import resource
import subprocess
import sys
import time

import pytest

import client
import engine as engine_module
import leftovers
import ports
import wheels
from docker_server import DockerServer
from engine_proxy import WithoutSockets
from sessions import Session
from test_docker_ahead import processes
from test_script_tools import RAW
from test_tool_approval import ELICITATION, accept, run

TOOLS = {"test": {"command": [sys.executable, str(pathlib.Path(__file__).parents[1] / "integration/tools_upstream.py")]}}
WAYS = {
    "cold": {},
    "ahead": {"start": "warm"},
    "kept": {"keep_container_running": True},
    "kept and waiting": {"keep_container_running": True, "start": "warm"},
}
ONCE, KEPT = ("cold", "ahead"), ("kept", "kept and waiting")
ECHO = "from tools import test\nprint(test.echo(a=1))"
HELD = "import tools\nprint(tools.test.held())"
HANG = "import threading, tools\nthreading.Thread(target=tools.test.hang, daemon=True).start()\n" \
       "while tools.test.held() < 1: pass\n"


@pytest.fixture
def serve(docker_server):
    @contextlib.contextmanager
    def start(way="cold", tools=TOOLS, config=None, environment=None, capabilities=None, **definition):
        config = {"tools": tools, "sessions": {}, "environments": {"here": {"type": "system", "tools": list(tools)}},
                  **(config or {})}
        with docker_server({**WAYS[way], "tools": list(tools), **definition}, config=config,
                           environment=environment) as server:
            server.initialize(capabilities=capabilities)
            yield server
    return start


def shown(server, code, **arguments):
    result = server.run(code, arguments=arguments)
    assert result["success"], result["stderr"] + str(result["error"])
    return result["stdout"].strip()


def containers(engine):
    return [each["Id"] for each in engine.api.get("/containers/json", all=1)]


@pytest.mark.parametrize("way", WAYS)
def test_scripts_call_tools(serve, way):
    code = "import tools\nprint(tools.test.echo(text='hello', n=1), tools.test.picture())"
    with serve(way) as server:
        for _ in range(3):
            result = server.run(code)
            assert result["stdout"] == "{'text': 'hello', 'n': 1} <image/png, 16 bytes>\n", result
            assert result["tools"]["test.echo"]["calls"] == result["tools"]["test.picture"]["calls"] == 1


@pytest.mark.parametrize("way", ["ahead", "kept and waiting"])
def test_what_waits_gets_them(serve, way):
    with serve(way) as server:
        shown(server, "1")
        assert leftovers.until(lambda: (result := server.run(ECHO))["stdout"] == "{'a': 1}\n" and result["timings"]["warm"])


def test_a_container_that_is_left_to_be_looked_at_had_them(serve, engine):
    with serve(cleanup_container=False) as server:
        assert shown(server, ECHO) == "{'a': 1}"
    for container in containers(engine):
        engine.api.delete(f"/containers/{container}")


@pytest.mark.parametrize("way", ["cold", "kept"])
@pytest.mark.parametrize("definition", [
    {"image": "entrypoint"}, {"image": "variables"}, {"user": "1234:5678"}, {"network": "bridge"}], ids=str)
def test_whatever_the_container_is_like(serve, way, definition):
    with serve(way, **definition) as server:
        for _ in range(2):
            assert shown(server, ECHO) == "{'a': 1}"


@pytest.mark.parametrize("way", ["cold", "kept"])
def test_an_image_with_packages_of_the_operator(serve, engine, tmp_path, way):
    wheels.wheel(tmp_path, "gadget", "1.2")
    with wheels.Index(tmp_path, engine.gateway) as index:
        packages = {"PIP_INDEX_URL": index.url, "PIP_TRUSTED_HOST": index.host}
        with serve(way, pip_packages=["gadget"], environment=packages) as server:
            assert shown(server, f"import gadget\n{ECHO}") == "{'a': 1}"


@pytest.mark.parametrize("way", WAYS)
def test_what_a_script_starts_does_not_inherit_them(serve, way):
    code = """
import os, subprocess, sys, tools
tools.test.echo(a=1)
child = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))), 'PYEXECD_TOOLS' in os.environ)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
"""
    with serve(way) as server:
        for _ in range(2):
            assert shown(server, code) == "[0, 1, 2, 3] False"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_have_them(serve, method):
    code = f"""
import multiprocessing, tools
def f(n):
    return tools.test.echo(n=n)["n"]
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(f, range(4)))
"""
    with serve() as server:
        assert shown(server, code) == "[0, 1, 2, 3]"


@pytest.mark.parametrize("way", WAYS)
def test_without_tools_there_is_nothing(serve, way):
    code = """
import os
print('PYEXECD_TOOLS' in os.environ, [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 3])
try:
    import tools
except ModuleNotFoundError as error:
    print(error)
"""
    with serve(way, tools={}) as server:
        for _ in range(2):
            assert shown(server, code) == "False []\nNo module named 'tools'"


def test_code_blocks_call_tools(serve):
    with serve("kept", config={"code_blocks": {}}) as server:
        blocks = [{"language": "python", "code": f"import tools; print(tools.test.echo(n={n}))"} for n in range(2)]
        text = server.call_tool("run_code_blocks", {"blocks": blocks}, timeout=180)["content"][0]["text"]
        assert "output: {'n': 0}" in text and "output: {'n': 1}" in text


# Sessions


def test_cells_call_tools(serve):
    with serve() as server:
        session = Session(server, "import tools")
        for number in range(3):
            assert session.shown(f"tools.test.echo(n={number})") == f"{{'n': {number}}}"
            assert session.result["tools"]["test.echo"]["calls"] == 1
        session.run("1")
        assert "tools" not in session.result


def test_a_session_takes_large_cells_and_prints_much(serve):
    with serve() as server:
        session = Session(server, "x = 1")
        for _ in range(3):
            session.run(f"text = {'y' * 900000!r}\nprint(len(text), 'z' * 3000000)")
            assert session.result["success"] and session.result["stdout"].startswith("900000 zzz")
        assert session.shown("x") == "1"


def test_a_session_may_call_nothing_between_its_cells(serve):
    with serve() as server:
        session = Session(server, """
import threading, tools
tools.test.echo(a=1)
errors = []
def late():
    while not errors:
        try:
            tools.test.sleep(seconds=0.01)
        except tools.ToolError as error:
            errors.append(type(error).__name__)
threading.Thread(target=late, daemon=True).start()
""")
        assert leftovers.until(lambda: session.shown("errors[:1]") in ("['Denied']", "['Unavailable']"))


def test_a_cell_that_times_out_leaves_its_session_its_tools(serve):
    with serve(timeout=20, max_timeout=30) as server:
        session = Session(server, "import tools, time")
        session.run("while True: time.sleep(0.01)", timeout=3)
        assert session.result["timed_out"]
        if session.result["session"]["alive"]:
            assert session.shown("tools.test.echo(a=1)") == "{'a': 1}"


# Time, and ends


@pytest.mark.parametrize("way", WAYS)
def test_the_timeout_stands_still_while_a_tool_works(serve, way):
    with serve(way) as server:
        def run(timeout):
            code = f"import tools\nprint(tools.test.sleep(seconds={timeout + 6}))"  # longer than the init waits, too
            return server.run(code, arguments={"timeout": timeout})

        shown(server, "1")
        result = client.with_more_time(run, lambda result: not result["timed_out"], (2, 8, 32))
        assert result["stdout"] == "slept\n" and not result["timed_out"], result


@pytest.mark.parametrize("way", ["cold", "kept"])
def test_max_timeout_bounds_all(serve, way):
    with serve(way, timeout=5, max_timeout=10) as server:
        result = server.run("import tools\ntools.test.hang()")
        assert result["timed_out"] and result["error"].startswith("timed out after 10 seconds"), result
        assert shown(server, HELD) == "0"


@pytest.mark.parametrize("way", ["cold", "kept"])
def test_a_person_may_think_for_longer_than_any_script_runs(serve, way):
    def think():
        time.sleep(30)
        return accept("yes")

    with serve(way, capabilities=ELICITATION, timeout=20, max_timeout=20) as server:
        result, _ = run(server, "print(attempt())", think, patience=180)
        assert result["stdout"] == "{'text': 'x'}\n", result


@pytest.mark.parametrize("way", WAYS)
def test_what_is_pending_ends_with_the_script(serve, way):
    with serve(way) as server:
        for end in ("os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()", "1 / 0"):
            server.run(f"{HANG}import os, sys\n{end}")
            assert shown(server, HELD) == "0"


@pytest.mark.parametrize("way", WAYS)
def test_what_is_pending_ends_with_its_container(serve, engine, way):
    with serve(way) as server:
        shown(server, "1")
        call = server.start(f"{HANG}import time; time.sleep(1000)")
        assert leftovers.until(lambda: shown(server, HELD, environment="here") == "1")
        for container in engine.api.get("/containers/json"):
            engine.api.delete(f"/containers/{container['Id']}", force=1)
        assert not server.wait(call, 180)["result"]["structuredContent"]["success"]
        assert leftovers.until(lambda: shown(server, HELD, environment="here") == "0")


def test_what_is_pending_ends_with_a_cancelled_call(serve):
    with serve("kept") as server:
        call = server.start(f"{HANG}import time; time.sleep(1000)")
        assert leftovers.until(lambda: shown(server, HELD, environment="here") == "1")
        server.cancel(call)
        assert leftovers.until(lambda: shown(server, HELD, environment="here") == "0")
        assert shown(server, ECHO) == "{'a': 1}"


# Hostile scripts


@pytest.mark.parametrize("way", WAYS)
def test_whatever_a_script_does_to_its_end_only_harms_itself(serve, way):
    with serve(way) as server:
        for act in ("channel.sendall(b'{\"half')", "channel.shutdown(socket.SHUT_RDWR)", "os.close(102)",
                    "os.closerange(3, 1000)"):
            server.run(f"{RAW}{act}")
            assert shown(server, ECHO) == "{'a': 1}"


def test_a_forged_frame_reaches_no_other_tool(serve):
    code = f"{RAW}channel.sendall(frame('tools/call', {{'name': 'run_python', 'arguments': {{'code': '1'}}}}))\nprint(answers())"
    with serve("kept") as server:
        assert "Unknown tool" in shown(server, code)


# The sockets that a process can connect to, and the descriptors of others that it can open.
SEARCH = r"""
import os, socket, stat
found = []
for folder, folders, files in os.walk('/'):
    if folder.startswith(('/proc', '/sys')):
        folders.clear()
    found += [os.path.join(folder, name) for name in files + folders
              if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode)]
names = [line.split()[7] for line in open('/proc/net/unix').readlines()[1:] if len(line.split()) > 7]
def answers(name):
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(name.replace('@', '\0')) == 0
opened = []
for pid in os.listdir('/proc'):
    if pid.isdigit() and int(pid) != os.getpid():
        try:
            opened += [os.open(f'/proc/{pid}/fd/{fd}', os.O_RDWR) for fd in os.listdir(f'/proc/{pid}/fd')]
        except OSError:
            pass
print([name for name in found + names if answers(name)], opened)
"""


@pytest.mark.parametrize("way", WAYS)
def test_no_path_leads_to_them(serve, way):
    with serve(way) as server:
        for _ in range(2):
            assert shown(server, f"{ECHO}\n{SEARCH}") == "{'a': 1}\n[] []"


def execute(engine, container, code, user="0"):
    """What CODE prints, which somebody executes in CONTAINER beside its script."""
    made = engine.api.post(f"/containers/{container}/exec", {
        "Cmd": ["python3", "-c", code], "User": user, "AttachStdout": True, "AttachStderr": True})
    return engine.api.post(f"/exec/{made['Id']}/start", {"Detach": False}).decode(errors="replace")


def test_another_process_of_a_kept_container_finds_no_way(serve, engine):
    with serve("kept") as server:
        call = server.start(f"{HANG}\nimport os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n{ECHO}")
        assert leftovers.until(lambda: shown(server, HELD, environment="here") == "1")
        container, = containers(engine)
        said = execute(engine, container, SEARCH + "import os; open('/workspace/go', 'w')")
        assert said.endswith("[] []\n"), said
        result = server.wait(call, 180)["result"]["structuredContent"]
        assert "{'a': 1}" in result["stdout"], result


def test_a_client_without_tools_has_none_in_the_container_of_another(engine, tmp_path):
    """Both have one working directory, and so one container, which is kept."""
    path = tmp_path / "tokens"
    path.write_text("".join(f"{name} sha256:{hashlib.sha256((name * 8).encode()).hexdigest()}{more}\n"
                            for name, more in (("alice", ""), ("robert", " tools=other"))))
    path.chmod(0o600)
    (tmp_path / "work").mkdir()
    config = {"tools": {**TOOLS, "other": TOOLS["test"]}, "token_file": str(path), "working_directory": str(tmp_path / "work")}
    box = {**WAYS["kept and waiting"], "tools": ["test"]}
    with DockerServer(engine, box, config=config, transport="tcp") as server, contextlib.ExitStack() as stack:
        def client_of(name):
            peer = stack.enter_context(contextlib.closing(server.connect()))
            peer.send_line(f"Authorization: Bearer {name * 8}")
            peer.initialize()
            return lambda code: peer.call_tool("run_python", {"code": code}, timeout=180)["structuredContent"]

        alice, robert = client_of("alice"), client_of("robert")
        for _ in range(2):
            assert alice(f"{ECHO}\nopen('/opt/there', 'w')")["stdout"] == "{'a': 1}\n"
            result = robert(f"import os\nprint(os.path.exists('/opt/there'))\n{SEARCH}import tools")
            assert result["stdout"] == "True\n[] []\n" and "No module named 'tools'" in result["stderr"], result


def test_a_descriptor_that_was_passed_on_is_dead_when_its_script_ends(serve):
    """A session without a right to it, in another container, holds it."""
    keep = """
import os, socket
listener = socket.socket(socket.AF_UNIX)
listener.bind('/workspace/meet')
listener.listen()
"""
    take = """
peer = listener.accept()[0]
_, descriptors, _, _ = socket.recv_fds(peer, 1, 1)
peer.sendall(b'.')
held = socket.socket(fileno=descriptors[0])
"""
    give = """
import os, socket, tools
tools.test.echo(a=1)
peer = socket.socket(socket.AF_UNIX)
peer.connect('/workspace/meet')
socket.send_fds(peer, [b'.'], [tools._descriptor])
peer.recv(1)
print('given')
"""
    with serve() as server:
        session = Session(server, keep)
        folder = session.result["working_directory"]
        cell = server.start_tool("run_python", {"code": take, "session": session.name})
        assert shown(server, give, working_directory=folder) == "given"
        assert not server.wait(cell, 180)["result"].get("isError")
        assert session.shown("held.settimeout(60)\nheld.recv(100)") == "b''"


REPLACE = r"""
import os
replaced = []
for line in open('/proc/self/mountinfo'):
    place = line.split()[4]
    while 'pyexecd-' in line and place != '/':
        try:
            os.rename(place, place + '.old')
            replaced.append(place)
        except OSError:
            pass
        place = os.path.dirname(place)
print(replaced)
"""


@pytest.mark.parametrize("way", KEPT)
def test_a_script_replaces_nothing_that_the_next_one_begins_with(serve, way):
    """The image has no directory /run: the container could rename one."""
    with serve(way, image="no-run") as server:
        for _ in range(2):
            assert shown(server, f"{ECHO}\n{REPLACE}") == "{'a': 1}\n[]"


# The kernel counts descriptors in flight by user: beyond a limit it passes on none from processes without privileges.
FLOOD = """
import os, socket
pairs = [socket.socketpair() for _ in range(6)]
null = os.open('/dev/null', os.O_RDONLY)
try:
    for ours, _ in pairs:
        socket.send_fds(ours, [b'.'], [null] * 250)
except OSError as error:
    print(error.strerror)
"""


def test_descriptors_in_flight_do_not_harm_what_waits(serve, engine):
    config = {"tools": TOOLS, "sessions": {}, "environments": {"other": {"type": "docker", "start": "cold"}}}
    with serve("ahead", config=config) as server:
        shown(server, ECHO)
        assert Session(server, FLOOD, environment="other").result["stdout"] == "Too many references: cannot splice\n"
        assert leftovers.until(lambda: [processes(engine, each) for each in containers(engine)] == [2, 2])
        assert shown(server, ECHO) == "{'a': 1}"


# Accidents


LEAVE = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)"
ACCIDENT = "the socket by which the script calls tools did not come into its container"


@pytest.mark.parametrize("way", ONCE + KEPT)
def test_after_an_accident_a_script_begins_anew(serve, engine, tmp_path, way):
    """Another client's script may have caused it, and so it says nothing about the engine."""
    with WithoutSockets(engine.socket, tmp_path) as proxy, serve(way, host=proxy.address) as server:
        proxy.hiding = 0
        assert shown(server, ECHO) == "{'a': 1}"
        shown(server, LEAVE)  # a kept container is not used again
        proxy.hiding = 1
        assert leftovers.until(lambda: shown(server, ECHO) == "{'a': 1}" and proxy.hiding == 0)
        assert shown(server, ECHO) == "{'a': 1}"


@pytest.mark.parametrize("way", ["cold", "kept"])
def test_a_script_does_not_begin_without_its_tools(serve, engine, tmp_path, way):
    with WithoutSockets(engine.socket, tmp_path) as proxy, serve(way, host=proxy.address) as server:
        proxy.hiding = 0
        assert shown(server, ECHO) == "{'a': 1}"
        shown(server, LEAVE)  # a kept container is not used again
        proxy.hiding = 1 << 30
        result = server.run("print('begun')")
        assert ACCIDENT in result["error"] and result["stdout"] == "", result
        if way == "cold":
            answer = server.call_tool("run_python", {"code": "1", "session": "new"}, timeout=180)
            assert ACCIDENT in answer["content"][0]["text"], answer
        proxy.hiding = 0
        assert shown(server, ECHO) == "{'a': 1}"


def test_a_server_that_has_no_descriptors_left_keeps_nobody_waiting(serve):
    """With some number left there are enough for all but the pipes of a run."""
    with serve("kept") as server:
        shown(server, ECHO)
        pid = server.process.pid
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        for left in range(4, 10):
            taken = list(map(int, os.listdir(f"/proc/{pid}/fd")))
            most = next(n for n in range(soft) if n - sum(each < n for each in taken) == left)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, hard))
            text = text_of(server, ECHO)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
            assert "lost" not in text, text
        assert shown(server, ECHO) == "{'a': 1}"


# Engines that cannot hand over a socket


REMOTE = "its engine is reached by TCP"
ALONE = "its containers cannot connect to sockets of this machine"


def doctor(server):
    return subprocess.run([os.environ["PYEXECD"], "doctor"], capture_output=True,
                          text=True, timeout=180, env=server.environment, stdin=subprocess.DEVNULL).stdout


def text_of(server, code):
    return server.call_tool("run_python", {"code": code}, timeout=180)["content"][0]["text"]


def guide_of(server):
    return server.find_tool()["inputSchema"]["properties"]["code"]["description"]


def test_an_engine_that_is_reached_by_tcp_has_none(images, tmp_path):
    """DOCKER_HOST says so; a configuration that does is refused."""
    address = f"tcp://127.0.0.1:{ports.free_port()}"
    with engine_module.Engine(options=["--host", address]) as engine:
        images.load(engine, images.base)
        config = {"tools": TOOLS, "environments": {"here": {"type": "system", "tools": ["test"]}}}
        with DockerServer(engine, {"tools": ["test"]}, environment={"DOCKER_HOST": address}, config=config) as server:
            server.initialize()
            assert "In the environment here it can call these tools" in guide_of(server)
            result = server.run("import tools")
            assert "No module named 'tools'" in result["stderr"]
            assert f"Scripts in this environment cannot call tools: {REMOTE}." in text_of(server, "import tools")
            assert shown(server, ECHO, environment="here") == "{'a': 1}"
            assert doctor(server).count(f"its scripts cannot call tools: {REMOTE}") == 2  # in the verdict, too


@pytest.mark.parametrize("way", WAYS)
def test_a_container_that_cannot_connect_has_none(serve, engine, tmp_path, way):
    with WithoutSockets(engine.socket, tmp_path) as proxy, serve(way, host=proxy.address) as server:
        result = server.run("import tools")
        assert "No module named 'tools'" in result["stderr"], result
        assert f"Scripts in this environment cannot call tools: {ALONE}." in text_of(server, "import tools")
        assert doctor(server).count(f"its scripts cannot call tools: {ALONE}") == 2
        assert shown(server, "print(1)") == "1"
