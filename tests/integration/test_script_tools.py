"""Scripts that call tools of the operator: those of tools_upstream.py, which is a server of tools as others are."""

import contextlib
import os
import pathlib
import sys

import pytest

import client
import leftovers
from sessions import Session, call

UPSTREAM = [sys.executable, str(pathlib.Path(__file__).with_name("tools_upstream.py"))]
TOOLS = {"test": {"command": UPSTREAM}}
ENVIRONMENTS = {"sandbox": {"type": "system"}, "fresh": {"type": "system", "start": "fresh"},
                "cold": {"type": "system", "start": "cold"}, "none": {"type": "system", "isolation": "none"}}
EVERY = list(ENVIRONMENTS)


def with_tools(environments, tools=("test",)):
    return {name: {**definition, "tools": list(tools)} for name, definition in environments.items()}


@contextlib.contextmanager
def serve(environments=ENVIRONMENTS, tools=TOOLS, capabilities=None, revision=client.wire.NEWEST_LEGACY, **more):
    config = {"environments": {**with_tools(environments, tools), "bare": {"type": "system"}}, "tools": tools,
              "default_environment": next(iter(environments)), "sessions": {}, **more}
    with client.Server(config=config) as server:
        server.initialize(revision, capabilities)
        yield server


@pytest.fixture(scope="module")
def server():
    with serve() as server:
        yield server


def result_of(server, code, **more):
    answer = call(server, code, **more)
    return answer["structuredContent"]


def shown(server, code, **more):
    result = result_of(server, code, **more)
    assert result["success"], result["stderr"] + str(result["error"])
    return result["stdout"].strip()


@pytest.mark.parametrize("environment", EVERY)
@pytest.mark.parametrize("turn", range(3))
def test_a_script_calls_tools(server, environment, turn):
    """In a copy of a Python, too, and in one that waited for its code."""
    code = "from tools import test\nprint(test.echo(text='hello', n=1), test.picture())"
    result = result_of(server, code, environment=environment)
    assert result["stdout"] == "{'text': 'hello', 'n': 1} <image/png, 16 bytes>\n", result
    assert {name: account["calls"] for name, account in result["tools"].items()} == {"test.echo": 1, "test.picture": 1}


def test_the_copies_are_warm(server):
    for _ in range(3):
        result = result_of(server, "import tools\nprint(tools.test.echo(a=1))")
    assert leftovers.until(lambda: result_of(server, "import tools\nprint(tools.test.echo(a=1))")["timings"]["warm"])


def test_what_the_module_imports_is_there_before_the_script(server):
    """Unseen by it. Else its import takes longer than a call."""
    code = """
import gc, sys
there = {vars(each).get("__name__") for each in gc.get_objects() if type(each) is type(sys)}
seen = set(sys.modules)
import tools
print(sorted(set(sys.modules) - seen - there), "json" in seen)
"""
    assert leftovers.until(lambda: shown(server, code) == "['tools'] False")


@pytest.mark.parametrize("environment", EVERY)
def test_a_child_process_has_no_descriptor(server, environment):
    code = """
import os, subprocess, sys, tools
tools.test.echo(a=1)
child = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))), [n for n in os.environ if 'PYEXECD' in n])"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
"""
    assert shown(server, code, environment=environment) == "[0, 1, 2, 3] []"


@pytest.mark.parametrize("environment", ["bare"])
def test_a_script_without_tools_has_nothing(server, environment):
    code = """
import os, sys
print([name for name in os.environ if "PYEXECD" in name], [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 90])
try:
    import tools
except ModuleNotFoundError as error:
    print(error)
"""
    assert shown(server, code, environment=environment).splitlines()[1:] == ["No module named 'tools'"]
    assert shown(server, code, environment=environment).startswith("[] []")
    assert "tools" not in result_of(server, "1", environment=environment)


@pytest.mark.parametrize("environment", EVERY)
def test_a_file_of_the_script_hides_the_module(server, environment):
    code = """
open("tools.py", "w").write("mine = True")
import tools, pyexecd_tools
print(tools.mine, pyexecd_tools.test.echo(a=1))
import os
os.remove("tools.py")
"""
    assert shown(server, code, environment=environment) == "True {'a': 1}"


def test_both_names_are_one_module(server):
    assert shown(server, "import tools, pyexecd_tools; print(tools is pyexecd_tools)") == "True"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(server, method):
    code = f"""
import multiprocessing, tools
def f(n):
    return tools.test.echo(n=n)["n"]
if __name__ == "__main__":
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        print(pool.map(f, range(4)))
"""
    assert shown(server, code) == "[0, 1, 2, 3]"


def test_eight_calls_at_once(server):
    code = """
import tools, time
began = time.monotonic()
print(tools.map(tools.test.sleep, [{'seconds': 2}] * 8), time.monotonic() - began < 10)
"""
    assert shown(server, code) == f"{['slept'] * 8} True"


