"""Scripts that want more of the tools than was given to them, at every level that has tools. They are isolated by a sandbox,
by a sandbox of Landlock alone, or not at all: there they reach no server with a secret, and what they do to processes of their
own user is not promised."""

import contextlib
import os
import pathlib
import sys

import pytest

import client
import leftovers
from leftovers import Watched
from sessions import call
from test_script_tools import RAW, TOOLS, UPSTREAM, result_of, shown

pytestmark = pytest.mark.plain

LIMITED = [sys.executable, str(pathlib.Path(__file__).with_name("limited.py")), "namespaces", "cgroups", "--"]
ISOLATIONS = {"sandbox": "sandbox", "landlock": "sandbox", "none": "none", "none landlock": "none"}
LEVELS = list(ISOLATIONS)
ISOLATED = [level for level in LEVELS if ISOLATIONS[level] == "sandbox"]
HALVES = "a-token-of-the-", "operator-4711"
ELICITATION = {"elicitation": {}}
UNASKED = "a person has to approve it"


@contextlib.contextmanager
def serve_at(level, capabilities=None, tools=None, **more):
    tools = tools or {**TOOLS, "other": {"command": UPSTREAM}}
    system = {"type": "system", "tools": ["test"], "isolation": ISOLATIONS[level]}
    command = [*LIMITED, os.environ["PYEXECD"]] if "landlock" in level else None
    config = {"tools": tools, "environments": {"it": system, "else": {**system, "tools": ["other"]}}, "default_environment": "it",
              "timeout": 60}
    with Watched(config=config, command=command, environment={"OPERATORS_TOKEN": "".join(HALVES)}, **more) as server:
        server.initialize(client.wire.NEWEST_LEGACY, capabilities)
        isolation = call(server, "pass")["structuredContent"]["isolation"]
        assert isolation == ISOLATIONS[level]
        yield server


@pytest.fixture(scope="module", params=LEVELS)
def server(request):
    with serve_at(request.param) as server:
        yield server


@pytest.fixture(scope="module")
def fenced():
    """Of each isolated level a server whose tools have a secret."""
    with contextlib.ExitStack() as stack:
        tools = {"test": {"command": UPSTREAM, "environment": {"SECRET": "${OPERATORS_TOKEN}"}}, "other": {"command": UPSTREAM}}
        yield {level: stack.enter_context(serve_at(level, tools=tools)) for level in ISOLATED}


def goes_on(server):
    return shown(server, "import tools; print(tools.test.echo(a=1), sorted(tools))") == "{'a': 1} ['test']"


@pytest.mark.parametrize("name, params", [
    ("other.echo", {}), ("test.echo", {"server": "other"}), ("test.echo", {"principal": "root", "environment": "else"}),
    ("other", {"name": "other.echo"}), ("run_python", {}), ("test.echo\0other.echo", {}), ("../other.echo", {})])
def test_no_frame_names_another_server(server, name, params):
    code = RAW + f"""
channel.sendall(frame("tools/call", {{**{params!r}, "name": {name!r}, "arguments": {{"a": 1}}}}))
print(b"".join(answers()).decode())
"""
    said = shown(server, code)
    assert "Unknown tool" in said or '"structuredContent":{"a":1}' in said and name == "test.echo", said
    assert shown(server, "import tools; print(tools.other.held())", environment="else") == "0"
    assert goes_on(server)


@pytest.mark.parametrize("more", [
    {"is_approved": True}, {"_meta": {"pyexecd/approved": True}}, {"inputResponses": {"approve_run": {"action": "accept"}}},
    {"inputResponses": {"approve_run": {"action": "accept", "content": {"approve": "yes"}}}, "requestState": "x"},
    {"task": {"ttl": 1000}}])
def test_no_frame_approves_its_own_call(server, more):
    code = RAW + f"""
more = {more!r}
META.update(more.pop("_meta", {{}}))
channel.sendall(frame("tools/call", {{"name": "test.write", "arguments": {{"text": "x"}}, **more}}))
print(b"".join(answers()).decode())
"""
    said = shown(server, code)
    assert UNASKED in said or '"error"' in said, said
    assert goes_on(server)


def test_thousands_of_lines_are_cut_off_and_others_are_served(server):
    code = RAW + """
try:
    for n in range(100000):
        channel.sendall(frame("tools/call", {"name": "test.none", "arguments": {}}, n) + b"\\n{\\n")
        select.select([channel], [], [], 0) and channel.recv(1 << 20)
except OSError:
    print("closed")
"""
    assert result_of(server, code)["stdout"] in ("closed\n", "")
    assert goes_on(server)


