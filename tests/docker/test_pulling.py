"""An image that takes long to come: what is told of it, and how it is given up."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time

import client
import docker_server
import leftovers
import pytest
from terminal import on_terminal

LAYER_BYTES = 8 << 20
PATIENCE = 180


@pytest.fixture
def slow_image(images, registry):
    """The name of an image whose second layer comes by half until it is released, once a name."""
    def serve(name="slow"):
        layer = images.layer(name, {"data": os.urandom(LAYER_BYTES)})
        registry.hold(layer)
        return registry.serve(images.derived(name, layer))

    return serve


@pytest.fixture
def configure(engine, tmp_path):
    """A configuration with an environment `box` of that image; its path."""
    def write(image, **more):
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps({"environments": {
            "box": {"type": "docker", "image": image, "host": engine.environment["DOCKER_HOST"],
                    **more}}}))
        path.chmod(0o600)
        return path
    return write


def start(*arguments, **options):
    return subprocess.Popen([os.environ["PYEXECD"], *map(str, arguments)], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def read_until(stream, pattern):
    """The lines of STREAM up to the one that PATTERN is found in."""
    lines = []
    while not lines or not re.search(pattern, lines[-1]):
        line = stream.readline()
        assert line, f"no {pattern} in {lines}"
        lines.append(line)
    return lines


@contextlib.contextmanager
def released(registry, after):
    """What REGISTRY holds comes when it has been asked for and AFTER more seconds."""
    def release():
        leftovers.until(lambda: any(path.endswith(held) for path in registry.requests for held in registry.held))
        time.sleep(after)
        registry.release()

    thread = threading.Thread(target=release)
    thread.start()
    yield
    thread.join()


# From the command line


def test_prepare_names_the_layers(registry, slow_image, configure):
    image = slow_image()
    process = start("prepare", "-c", configure(image))
    try:
        read_until(process.stderr, r"^box: pulling layer 2 of 2$")
        registry.release()
        output, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert re.fullmatch(r"box: ready, Python 3\.\d+\.\d+, \d+(\.\d)? m?s\n", output)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_prepare_gives_a_pull_up(slow_image, configure, number):
    process = start("prepare", "-c", configure(slow_image()))
    try:
        read_until(process.stderr, r"^box: pulling layer 2 of 2$")
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, output) == (128 + number, "")
    assert 'cannot prepare environment "box": pulling layer 2 of 2: given up' in errors


def test_an_image_that_is_not_there_is_69(registry, configure):
    process = start("prepare", "-c", configure(f"{registry.address}/nowhere:1"))
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 69
    assert f'cannot prepare environment "box": pulling {registry.address}/nowhere:1: ' in errors


@pytest.mark.parametrize("command", [["prepare"], ["run", "/dev/null"], ["doctor"]])
def test_a_terminal_shows_how_much_has_come(registry, slow_image, configure, command):
    image = slow_image()
    config = configure(image)
    with released(registry, after=3):
        status, text = on_terminal(command[0], "--config", config, *command[1:], columns=100)
    assert status == 0, text
    assert re.search(r"box  pulling layer 2 of 2 +\[#+-+\] +\d+ % +\d+\.\d s", text), text


# While a call waits


def test_every_revision_is_told_what_it_waits_for(engine, registry, slow_image):
    image = slow_image()
    with contextlib.ExitStack() as stack:
        calls = []
        for revision in client.REVISIONS:  # all at the same time
            server = stack.enter_context(docker_server.DockerServer(engine, {"image": image}))
            server.initialize(revision)
            calls.append((revision, server, server.start("print(1)", progress_token="p")))
        for _, server, _ in calls:
            receive_notes_until(server, 8)
        registry.release()
        for revision, server, call in calls:
            assert server.wait(call, PATIENCE)["result"]["isError"] is False
            check_notes(revision, server.progress("p"))


def receive_notes_until(server, seconds):
    """Receives what comes until the progress has risen to SECONDS."""
    while not (notes := server.progress("p")) or notes[-1]["progress"] < seconds:
        message = server.receive(PATIENCE)
        assert message["method"] == "notifications/progress"
        server.notifications.append(message)


def check_notes(revision, notes):
    times = [note["progress"] for note in notes]
    assert times == sorted(set(times))
    assert len(times) >= 2
    assert len(notes) <= 6 + 2 * times[-1]
    if revision == "2024-11-05":
        assert not any("message" in note for note in notes)
        return
    messages = [note["message"] for note in notes]
    assert any(re.fullmatch(r"pulling layer 2 of 2 \(\d+ %\)", message) for message in messages)


# When the server starts


def test_an_eager_pull_is_shared_by_calls(engine, registry, slow_image):
    definition = {"image": slow_image(), "prepare": "eager"}
    with docker_server.DockerServer(engine, definition) as server:
        assert leftovers.until(lambda: any("/blobs/" in path for path in registry.requests))
        server.initialize()
        calls = [server.start(f"print({i})", progress_token="p") for i in range(3)]
        assert server.receive(PATIENCE)["params"]["message"].startswith("pulling ")
        registry.release()
        for i, call in enumerate(calls):
            result = server.wait(call, PATIENCE)["result"]
            assert result["structuredContent"]["stdout"] == f"{i}\n"
    assert len([path for path in registry.requests if "/manifests/" in path]) <= 2


def test_the_end_of_the_server_ends_an_eager_pull(engine, registry, slow_image):
    definition = {"image": slow_image(), "prepare": "eager"}
    with docker_server.DockerServer(engine, definition) as server:
        assert leftovers.until(lambda: any("/blobs/" in path for path in registry.requests))
        server.initialize()
