"""What `run_python` answers, for everything that a script can do."""

import json
import pathlib
import signal
import subprocess

import pytest

import client

PYTHON = "/usr/bin/python3"
FIELDS = {
    "success", "returncode", "stdout", "stderr", "truncated", "stdout_bytes", "stderr_bytes",
    "timed_out", "out_of_memory", "ended_processes", "signal", "stacks", "error", "environment", "isolation",
    "containment", "python_version", "working_directory", "script", "files", "files_complete", "duration",
    "timings", "usage",
}


@pytest.fixture(scope="module")
def server():
    """One server for the tests that leave nothing behind."""
    with client.Server() as server:
        server.initialize()
        yield server


def call(server, code, **arguments):
    return server.call_tool("run_python", {"code": code, **arguments})


def run(server, code, **arguments):
    """The structured content of a call that could be made."""
    result = call(server, code, **arguments)
    structured = result["structuredContent"]
    assert result["isError"] == (not structured["success"])
    return structured


def text(result):
    block, *links = result["content"]
    assert all(link["type"] == "resource_link" for link in links)
    assert block["type"] == "text"
    return block["text"]


# Results


def test_success(server):
    result = call(server, "print(6 * 7)")
    structured = result["structuredContent"]
    assert text(result) == "exitcode: 0 (execution succeeded)\nCode output: 42\n"
    assert set(structured) == FIELDS
    assert structured["success"] is True
    assert structured["returncode"] == 0
    assert structured["stdout"] == "42\n"
    assert structured["stdout_bytes"] == 3
    assert structured["stderr"] == ""
    assert structured["error"] is None
    assert structured["signal"] is None
    assert structured["environment"] == "system"
    assert structured["isolation"] in ("sandbox", "none")  # as strong as this machine allows
    assert structured["files"] == []
    assert not structured["timed_out"] and not structured["out_of_memory"]


def test_python_version_is_the_one_that_ran(server):
    structured = run(server, "import platform; print(platform.python_version())")
    assert structured["python_version"] == structured["stdout"].strip()


def test_a_failure_is_a_result_with_its_traceback(server):
    result = call(server, "def f():\n    return 1 / 0\nprint('before')\nf()")
    structured = result["structuredContent"]
    assert result["isError"] is True
    assert structured["returncode"] == 1
    assert structured["stdout"] == "before\n"
    assert 'line 2, in f\n    return 1 / 0' in structured["stderr"]
    assert text(result).startswith("exitcode: 1 (execution failed)\nCode output: before\n"
                                   "Error output:\nTraceback (most recent call last):\n")
    assert "ZeroDivisionError: division by zero" in text(result)


def test_a_syntax_error_names_the_line(server):
    structured = run(server, "x = 1\nif x\n    pass\n")
    assert structured["returncode"] == 1
    assert "script.py\", line 2" in structured["stderr"]
    assert "SyntaxError" in structured["stderr"]


def test_output_on_stderr_is_no_failure(server):
    result = call(server, "import sys; print('careful', file=sys.stderr); print('done')")
    assert result["isError"] is False
    assert text(result) == ("exitcode: 0 (execution succeeded)\nCode output: done\n"
                            "Error output:\ncareful\n")


@pytest.mark.parametrize("code, returncode", [
    ("import sys; sys.exit(3)", 3),
    ("import sys; sys.exit()", 0),
    ("import sys; sys.exit('a message')", 1),
    ("import os; os._exit(255)", 255),
    ("raise SystemExit(256)", 0),  # as the operating system has it
    ("raise KeyboardInterrupt", -signal.SIGINT),
    ("", 0),
])
def test_exit_codes_are_those_of_python(server, code, returncode):
    structured = run(server, code)
    reference = subprocess.run([PYTHON, "-c", code], capture_output=True, check=False)
    assert reference.returncode == returncode
    assert structured["returncode"] == returncode


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGABRT", "SIGHUP", "SIGPIPE"])
def test_a_signal_has_its_name(server, name):
    code = (f"import os, signal\nprint('last words', flush=True)\n"
            f"signal.signal(signal.{name}, signal.SIG_DFL) if '{name}' != 'SIGKILL' else None\n"
            f"os.kill(os.getpid(), signal.{name})")
    result = call(server, code)
    structured = result["structuredContent"]
    assert structured["returncode"] == -getattr(signal, name)
    assert structured["signal"] == name
    assert structured["stdout"] == "last words\n"
    assert structured["error"] == f"was killed by {name}"
    assert text(result).startswith(f"The script was killed by {name}.\nexitcode: -")


