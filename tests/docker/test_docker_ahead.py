"""Containers that are started ahead of their script: who gets one, what it may do before, what is left."""

import contextlib
import json
import os
import pathlib
import shutil
import time

import pytest

import ahead
import engine_proxy
import leftovers
from docker_server import DockerServer, timed_out
from engine import ApiError
from test_docker_kept_wait import wait as wait_in_kept

WARM = {"start": "warm"}
# What a script can tell of how it was started, but for what differs from run to run.
FACTS = """
import json, os, sys, resource, signal
print(json.dumps([
    sys.argv, sys.path, list(sys.flags), sorted(sys.modules), sorted(globals()), sorted(os.environ.items()), os.getcwd(),
    os.getuid(), os.getgid(), os.getgroups(), os.getppid(), os.listdir('/proc/self/fd'), os.readlink('/proc/self/fd/0'),
    sorted(os.listdir('/')), os.listdir('/tmp'), open('/proc/self/oom_score_adj').read(), os.stat(__file__).st_size,
    [resource.getrlimit(each) for each in range(16)], sorted(map(str, signal.pthread_sigmask(0, []))), __file__,
    sorted(line.split()[4:6] for line in open('/proc/self/mountinfo')), open('/proc/self/status').read().partition('Cap')[2][:90],
    open(__file__).read()]))
"""
# It tells which pipes it prints to, and waits to be seen.
PIPES = """
import os, time
open('pipes', 'w').write(' '.join(os.readlink(f'/proc/self/fd/{number}') for number in (1, 2)))
while not os.path.exists('seen'):
    time.sleep(0.01)
print('out')
"""
USER_SITE = """
import os
folder = os.path.expanduser('~/.local/lib/python3.11/site-packages')
os.makedirs(folder)
open(folder + '/usercustomize.py', 'w').write("open('/workspace/begun', 'a').write('once\\\\n')")
"""


def processes(engine, container):
    """How many run in CONTAINER."""
    try:
        return len(engine.api.get(f"/containers/{container}/top")["Processes"] or [])
    except ApiError:  # it is just starting, or going
        return 0


def waiting(engine, count=2):
    """The id of the container that waits, once COUNT processes do: its init, and its Python."""
    def find():
        found = [each["Id"] for each in engine.api.get("/containers/json", all=1)]
        return found[0] if len(found) == 1 and processes(engine, found[0]) == count else None
    found = leftovers.until(find)
    assert found, engine.api.get("/containers/json", all=1)
    return found


def all_wait(engine, count):
    """With COUNT processes each, be it one or several; and no container of a cold start is left."""
    def look():
        found = [processes(engine, each["Id"]) if "--ahead" in each["Command"] else None
                 for each in engine.api.get("/containers/json", all=1)]
        return found and set(found) == {count}
    return leftovers.until(look)


def gone(engine, container):
    return container not in [each["Id"] for each in engine.api.get("/containers/json", all=1)]


def is_warm(result):
    assert result["success"], result
    assert (result["timings"]["ahead"] > 0) is result["timings"]["warm"]
    return result["timings"]["warm"]


@pytest.fixture
def warm(docker_server, engine):
    """A server for which one container waits."""
    with docker_server(WARM) as server:
        server.initialize()
        assert not is_warm(server.run("open('kept', 'w'); open('/tmp/lost', 'w')"))
        waiting(engine)
        yield server


def test_the_second_call_gets_the_container_that_waits(warm, engine):
    container = waiting(engine)
    assert is_warm(warm.run("import os; print(os.listdir(), os.listdir('/tmp'))"))
    assert leftovers.until(lambda: gone(engine, container)), "it is used once"
    assert waiting(engine) != container


def test_a_script_cannot_tell(warm, docker_server, engine):
    facts = warm.run(FACTS)
    with docker_server() as server:
        server.initialize()
        server.run("open('kept', 'w')")
        cold = server.run(FACTS)
    assert is_warm(facts) and not is_warm(cold)
    for ours, theirs in zip(json.loads(facts["stdout"]), json.loads(cold["stdout"]), strict=True):
        assert str(ours).replace(warm.mark, "") == str(theirs).replace(server.mark, "")
    assert facts["isolation"] == cold["isolation"]