def test_failures_have_their_kinds():
    tools = {**TOOLS, "slow": {"command": UPSTREAM, "timeout": 1}, "lost": {"command": ["/nonexistent/program"]}}
    code = """
import tools
from tools import lost
for call in (lambda: tools.test.write(text="x"), tools.slow.hang, tools.test.die, lambda: lost.anything(),
             lambda: tools.call("lost.anything"), lambda: tools.test.big(bytes=5 << 20), tools.test.fail):
    try:
        call()
    except tools.ToolError as error:
        print(type(error).__name__, error)
"""
    with serve(tools=tools) as server:
        result = result_of(server, code)
        kinds = ["Denied test.write: ", "Timeout slow.hang: slow: it has not answered", "Unavailable test.die: test: ",
                 "Unavailable lost: ", "Unavailable lost: ", "LimitReached test.big: the result has ",
                 "ToolError test.fail: it says no"]
        lines = result["stdout"].splitlines()
        assert [line[:len(kind)] for line, kind in zip(lines, kinds)] == kinds, lines + [result["stderr"]]
        assert len(lines) == len(kinds)
        assert "/nonexistent/program" in lines[3] or "No such file" in lines[3]
        assert all(result["tools"][f"test.{name}"]["errors"] == 1 for name in ("write", "die", "big", "fail"))
        assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_an_upstream_cannot_choose_the_kind_of_an_error(server):
    code = "import tools\ntry:\n    tools.test.fail()\nexcept tools.ToolError as error:\n    print(type(error).__name__)"
    assert shown(server, code) == "ToolError"


NO_RESULTS = [{"content": 5}, {"content": None}, {"content": {}}, {"content": [5]}, {"content": [None]}, {"content": [[]]},
              *({"content": [block]} for block in (
                  {"text": "x"}, {"type": 5}, {"type": "text"}, {"type": "text", "text": 5}, {"type": "image"},
                  {"type": "image", "data": 5}, {"type": "audio", "data": "", "mimeType": 5}, {"type": "resource"},
                  {"type": "resource", "resource": 7}, {"type": "resource", "resource": {"uri": "x:y"}},
                  {"type": "resource", "resource": {"uri": 5, "text": "x"}},
                  {"type": "resource", "resource": {"uri": "x:y", "blob": 5}},
                  {"type": "resource_link"}, {"type": "resource_link", "uri": 5})),
              {"content": [{"type": "image", "data": "zz", "mimeType": "image/png"}]}]


def test_what_is_no_result_is_the_fault_of_its_tool():
    code = f"""
import tools
for result in {NO_RESULTS}:
    try:
        print(result, tools.test.answer(**result))
    except tools.Unavailable as error:
        print(error)
print(len(tools.test.answer(content=[{{"type": "text", "text": "[" * 100000}}])))
print(tools.test.answer(content=[{{"type": "new", "mimeType": "a/b"}}]))
"""
    with serve() as server:
        said = "test.answer: it answers with something that is no result"
        text = "[new a/b, which this protocol revision cannot carry]"
        assert shown(server, code).splitlines() == [said] * len(NO_RESULTS) + ["100000", text]
        assert shown(server, "print(1)") == "1"


def test_the_server_checks_arguments_itself(server):
    code = """
import tools
print(tools._connection.ask("tools/call", {"name": "test.sleep", "arguments": {"seconds": "x"}})["content"][0]["text"])
"""
    assert "seconds" in shown(server, code)


def test_a_tool_with_an_odd_schema_takes_anything(server):
    assert shown(server, "import tools; print(tools.test.odd(a=[1]), sorted(tools))") == "{'a': [1]} ['test']"


def test_schemas_of_older_drafts_are_checked_here_too(server):
    code = """
import tools
print(tools._connection.ask("tools/call", {"name": "test.old", "arguments": {"n": "x"}})["content"][0]["text"])
try:
    tools.test.old(m=1)
except TypeError as error:
    print(str(error).splitlines()[0])
"""
    lines = shown(server, code).splitlines()
    assert "must be integer" in lines[0] and lines[-1] == "test.old has no argument 'm'"


def test_a_run_has_a_hundred_calls(server):
    code = """
import tools
done = 0
try:
    for n in range(200):
        tools.test.echo(n=n)
        done += 1
except tools.LimitReached as error:
    print(done, error)
"""
    assert shown(server, code) == "100 test.echo: this run has made 100 calls, which is the limit"
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_calls_with_wrong_arguments_count(server):
    code = """
import tools
def ask():
    call = {"name": "test.sleep", "arguments": {"seconds": "x"}}
    return tools._connection.ask("tools/call", call)["content"][0]["text"].split(":")[0]
print({ask() for _ in range(100)}, ask())
try:
    tools.test.echo(a=1)
except tools.LimitReached as error:
    print(error)
"""
    refused = "this run has made 100 calls, which is the limit"
    assert shown(server, code).splitlines() == [f"{{'arguments do not fit'}} {refused}", f"test.echo: {refused}"]


