"""AG2's DockerPythonEnvironment: what it documents and does not do, and what it loses."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import time

import ag2_rows
import box
import leftovers
import pytest
import wheels
from docker_server import timed_out
from engine import ApiError

NAMES = "import os; print(sorted(os.listdir('/sys/class/net')))"


def containers(engine):
    """Every container of ENGINE, running or not, as it is inspected."""
    found = []
    for each in engine.api.get("/containers/json", all=1):
        with contextlib.suppress(ApiError):  # gone by now
            found.append(engine.api.get(f"/containers/{each['Id']}/json"))
    return found


def running(engine):
    return engine.api.get("/containers/json")


def error_of(server):
    """The error of a call that could not be run."""
    result = server.run("print(1)")
    assert not result["success"] and result["returncode"] is None, result
    return result["error"]


def start_in_container(server, engine):
    """A call that goes on until it is cancelled, and the container it is in."""
    assert server.run("print(1)")["success"]  # prepared, so that this container is the only one
    leftovers.until(lambda: not containers(engine))
    call = server.start("import time; time.sleep(100)")
    assert leftovers.until(lambda: running(engine))
    return call, containers(engine)[0]


@pytest.fixture
def wheel_folder(tmp_path):
    """A directory of wheels."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheels.wheel(folder, "widget", "2.0")
    wheels.wheel(folder, "gadget", "1.5", requires=["widget>=2"])
    wheels.wheel(folder, "gadget", "2.5")
    return folder


@pytest.fixture
def index(wheel_folder, engine):
    """What a definition says to install them from an index, which containers can reach."""
    with wheels.Index(wheel_folder, engine.gateway) as index:
        yield {"pip_index_url": index.url}


class TestFreshContainer(ag2_rows.Rows):
    @pytest.fixture
    def start(self, docker_server):
        return docker_server


class TestKeptContainer(ag2_rows.Rows):
    @pytest.fixture
    def start(self, docker_server):
        return lambda definition=None, **more: docker_server(
            {"keep_container_running": True, **(definition or {})}, **more)


# The image


def test_the_default_image_is_the_one_that_ag2_names(started, engine, images):
    with started() as server:
        call, container = start_in_container(server, engine)
        assert container["Image"] == images.base.id
        server.cancel(call)


def test_an_image_that_is_there_is_not_pulled(started, engine, images, registry):
    name = registry.serve(images.derived("asked", Labels={"asked": "yes"}))
    engine.api.post("/images/create", fromImage=name)
    registry.requests.clear()
    with started({"image": name}) as server:
        assert server.run("print(1)")["success"]
    assert registry.requests == []


def test_an_image_that_is_missing_is_pulled_once(started, images, registry):
    name = registry.serve(images.derived("asked", Labels={"asked": "yes"}))
    with started({"image": name}) as server:
        assert server.run("print(1)")["success"]
        asked = len(registry.requests)
        assert asked > 0
        assert server.run("print(1)")["success"]
    assert len(registry.requests) == asked


def test_an_image_with_an_entrypoint_runs_the_script_all_the_same(started):
    with started({"image": "entrypoint"}) as server:
        assert server.run("print(6 * 7)")["stdout"] == "42\n"


def test_no_docker_command_is_needed(started, tmp_path):
    with started(environment={"PATH": str(tmp_path)}) as server:
        assert server.run("print(6 * 7)")["stdout"] == "42\n"


