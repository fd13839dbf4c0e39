"""Which tools a script reaches: those of its environment and of its client's token, both; and what it never sees."""

import contextlib
import hashlib
import os
import subprocess
import sys

import pytest

import client
import leftovers
from sessions import Session, call
from test_script_tools import TOOLS, UPSTREAM, result_of, serve, shown
from test_reload import reload
from test_tools import FAKE

SECRET = "a-secret-of-the-operator"
WITH_SECRET = {"test": {"command": UPSTREAM, "environment": {"SECRET": "${OPERATORS_TOKEN}"}}}
NAMES = "import tools; print(sorted(tools))"


@contextlib.contextmanager
def serve_with(environments, tools, *arguments, transport="stdio", **more):
    config = {"environments": environments, "tools": tools, "default_environment": next(iter(environments)), **more}
    with client.Server(*arguments, transport=transport, config=config,
                       environment={"OPERATORS_TOKEN": SECRET}) as server:
        yield server


def system(*tools, **more):
    return {"type": "system", "tools": list(tools), **more}


def test_an_environment_has_its_servers_and_no_others():
    tools = {name: {"command": UPSTREAM} for name in ("one", "two", "three")}
    with serve_with({"a": system("one", "two"), "b": system("three")}, tools) as server:
        server.initialize()
        assert shown(server, NAMES, environment="a") == "['one', 'two']"
        assert shown(server, NAMES, environment="b") == "['three']"
        code = """
import tools
print(tools._connection.ask("tools/call", {"name": "one.echo", "arguments": {}}))
"""
        assert "Unknown tool" in result_of(server, code, environment="b")["stderr"]


def test_a_token_has_its_servers_and_no_others(tmp_path):
    path = tmp_path / "tokens"
    token = "alice" * 8
    lines = [f"alice sha256:{hashlib.sha256(token.encode()).hexdigest()} tools=two,three\n"]
    path.write_text("".join(lines))
    path.chmod(0o600)
    tools = {name: {"command": UPSTREAM} for name in ("one", "two", "three")}
    with serve_with({"a": system("one", "two"), "b": system("one")}, tools, transport="tcp",
                    token_file=str(path)) as server:
        with contextlib.closing(server.connect()) as alice:
            alice.send_line(f"Authorization: Bearer {token}")
            alice.initialize()
            assert shown(alice, NAMES, environment="a") == "['two']"
            assert "ModuleNotFoundError" in result_of(alice, "import tools", environment="b")["stderr"]


@pytest.mark.parametrize("rules", [" tools=two environments=a", ""])
def test_a_token_that_is_gone_reaches_no_tools(tmp_path, rules):
    """Its connection stays, and its session; neither has more rights than before."""
    path = tmp_path / "tokens"

    def write(**names):
        path.write_text("".join(f"{name} sha256:{hashlib.sha256((name * 8).encode()).hexdigest()}{more}\n"
                                for name, more in names.items()))
        path.chmod(0o600)

    write(alice=rules, robert="")
    tools = {name: {"command": UPSTREAM} for name in ("one", "two")}
    more = {"token_file": str(path), "sessions": {}, "default_environment": "a"}
    environments = {"a": system("one", "two"), "b": system("one")}
    with serve_with(environments, tools, "--log-level", "debug", transport="tcp", **more) as server:
        with contextlib.closing(server.connect()) as alice:
            alice.send_line(f"Authorization: Bearer {'alice' * 8}")
            alice.initialize()
            session = Session(alice, "import tools")
            assert session.shown("tools.two.echo(a=1)") == "{'a': 1}"
            write(robert="")
            reload(server, {"environments": environments, "tools": tools, **more})
            assert "Denied" in session.run("tools.two.echo(a=1)")["stderr"]
            assert "ModuleNotFoundError" in result_of(alice, "import tools")["stderr"]
            assert call(alice, "1", environment="b")["isError"] == bool(rules)
            write(alice=rules, robert="")
            reload(server, {"environments": environments, "tools": tools, **more})
            assert session.shown("tools.two.echo(a=1)") == "{'a': 1}"


def test_a_definition_in_a_call_names_no_tools():
    with serve_with({"a": system("test")}, TOOLS) as server:
        server.initialize()
        answer = call(server, "1", environment_definition={"type": "system", "tools": ["test"]})
        assert answer["isError"] and "only the operator can set this" in answer["content"][0]["text"]
        assert "ModuleNotFoundError" in result_of(server, "import tools", environment_definition={"type": "system"})["stderr"]


