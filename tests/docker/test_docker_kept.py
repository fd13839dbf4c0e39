"""A container that is kept between calls: what lives on, what ends it, how it is replaced."""

import threading

import engine_proxy
import pytest

import leftovers
from docker_server import TIMEOUTS, timed_out

KEEP = {"keep_container_running": True}
IS_THERE = "import os; print(os.path.exists('/opt/there'))"


@pytest.fixture
def kept_server(docker_server):
    """A prepared server that keeps its containers."""
    with docker_server(KEEP) as server:
        server.initialize()
        assert server.run("open('/opt/there', 'w')")["success"]
        # One that was asked for its Python has gone.
        assert leftovers.until(lambda: len(server.containers()) == 1)
        yield server


def containers(engine):
    return [container["Id"] for container in engine.api.get("/containers/json", all=1)]


def is_there(server):
    return found(server.run(IS_THERE))


def found(result):
    assert result["success"], (result["error"], result["stderr"])
    return result["stdout"] == "True\n"


def test_files_and_packages_live_on(kept_server, engine, tmp_path):
    server = kept_server
    before = containers(engine)
    code = """
import pathlib, site
folder = pathlib.Path(site.getsitepackages()[0])
folder.mkdir(exist_ok=True)
(folder / 'newcomer.py').write_text('VALUE = 42')
open('here', 'w').write('in the working directory')
"""
    assert server.run(code)["success"]
    assert server.run("import newcomer; print(newcomer.VALUE)")["stdout"] == "42\n"
    assert server.run("print(open('here').read())")["stdout"] == "in the working directory\n"
    assert is_there(server) and containers(engine) == before


def test_what_is_imported_is_compiled_once(kept_server):
    """The official images of Python have no bytecode. It is not left in the directory of the caller."""
    assert kept_server.run("open('helper.py', 'w').write('VALUE = 42')")["success"]
    path = kept_server.run("import helper; print(helper.__cached__)")["stdout"].strip()
    seen = kept_server.run(f"import os; print(os.path.exists({path!r}), os.path.exists('__pycache__'))")
    assert seen["stdout"] == "True False\n", (path, seen)


def test_variables_and_limits_are_those_of_a_fresh_one(docker_server):
    with docker_server({**KEEP, "environment": {"A": "1"}, "limits": {"memory": "64MiB"}}) as server:
        server.initialize()
        assert server.run("import os; print(os.environ['A'], os.environ['HOME'],"
                          " os.environ.get('PYEXECD_NONCE'), os.getcwd())")["stdout"] == \
            "1 /workspace None /workspace\n"
        assert server.run("x = bytearray(500 << 20)")["out_of_memory"]