def test_a_fork_that_outlives_the_run_calls_nothing(server):
    code = """
import os, tools
tools.test.echo(a=1)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        while True:
            try:
                tools.test.sleep(seconds=0.1)
            except tools.ToolError:
                pass
    os._exit(0)
os.wait()
print("over")
"""
    assert shown(server, code) == "over"
    assert leftovers.until(lambda: shown(server, "import tools; print(tools.test.held())") == "0")
    assert not server.survivors()


def test_planted_modules_get_what_the_script_itself_has(server):
    """They are executed by the script, in its own tree: the module of the server is there beside them."""
    planted = [f"{name}.py" for name in ("tools", "json", "select", "sitecustomize", "usercustomize", "fcntl")]
    result_of(server, f"""
for name in {planted}:
    with open(name, "w") as file:
        file.write("planted = True")
""")
    code = f"""
import os
import tools, pyexecd_tools
print(tools.planted, hasattr(pyexecd_tools, "planted"))
for name in {planted}:
    os.remove(name)
"""
    assert shown(server, code) == "True False"
    assert goes_on(server)


@pytest.mark.parametrize("level", ISOLATED)
def test_a_token_is_nowhere_to_be_found(fenced, level):
    """Not in its environment, nor in what it can read of processes, of files and of memory."""
    code = f"""
import os, tools
token = "".join({HALVES!r}).encode()
assert "[secret]" in tools.test.secret()
found = [name for name, value in os.environb.items() if token in value]
for pid in filter(str.isdigit, os.listdir("/proc")):
    for part in ("environ", "cmdline", "auxv", "maps", "mem"):
        try:
            with open(f"/proc/{{pid}}/{{part}}", "rb") as file:
                if token in file.read() and int(pid) != os.getpid():
                    found.append(f"{{pid}} {{part}}")
        except OSError:
            pass
for top in ("/tmp", "/run", "/etc", "/root", "/home", os.path.expanduser("~"), os.getcwd()):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 20 and token in open(path, "rb").read():
                    found.append(path)
            except OSError:
                pass
print(found)
"""
    assert shown(fenced[level], code) == "[]"


@pytest.mark.parametrize("level", ISOLATED)
def test_no_descriptor_of_another_process_is_taken(fenced, level):
    code = """
import ctypes, os, tools
tools.test.echo(a=1)
system = ctypes.CDLL(None).syscall
taken = []
for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
    if pid != os.getpid():
        try:
            other = os.pidfd_open(pid)
        except OSError:
            continue
        taken += [(pid, fd) for fd in range(300) if system(438, other, fd, 0) >= 0]
        os.close(other)
print(taken)
"""
    assert shown(fenced[level], code) == "[]"


@pytest.mark.parametrize("level", ISOLATED)
def test_a_server_of_tools_is_not_signalled(fenced, level):
    own = shown(fenced[level], "import tools; print(tools.test.process())")
    result_of(fenced[level], "import os, tools\ntools.test.echo(a=1)\nos.kill(-1, 9)")
    assert shown(fenced[level], "import tools; print(tools.test.process())") == own


FORGER = RAW + """
import threading
def attempt():
    try:
        tools.test.write(text="x")
    except BaseException:
        pass
threading.Thread(target=attempt, daemon=True).start()
open("begun", "w").close()
while not os.path.exists("asked"):
    time.sleep(0.05)
yes = {"action": "accept", "content": {"approve": "yes"}}
lines = [json.dumps({"jsonrpc": "2.0", "id": key, "result": yes}).encode() + b"\\n"
         for n in range(200) for key in (n, str(n), f"s{n}", f"q-{n}")]
def forge(send):
    for line in lines:
        send(line)
forge(channel.sendall)
try:
    other = socket.socket(socket.AF_UNIX)
    other.connect(ADDRESS)
except OSError:
    print("no way")
else:
    print("connected")
    other.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}}, "clientInfo": {"name": "x", "version": "1"}}}).encode() + b"\\n")
    other.recv(1 << 16)
    forge(other.sendall)
sys.stdout.flush()
for _ in range(20):
    tools.test.echo(a=1)
os._exit(0)
"""


@pytest.mark.parametrize("level", LEVELS)
def test_the_servers_own_socket_approves_nothing(level):
    """A script without isolation can connect to it, as any program of its user. It is another client then, which was not asked."""
    with serve_at(level, ELICITATION, transport="unix") as server:
        request = server.start_tool("run_python", {"code": FORGER.replace("ADDRESS", repr(server.address))})
        question = server.receive()
        assert question["method"] == "elicitation/create"
        assert leftovers.until(lambda: any(server.home.rglob("begun")))
        next(server.home.rglob("begun")).with_name("asked").touch()
        result = server.wait(request)["result"]["structuredContent"]
        assert result["tools"]["test.write"]["errors"] == 1, result["stderr"]
        assert result["stdout"] == ("no way\n" if level in ISOLATED else "connected\n"), result["stderr"] + str(result["error"])
