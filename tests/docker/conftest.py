"""An engine, its images and a registry for the whole session; what a test leaves fails it.

A test that takes `docker_server` is one line away from a server that runs in the engine:

    def test_the_script_sees_its_own_name(docker_server):
        with docker_server({"network": "none"}) as server: ...

`podman_server` is the same with Podman. `own_engine` makes an engine for one test that breaks it.
"""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

import debian  # noqa: E402
import ports  # noqa: E402
import docker_server as server_module  # noqa: E402
import engine as engine_module  # noqa: E402
import images as images_module  # noqa: E402
import podman as podman_module  # noqa: E402
import registry as registry_module  # noqa: E402
import snapshot  # noqa: E402
from test_tls import make_certificate  # noqa: E402

ENGINES = ("engine", "podman", "remote_engine")
ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = "python:3.11-slim"  # base_image.py has made it
BUILD_SECONDS = 900


def pytest_configure():
    """Who ends the tests by SIGTERM, as a runner does whose time is over, ends the engines, too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def cannot(reason):
    """Root, and CI, have what an engine takes; for others these tests are skipped."""
    if os.geteuid() == 0 or os.environ.get("CI"):
        pytest.fail(f"no engine: {reason}")
    pytest.skip(f"no engine: {reason}")


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Images to load into an engine."""
    try:
        return images_module.Images(tmp_path_factory.mktemp("images"))
    except debian.NoDebian as reason:
        cannot(reason)


@pytest.fixture(scope="session")
def engine(images):
    """A Docker engine with the base image and all the odd ones."""
    try:
        with engine_module.Engine() as engine:
            for image in [images.base, *images.odd().values()]:
                images.load(engine, image)
            yield engine
    except engine_module.NoEngine as reason:
        cannot(reason)


@pytest.fixture(scope="session")
def docker(engine):
    """Runs the docker command; what it printed."""
    def run(*arguments, timeout=120):
        done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **engine.environment}, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def released_image(engine, docker):
    """The name of the image that `./dev image` makes."""
    if not (ROOT / ".deps/wheel/installed").exists():
        pytest.skip("no .deps/wheel: ./dev deps installs it")
    done = subprocess.run([ROOT / "dev", "image", "--build-arg", f"BASE={BASE}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BUILD_SECONDS,
                          env={**os.environ, **engine.environment})
    assert done.returncode == 0, done.stdout
    name = done.stdout.split()[-1]
    assert name.startswith("pyexecd:"), done.stdout
    yield name
    docker("rmi", name)


@pytest.fixture(scope="session")
def podman(images):
    """Podman with the base image."""
    try:
        with podman_module.Podman() as podman:
            images.load(podman, images.base)
            yield podman
    except engine_module.NoEngine as reason:
        pytest.skip(f"no podman: {reason}")


@pytest.fixture(scope="module", params=[pytest.param("tcp", marks=pytest.mark.release), "tls"])
def remote_engine(request, images, tmp_path_factory):
    """A Docker engine with the base image that is reached by TCP, without and with TLS; `definition` says how."""
    folder = tmp_path_factory.mktemp("remote")
    address, options, tls = f"tcp://127.0.0.1:{ports.free_port()}", [], {}
    if request.param == "tls":
        certificate, key = make_certificate(folder)
        options = ["--tlsverify", "--tlscacert", certificate, "--tlscert", certificate, "--tlskey", key]
        files = {"ca_file": certificate, "cert_file": certificate, "key_file": key}
        tls = {"tls": {name: str(file) for name, file in files.items()}}
    try:
        with engine_module.Engine(options=["--host", address, *options]) as engine:
            images.load(engine, images.base)
            engine.definition = {"host": address, **tls}
            yield engine
    except engine_module.NoEngine as reason:
        cannot(reason)


@pytest.fixture
def own_engine(images):
    """Makes an engine with the base image for this test alone; DISK is the size of its disk."""
    started = []

    def make(disk=None):
        try:
            started.append(engine_module.Engine(disk).__enter__())
        except engine_module.NoEngine as reason:
            cannot(reason)
        images.load(started[-1], images.base)
        return started[-1]

    yield make
    for engine in started:
        engine.__exit__()


@pytest.fixture
def registry():
    """A registry for one test."""
    with registry_module.Registry() as registry:
        yield registry


@pytest.fixture(autouse=True)
def nothing_left(request):
    """Fails a test after which an engine holds more than before, but for cached images."""
    used = [request.getfixturevalue(name) for name in ENGINES if name in request.fixturenames]
    before = {engine: (snapshot.take(engine), snapshot.images(engine.api)) for engine in used}
    yield
    left = []
    for engine, (held, images) in before.items():
        if not engine.is_running():
            engine.start()
        if found := snapshot.added(engine, held):
            left.append(found)
        snapshot.clear(engine, images)
    assert not left, f"left behind: {left}"


@pytest.fixture
def docker_server(engine):
    """Starts a server whose environment `box` has the definition given."""
    return lambda *arguments, **more: server_module.DockerServer(engine, *arguments, **more)


@pytest.fixture
def started(docker_server):
    """Starts a server that has been spoken to."""
    def start(definition=None, **more):
        server = docker_server(definition, **more)
        server.initialize()
        return server

    return start


@pytest.fixture
def podman_server(podman):
    """The same with Podman."""
    return lambda *arguments, **more: server_module.DockerServer(podman, *arguments, **more)