def test_a_timeout_keeps_what_was_printed(server):
    code = "import time\nfor i in range(3): print(i, flush=True)\ntime.sleep(60)"
    result = client.given_time(lambda: call(server, code, timeout=8))
    structured = result["structuredContent"]
    assert structured["success"] is False
    assert structured["returncode"] == -signal.SIGINT
    assert structured["stdout"] == "0\n1\n2\n"
    assert text(result).startswith("The script timed out after 8 seconds and was ended")
    assert "Code output: 0\n1\n2\n" in text(result)
    assert 7.9 <= structured["timings"]["run"] < 40


def test_memory_beyond_the_limit_is_refused(tmp_path):
    with client.Server(config={"limits": {"memory": "128MiB"}}) as server:
        server.initialize()
        structured = run(server, "x = bytearray(1 << 30)\nprint(len(x))", timeout=50)
    assert not structured["success"]
    if structured["out_of_memory"]:
        assert structured["error"] == ("was killed because it used more memory than the limit of "
                                       "128 MiB")
    else:
        assert "MemoryError" in structured["stderr"]


def test_an_interpreter_that_is_not_there_is_an_answer_not_an_end(tmp_path):
    config = {"environments": {"gone": {"type": "system", "executable": str(tmp_path / "python3")},
                               "system": {"type": "system"}}}
    with client.Server(config=config) as server:
        server.initialize()
        result = call(server, "print(1)", environment="gone")
        assert result["isError"] is True
        assert str(tmp_path / "python3") in text(result)
        if "structuredContent" in result:
            assert result["structuredContent"]["returncode"] is None
        assert run(server, "print(1)")["success"]


# Output


@pytest.mark.parametrize("written, shown", [
    (b"\xff\xfe", "\ufffd\ufffd"),
    (b"caf\xc3\xa9 \xe2\x82", "caf\u00e9 \ufffd"),
    (b"a\0b", "a\0b"),
    (b"\x1b[31mred\x1b[0m\r\x07", "\x1b[31mred\x1b[0m\r\x07"),
    (b"\xe2\x80\xa8\xc2\x85 \xf0\x9f\x90\x8d", "\u2028\u0085 \U0001f40d"),
    (b"crlf\r\nlf\n", "crlf\r\nlf\n"),
])
def test_bytes_become_text_and_nothing_else_changes(server, written, shown):
    for stream in ("stdout", "stderr"):
        structured = run(server, f"import sys; sys.{stream}.buffer.write({written!r})")
        assert structured[stream] == shown
        assert structured[stream + "_bytes"] == len(written)
        assert structured["truncated"] is False


def test_ten_megabytes_without_a_newline_keep_head_and_tail(server):
    result = call(server, "import sys\nsys.stdout.write('begin' + 'x' * (10 << 20) + 'end')")
    structured = result["structuredContent"]
    assert structured["success"] and structured["truncated"]
    assert structured["stdout_bytes"] == 8 + (10 << 20)
    assert structured["stdout"].startswith("beginxxx")
    assert structured["stdout"].endswith("xxxend")
    assert (1 << 20) <= len(structured["stdout"]) < (1 << 20) + 200
    assert "which has 10.0 MiB. What was kept of it is in output.txt." in text(result)


def test_a_long_output_keeps_the_traceback(server):
    structured = run(server, "import sys\nfor i in range(200000): print(i, file=sys.stderr)\n1/0")
    assert structured["truncated"]
    assert structured["stderr"].startswith("0\n1\n2\n")
    assert structured["stderr"].endswith("ZeroDivisionError: division by zero\n")


