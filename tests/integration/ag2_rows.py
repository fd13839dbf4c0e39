"""What AG2's Python environments do not do, lose or ignore, and what is common to their documents.

Written once for every kind of environment: a test class inherits `Rows` and has a fixture `start`
that takes the keys of a definition and the rest of a configuration, and returns a server (box.Box).
"""

import os
import signal
import time

import pytest

import client

# Time enough for the slowest: a container, with sanitizers, on a busy machine.
SOON = 20.0
STARTED = (3, 5, 10, 20, 30)  # seconds, after one of which a script has begun there

BEATS = """
import os, time
def beat(name):
    while True:
        with open(name, "a") as file:
            file.write(".")
        time.sleep(0.02)
"""
CHILD_BEATS = BEATS + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        beat("grandchild")
    os._exit(0)
print("started", flush=True)
beat("script")
"""


def wait_for(path, seconds=60):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.01)


def timed_out(server, code, shows):
    """The result of CODE at its timeout, when that came after what SHOWS(it) wants."""
    return client.with_more_time(lambda timeout: server.run(code, arguments={"timeout": timeout}), shows, STARTED)


def still_beats(*paths):
    """True when one of PATHS grows."""
    before = [path.stat().st_size for path in paths]
    time.sleep(0.3)
    return before != [path.stat().st_size for path in paths]


class Rows:
    """Each is a row of what AG2 answers with no, lost or ignored."""

    @pytest.fixture
    def folder(self, tmp_path):
        """A working directory that the test can look into."""
        path = tmp_path / "working"
        path.mkdir()
        return path

    @pytest.fixture
    def server(self, start, folder):
        """One server, for calls in a working directory that is known."""
        with start(config={"working_directory": str(folder)}) as server:
            server.initialize()
            yield server

    # What comes back

    def test_a_success_has_both_streams_and_an_exit_code(self, server):
        result = server.run("import sys; print('out'); print('err', file=sys.stderr)")
        assert (result["success"], result["returncode"]) == (True, 0), result
        assert (result["stdout"], result["stderr"]) == ("out\n", "err\n")

    @pytest.mark.parametrize("code", [1, 7, 124, 255])
    def test_a_failure_has_the_exit_code_of_the_script(self, server, code):
        result = server.run(f"print('before'); raise SystemExit({code})")
        assert (result["success"], result["returncode"]) == (False, code), result
        assert result["stdout"] == "before\n"

    @pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM"])
    def test_a_signal_is_a_negative_exit_code_with_its_name(self, server, name):
        result = server.run(f"import os, signal; os.kill(os.getpid(), signal.{name})")
        assert result["returncode"] == -signal.Signals[name], result
        assert result["signal"] == name
        assert not result["timed_out"] and not result["out_of_memory"]

    def test_bytes_that_are_no_text_are_shown_and_lose_nothing_else(self, server):
        result = server.run(r"import sys; sys.stdout.buffer.write(b'a\xffb\r\nc\rd\n')")
        assert (result["success"], result["stdout"]) == (True, "a\ufffdb\r\nc\rd\n"), result

    def test_an_output_beyond_the_limit_is_counted_and_keeps_both_ends(self, start):
        with start({"limits": {"output": "10KiB"}}) as server:
            server.initialize()
            result = server.run("print('first'); print('x' * 1000000); print('last')")
        assert result["truncated"] and result["stdout_bytes"] == 6 + 1000001 + 5
        assert len(result["stdout"]) < 20000
        assert result["stdout"].startswith("first\n") and result["stdout"].endswith("last\n")

    def test_output_is_told_while_the_script_runs(self, server):
        call = server.start("import time\nfor i in range(25):\n    print('line', i, flush=True)\n"
                            "    time.sleep(0.1)\n", progress_token="token")
        result = server.wait(call, 60)["result"]
        assert not result["isError"], result
        told = [note["message"] for note in server.progress("token")]
        assert any(message.startswith("line ") for message in told), told

    def test_created_files_are_listed_with_size_and_type(self, server):
        result = server.run("import os\nos.makedirs('plots')\n"
                            "open('plots/a.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n')\n"
                            "open('data.csv', 'w').write('1,2\\n')\n")
        files = {file["path"]: file for file in result["files"]}
        assert set(files) == {"plots/a.png", "data.csv"}, result
        assert (files["data.csv"]["size"], files["data.csv"]["mimeType"]) == (4, "text/csv")
        assert files["plots/a.png"]["mimeType"] == "image/png"

    # Time

    def test_a_call_says_how_long_it_may_take(self, server):
        result = server.run("import time; time.sleep(100)", arguments={"timeout": 0.5})
        assert result["timed_out"] and result["timings"]["run"] < 0.5 + SOON, result
        assert result["timings"]["start"] + result["timings"]["run"] > 0.4, result

    def test_the_default_timeout_is_thirty_seconds(self, server):
        assert "30" in server.find_tool()["inputSchema"]["properties"]["timeout"]["description"]

    def test_a_timeout_keeps_what_was_printed_and_has_the_fields_of_any_result(self, server):
        code = ("import sys, time\nprint('out', flush=True)\n"
                "print('err', file=sys.stderr, flush=True)\ntime.sleep(100)")
        result = timed_out(server, code,
                           lambda result: result["signal"] != "SIGKILL" and "time.sleep" in result["stderr"])
        assert not result["success"]
        assert result["stdout"] == "out\n" and result["stderr"].startswith("err\nTraceback "), result
        assert result["returncode"] == -signal.SIGINT
        assert set(result) == set(server.run("print(1)"))

    def test_a_timeout_kills_all_that_the_script_has_started(self, server, folder):
        result = timed_out(server, CHILD_BEATS,
                           lambda result: (folder / "script").exists() and (folder / "grandchild").exists())
        assert result["timed_out"] and result["stdout"] == "started\n", result
        assert not still_beats(folder / "script", folder / "grandchild")
        assert not server.survivors()

    def test_a_script_that_ignores_signals_is_killed_at_its_timeout(self, server):
        code = ("import signal, time; print('begun', flush=True)\n"
                "for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n"
                "    signal.signal(number, signal.SIG_IGN)\n"
                "time.sleep(100)")
        result = timed_out(server, code, lambda result: result["stdout"] and result["signal"] == "SIGKILL")
        assert result["timed_out"] and result["stdout"] == "begun\n", result
        assert not server.survivors()

    def test_a_call_can_be_cancelled_and_all_of_it_is_killed(self, server, folder):
        call = server.start(CHILD_BEATS)
        for beat in ("script", "grandchild"):
            wait_for(folder / beat)
        server.cancel(call)
        assert not server.survivors()
        assert not still_beats(folder / "script", folder / "grandchild")
        server.assert_silent(0.3)

    def test_a_child_that_holds_the_output_does_not_hold_the_answer(self, server):
        result = server.run("import subprocess\nsubprocess.Popen(['sleep', '1000'])\nprint('done')",
                            arguments={"timeout": 25})
        assert result["success"] and result["stdout"] == "done\n", result
        assert result["timings"]["run"] < SOON
        assert not server.survivors()

    # What a script gets

    def test_standard_input_is_empty(self, server):
        assert server.run("import sys; print(repr(sys.stdin.read()))")["stdout"] == "''\n"
        assert "EOFError" in server.run("input()")["stderr"]

    def test_variables_of_the_server_are_not_seen(self, start):
        with start(environment={"SECRET_KEY": "hunter2"}) as server:
            server.initialize()
            result = server.run("import os; print(dict(os.environ))")
            assert result["success"] and "hunter2" not in result["stdout"], result

    def test_variables_of_the_definition_are_seen(self, start):
        with start({"environment": {"TZ": "Asia/Tokyo", "ODD": "a=b c"}}) as server:
            server.initialize()
            result = server.run("import os; print(os.environ['TZ'], os.environ['ODD'])")
        assert result["stdout"] == "Asia/Tokyo a=b c\n", result

    def test_memory_is_limited(self, start):
        with start({"limits": {"memory": "128MiB"}}) as server:
            server.initialize()
            result = server.run("x = b'x' * (1 << 30)\nprint(len(x))")
        assert not result["success"], result
        assert result["out_of_memory"] or "MemoryError" in result["stderr"], result

    def test_processes_are_limited(self, start):
        code = ("import os, time\nmade = 0\ntry:\n    while made < 500:\n"
                "        if os.fork() == 0:\n            time.sleep(100)\n        made += 1\n"
                "except OSError as error:\n    print(type(error).__name__, made < 44)\n")
        with start({"limits": {"processes": 40}}) as server:
            server.initialize()
            result = server.run(code)
            assert result["stdout"] == "BlockingIOError True\n", result
            assert not server.survivors()

    # Files

    def test_the_working_directory_is_where_the_script_is_and_works(self, server, folder):
        (folder / "given.txt").write_text("from outside")
        result = server.run("import os\nassert os.path.samefile('.', os.path.dirname(__file__))\n"
                            "print(open('given.txt').read())\nopen('made.txt', 'w').write('inside')")
        assert result["stdout"] == "from outside\n", result
        assert (folder / "made.txt").read_text() == "inside"
        assert (folder / "made.txt").stat().st_uid == os.geteuid()

    def test_files_stay_for_the_next_call(self, start):
        with start() as server:
            server.initialize()
            server.run("open('kept', 'w').write('42')")
            assert server.run("print(open('kept').read())")["stdout"] == "42\n"

    def test_a_script_leaves_one_file_however_many_have_run(self, server, folder):
        for number in range(3):
            assert server.run(f"print({number})")["stdout"] == f"{number}\n"
        assert {path.name for path in folder.iterdir()} <= {"script.py"}

    def test_functions_given_in_the_working_directory_can_be_imported(self, server, folder):
        (folder / "functions.py").write_text("def double(x):\n    return 2 * x\n")
        assert server.run("from functions import double; print(double(21))")["stdout"] == "42\n"

    # Several calls

    def test_overlapping_calls_in_one_directory_run_their_own_code(self, server):
        calls = {server.start(f"import time; time.sleep(0.2); print({number})"): number
                 for number in range(6)}
        for call, number in calls.items():
            result = server.wait(call, 60)["result"]["structuredContent"]
            assert result["stdout"] == f"{number}\n", result

    def test_every_call_has_a_fresh_interpreter_so_nothing_needs_a_restart(self, server):
        assert server.run("import builtins, math; builtins.left = math.pi = 3")["success"]
        result = server.run("import builtins, math\nprint(hasattr(builtins, 'left'), math.pi > 3.1)")
        assert result["stdout"] == "False True\n"

    def test_callers_have_directories_of_their_own(self, start):
        with start(transport="unix") as server:
            server.initialize()
            other = server.connect()
            other.initialize()
            assert server.run("open('mine', 'w').write('x')")["success"]
            result = other.call_tool("run_python", {"code": "import os; print(os.listdir())"},
                                     timeout=60)
            assert result["structuredContent"]["stdout"] == "['script.py']\n", result
            other.close()