def descriptors(pid):
    """What the descriptors of process PID lead to."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    return found


def prints_to_its_server(server, directory):
    """Whether it is the server that reads the pipes to which a script in DIRECTORY prints."""
    for name in ("pipes", "seen"):
        (directory / name).unlink(missing_ok=True)
    call = server.start(PIPES)
    assert leftovers.until(lambda: (directory / "pipes").exists() and (directory / "pipes").read_text())
    pipes = set((directory / "pipes").read_text().split())
    found = pipes <= set(descriptors(server.process.pid))
    (directory / "seen").touch()
    result = server.wait(call)["result"]["structuredContent"]
    assert is_warm(result) and result["stdout"] == "out\n"
    return found


def directory_of(result):
    return pathlib.Path(result["script"]).parent


def test_output_does_not_go_through_the_engine(warm, engine):
    result = warm.run("pass")
    waiting(engine)
    assert prints_to_its_server(warm, directory_of(result))


def test_where_the_init_cannot_connect_output_goes_through_the_engine(docker_server, engine, tmp_path):
    with engine_proxy.WithoutSockets(engine.socket, tmp_path) as proxy, \
            docker_server({"host": proxy.address, **WARM}) as server:
        server.initialize()
        result = server.run("pass")
        waiting(engine)
        assert not prints_to_its_server(server, directory_of(result))


def test_nobody_listens_to_a_script_that_connects_as_the_init_did(warm, engine):
    result = warm.run("import socket; socket.socket(socket.AF_UNIX).connect('/.pyexecd-streams')")
    assert "ConnectionRefusedError" in result["stderr"]
    assert result["timings"]["warm"]


def test_all_of_a_flood_is_counted(warm, engine):
    result = warm.run("import sys; sys.stdout.write('x' * 9_000_000); sys.stderr.write('y' * 9_000_000)")
    assert is_warm(result)
    assert (result["stdout_bytes"], result["stderr_bytes"]) == (9_000_000, 9_000_000)


def test_what_was_printed_before_a_kill_is_there(warm, engine):
    result = warm.run("import os, signal; print('out', flush=True); os.kill(os.getpid(), signal.SIGKILL)")
    assert (result["stdout"], result["signal"], result["timings"]["warm"]) == ("out\n", "SIGKILL", True)


def test_hash_seeds_and_random_numbers_are_its_own(warm, engine):
    code = "import random, uuid\nprint(hash('a'), random.random(), uuid.uuid4())"
    seen = []
    for _ in range(3):
        waiting(engine)
        result = warm.run(code)
        assert is_warm(result)
        seen.extend(result["stdout"].split())
    assert len(set(seen)) == 9


@ahead.each_end(ahead.LONG)
def test_results_are_those_of_a_cold_start(warm, code, returncode, stderr):
    ahead.check_as_cold(warm.run(code), returncode, stderr)


def test_memory_is_limited_as_before(docker_server, engine):
    with docker_server({**WARM, "limits": {"memory": "64MiB"}}) as server:
        server.initialize()
        server.run("pass")
        waiting(engine)
        result = server.run("x = bytearray(500 << 20)")
        assert result["timings"]["warm"] and result["out_of_memory"] and result["returncode"] == -9


def test_time_begins_with_the_script(warm, engine):
    def run(timeout):
        assert not is_warm(warm.run("pass", arguments={"timeout": timeout})), "another timeout is another container"
        waiting(engine)
        return warm.run("import time\nprint('early')\ntime.sleep(1000)", arguments={"timeout": timeout})

    result = timed_out(run, lambda result: result["stdout"] == "early\n")
    assert result["timings"]["warm"] and result["timings"]["run"] > 1


def test_a_cancel_ends_what_runs_inside(warm, engine):
    container = waiting(engine)
    running = warm.begin("import time; time.sleep(1000)")
    warm.cancel(running)
    assert leftovers.until(lambda: gone(engine, container))
    assert warm.run("print(1)")["stdout"] == "1\n"


def test_two_calls_never_share_one(warm):
    code = "import os, time\nopen('/tmp/mine', 'x')\ntime.sleep(3)\nprint(len(os.listdir('/tmp')))"
    calls = [warm.start(code) for _ in range(3)]
    results = [warm.wait(call, 120)["result"]["structuredContent"] for call in calls]
    assert [result["stdout"] for result in results] == ["1\n"] * 3, results
    assert [is_warm(result) for result in results].count(True) == 1


def test_more_wait_where_calls_come_faster_than_containers_start(warm, engine):
    waiting(engine)
    for call in [warm.start("pass") for _ in range(8)]:  # one at a time, a busy client may be slower than they
        warm.wait(call, 180)
    assert leftovers.until(lambda: [processes(engine, each["Id"]) for each in engine.api.get("/containers/json")] == [2] * 4)
    assert all(is_warm(warm.run(f"print({number})")) for number in range(4))


def test_with_a_cold_start_nothing_waits(docker_server, engine):
    with docker_server({"start": "cold"}) as server:
        server.initialize()
        assert not is_warm(server.run("pass"))
        assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])
        assert not is_warm(server.run("pass"))


def test_a_graceful_end_removes_what_waits(docker_server, engine):
    with docker_server(WARM) as server:
        server.initialize()
        server.run("pass")
        waiting(engine)
    assert engine.api.get("/containers/json", all=1) == []


def test_what_waits_ends_with_a_server_that_is_killed(docker_server, engine, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    server = docker_server(WARM, environment=state)
    server.initialize()
    server.run("pass")
    container = waiting(engine)
    server.kill()
    assert leftovers.until(lambda: engine.api.get("/containers/json") == []), "its lifeline has ended"
    with docker_server(environment=state) as server:
        server.initialize()
        assert leftovers.until(lambda: gone(engine, container))


def test_one_that_was_killed_is_not_missed(warm, engine):
    engine.api.post(f"/containers/{waiting(engine)}/kill")
    assert warm.run("print(1)")["stdout"] == "1\n"


def test_one_that_was_removed_is_not_missed(warm, engine):
    engine.api.delete(f"/containers/{waiting(engine)}", force=1)
    assert warm.run("print(1)")["stdout"] == "1\n"


def test_one_that_does_not_answer_is_not_missed(docker_server, engine):
    for timeout in (3, 10, 30):  # in which the next one has to start, too
        with docker_server({**WARM, "container_startup_timeout": timeout}) as server:
            server.initialize()
            if not server.run("pass")["success"]:
                continue
            container = waiting(engine)
            engine.api.post(f"/containers/{container}/pause")
            result = server.run("print(1)")
            assert leftovers.until(lambda: gone(engine, container))
            if result["success"]:
                break
    assert result["stdout"] == "1\n" and not is_warm(result)


def test_an_engine_that_has_been_away_is_not_missed(own_engine):
    engine = own_engine()
    with DockerServer(engine, WARM) as server:
        server.initialize()
        server.run("pass")
        waiting(engine)
        engine.kill()
        engine.start()
        assert server.run("print(1)")["stdout"] == "1\n"


def test_another_directory_of_the_same_name_is_cold(docker_server, engine, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    with docker_server(WARM, config={"working_directory": str(folder)}) as server:
        server.initialize()
        server.run("open('old', 'w')")
        container = waiting(engine)
        folder.rename(tmp_path / "moved")
        folder.mkdir()
        (folder / "new").touch()
        result = server.run("import os; print(os.path.exists('new'), os.path.exists('old'))")
        assert result["stdout"] == "True False\n" and not is_warm(result)
        assert leftovers.until(lambda: gone(engine, container))


def test_a_script_that_was_put_over_ours_is_not_run(warm, engine):
    waiting(engine)
    script = warm.run("pass")["script"]
    waiting(engine)
    ahead.put_over(script, "print('wrong')")
    result = warm.run("print('right')")
    assert result["stdout"] == "right\n" and not is_warm(result)


def test_what_scripts_leave_for_python_does_not_run_before_a_call(docker_server, engine):
    with docker_server(WARM) as server:
        server.initialize()
        begun = pathlib.Path(server.run(USER_SITE)["script"]).with_name("begun")
        assert all_wait(engine, 1)
        assert not begun.exists()
        seen = []
        while seen.count(True) < 2:  # what is seen of a container is not yet that it can be lent
            assert len(seen) < 20
            result = server.run("print(open('begun').read().count('once'))")
            seen.append(is_warm(result))
            assert result["stdout"] == f"{len(seen)}\n"
            assert all_wait(engine, 1)
        assert begun.read_text() == "once\n" * len(seen)


def test_what_comes_for_python_while_it_waits_makes_it_cold(warm, engine):
    waiting(engine)
    home = pathlib.Path(warm.run("pass")["script"]).parent
    waiting(engine)
    (home / ".local").mkdir()
    result = warm.run("import sys; print(sys.path)")
    assert not is_warm(result)
    shutil.rmtree(home / ".local")


def test_variables_that_say_what_python_loads_let_only_the_container_wait(docker_server, engine):
    with docker_server({**WARM, "environment": {"PYTHONPATH": "/workspace/lib"}}) as server:
        server.initialize()
        server.run("import os; os.mkdir('lib')\n"
                   "open('lib/sitecustomize.py', 'w').write(\"open('/workspace/begun', 'a').write('once')\")")
        seen = []
        while True not in seen:  # as above
            assert len(seen) < 20
            assert all_wait(engine, 1)
            result = server.run("print(open('begun').read().count('once'))")
            seen.append(is_warm(result))
            assert result["stdout"] == f"{len(seen)}\n"


def test_a_python_that_prints_at_its_start_is_heard_once(docker_server, engine, images):
    layer = images.layer("talkative", {"etc/python3.11/sitecustomize.py": b"print('hello')"})
    images.load(engine, images.derived("talkative", layer))
    with docker_server({**WARM, "image": "talkative"}) as server:
        server.initialize()
        for _ in range(3):
            result = server.run("print('there')")
            assert result["stdout"] == "hello\nthere\n"
    engine.api.delete("/images/talkative", force=1)


@pytest.mark.parametrize("kept", [False, True])
def test_another_user_is_warm_too(docker_server, engine, kept):
    with docker_server({**WARM, "user": "1234", "keep_container_running": kept}) as server:
        server.initialize()
        server.run("open('mine', 'w')")
        wait_in_kept(engine) if kept else waiting(engine)
        result = server.run("import os; print(os.getuid(), os.stat('mine').st_uid, len(open(__file__).read()) > 0)")
        assert is_warm(result) and result["stdout"] == "1234 1234 True\n"


def test_an_engine_that_goes_while_containers_start_is_not_missed(own_engine):
    engine = own_engine()
    with DockerServer(engine, WARM) as server:
        server.initialize()
        for number in range(3):
            for _ in range(4):
                assert server.run("pass")["success"]
            time.sleep(0.05 + 0.05 * number)  # containers are on their way
            engine.kill()
            engine.start()
            assert server.run("print(1)")["stdout"] == "1\n"
    assert leftovers.until(lambda: engine.api.get("/containers/json") == [])


@pytest.mark.parametrize("kept", [False, True])
def test_a_server_that_is_killed_while_something_starts_leaves_nothing_alive(docker_server, engine, tmp_path, kept):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    for number in range(4):
        server = docker_server({**WARM, "keep_container_running": kept}, environment=state)
        server.initialize()
        server.run("pass")
        time.sleep(0.05 + 0.04 * number)
        server.kill()
        assert leftovers.until(lambda: engine.api.get("/containers/json") == [])
    with docker_server(environment=state) as server:
        server.initialize()
        assert leftovers.until(lambda: engine.api.get("/containers/json", all=1) == [])