def test_a_large_result_is_refused(server):
    code = """
import tools
for size in (1 << 20, 5 << 20):
    try:
        print(len(tools.test.big(bytes=size)))
    except tools.LimitReached as error:
        print(str(error).partition(", the limit")[2])
"""
    assert shown(server, code).splitlines() == [str(1 << 20), " is 4194304"]


def test_all_results_together_are_limited(server):
    code = """
import tools
done = 0
try:
    for _ in range(40):
        tools.test.big(bytes=3 << 20)
        done += 1
except tools.LimitReached:
    print(done)
"""
    assert shown(server, code) == "21"


def test_the_timeout_stands_still_while_a_tool_works(server):
    result = result_of(server, "import tools; print(tools.test.sleep(seconds=4))", timeout=2)
    assert result["stdout"] == "slept\n" and not result["timed_out"]


def test_the_time_of_the_script_itself_counts(server):
    code = "import tools, time\ntools.test.sleep(seconds=1)\nprint('slept', flush=True)\ntime.sleep(60)"
    result = result_of(server, code, timeout=3)
    assert result["timed_out"] and result["stdout"] == "slept\n"


def test_max_timeout_bounds_all(server):
    with serve(environments={"sandbox": {"type": "system", "timeout": 2, "max_timeout": 4}}) as server:
        result = result_of(server, "import tools\ntools.test.hang()")
        assert result["timed_out"] and "KeyboardInterrupt" in result["stderr"]
        assert 3 < result["timings"]["run"] < 30
        assert result["error"].startswith("timed out after 4 seconds")


def test_what_is_pending_ends_with_the_run(server):
    for end in ("os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit()", "1 / 0"):
        code = f"""
import os, sys, threading, time, tools
tools.test.echo(a=1)
for _ in range(3):
    threading.Thread(target=tools.test.hang, daemon=True).start()
while tools.test.held() < 3:
    pass
{end}
"""
        result_of(server, code)
        assert shown(server, "import tools; print(tools.test.held())") == "0"


def test_what_is_pending_ends_with_a_cancelled_call(server):
    request = server.start_tool("run_python", {"code": "import tools\nopen('began', 'w')\ntools.test.hang()"})
    assert leftovers.until(lambda: shown(server, "import tools; print(tools.test.held())") == "1")
    server.cancel(request)
    assert leftovers.until(lambda: shown(server, "import tools; print(tools.test.held())") == "0")


def test_cells_call_tools(server):
    session = Session(server, "import tools")
    for number in range(3):
        assert session.shown(f"tools.test.echo(n={number})") == f"{{'n': {number}}}"
        assert session.result["tools"]["test.echo"]["calls"] == 1
    session.run("for _ in range(100): tools.test.echo(a=1)")
    assert session.result["success"]
    session.run("1")
    assert "tools" not in session.result


