"""The engine, images and registry that the tests here rest on do what the tests take them for."""

import subprocess
import threading

import pytest

import engine as engine_module
import snapshot

pytestmark = pytest.mark.release

PRINT = ["python", "-c", "print(6 * 7)"]


def docker(engine, *arguments):
    return subprocess.run(["docker", "--host", engine.environment["DOCKER_HOST"], *arguments],
                          capture_output=True, text=True)


def pull(engine, name):
    """The lines of a pull."""
    answer = engine.api.post("/images/create", fromImage=name)
    return answer if isinstance(answer, list) else [answer]


def test_the_base_image_runs_python_and_pip(engine, images):
    assert docker(engine, "run", "--rm", images.base.name, *PRINT).stdout == "42\n"
    version = docker(engine, "run", "--rm", images.base.name, "pip", "--version")
    assert version.stdout.startswith("pip "), version


def test_an_odd_image_is_odd(engine):
    assert docker(engine, "run", "--rm", "entrypoint", *PRINT).stdout.startswith("the entry point")
    assert "python" in docker(engine, "run", "--rm", "no-python", *PRINT).stderr
    assert engine.api.get("/images/arm64/json")["Architecture"] == "arm64"


def several_layers(images):
    return [images.layer(f"layer{number}", {f"opt/{number}": bytes(3_000_000) + bytes([number])})
            for number in range(6)]


def test_the_registry_serves_an_image_of_several_layers(engine, images, registry):
    name = registry.serve(images.derived("layered", *several_layers(images)))
    assert "Downloaded newer image" in pull(engine, name)[-1]["status"]
    assert docker(engine, "run", "--rm", name, *PRINT).stdout == "42\n"
    engine.api.delete(f"/images/{name}")


def test_the_registry_cuts_a_layer_off_and_heals(engine, images, registry):
    layers = several_layers(images)
    name = registry.serve(images.derived("layered", *layers))
    registry.cut(layers[3], after=1_000_000)
    assert "error" in pull(engine, name)[-1]
    registry.heal()
    assert "Downloaded newer image" in pull(engine, name)[-1]["status"]
    engine.api.delete(f"/images/{name}")


def test_the_registry_holds_a_layer_until_it_is_released(engine, images, registry):
    layers = several_layers(images)
    name = registry.serve(images.derived("layered", *layers))
    registry.hold(layers[2])
    puller = threading.Thread(target=pull, args=(engine, name))
    puller.start()
    puller.join(1)
    assert puller.is_alive()
    registry.release()
    puller.join(180)
    assert not puller.is_alive()
    engine.api.delete(f"/images/{name}")


def test_the_registry_has_no_other_image(engine, registry):
    with pytest.raises(engine_module.ApiError) as refused:
        pull(engine, f"{registry.address}/nothing:1")
    assert refused.value.status == 404


def test_what_is_left_behind_is_seen(engine):
    before, images = snapshot.take(engine), snapshot.images(engine.api)
    docker(engine, "run", "--detach", "--volume", "kept:/kept", "python:3.11-slim", "sleep", "60")
    docker(engine, "network", "create", "kept")
    docker(engine, "commit", docker(engine, "ps", "--quiet").stdout.strip())
    left = snapshot.added(engine, before, seconds=0)
    assert set(left) == {"containers", "images", "volumes", "networks", "shims", "cgroups"}
    snapshot.clear(engine, images)
    assert not snapshot.added(engine, before)


def test_the_engine_comes_back_after_it_was_killed(engine):
    engine.kill()
    assert not engine.api.answers()
    engine.start()
    assert docker(engine, "run", "--rm", "python:3.11-slim", *PRINT).stdout == "42\n"


def test_an_engine_with_a_small_disk_is_full_soon(own_engine):
    small = own_engine(disk=400 << 20)
    filled = docker(small, "run", "--rm", "python:3.11-slim", "sh", "-c",
                    "head -c 1000000000 /dev/zero > /zeros")
    assert "No space left" in filled.stderr, filled
