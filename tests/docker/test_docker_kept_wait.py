"""A run that waits for its script in a container that is kept: who gets it, and what cannot harm it."""

import os
import pathlib
import signal

import pytest

import ahead
import leftovers
from docker_server import timed_out
from engine import ApiError

KEEP = {"keep_container_running": True, "start": "warm"}
# What an earlier script leaves for every Python that starts later.
PTH = """
import site
open(site.getsitepackages()[0] + '/left.pth', 'w').write("import os; open('/workspace/begun', 'a').write('once\\\\n')\\n")
"""


def running(engine):
    return [each["Id"] for each in engine.api.get("/containers/json")]


def processes(engine):
    """What runs in all containers: pids and commands."""
    try:
        return [(int(each[1]), each[-1]) for container in running(engine)
                for each in engine.api.get(f"/containers/{container}/top")["Processes"]]
    except ApiError:  # one is just starting, or going
        return []


SEEN = set()  # inits of runs; one that has been taken is there for a little longer than its answer takes


def wait(engine):
    """The pid of the init of a run that waits, which is the only one then."""
    def find():
        commands = processes(engine)
        found = [pid for pid, command in commands if "--ahead 300" in command and pid not in SEEN]
        return found[0] if len(commands) == 2 and found else None
    found = leftovers.until(find)
    assert found
    SEEN.add(found)
    return found


def is_warm(result):
    assert result["success"], result
    return result["timings"]["warm"]


@pytest.fixture
def kept(docker_server, engine):
    """A server in whose container a run waits."""
    with docker_server(KEEP) as server:
        server.initialize()
        assert not is_warm(server.run("open('/opt/there', 'w')"))
        server.waiting = wait(engine)
        yield server


def test_the_second_call_gets_the_run_that_waits(kept, engine):
    for number in range(3):
        if number:
            wait(engine)
        result = kept.run(f"import os; print({number}, os.path.exists('/opt/there'), os.listdir('/proc/self/fd'))")
        assert is_warm(result) and result["stdout"] == f"{number} True ['0', '1', '2', '3']\n"


@ahead.each_end(ahead.LONG)
def test_results_are_those_of_a_cold_start(kept, code, returncode, stderr):
    ahead.check_as_cold(kept.run(code), returncode, stderr)


def test_nothing_that_a_script_has_left_runs_before_the_next(kept, engine):
    begun = pathlib.Path(kept.run(PTH)["script"]).with_name("begun")
    wait(engine)
    assert not begun.exists()
    result = kept.run("print(open('begun').read().count('once'))")
    assert is_warm(result) and result["stdout"] == "1\n"


def test_a_process_that_is_left_behind_never_meets_one_that_waits(kept, engine):
    code = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)"
    assert is_warm(kept.run(code))
    assert leftovers.until(lambda: running(engine) == [])
    assert kept.run("import os; print(os.path.exists('/opt/there'))")["stdout"] == "False\n"


def test_another_call_sends_it_away(kept, engine):
    code = "import os; print([each for each in os.listdir('/proc') if each.isdigit()].__len__(), os.path.exists('/opt/there'))"
    result = kept.run(code, arguments={"timeout": 7})
    assert not is_warm(result) and result["stdout"] == "3 True\n", "two inits and itself"
    wait(engine)
    assert is_warm(kept.run(code, arguments={"timeout": 7}))


def test_a_cancel_ends_what_runs_inside(kept, engine):
    call = kept.begin("import time; time.sleep(1000)")
    kept.cancel(call)
    assert leftovers.until(lambda: running(engine) == [])
    assert kept.run("print(1)")["stdout"] == "1\n"


def test_a_timeout_interrupts_the_script(kept, engine):
    code = "import time\nprint('early')\ntime.sleep(1000)"

    def run(timeout):
        result = kept.run(code, arguments={"timeout": timeout})
        assert not result["timings"]["warm"] and result["timed_out"]
        kept.run("pass", arguments={"timeout": timeout})
        wait(engine)
        return kept.run(code, arguments={"timeout": timeout})

    assert timed_out(run, lambda result: result["stdout"] == "early\n")["timings"]["warm"]


def test_one_that_is_gone_is_not_missed(kept, engine):
    os.kill(kept.waiting, 9)
    result = kept.run("import os; print(os.path.exists('/opt/there'))")
    assert result["stdout"] == "True\n" and not is_warm(result)


def test_one_that_goes_with_its_container_before_it_begins(kept, engine):
    os.kill(kept.waiting, signal.SIGSTOP)
    call = kept.start("import os; print(os.path.exists('/opt/there'))")
    for container in running(engine):
        engine.api.delete(f"/containers/{container}", force=1)
    result = kept.wait(call)["result"]["structuredContent"]
    assert result["success"] and result["stdout"] == "False\n", result


def test_calls_without_a_pause_are_answered_rightly(kept):
    assert [kept.run(f"print({number})")["stdout"] for number in range(10)] == [f"{n}\n" for n in range(10)]


def test_a_script_that_was_put_over_ours_gets_no_go(kept, engine):
    script = kept.run("pass")["script"]
    wait(engine)
    ahead.put_over(script, "print('another')")
    assert not kept.run("print('right')")["timings"]["warm"]


def test_what_waits_ends_with_a_server_that_is_killed(docker_server, engine, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    server = docker_server(KEEP, environment=state)
    server.initialize()
    server.run("pass")
    wait(engine)
    server.kill()
    assert leftovers.until(lambda: engine.api.get("/containers/json") == []), "its lifeline has ended"
    with docker_server(environment=state) as server:
        server.initialize()
        assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])


def test_a_graceful_end_removes_it(docker_server, engine):
    with docker_server(KEEP) as server:
        server.initialize()
        server.run("pass")
        wait(engine)
    assert engine.api.get("/containers/json", all=1) == []


def test_with_a_cold_start_nothing_waits(docker_server, engine):
    with docker_server({**KEEP, "start": "cold"}) as server:
        server.initialize()
        for _ in range(2):
            assert not is_warm(server.run("pass"))
            assert leftovers.until(lambda: len(processes(engine)) == 1)