def test_an_empty_output_hints_at_the_bare_expression(server):
    answer = text(call(server, "6 * 7"))
    assert "the script printed nothing" in answer
    assert "bare expression" in answer and "print()" in answer
    assert "bare expression" not in text(call(server, "raise SystemExit(1)"))


def test_unflushed_output_is_there(server):
    structured = run(server, "import sys\nsys.stdout.write('no newline')\nsys.stderr.write('nor')")
    assert (structured["stdout"], structured["stderr"]) == ("no newline", "nor")


def test_cost_is_told(server):
    structured = run(server, "x = bytearray(64 << 20)\nwhile len(x) % 7: x.pop()\n"
                             "import time; t = time.process_time()\n"
                             "while time.process_time() - t < 0.3: pass")
    assert 0.3 <= structured["usage"]["cpu_seconds"] < 30
    assert 64 << 20 <= structured["usage"]["peak_memory_bytes"] < 512 << 20
    timings = structured["timings"]
    assert set(timings) == {"prepare", "wait", "start", "run", "warm", "ahead"}
    assert 0.3 <= timings["run"] <= structured["duration"]
    assert timings["start"] > 0


# What a script sees


PORTRAIT = """
import json, os, sys
frame = sys._getframe()
print(json.dumps({
    "argv": sys.argv, "path0": sys.path[0], "file": __file__, "name": __name__,
    "cwd": os.getcwd(), "spec": __spec__, "flags": str(sys.flags), "annotations": __annotations__,
    "doc": __doc__, "module": sys.modules["__main__"].__dict__ is globals(),
    "encoding": [sys.stdout.encoding, sys.stderr.encoding, sys.getfilesystemencoding()],
    "errors": [sys.stdout.errors, sys.stderr.errors], "environ": dict(os.environ),
}))
"""


@pytest.mark.shared  # it names its directory
def test_a_script_sees_what_python_script_py_sees(server):
    structured = run(server, PORTRAIT)
    seen = json.loads(structured["stdout"])
    script = pathlib.Path(structured["script"])
    assert script.name == "script.py"
    assert seen["cwd"] == str(script.parent)
    interpreter = "/usr/bin/env", "python3"
    reference = json.loads(subprocess.run(
        [*interpreter, str(script)], cwd=script.parent, capture_output=True, check=True,
        env=seen["environ"]).stdout)
    assert seen == reference
    assert seen["argv"] == [str(script)]


def test_stdin_is_empty(server):
    structured = run(server, "import sys\nprint(repr(sys.stdin.read()))\ninput()")
    assert structured["stdout"] == "''\n"
    assert structured["stderr"].endswith("EOFError: EOF when reading a line\n")


def test_environment_variables_are_built_from_nothing(monkeypatch):
    """With Debian's Python: where the first one on PATH belongs to a venv, scripts have VIRTUAL_ENV, too."""
    monkeypatch.setenv("SECRET_API_KEY", "hush")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    config = {"environments": {"system": {"type": "system", "executable": "/usr/bin/python3",
                                          "environment": {"TZ": "UTC"}}}}
    with client.Server(config=config) as server:
        server.initialize()
        seen = json.loads(run(server, "import json, os; print(json.dumps(dict(os.environ)))")
                          ["stdout"])
    assert "hush" not in seen.values()
    assert "PYTHONPATH" not in seen and "PYTHONUNBUFFERED" not in seen
    assert seen["TZ"] == "UTC"
    assert set(seen) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "TMPDIR", "TZ", "GIT_CONFIG_NOSYSTEM",
                         "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS",
                         "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT",
                         "PYTHON_CPU_COUNT"}


def test_no_descriptor_of_the_server_is_open(server):
    structured = run(server, "import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd')))")
    assert structured["stdout"] == "[0, 1, 2, 3]\n"  # 3 reads the directory