def test_the_engine_is_not_needed_before_a_call_needs_it(docker_server, tmp_path):
    with docker_server(environment={"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}) as server:
        server.initialize()
        assert f"{tmp_path}/none.sock" in error_of(server)


# A Dockerfile


def dockerfile(folder, text):
    (folder / "Dockerfile").write_text(text)
    return str(folder / "Dockerfile")


def test_a_dockerfile_is_built_with_its_arguments(started, tmp_path):
    path = dockerfile(tmp_path, "FROM python:3.11-slim\nARG COLOUR=red\nENV COLOUR=$COLOUR\n"
                                "COPY given.txt /given.txt\n")
    (tmp_path / "given.txt").write_text("from the context")
    with started({"dockerfile": path, "build_args": {"COLOUR": "blue"}}) as server:
        result = server.run("import os; print(open('/given.txt').read(), os.environ['COLOUR'])")
        assert result["stdout"] == "from the context blue\n", result


def test_a_dockerfile_without_a_directory_has_its_directory_as_context(engine, tmp_path):
    """AG2's context is empty then. Relative paths start at the configuration file."""
    dockerfile(tmp_path, "FROM python:3.11-slim\nCOPY given.txt /given.txt\n")
    (tmp_path / "given.txt").write_text("given")
    box = {"type": "docker", "dockerfile": "Dockerfile"}
    configuration = tmp_path / "config.yaml"
    configuration.write_text(json.dumps({"environments": {"box": box},
                                         "default_environment": "box"}))
    configuration.chmod(0o600)
    with leftovers.Watched("--config", str(configuration),
                                    environment=engine.environment) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": "print(open('/given.txt').read())"},
                                  timeout=180)
        assert result["structuredContent"]["stdout"] == "given\n", result


def test_a_dockerfile_that_is_not_there_is_named(started, tmp_path):
    with started({"dockerfile": str(tmp_path / "Dockerfile")}) as server:
        assert str(tmp_path / "Dockerfile") in error_of(server)


def test_a_build_that_fails_shows_its_last_lines(started, tmp_path):
    path = dockerfile(tmp_path, "FROM python:3.11-slim\nRUN echo it went wrong here && exit 3\n")
    with started({"dockerfile": path}) as server:
        error = error_of(server)
    assert "it went wrong here" in error and "3" in error


# Packages


def test_packages_are_installed_once_and_found_again(started, engine, index):
    """AG2 installs into each container again."""
    definition = {"pip_packages": ["gadget<2"], **index}
    with started(definition) as server:
        result = server.run("import gadget, widget; print(gadget.VERSION, widget.VERSION)")
        assert result["stdout"] == "1.5 2.0\n", result
        state = {"XDG_STATE_HOME": server.private["XDG_STATE_HOME"]}
        made = engine.api.get("/images/json")
        with started(definition, environment=state) as again:
            assert again.run("import gadget; print(gadget.VERSION)")["stdout"] == "1.5\n"
        assert {each["Id"] for each in engine.api.get("/images/json")} == \
            {each["Id"] for each in made}


def test_packages_of_a_requirements_file_are_installed(started, index, tmp_path):
    (tmp_path / "requirements.txt").write_text("gadget==2.5\n")
    with started({"requirements_file": str(tmp_path / "requirements.txt"), **index}) as server:
        assert server.run("import gadget; print(gadget.VERSION)")["stdout"] == "2.5\n"


def test_a_package_that_cannot_be_installed_is_an_error_not_a_warning(started, index):
    with started({"pip_packages": ["no-such-gadget"], **index}) as server:
        assert "no-such-gadget" in error_of(server)


def test_a_requirements_file_that_is_not_there_is_an_error_not_a_warning(started, tmp_path):
    with started({"requirements_file": str(tmp_path / "none.txt")}) as server:
        assert str(tmp_path / "none.txt") in error_of(server)


# The container


def test_its_name_begins_with_the_prefix(started, engine):
    with started({"container_name_prefix": "ours_"}) as server:
        call, container = start_in_container(server, engine)
        assert re.fullmatch("/ours_[0-9a-z_-]+", container["Name"])
        server.cancel(call)


def test_the_working_directory_is_mounted_at_workspace(started, tmp_path):
    """AG2 documents that; its scripts write where nobody finds it."""
    with started(config={"working_directory": str(tmp_path)}) as server:
        result = server.run("import os; print(os.getcwd(), __file__)\nopen('made', 'w').write('x')")
        assert result["stdout"] == "/workspace /workspace/script.py\n", result
        assert (tmp_path / "made").read_text() == "x"


def test_volumes_are_read_only_unless_said(started, tmp_path):
    for name in ("read", "write"):
        (tmp_path / name).mkdir(mode=0o777)
        (tmp_path / name / "given").write_text(name)
    volumes = {str(tmp_path / "read"): "/read",
               str(tmp_path / "write"): {"path": "/write", "mode": "rw"}}
    with started({"volumes": volumes}) as server:
        result = server.run("print(open('/read/given').read(), open('/write/given').read())\n"
                            "open('/write/made', 'w').write('x')\nopen('/read/made', 'w')")
        assert result["stdout"] == "read write\n", result
        assert "Read-only file system" in result["stderr"]
    assert (tmp_path / "write" / "made").read_text() == "x"


def test_there_is_no_network_unless_said(started):
    with started() as server:
        assert server.run(NAMES)["stdout"] == "['lo']\n"
    with started({"network": "bridge"}) as server:
        assert server.run(NAMES)["stdout"] == "['eth0', 'lo']\n"


def test_a_network_is_chosen_by_its_name(started, engine):
    engine.api.post("/networks/create", {"Name": "ours"})
    with started({"network": "ours"}) as server:
        assert "eth0" in server.run(NAMES)["stdout"]
    engine.api.delete("/networks/ours")


def test_processors_are_limited(started, engine):
    with started({"limits": {"cpus": 0.5}}) as server:
        call, container = start_in_container(server, engine)
        assert container["HostConfig"]["NanoCpus"] == 500_000_000
        server.cancel(call)


def test_gpus_are_asked_of_the_engine(started):
    """There is none here, so the engine's refusal shows that it was asked."""
    with started({"gpus": "all"}) as server:
        assert "gpu" in error_of(server).lower()


def test_a_script_is_not_root_in_all_but_name(started):
    """AG2's is, with the capabilities that the engine gives by default."""
    with started() as server:
        lines = server.run("print(open('/proc/self/status').read())")["stdout"]
    for name in ("CapEff", "CapPrm", "CapBnd"):
        assert re.search(rf"^{name}:\t0+$", lines, re.MULTILINE), lines
    assert "NoNewPrivs:\t1" in lines


class AsNobody(box.Box):
    """The program run by a user without rights, from a folder that such a user can read."""

    def _start(self):
        program = pathlib.Path(os.environ["PYEXECD"])
        for path in program.parent.glob("pyexecd*"):
            if path.is_file() and os.access(path, os.X_OK):
                shutil.copy(path, self.folder)
        self.command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                        str(self.folder / program.name)]
        for place in (self.home, self.folder):
            os.chown(place, 65534, 65534)
        super()._start()

    def _write_config(self):
        super()._write_config()
        os.chown(self.folder / "config.yaml", 65534, 65534)