def test_a_secret_reaches_no_script_no_result_and_no_log():
    with serve_with({"a": system("test")}, WITH_SECRET, "--log-level", "debug", sessions={}) as server:
        server.initialize()
        code = "import tools\nprint(tools.test.secret(), tools.test.echo(a='a-secret-' + 'of-the-operator'))"
        result = result_of(server, code)
        assert result["stdout"] == "it is [secret] {'a': '[secret]'}\n"
        session = Session(server, "import tools")
        assert session.shown("tools.test.secret()") == "'it is [secret]'"
        server.stop()
        assert SECRET not in server.stderr()


def test_a_script_without_isolation_reaches_no_server_with_a_secret():
    open_to_all = {"command": UPSTREAM, "environment": {"SECRET": "${OPERATORS_TOKEN}"}, "any_isolation": True}
    with serve_with({"none": system("test", "open", isolation="none"), "sandbox": system("test")},
                    {**WITH_SECRET, "open": open_to_all}) as server:
        server.initialize()
        assert shown(server, NAMES, environment="none") == "['open']"
        assert shown(server, NAMES, environment="sandbox") == "['test']"


def test_a_server_for_each_client(tmp_path):
    """`instance: caller`: what one has pending another does not see."""
    path = tmp_path / "tokens"
    path.write_text("".join(f"{name} sha256:{hashlib.sha256((name * 8).encode()).hexdigest()}\n"
                            for name in ("alice", "robert")))
    path.chmod(0o600)
    code = "import tools; print(tools.test.process())"
    for instance, count in (("caller", 2), ("shared", 1)):
        with serve_with({"a": system("test")}, {"test": {"command": UPSTREAM, "instance": instance}}, transport="tcp",
                        token_file=str(path)) as server:
            seen = set()
            for name in ("alice", "robert", "alice"):
                with contextlib.closing(server.connect()) as connection:
                    connection.send_line(f"Authorization: Bearer {name * 8}")
                    connection.initialize()
                    seen.add(shown(connection, code))
            assert len(seen) == count


@contextlib.contextmanager
def far_server(tmp_path, revision="2025-11-25", **variables):
    """The definition of a server over HTTP."""
    port = tmp_path / "port"
    process = subprocess.Popen([sys.executable, FAKE, revision, "http", port], stdin=subprocess.PIPE,
                               env={**os.environ, **variables})
    try:
        assert leftovers.until(port.exists)
        yield {"url": f"http://127.0.0.1:{port.read_text()}/mcp", "approval": "never",
               "headers": {"Authorization": "Bearer ${OPERATORS_TOKEN}"}}
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_server_over_http(tmp_path, revision):
    with far_server(tmp_path, revision) as far, serve_with({"a": system("far")}, {"far": far}) as server:
        server.initialize()
        code = """
import tools
print(tools.far.echo(message="x")["arguments"])
for call in (tools.far.redirect, tools.far.refuse, tools.far.huge, tools.far.echo):
    try:
        print(call()["arguments"])
    except tools.ToolError as error:
        print(type(error).__name__)
"""
        assert shown(server, code).splitlines() == ["{'message': 'x'}", "Unavailable", "Unavailable", "LimitReached", "{}"]


def test_a_server_over_a_unix_socket(tmp_path):
    """It is a pyexecd, whose tool runs Python elsewhere."""
    path = tmp_path / "socket"
    tools = {"other": {"url": f"unix://{path}#/mcp", "approval": "never"}}
    code = """
import tools
try:
    print("42" in tools.other.run_python(code="print(6 * 7)"))
except tools.ToolError as error:
    print(error)
"""
    upstream = {"listen": ["stdio", f"unix://{path}#/mcp"], "environments": {"a": {"type": "system"}}, "default_environment": "a"}
    with contextlib.ExitStack() as first, serve_with({"a": system("other")}, tools) as server:
        first.enter_context(client.Server(config=upstream)).initialize()
        server.initialize()
        assert leftovers.until(lambda: shown(server, code) == "True")
        first.close()
        assert "cannot be reached" in shown(server, code)
        with client.Server(config=upstream) as second:
            second.initialize()
            assert leftovers.until(lambda: shown(server, code) == "True")


def test_a_server_over_http_that_does_not_answer_keeps_others_waiting_for_seconds_only(tmp_path):
    """And it is reached when it answers, by a later run."""
    held_by = tmp_path / "held"
    held_by.touch()
    code = """
import tools
print(tools.test.echo(a=1))
try:
    print(tools.far.echo(b=2)["arguments"])
except tools.Unavailable as error:
    print(error)
"""
    with far_server(tmp_path, HELD_BY=str(held_by)) as far, \
            serve_with({"a": system("test", "far")}, {**TOOLS, "far": far}) as server:
        server.initialize()
        for _ in range(2):
            result = result_of(server, code)
            assert result["timings"]["run"] < 30
            own, other = result["stdout"].splitlines()
            assert own == "{'a': 1}" and "yet" in other
        held_by.unlink()
        assert leftovers.until(lambda: shown(server, code).splitlines() == ["{'a': 1}", "{'b': 2}"])


