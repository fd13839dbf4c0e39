"""What outlives a server, and what a server finds: sweeps, engines that go and come back."""

import os
import time

import pytest

import leftovers
from docker_server import DockerServer


def containers(engine):
    return [container["Id"] for container in engine.api.get("/containers/json", all=1)]


@pytest.fixture
def state(tmp_path):
    """The state directory of several servers, one after the other."""
    return {"XDG_STATE_HOME": str(tmp_path)}


def leave_behind(docker_server, engine, state, timeout):
    """What a server leaves that is killed while a script runs in a container."""
    server = docker_server(environment=state)
    server.initialize()
    server.prepare()
    server.start("import time; time.sleep(1000)", timeout=timeout)
    assert leftovers.until(lambda: engine.api.get("/containers/json"))
    server.kill()
    return containers(engine)


def test_what_a_killed_server_left_is_swept_at_the_next_start(docker_server, engine, state):
    left = leave_behind(docker_server, engine, state, timeout=30)
    assert left
    with docker_server(environment=state) as server:
        server.initialize()
        assert leftovers.until(lambda: not set(left) & set(containers(engine)))


def test_a_container_ends_with_its_server(docker_server, engine, state):
    leave_behind(docker_server, engine, state, timeout=600)
    assert leftovers.until(lambda: engine.api.get("/containers/json") == [])
    for container in containers(engine):
        engine.api.delete(f"/containers/{container}")


def workspace(engine):
    """Where the working directory of the only container is; None while there is none."""
    mounts = [mount for container in engine.api.get("/containers/json")
              for mount in container["Mounts"] if mount["Destination"] == "/workspace"]
    return mounts[0]["Source"] if mounts else None


@pytest.mark.parametrize("keep", [False, True], ids=["fresh", "kept"])
def test_an_interrupted_script_shows_where_it_stood(docker_server, engine, keep):
    """By SIGINT to the container, as the server sends it."""
    with docker_server({"keep_container_running": keep}) as server:
        server.initialize()
        if not keep:
            server.prepare()
        # All in one line: that the file is there does not say that its line is done.
        call = server.start("import time\nopen('there', 'w').close(); time.sleep(1000)")
        folder = leftovers.until(lambda: workspace(engine))
        assert leftovers.until(lambda: os.path.exists(f"{folder}/there"))
        engine.api.post(f"/containers/{containers(engine)[0]}/kill", signal="SIGINT")
        result = server.wait(call, 120)["result"]["structuredContent"]
        assert result["returncode"] == -2 and "KeyboardInterrupt" in result["stderr"]
        assert "line 2" in result["stderr"]
        assert leftovers.until(lambda: len(containers(engine)) == int(keep))


def test_containers_of_others_are_never_touched(docker_server, engine, state, tmp_path_factory):
    sleep = {"Image": "python:3.11-slim", "Cmd": ["sleep", "1000"], "Labels": {}}
    strangers = [engine.api.post("/containers/create", sleep)["Id"]]
    labels = {"pyexecd.state": "0" * 32, "pyexecd.server": "1" * 32, "pyexecd.owner": "0"}
    later, earlier = str(int(time.time()) + 1000), str(int(time.time()) - 10)
    for more in ({"pyexecd.deadline": later}, {"pyexecd.deadline": earlier,
                                               "pyexecd.owner": "4242"}, {}):
        description = {**sleep, "Labels": {**labels, **more}}
        strangers.append(engine.api.post("/containers/create", description)["Id"])
    expired = engine.api.post("/containers/create", {
        **sleep, "Labels": {**labels, "pyexecd.deadline": earlier}})["Id"]
    other_state = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("other"))}
    with docker_server({"keep_container_running": True}, environment=other_state) as other:
        other.initialize()
        other.run("pass")
        theirs = set(containers(engine)) - {*strangers, expired}
        with docker_server(environment=state) as server:
            server.initialize()
            assert leftovers.until(lambda: expired not in containers(engine))
            assert server.run("print(1)")["stdout"] == "1\n"
        assert {*strangers, *theirs} <= set(containers(engine))
    for container in strangers:
        engine.api.delete(f"/containers/{container}", force=1)


def test_two_servers_of_one_state_directory_leave_each_other_alone(docker_server, engine, state):
    keep = {"keep_container_running": True}
    with docker_server(keep, environment=state) as first:
        first.initialize()
        first.run("open('/opt/there', 'w')")
        with docker_server(keep, environment=state) as second:
            second.initialize()
            second.run("pass")
            assert leftovers.until(lambda: len(containers(engine)) == 2)
        assert first.run("open('/opt/there')")["success"]


def test_one_that_is_left_to_be_looked_at_outlives_its_server(docker_server, engine, state):
    definition = {"cleanup_container": False}
    with docker_server(definition, environment=state) as server:
        server.initialize()
        server.run("pass")
    left = containers(engine)
    assert len(left) == 1
    with docker_server(definition, environment=state) as server:
        server.initialize()
        server.run("pass")
        assert set(left) <= set(containers(engine))
    for container in containers(engine):
        engine.api.delete(f"/containers/{container}")


def test_a_graceful_end_removes_what_runs(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        server.prepare()
        server.start("import time; time.sleep(1000)", timeout=110)
        assert leftovers.until(lambda: engine.api.get("/containers/json"))
        began = time.monotonic()
    assert time.monotonic() - began < 100  # before the script's own timeout
    assert leftovers.until(lambda: containers(engine) == [])


def test_an_end_right_behind_an_answer_leaves_no_container(docker_server, engine):
    with docker_server() as server:
        server.initialize()
        assert server.run("print(1)")["stdout"] == "1\n"
    assert containers(engine) == []


@pytest.mark.parametrize("definition", [{}, {"keep_container_running": True}],
                         ids=["fresh", "kept"])
def test_an_engine_that_dies_in_the_middle_of_a_call_and_comes_back(own_engine, definition):
    engine = own_engine()
    with DockerServer(engine, definition,
                      config={"environments": {"other": {"type": "system"}}}) as server:
        server.initialize()
        server.run("pass")
        call = server.begin("import time\ntime.sleep(100)", timeout=90)
        engine.kill()
        result = server.wait(call, 120)["result"]["structuredContent"]
        assert not result["success"] and result["stdout"] == "on\n", result
        assert "engine" in result["error"]
        assert "no Docker engine at" in server.run("print(1)")["error"]
        other = server.run("print(2)", arguments={"environment": "other"})
        assert other["stdout"] == "2\n"
        engine.start()
        assert server.run("print(3)")["stdout"] == "3\n"


def test_a_disk_that_is_full(own_engine, registry, images):
    engine = own_engine(disk=400 << 20)
    layer = images.layer("large", {"opt/large": os.urandom(300 << 20)})
    name = registry.serve(images.derived("large", layer))
    with DockerServer(engine, {"image": name}) as server:
        server.initialize()
        error = server.run("print(1)")["error"]
    assert "no space left on device" in error