@pytest.mark.parametrize("code, returncode", [
    ("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -9),
])
def test_a_script_that_fails_does_not_end_it(kept_server, code, returncode):
    assert kept_server.run(code)["returncode"] == returncode
    assert is_there(kept_server)


def test_a_timeout_ends_what_runs_inside_and_replaces_it(kept_server, engine):
    before = containers(engine)
    code = "import subprocess, time\nsubprocess.Popen(['sleep', '1000'])\nprint('early', flush=True)\ntime.sleep(1000)"
    result = timed_out(lambda timeout: kept_server.run(code, arguments={"timeout": timeout}),
                       lambda result: result["stdout"] == "early\n")
    assert result["duration"] < 60
    assert leftovers.until(lambda: containers(engine) == [])
    assert not is_there(kept_server) and containers(engine) != before


def test_a_script_that_ends_at_its_timeout_leaves_it_as_it_is(kept_server):
    def run(timeout):
        assert kept_server.run("open('/opt/there', 'w')")["success"]
        return kept_server.run("import time\nprint('early')\ntime.sleep(1000)", arguments={"timeout": timeout})

    for _ in range(5):  # a busy machine does not always leave it the half second for that
        result = timed_out(run, lambda result: result["stdout"] == "early\n")
        if is_there(kept_server):
            break
    else:
        raise AssertionError(result)
    assert result["stderr"].endswith("KeyboardInterrupt\n")


def test_a_cancel_ends_what_runs_inside_and_replaces_it(kept_server, engine):
    call = kept_server.begin("import time; time.sleep(1000)")
    kept_server.cancel(call)
    assert leftovers.until(lambda: containers(engine) == [])
    assert not is_there(kept_server)


def test_a_process_that_is_left_behind_ends_it(kept_server):
    result = kept_server.run("import subprocess\n"
                             "subprocess.Popen(['sleep', '1000'], start_new_session=True)")
    assert result["success"]
    assert not is_there(kept_server)


def test_a_script_that_kills_the_init_of_its_run(kept_server):
    result = kept_server.run("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
    assert result["returncode"] == -9
    assert not is_there(kept_server)


def test_a_script_that_stops_the_init_of_its_run(kept_server):
    for timeout in TIMEOUTS:  # it may not have come to that
        result = kept_server.run("import os, signal; os.kill(os.getppid(), signal.SIGSTOP)", arguments={"timeout": timeout})
        assert result["timed_out"]
        if not is_there(kept_server):
            break
    else:
        raise AssertionError(result)


def test_it_cannot_be_ended_from_inside(kept_server):
    assert kept_server.run("import os; os.kill(1, 9)")["success"]
    assert is_there(kept_server)


def test_one_that_is_killed_from_outside_is_replaced(kept_server, engine):
    engine.api.post(f"/containers/{containers(engine)[0]}/kill")
    assert leftovers.until(lambda: containers(engine) == [])
    result = kept_server.run(IS_THERE)
    if "so it may have run or not" in (result["error"] or ""):  # the server had not heard of it, and the script was on its way
        result = kept_server.run(IS_THERE)
    assert not found(result)


def remove(engine):
    for container in containers(engine):
        engine.api.delete(f"/containers/{container}", force=1)


@pytest.fixture
def proxied_server(docker_server, engine, tmp_path):
    """A server with a container that waits for a call, and the proxy that it reaches its engine by."""
    with engine_proxy.EngineProxy(engine.socket, tmp_path) as proxy:
        with docker_server({**KEEP, "host": proxy.address}) as server:
            server.initialize()
            assert server.run("open('/opt/there', 'w')")["success"]
            yield server, proxy


@pytest.mark.parametrize("request_to_engine", ["POST /containers/ID/exec", "POST /exec/ID/start"])
def test_one_that_is_removed_when_a_call_is_to_begin(proxied_server, engine, request_to_engine):
    """Nothing has run, so the call gets another one."""
    server, proxy = proxied_server
    proxy.harm(request_to_engine, lambda: remove(engine))
    result = server.run("import os; print(os.path.exists('/opt/there'))")
    assert result["success"] and result["stdout"] == "False\n", result
    assert server.run("print(1)")["stdout"] == "1\n"


def test_one_that_is_removed_while_a_call_begins(proxied_server, engine):
    """A call that has not begun gets another one, or an error where that is removed as well; words of the engine are none
    of a script."""
    server, proxy = proxied_server
    for hundredths in range(0, 20, 2):
        timer = threading.Timer(hundredths / 100, remove, [engine])
        proxy.harm("POST /exec/ID/start", timer.start)
        result = server.run("import time; print('begun', flush=True); time.sleep(0.3)")
        timer.join()
        assert result["success"] or result["returncode"] == -9 or result["error"], (hundredths, result)
        assert result["stdout"] == "begun\n" or (not result["success"] and not result["stdout"]), result


def test_one_that_runs_nothing_is_replaced_once_and_then_the_engine_is_quoted(docker_server, engine, tmp_path):
    with (engine_proxy.WithoutRuns(engine.socket, tmp_path) as proxy,
          docker_server({**KEEP, "host": proxy.address}) as server):
        server.initialize()
        proxy.failing = 1
        assert server.run("print(1)")["success"]
        server.run("import os; os.fork() or os._exit(0)")  # and the next call gets a new one
        proxy.failing = 2
        result = server.run("print(1)")
        assert result["error"].startswith("the script did not begin: OCI runtime exec failed"), result
        assert "pyexecd-none" in result["error"] and "?" not in result["error"], result["error"]
        assert not result["stdout"] + result["stderr"], result
        assert server.run("print(1)")["success"]


def test_one_whose_script_makes_the_engine_wait_is_given_up(docker_server):
    """The engine opens /etc/passwd to find the user of a run, and a pipe has no writer."""
    with docker_server(KEEP, config={"limits": {"concurrent_runs": 1}}) as server:
        server.initialize()
        assert server.run("import os; os.remove('/etc/passwd'); os.mkfifo('/etc/passwd')")["success"]
        result = server.run("print(1)", arguments={"timeout": 2})
        assert result["timed_out"] or "may have run or not" in (result["error"] or ""), result
        assert server.run("print(1)")["stdout"] == "1\n"


def test_one_that_is_killed_in_the_middle_of_a_call(kept_server, engine):
    call = kept_server.begin("import time; time.sleep(1000)")
    engine.api.post(f"/containers/{containers(engine)[0]}/kill")
    result = kept_server.wait(call)["result"]["structuredContent"]
    assert result["returncode"] == -9 and result["stdout"] == "on\n"
    assert not is_there(kept_server)


def test_calls_of_one_directory_take_turns(kept_server, engine):
    calls = [kept_server.start(f"import time; time.sleep(0.3); print({number}, flush=True)")
             for number in range(4)]
    results = [kept_server.wait(call, 180)["result"]["structuredContent"] for call in calls]
    assert [result["stdout"] for result in results] == [f"{number}\n" for number in range(4)]
    assert leftovers.until(lambda: len(containers(engine)) == 1)


def test_directories_have_containers_of_their_own(docker_server, engine):
    with docker_server(KEEP, transport="unix") as server:
        server.initialize()
        server.run("open('/opt/there', 'w')")
        other = server.connect()
        other.initialize()
        result = other.call_tool("run_python", {
            "code": "import os; print(os.path.exists('/opt/there'))"}, timeout=180)
        assert result["structuredContent"]["stdout"] == "False\n"
        assert leftovers.until(lambda: len(containers(engine)) == 2)


def test_the_end_of_the_server_removes_it(docker_server, engine):
    with docker_server(KEEP) as server:
        server.initialize()
        server.run("pass")
        assert leftovers.until(lambda: len(containers(engine)) == 1)
    assert leftovers.until(lambda: containers(engine) == [])


def test_the_end_of_the_server_ends_a_call_that_is_at_work_in_it(docker_server, engine):
    with docker_server(KEEP, transport="unix") as server:
        server.initialize()
        server.run("pass")
        server.begin("import time; time.sleep(600)")
    assert leftovers.until(lambda: containers(engine) == [])


def test_a_call_beside_a_session_in_its_directory_is_refused_and_others_are_answered(docker_server, tmp_path):
    """A kept container needs the directory to itself, and a session may stay for hours."""
    config = {"working_directory": str(tmp_path), "sessions": {},
              "environments": {"other": {"type": "docker", "start": "cold"}}}
    with docker_server(KEEP, config=config) as server:
        server.initialize()
        session = server.run("x = 1", arguments={"session": "new", "environment": "other"})["session"]["name"]
        for _ in range(2):
            answer = server.call_tool("run_python", {"code": "print(1)"}, timeout=180)
            assert "a session is open in this working directory" in answer["content"][0]["text"]
        assert server.run("print(x)", arguments={"session": session})["stdout"] == "1\n"
        server.call_tool("manage_sessions", {"action": "close", "session": session})
        assert leftovers.until(lambda: server.run("print(2)")["stdout"] == "2\n")


def test_a_server_that_is_killed_ends_what_it_kept(docker_server, engine):
    server = docker_server(KEEP)
    server.initialize()
    server.run("pass")
    server.kill()
    assert leftovers.until(lambda: engine.api.get("/containers/json") == [])
    for container in containers(engine):
        engine.api.delete(f"/containers/{container}", force=1)


BIG = """
import os
for i in range(16):
    with open(f'/opt/big-{i}', 'wb') as file:
        for _ in range(16): file.write(bytes(1 << 20))
"""


def test_what_is_written_outside_of_the_directory_is_limited(docker_server, engine):
    with docker_server({**KEEP, "limits": {"disk": "64MiB"}}) as server:
        server.initialize()
        result = server.run(BIG + "import time; time.sleep(100)", arguments={"timeout": 120})
        assert "grew beyond the limit" in (result["error"] or ""), result
        assert leftovers.until(lambda: containers(engine) == [])


def test_a_call_that_was_too_quick_for_the_limit_costs_the_container(docker_server, engine):
    with docker_server({**KEEP, "limits": {"disk": "64MiB"}}) as server:
        server.initialize()
        server.run("open('/opt/there', 'w')")
        server.run(BIG)
        assert leftovers.until(lambda: containers(engine) == [])
        assert not is_there(server)


def test_calls_that_follow_each_other_at_once_are_limited_together(docker_server):
    with docker_server({**KEEP, "limits": {"disk": "64MiB"}}) as server:
        server.initialize()
        server.run("open('/opt/there', 'w')")

        def the_next_call_meets_the_limit():
            result = server.run(f"{IS_THERE}; import tempfile; os.write(tempfile.mkstemp(dir='/opt')[0], bytes(8 << 20))")
            return "grew beyond the limit" in (result["error"] or "") or result["stdout"] == "False\n"

        assert any(the_next_call_meets_the_limit() for _ in range(60))