def test_a_server_that_comes_back_is_reached_by_the_next_run(tmp_path):
    program = tmp_path / "server"
    with serve_with({"a": system("late")}, {"late": {"command": [str(program)]}}) as server:
        server.initialize()
        code = "from tools import late\ntry:\n    print(late.echo(a=1))\nexcept Exception as error:\n    print(type(error).__name__)"
        assert shown(server, code) == "Unavailable"
        program.write_text(f"#!/bin/sh\nexec {' '.join(UPSTREAM)}\n")
        program.chmod(0o755)
        assert leftovers.until(lambda: shown(server, code) == "{'a': 1}")


def test_calls_are_told_as_progress():
    with serve() as server:
        server.call_tool("run_python", {"code": "import tools; tools.test.sleep(seconds=2)"}, progress_token="p")
        assert "calling test.sleep" in [each.get("message") for each in server.progress("p")]


def test_the_log_has_a_line_for_each_call_without_arguments():
    with serve_with({"a": system("test")}, TOOLS, "--log-level", "info") as server:
        server.initialize()
        shown(server, "import tools; tools.test.echo(text='what-was-asked')")
        server.stop()
        log = server.stderr()
        (line,) = [line for line in log.splitlines() if "tool called" in line]
        assert "server=test tool=echo" in line and "end=success" in line
        assert "what-was-asked" not in log


@pytest.mark.plain
def test_an_answer_of_a_gigabyte_is_a_limit_and_not_kept():
    """While it comes, others are served; the next call works."""
    with serve_with({"a": system("test", timeout=60)}, TOOLS) as server:
        server.initialize()
        code = """
import tools
for mebibytes in (1, 5, 1024, 1):
    try:
        print(len(tools.test.flood(mebibytes=mebibytes)) >> 20)
    except tools.LimitReached as error:
        print(type(error).__name__)
"""
        shown(server, "import tools; tools.test.flood(mebibytes=3)")
        pid = server.process.pid
        can_measure = leftovers.reset_peak(pid) and not leftovers.sanitized()
        before = leftovers.status_kib(pid, "VmRSS")
        assert shown(server, code).splitlines() == ["1", "LimitReached", "LimitReached", "1"]
        if can_measure:
            assert leftovers.status_kib(pid, "VmHWM") - before < 64 * 1024


def test_a_server_that_never_ends_its_answer_is_left(tmp_path):
    with serve_with({"a": system("far")}, {"far": {"command": [sys.executable, str(FAKE), "2025-11-25"], "timeout": 20,
                                                   "approval": "never"}}) as server:
        server.initialize()
        code = """
import tools
for call in (tools.far.long_line, tools.far.huge, tools.far.echo):
    try:
        print(call()["arguments"])
    except tools.ToolError as error:
        print(type(error).__name__)
"""
        assert shown(server, code).splitlines()[1:] == ["LimitReached", "{}"]


def test_a_reload_keeps_calls_and_applies_to_the_next():
    def configuration(**rules):
        return {"environments": {"a": system("test")}, "tools": {"test": {"command": UPSTREAM, **rules}},
                "default_environment": "a", "sessions": {}}

    with client.Server("--log-level", "debug", config=configuration()) as server:
        server.initialize()
        session = Session(server, "import tools; own = tools.test.process()")
        request = server.start_tool("run_python", {"code": "import tools; print(tools.test.sleep(seconds=4))"})
        assert leftovers.until(lambda: shown(server, "import tools; print(tools.test.held())") == "1")
        reload(server, configuration())
        assert session.shown("tools.test.process() == own") == "True"  # nothing has changed
        reload(server, configuration(deny=["echo"]))
        assert session.shown("tools.test.process() == own") == "False"
        assert "does not allow" in session.run("tools.test.echo()")["stderr"]
        assert server.wait(request)["result"]["structuredContent"]["stdout"] == "slept\n"
        assert "has no tool 'echo'" in result_of(server, "import tools; tools.test.echo()")["stderr"]
        reload(server, {"environments": {"a": {"type": "system"}}, "default_environment": "a", "sessions": {}})
        assert "Denied" in session.run("tools.test.process()")["stderr"]
        assert "ModuleNotFoundError" in result_of(server, "import tools")["stderr"]