def forget_ignored_signals():
    """Whoever started the tests may ignore some, as nohup does."""
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def test_signals_are_as_in_a_fresh_process(server):
    code = "print([l for l in open('/proc/self/status') if l.startswith(('SigBlk', 'SigIgn'))])"
    reference = subprocess.run([PYTHON, "-c", code], capture_output=True, check=True, text=True,
                               preexec_fn=forget_ignored_signals)
    assert run(server, code)["stdout"] == reference.stdout


def test_the_end_of_a_run_is_logged_for_who_asks():
    with client.Server() as server:
        server.initialize()
        run(server, "pass")
        assert not [m for m in server.notifications if m["method"] == "notifications/message"]
        server.request("logging/setLevel", {"level": "debug"})
        run(server, "raise SystemExit(3)")
        [message] = [m for m in server.notifications if m["method"] == "notifications/message"]
    assert message["params"]["data"]["event"] == "run ended"
    assert message["params"]["data"]["returncode"] == 3


# Working directories


def test_files_stay_from_call_to_call(server):
    first = run(server, "open('kept.txt', 'w').write('here')")
    assert [file["path"] for file in first["files"]] == ["kept.txt"]
    second = run(server, "print(open('kept.txt').read())")
    assert second["stdout"] == "here\n"
    assert second["files"] == []
    assert second["working_directory"] == first["working_directory"]


def test_new_and_changed_files_are_listed():
    with client.Server() as server:
        server.initialize()
        run(server, "open('old.txt', 'w').write('1')\nopen('same.txt', 'w').write('1')")
        result = call(server, "import os\nos.mkdir('sub')\n"
                              "open('old.txt', 'w').write('22')\n"
                              "open('plot.png', 'wb').write(b'\\x89PNG')\n"
                              "open('sub/data.csv', 'w').write('a,b\\n')")
    files = {file["path"]: file for file in result["structuredContent"]["files"]}
    assert set(files) == {"old.txt", "plot.png", "sub/data.csv"}
    assert files["old.txt"]["size"] == 2
    assert files["plot.png"]["mimeType"] == "image/png"
    assert files["sub/data.csv"]["mimeType"] == "text/csv"
    assert "plot.png (4 bytes)" in text(result)


def test_connections_have_their_own_directories():
    with client.Server(transport="unix") as server:
        server.initialize()
        other = server.connect()
        other.initialize()
        run(server, "open('mine.txt', 'w').write('x')")
        assert run(other, "import os; print(os.path.exists('mine.txt'))")["stdout"] == "False\n"
        other.close()


def test_a_handle_leads_back_to_its_directory():
    with client.Server(transport="unix") as server:
        server.initialize()
        first = server.connect()
        first.initialize()
        handle = run(first, "open('left.txt', 'w').write('found')")["working_directory"]
        first.close()
        structured = run(server, "print(open('left.txt').read())", working_directory=handle)
        assert structured["stdout"] == "found\n"
        assert structured["working_directory"] == handle
        assert run(server, "open('left.txt')")["returncode"] == 1, "the usual one is another"


@pytest.mark.parametrize("handle", ["x", "..", "/tmp", "0" * 32, "../" * 8, "a" * 5000], ids=lambda handle: handle[:8])
def test_a_handle_that_is_not_ours_is_refused(server, handle):
    result = call(server, "print(1)", working_directory=handle)
    assert result["isError"] is True
    assert "working directory" in text(result)


def test_a_configured_directory_is_everybodys(tmp_path):
    (tmp_path / "given.txt").write_text("given")
    with client.Server(transport="unix", config={"working_directory": str(tmp_path)}) as server:
        server.initialize()
        other = server.connect()
        other.initialize()
        structured = run(server, "open('made.txt', 'w').write('made'); print(open('given.txt').read())")
        assert structured["stdout"] == "given\n"
        assert run(other, "print(open('made.txt').read())")["stdout"] == "made\n"
        other.close()
    assert (tmp_path / "made.txt").read_text() == "made"


@pytest.mark.shared  # the copy is elsewhere
def test_files_in_memory():
    with client.Server(config={"working_directory": "memory"}) as server:
        server.initialize()
        assert run(server, "import os; print(os.getcwd())")["stdout"].startswith("/dev/shm/pyexecd-")