def test_a_session_may_call_nothing_between_its_cells(server):
    session = Session(server, """
import threading, time, tools
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


def test_an_interrupt_withdraws_what_is_pending_and_tells_the_script_at_its_end():
    """An answer could end the cell before the interrupt reaches it, which would then hit the next one."""
    code = """
def hang():
    try:
        tools.test.hang()
    except tools.ToolError as error:
        told.append(str(error))
threading.Thread(target=hang, daemon=True).start()
try:
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    while tools.test.held():
        pass
    seen = list(told)
"""
    for _ in range(5):  # a busy machine does not always let it end in the two seconds that it has
        with serve() as server:
            session = Session(server, "import threading, time, tools; told = []")
            request = server.start_tool("run_python", {"code": code, "session": session.name})
            assert leftovers.until(lambda: shown(server, "import tools; print(tools.test.held())") == "1")
            server.cancel(request)
            answer = call(server, "while not told: time.sleep(0.05)\nprint(seen, told)", session.name)
        if not answer.get("isError"):
            break
    assert answer["structuredContent"]["stdout"] == "[] ['test.hang: its code has ended']\n", answer


def test_a_session_with_tools_is_not_copied(server):
    session = Session(server, "import tools")
    answer = server.call_tool("run_python", {"code": "1", "fork": session.name})
    assert answer["isError"]


def test_code_blocks_call_tools():
    with serve(environments={"it": {"type": "system"}}, code_blocks={}) as server:
        blocks = [{"language": "python", "code": f"import tools; print(tools.test.echo(n={n}))"} for n in range(2)]
        text = server.call_tool("run_code_blocks", {"blocks": blocks})["content"][0]["text"]
        assert "output: {'n': 0}" in text and "output: {'n': 1}" in text


# Hostile scripts


RAW = """
import json, os, select, socket, sys, time
import tools
tools.test.echo(a=1)
channel = socket.socket(fileno=os.dup(tools._descriptor))
META = tools._META
def frame(method, params, id=1):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": META}}).encode() + b"\\n"
def answers(seconds=5):
    end, data = time.monotonic() + seconds, b""
    while select.select([channel], [], [], max(0, end - time.monotonic()))[0]:
        try:
            more = channel.recv(1 << 16)
        except ConnectionResetError:
            more = b""
        if not more:
            return data.splitlines() + [b"closed"]
        data += more
        if data.endswith(b"\\n"):
            break
    return data.splitlines()
"""


@pytest.mark.parametrize("call, expected", [
    ("frame('tools/call', {'name': 'nobody.has', 'arguments': {}})", "Unknown tool"),
    ("frame('tools/call', {'name': 'run_python', 'arguments': {'code': '1'}})", "Unknown tool"),
    ("frame('resources/read', {'uri': 'file:///etc/passwd'})", "error"),
    ("frame('resources/list', {})", "Method not found"),
    ("b'\\x00' * 100 + b'\\n'", "Parse error"),
    ("b'{' * 100000 + b'\\n'", "Invalid Request"),
    ("b'[]\\n'", "error"),
    ("frame('tools/call', {'name': 'test.echo', 'arguments': [1]})", "error"),
    ("frame('tools/call', {'name': 'test.echo', 'arguments': {}, 'server': 'x', 'principal': 'root'})", "result"),
])
def test_a_forged_frame_is_answered_with_an_error(server, call, expected):
    assert expected in shown(server, RAW + f"channel.sendall({call})\nprint(answers())")
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_thousands_of_calls_are_cut_off(server):
    code = RAW + """
import threading
def write():
    try:
        for n in range(100000):
            channel.sendall(frame("tools/call", {"name": "test.echo", "arguments": {}}, n))
    except OSError:
        pass
threading.Thread(target=write, daemon=True).start()
count = 0
while answers(10)[-1:] != [b"closed"]:
    count += 1
print("closed")
"""
    assert shown(server, code) == "closed"
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_megabytes_of_nonsense_are_cut_off(server):
    code = RAW + """
sent = 0
try:
    while sent < 1 << 30:
        channel.sendall(b"[" + b"1," * (1 << 20) + b"1]\\n")
        sent += 2 << 20
except OSError:
    print(60 << 20 < sent < 80 << 20)
"""
    assert shown(server, code) == "True"
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_answers_that_nobody_reads_are_bounded(server):
    code = RAW + """
channel.settimeout(5)
try:
    for n in range(100000):
        channel.sendall(frame("tools/call", {"name": "test.big", "arguments": {"bytes": 3 << 20}}, n))
except OSError as error:
    print(type(error).__name__)
"""
    assert shown(server, code) in ("timeout", "TimeoutError", "BrokenPipeError", "ConnectionResetError")
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


@pytest.mark.parametrize("environment", EVERY)
@pytest.mark.parametrize("act", ["channel.sendall(b'{\"half')", "channel.shutdown(socket.SHUT_WR); time.sleep(0.2)",
                                 "channel.shutdown(socket.SHUT_RDWR)", "os.close(102)", "channel.sendall(b'x' * (6 << 20))"])
def test_whatever_a_script_does_to_its_end_only_harms_itself(server, act, environment):
    code = RAW + f"""
try:
    {act}
except OSError:
    pass
print("did")
"""
    assert shown(server, code, environment=environment) == "did"
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_descriptors_sent_to_the_server_do_not_stay(server):
    before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    code = RAW + """
for n in range(50):
    file = os.open("/dev/null", os.O_RDONLY)
    socket.send_fds(channel, [b"\\n"], [file])
    os.close(file)
print(tools.test.echo(a=1))
"""
    assert shown(server, code) == "{'a': 1}"
    assert leftovers.until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before + 4)


def test_a_bomb_of_forks_that_share_the_socket(server):
    code = """
import os, time, tools
tools.test.echo(a=1)
for _ in range(5):
    if os.fork() == 0:
        try:
            while True:
                os.write(tools._descriptor, b'{"x')
                tools.test.echo(a=2)
        finally:
            os._exit(0)
time.sleep(1)
print("over")
"""
    assert shown(server, code) == "over"
    assert shown(server, "import tools; print(tools.test.echo(a=1))") == "{'a': 1}"


def test_nothing_is_left(server):
    before = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    for _ in range(30):
        result_of(server, "import os, threading, tools\nthreading.Thread(target=tools.test.hang, daemon=True).start()\n"
                          "tools.test.echo(a=1)\nos._exit(0)")
    assert leftovers.until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) <= before + 4)