def test_files_written_inside_belong_to_the_servers_user_outside(engine):
    engine.socket.chmod(0o666)
    engine.folder.chmod(0o755)
    with AsNobody({"type": "docker"}, environment=engine.environment) as server:
        server.initialize()
        result = server.run("import os; open('made', 'w').write('x'); print(os.getuid())")
        assert result["stdout"] == "65534\n", result
        made = (pathlib.Path(result["script"]).parent / "made").stat()
    assert (made.st_uid, made.st_gid) == (65534, 65534)


# Its life


def test_a_container_of_a_call_is_removed_with_it(started, engine):
    with started() as server:
        assert server.run("print(1)")["success"]
        assert leftovers.until(lambda: not containers(engine))


def test_without_cleanup_the_container_is_left_for_who_wants_to_look(started, engine):
    with started({"cleanup_container": False}) as server:
        assert server.run("open('/tmp/made', 'w').write('x')")["success"]
        assert leftovers.until(lambda: len(containers(engine)) == 1)  # one that was asked for its Python goes
        left = containers(engine)
    assert [each["State"]["Running"] for each in left] == [False]
    expiry = [value for name, value in left[0]["Config"]["Labels"].items() if "deadline" in name]
    assert float(expiry[0]) > time.time()
    engine.api.delete(f"/containers/{left[0]['Id']}")


def test_a_kept_container_keeps_files_and_packages_between_calls(started, wheel_folder):
    with started({"keep_container_running": True,
                  "volumes": {str(wheel_folder): "/wheels"}}) as server:
        code = ("import subprocess\nopen('/tmp/kept', 'w').write('42')\n"
                "subprocess.run(['pip', 'install', '--no-index', '--find-links', '/wheels', 'gadget'],"
                " check=True)")
        result = server.run(code)
        assert result["success"], result
        result = server.run("import gadget; print(open('/tmp/kept').read(), gadget.VERSION)")
        assert result["stdout"] == "42 2.5\n", result


def test_a_fresh_container_keeps_neither(started):
    with started() as server:
        assert server.run("open('/tmp/kept', 'w').write('42')")["success"]
        result = server.run("import os; print(os.path.exists('/tmp/kept'))")
        assert result["stdout"] == "False\n"


def test_a_kept_container_is_one_for_all_calls(started, engine):
    with started({"keep_container_running": True}) as server:
        names = {server.run("import socket, os; print(open('/etc/hostname').read())")["stdout"]
                 for _ in range(3)}
        assert len(names) == 1
        assert leftovers.until(lambda: len(containers(engine)) == 1)
    assert leftovers.until(lambda: not containers(engine))


def test_a_script_that_does_not_end_at_its_timeout_costs_the_kept_container(started, engine):
    """AG2 goes on beside the script that did not end."""
    deaf = ("import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "print('deaf', flush=True)\ntime.sleep(100)")
    with started({"keep_container_running": True}) as server:
        assert server.run("open('/tmp/kept', 'w').write('42')")["success"]
        before = containers(engine)
        result = timed_out(lambda timeout: server.run(deaf, arguments={"timeout": timeout}),
                           lambda result: result["stdout"] == "deaf\n")
        assert result["signal"] == "SIGKILL"
        assert server.run("import os; print(os.path.exists('/tmp/kept'))")["stdout"] == "False\n"
        assert [each["Id"] for each in containers(engine)] != [each["Id"] for each in before]


def test_the_startup_timeout_is_used(started, engine):
    """AG2 has it and never looks at it. A containerd that does not answer starts nothing."""
    for timeout in (4, 20):  # in which a container starts while containerd answers
        with started({"container_startup_timeout": timeout}) as server:
            if not server.run("print(1)")["success"] and timeout == 4:
                continue
            os.kill(engine.containerd.process.pid, signal.SIGSTOP)
            try:
                begun = time.monotonic()
                error = error_of(server)
            finally:
                os.kill(engine.containerd.process.pid, signal.SIGCONT)
            assert time.monotonic() - begun < 100
            assert f"{timeout} seconds" in error, error
            break


def test_a_container_of_a_killed_server_ends_itself_and_the_next_server_removes_it(started, engine):
    """AG2's stays for ever."""
    server = started()
    try:
        assert server.run("print(1)")["success"]
        server.start("import time; time.sleep(1000)", timeout=1)
        assert leftovers.until(lambda: running(engine))
        server.process.kill()
        server.process.wait()
        assert leftovers.until(lambda: not running(engine)), "it goes on"
        state = {"XDG_STATE_HOME": server.private["XDG_STATE_HOME"]}
        with started(environment=state) as following:
            assert following.run("print(1)")["success"]
            assert leftovers.until(lambda: not containers(engine))
    finally:
        server.kill()
