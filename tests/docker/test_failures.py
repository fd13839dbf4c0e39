"""Whatever goes wrong around a container is one clear error, and nothing is left of it."""

import os
import time

import leftovers
import pytest

SLEEP = "import time; print('begun', flush=True); time.sleep(1000)"


def containers(engine, everyone=True):
    return engine.api.get("/containers/json", all=int(everyone))


@pytest.fixture
def started(docker_server):
    """Starts a server that has been spoken to."""
    def start(definition=None, **more):
        server = docker_server(definition, **more)
        server.initialize()
        return server

    return start


def wait_for_start(engine):
    """Waits until a script that was started runs in its container."""
    assert leftovers.until(lambda: containers(engine, everyone=False), 30)
    time.sleep(0.5)


def error_of(server, **arguments):
    """The error of a call that could not be run."""
    result = server.run("print(1)", arguments=arguments)
    assert not result["success"] and result["returncode"] is None, result
    assert result["stdout"] == ""
    return result["error"]


def works(server):
    result = server.run("print(6 * 7)")
    return result["success"] and result["stdout"] == "42\n"


# The engine


def test_no_engine_is_named_with_its_address(started, tmp_path):
    with started({"host": f"unix://{tmp_path}/none.sock"}) as server:
        error = error_of(server)
    assert f"unix://{tmp_path}/none.sock" in error
    assert "no Docker engine" in error, error


def test_what_answers_but_is_no_engine_is_told(started, registry):
    with started({"host": f"tcp://{registry.address}"}) as server:
        assert registry.address in error_of(server)


def test_other_environments_work_without_an_engine(started, tmp_path):
    system = {"system": {"type": "system", "executable": "/usr/bin/python3"}}
    with started({"host": f"unix://{tmp_path}/none.sock"}, config={"environments": system}) as server:
        assert server.run("print(1)", arguments={"environment": "system"})["success"]


@pytest.mark.parametrize("kept", [False, True])
def test_an_engine_that_dies_ends_the_call_and_serves_again_when_it_is_back(started, engine, kept):
    with started({"keep_container_running": kept}) as server:
        assert works(server)
        call = server.start(SLEEP, timeout=60)
        wait_for_start(engine)
        engine.kill()
        result = server.wait(call, 30)["result"]["structuredContent"]
        assert not result["success"] and not result["timed_out"], result
        assert "engine" in result["error"], result
        assert "no Docker engine" in error_of(server)
        engine.start()
        assert works(server)


# The image


def test_an_image_that_no_registry_has_is_named(started, registry):
    with started({"image": f"{registry.address}/nothing:1"}) as server:
        assert f"{registry.address}/nothing:1" in error_of(server)


def test_an_image_that_may_not_be_pulled_is_named(started, registry):
    with started({"image": f"{registry.address}/nothing:1", "pull": "never"}) as server:
        assert f"{registry.address}/nothing:1" in error_of(server)
    assert registry.requests == []


def test_an_image_without_python_is_told(started):
    with started({"image": "no-python"}) as server:
        error = error_of(server)
    assert "python3" in error, error


def test_an_image_for_another_processor_is_told(started):
    with started({"image": "arm64"}) as server:
        error = error_of(server)
    assert "arm64" in error and "amd64" in error, error


@pytest.mark.parametrize("image", [
    "entrypoint", "user", "no-such-user", "healthcheck", "onbuild", "workdir",
    "variables", "no-path", "only-python3", "only-python"])
@pytest.mark.parametrize("kept", [False, True], ids=["fresh", "kept"])
def test_an_odd_image_runs_the_script_all_the_same(started, image, kept, tmp_path):
    with started({"image": image, "keep_container_running": kept},
                 config={"working_directory": str(tmp_path)}) as server:
        result = server.run("import os, time; time.sleep(0.3); print(os.getcwd(), os.listdir())")
        assert result["stdout"] == "/workspace ['script.py']\n", result
    assert [path.name for path in tmp_path.iterdir()] == ["script.py"]


def test_variables_of_the_image_are_seen_but_those_of_the_definition_win(started):
    with started({"image": "variables", "environment": {"EMPTY": "full"}}) as server:
        result = server.run("import os; print(os.environ['EMPTY'], repr(os.environ['ODD']))")
    assert result["stdout"] == "full \"a=b\\nc 'd'\"\n", result


def layered(images, registry):
    """An image of seven layers in the registry: its name and the layers."""
    layers = [images.layer(f"layer{number}", {f"opt/{number}": os.urandom(1_000_000)})
              for number in range(6)]
    return registry.serve(images.derived("layered", *layers)), layers


def test_a_pull_that_is_cut_off_is_an_error_and_the_next_call_tries_again(started, images, registry):
    name, layers = layered(images, registry)
    registry.cut(layers[3], after=1000)
    with started({"image": name}) as server:
        assert "pulling layer" in error_of(server)
        registry.heal()
        assert works(server)