# Arguments


def test_the_tool_is_described_with_this_servers_values(tmp_path):
    config = {"timeout": 7, "max_timeout": 77, "limits": {"memory": "300MiB"},
              "environments": {"system": {"type": "system"},
                               "slow": {"type": "system", "timeout": 100, "max_timeout": 200}}}
    with client.Server(config=config) as server:
        server.initialize()
        tool = server.find_tool()
    properties = tool["inputSchema"]["properties"]
    assert set(properties) == {"code", "environment", "environment_definition", "timeout",
                               "files", "working_directory"}
    assert properties["environment"]["enum"] == ["system", "slow"]
    assert properties["timeout"]["maximum"] == 200
    assert "300 MiB" in tool["description"] and "7 seconds" in tool["description"]
    assert len(tool["description"]) <= 1024
    assert tool["annotations"]["destructiveHint"] is True
    assert tool["annotations"]["readOnlyHint"] is False


@pytest.mark.parametrize("arguments, named", [
    ({}, "code"),
    ({"code": 1}, "code"),
    ({"code": "1", "timeout": "soon"}, "timeout"),
    ({"code": "1", "timeout": 0}, "timeout"),
    ({"code": "1", "timeout": -1}, "timeout"),
    ({"code": "1", "timeout": 601}, "timeout"),
    ({"code": "1", "environment": "sytem"}, "environment"),
    ({"code": "1", "enviroment": "system"}, "enviroment"),
    ({"code": "x" * (1 << 20) + "x"}, "code"),
    ({"code": "\u20ac" * (1 << 19)}, "code"),  # few enough characters, too many bytes
])
def test_arguments_that_do_not_fit_are_named(server, arguments, named):
    result = server.call_tool("run_python", arguments)
    assert result["isError"] is True
    assert named in text(result)
    assert "exitcode" not in text(result), "it has run"


def test_null_counts_as_absent(server):
    result = server.call_tool("run_python", {"code": "print(1)", "environment": None,
                                             "timeout": None, "working_directory": None})
    assert result["isError"] is False


def test_a_timeout_beyond_the_environments_own_is_refused():
    config = {"max_timeout": 500, "environments": {
        "system": {"type": "system"}, "short": {"type": "system", "timeout": 1, "max_timeout": 2}}}
    with client.Server(config=config) as server:
        server.initialize()
        result = call(server, "print(1)", environment="short", timeout=50)
        assert result["isError"] is True
        assert 'environment "short" allows at most 2' in text(result)
        assert run(server, "import time; time.sleep(30)", environment="short")["timed_out"]
        assert run(server, "print(1)", timeout=50)["success"]


def test_the_largest_code_runs(server):
    code = "print('ok')\n#"
    code += "x" * ((1 << 20) - len(code))
    assert run(server, code)["stdout"] == "ok\n"


def test_code_is_what_was_sent(server):
    assert run(server, "print('\u20ac \U0001f40d')\r\nprint(2)")["stdout"] == "\u20ac \U0001f40d\n2\n"


def test_a_nul_in_the_code_is_pythons_matter(server):
    assert run(server, "print(1)\0")["returncode"] in (0, 1)  # newer ones refuse it


@pytest.mark.here  # on nodes as many run as there may be nodes
def test_a_full_queue_says_busy(tmp_path):
    config = {"limits": {"concurrent_runs": 1, "queued_runs": 1}, "working_directory": str(tmp_path)}
    code = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)"
    with client.Server(config=config) as server:
        server.initialize()
        requests = [server.start_tool("run_python", {"code": code}) for _ in range(4)]
        server.wait(requests[-1])
        (tmp_path / "go").touch()
        results = [server.wait(request)["result"] for request in requests[:-1]]
        assert run(server, "print(1)")["success"], "there is room again"
    busy = [text(result) for result in results if result["isError"]]
    assert len(busy) == 1, "and the last one"
    assert all("busy" in message for message in busy)
