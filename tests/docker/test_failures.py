"""Whatever goes wrong around a container is one clear error, and nothing is left of it."""

import os

import leftovers
import pytest


def containers(engine, everyone=True):
    return engine.api.get("/containers/json", all=int(everyone))


def error_of(server, **arguments):
    """The error of a call that could not be run."""
    result = server.run("print(1)", arguments=arguments)
    assert not result["success"] and result["returncode"] is None, result
    assert result["stdout"] == ""
    return result["error"]


def assert_works(server):
    result = server.run("print(6 * 7)")
    assert (result["success"], result["stdout"]) == (True, "42\n"), (result["error"], result["stderr"])


# The engine


def test_what_answers_but_is_no_engine_is_told(started, registry):
    with started({"host": f"tcp://{registry.address}"}) as server:
        assert registry.address in error_of(server)


def test_other_environments_work_without_an_engine(started, tmp_path):
    system = {"system": {"type": "system", "executable": "/usr/bin/python3"}}
    nowhere = {"host": f"unix://{tmp_path}/none.sock"}
    with started(nowhere, config={"environments": system}) as server:
        assert server.run("print(1)", arguments={"environment": "system"})["success"]


# The image


def test_variables_of_the_image_are_seen_but_those_of_the_definition_win(started):
    with started({"image": "variables", "environment": {"EMPTY": "full"}}) as server:
        result = server.run("import os; print(os.environ['EMPTY'], repr(os.environ['ODD']))")
    assert result["stdout"] == "full \"a=b\\nc 'd'\"\n", result


def layered(images, registry):
    """An image of seven layers in the registry: its name and the layers."""
    layers = [images.layer(f"layer{number}", {f"opt/{number}": os.urandom(1_000_000)})
              for number in range(6)]
    return registry.serve(images.derived("layered", *layers)), layers


def test_a_pull_that_takes_too_long_is_an_error_that_says_so(started, images, registry):
    name, layers = layered(images, registry)
    registry.hold(layers[2])
    with started({"image": name, "prepare_timeout": 10}) as server:
        error = error_of(server)
    assert "10 seconds" in error and "pulling" in error, error


# A build


def dockerfile(folder, *lines):
    (folder / "Dockerfile").write_text("\n".join(["FROM python:3.11-slim", *lines]) + "\n")
    return {"dockerfile": str(folder / "Dockerfile")}


def test_a_build_that_hangs_is_ended_with_its_step(started, tmp_path):
    with started({**dockerfile(tmp_path, "RUN sleep 1000"), "prepare_timeout": 10}) as server:
        error = error_of(server)
    assert "10 seconds" in error and "build" in error, error


# Volumes


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


def test_a_kept_container_that_is_gone_is_replaced(started, engine):
    with started({"keep_container_running": True}) as server:
        assert_works(server)
        (gone,) = containers(engine)
        engine.api.delete(f"/containers/{gone['Id']}", force=1)
        # A call that begins before the server has heard of it is told that its script was killed.
        assert leftovers.until(lambda: server.run("pass")["success"])
        assert_works(server)
        (other,) = containers(engine)
    assert other["Id"] != gone["Id"]