def test_a_pull_tells_its_layers(started, images, registry):
    name, _ = layered(images, registry)
    with started({"image": name}) as server:
        call = server.start("print(1)", progress_token="pull")
        assert not server.wait(call, 60)["result"]["isError"]
        told = [note["message"] for note in server.progress("pull")]
    assert any("pulling layer" in message and "of 7" in message for message in told), told


def test_a_pull_that_nobody_waits_for_is_given_up(started, images, registry, engine):
    name, layers = layered(images, registry)
    registry.hold(layers[2])
    with started({"image": name}) as server:
        call = server.start("print(1)", progress_token="pull")
        assert leftovers.until(lambda: len(registry.requests) > 5, 20)
        server.cancel(call)
        time.sleep(0.5)
        registry.heal()
        time.sleep(1)
        assert not any(name in (image["RepoTags"] or []) for image in engine.api.get("/images/json"))
        assert works(server)


def test_a_pull_that_takes_too_long_is_an_error_that_says_so(started, images, registry):
    name, layers = layered(images, registry)
    registry.hold(layers[2])
    with started({"image": name, "prepare_timeout": 2}) as server:
        error = error_of(server)
    assert "2 seconds" in error and "pulling" in error, error


def test_calls_that_come_meanwhile_share_a_pull(started, images, registry):
    name, layers = layered(images, registry)
    registry.hold(layers[2])
    with started({"image": name}) as server:
        calls = [server.start("print(6 * 7)") for _ in range(4)]
        assert leftovers.until(lambda: len(registry.requests) > 5, 20)
        registry.release()
        for call in calls:
            result = server.wait(call, 60)["result"]["structuredContent"]
            assert result["stdout"] == "42\n", result
    assert len([path for path in registry.requests if path.endswith(layers[0].digest)]) == 1


def test_an_image_that_is_removed_meanwhile_is_pulled_again(started, images, registry, engine):
    name, _ = layered(images, registry)
    with started({"image": name}) as server:
        assert works(server)
        engine.api.delete(f"/images/{name}", force=1)
        assert works(server) or works(server)


# Volumes


def test_a_volume_that_does_not_exist_is_named(started, tmp_path):
    with started({"volumes": {str(tmp_path / "none"): "/data"}}) as server:
        assert str(tmp_path / "none") in error_of(server)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("way", ["itself", "its folder", "a link to it", "a link to its folder"])
def test_the_engines_socket_gets_into_no_container(started, engine, tmp_path, way):
    path = engine.socket.parent if "folder" in way else engine.socket
    if "link" in way:
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    with started({"volumes": {str(path): "/data"}}) as server:
        assert "never" in error_of(server)


@pytest.mark.parametrize("path", ["/", "/proc", "/sys", "/dev", "/etc", "/run"])
def test_a_path_that_no_container_gets_is_refused(started, path):
    with started({"volumes": {path: "/data"}}) as server:
        assert "never" in error_of(server)


# The container


def test_a_container_that_is_killed_from_outside_is_a_signal_not_a_timeout(started, engine):
    with started() as server:
        assert works(server)
        call = server.start(SLEEP)
        wait_for_start(engine)
        engine.api.post(f"/containers/{containers(engine)[0]['Id']}/kill")
        result = server.wait(call, 30)["result"]["structuredContent"]
        assert not result["success"] and not result["timed_out"], result
        assert (result["returncode"], result["signal"]) == (-9, "SIGKILL"), result
        assert result["stdout"] == "begun\n", result


def test_a_container_that_is_removed_from_outside_is_an_error(started, engine):
    with started() as server:
        assert works(server)
        call = server.start(SLEEP)
        wait_for_start(engine)
        engine.api.delete(f"/containers/{containers(engine)[0]['Id']}", force=1)
        result = server.wait(call, 30)["result"]["structuredContent"]
        assert not result["success"] and not result["timed_out"], result
        assert works(server)


def test_a_kept_container_that_is_gone_is_replaced(started, engine):
    with started({"keep_container_running": True}) as server:
        assert works(server)
        engine.api.delete(f"/containers/{containers(engine)[0]['Id']}", force=1)
        assert works(server)


def test_memory_beyond_the_limit_is_told_from_a_kill(started):
    with started({"limits": {"memory": "64MiB"}}) as server:
        result = server.run("x = bytearray(1 << 30)\nprint(len(x))")
        assert result["out_of_memory"] and "64 MiB" in result["error"], result
        assert not server.run("import os; os.kill(os.getpid(), 9)")["out_of_memory"]


def test_a_hundred_containers_at_once_are_all_answered(started, engine):
    with started() as server:
        assert works(server)
        calls = [server.start(f"print({number})") for number in range(100)]
        answers = [server.wait(call, 300)["result"] for call in calls]
        ran = [answer["structuredContent"]["stdout"] for answer in answers if not answer["isError"]]
        refused = [answer for answer in answers if answer["isError"]]
        assert len(ran) >= 16 and len(set(ran)) == len(ran)
        assert all("busy" in answer["content"][0]["text"] for answer in refused), refused
        assert works(server)
