"""Containers that are started ahead in an engine that is reached by TCP, without and with TLS."""

import json
import urllib.parse

import pytest

import ahead
import leftovers
from docker_server import DockerServer, timed_out
from engine_cable import EngineCable
from test_docker_ahead import FACTS, all_wait, gone, is_warm, waiting
from test_docker_kept_wait import wait


@pytest.fixture
def remote(remote_engine):
    """Starts a server for it."""
    def start(definition=None, **more):
        return DockerServer(remote_engine, {**remote_engine.definition, "start": "warm", **(definition or {})}, **more)
    return start


@pytest.fixture
def warm(remote, remote_engine):
    """A server for which one container waits."""
    with remote() as server:
        server.initialize()
        assert not is_warm(server.run("open('kept', 'w'); open('/tmp/lost', 'w')"))
        waiting(remote_engine)
        yield server


@pytest.fixture
def wired(remote, remote_engine):
    """The same over a cable, which is server.cable."""
    with EngineCable(urllib.parse.urlsplit(remote_engine.definition["host"]).port) as cable:
        host = {"host": f"tcp://127.0.0.1:{cable.port}", "container_startup_timeout": 8}
        with remote(host) as server:
            server.cable = cable
            server.initialize()
            server.run("pass")
            waiting(remote_engine)
            yield server


def nothing_runs(engine):
    return leftovers.until(lambda: engine.api.get("/containers/json") == [])


def test_the_second_call_gets_the_container_that_waits(warm, remote_engine):
    for _ in range(3):
        container = waiting(remote_engine)
        result = warm.run("import os; print(os.listdir(), os.listdir('/tmp'), os.listdir('/proc/self/fd'))")
        assert is_warm(result) and "kept" in result["stdout"] and "lost" not in result["stdout"]
        assert result["stdout"].endswith("[] ['0', '1', '2', '3']\n")
        assert leftovers.until(lambda: gone(remote_engine, container)), "it is used once"


def test_a_script_cannot_tell(warm, remote, remote_engine):
    facts = warm.run(FACTS)
    with remote({"start": "cold"}) as server:
        server.initialize()
        server.run("open('kept', 'w')")
        cold = server.run(FACTS)
    assert is_warm(facts) and not is_warm(cold)
    for ours, theirs in zip(json.loads(facts["stdout"]), json.loads(cold["stdout"]), strict=True):
        assert str(ours).replace(warm.mark, "") == str(theirs).replace(server.mark, "")
    assert facts["isolation"] == cold["isolation"]


@ahead.each_end(
    ("print('out'); raise SystemExit(75)", 75, ""),
    ("print('out'); print('x' * 3000000)", 0, ""),
    pytest.param("print('out')\n" + "#" * 1000000, 0, "", id="long"),
)
def test_results_are_those_of_a_cold_start(warm, code, returncode, stderr):
    result = warm.run(code)
    ahead.check_as_cold(result, returncode, stderr)
    assert result["stdout_bytes"] in (4, 6, 3000005)


def test_limits_are_those_of_a_cold_start(remote, remote_engine):
    with remote({"limits": {"memory": "64MiB"}}) as server:
        server.initialize()

        def run(code, timeout):
            server.run("pass", arguments={"timeout": timeout})
            waiting(remote_engine)
            result = server.run(code, arguments={"timeout": timeout})
            assert result["timings"]["warm"] and result["returncode"] != 0
            return result

        assert run("x = bytearray(500 << 20)", 60)["out_of_memory"]
        timed_out(lambda timeout: run("import time\nprint('early')\ntime.sleep(1000)", timeout),
                  lambda result: result["stdout"] == "early\n")


def test_a_run_waits_in_a_container_that_is_kept(remote, remote_engine):
    with remote({"keep_container_running": True}) as server:
        server.initialize()
        server.run("open('/opt/there', 'w')")
        for number in range(3):
            wait(remote_engine)
            result = server.run(f"import os; print({number}, os.path.exists('/opt/there'))")
            assert is_warm(result) and result["stdout"] == f"{number} True\n"
        wait(remote_engine)
        result = server.run("import time\ntime.sleep(600)", arguments={"timeout": 3})
        assert result["timed_out"] and not result["timings"]["warm"], "another timeout is another run"
        assert server.run("print('x' * 3000000)")["stdout_bytes"] == 3000001


def test_a_script_that_was_put_over_ours_is_not_run(warm, remote_engine):
    script = warm.run("pass")["script"]
    waiting(remote_engine)
    ahead.put_over(script, "print('wrong')")
    result = warm.run("print('right')")
    assert result["stdout"] == "right\n" and not is_warm(result)


def test_a_cancel_ends_what_runs_inside(warm, remote_engine):
    container = waiting(remote_engine)
    running = warm.begin("import time; time.sleep(1000)")
    warm.cancel(running)
    assert leftovers.until(lambda: gone(remote_engine, container))
    assert warm.run("print(1)")["stdout"] == "1\n"


def test_one_whose_connection_is_cut_while_it_waits_ends_and_is_not_missed(wired, remote_engine):
    container = waiting(remote_engine)
    wired.cable.cut()
    assert leftovers.until(lambda: gone(remote_engine, container))
    result = wired.run("open('ran', 'a').write('.'); print(len(open('ran').read()))")
    assert result["stdout"] == "1\n" and not is_warm(result)
    assert all_wait(remote_engine, 2)
    assert is_warm(wired.run("print(1)"))


def test_a_script_whose_connection_is_cut_ends_and_is_not_run_again(wired, remote_engine):
    call = wired.begin("import time; open('ran', 'a').write('.'); time.sleep(1000)")
    wired.cable.cut()
    result = wired.wait(call, 60)["result"]["structuredContent"]
    assert not result["success"] and result["stdout"] == "on\n"
    assert nothing_runs(remote_engine)
    assert wired.run("print(open('ran').read())")["stdout"] == ".\n"


def test_an_engine_that_has_been_away_is_not_missed(warm, remote_engine):
    remote_engine.kill()
    remote_engine.start()
    assert warm.run("print(1)")["stdout"] == "1\n"
    assert all_wait(remote_engine, 2)
    assert is_warm(warm.run("print(1)"))


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_a_server_that_is_killed_leaves_nothing(remote, remote_engine, tmp_path, kept, runs):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    server = remote({"keep_container_running": kept}, environment=state)
    server.initialize()
    server.run("pass")
    if kept:
        wait(remote_engine)
    else:
        waiting(remote_engine)
    if runs:
        server.begin("import time; time.sleep(1000)")
    server.kill()
    assert nothing_runs(remote_engine), "its lifeline has ended"
    with remote({"start": "cold"}, environment=state) as server:
        server.initialize()
        assert leftovers.until(lambda: remote_engine.api.get("/containers/json", all=1) == [])


def test_a_graceful_end_removes_what_waits(remote, remote_engine):
    with remote() as server:
        server.initialize()
        server.run("pass")
        waiting(remote_engine)
    assert remote_engine.api.get("/containers/json", all=1) == []
