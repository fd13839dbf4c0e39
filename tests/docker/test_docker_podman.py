"""The same with Podman's service, as far as it has it."""

import time

import pytest

import ag2_rows
import leftovers
import snapshot
from docker_server import TIMEOUTS, timed_out


@pytest.mark.release  # what Podman does in another way is below
class TestPodman(ag2_rows.Rows):
    @pytest.fixture
    def start(self, podman_server):
        return podman_server


def test_what_is_left_behind_is_seen(podman):
    before, images = snapshot.take(podman), snapshot.images(podman.api)
    made = podman.api.post("/containers/create", {"Image": "python:3.11-slim",
                                                  "Cmd": ["sleep", "60"]})
    podman.api.post(f"/containers/{made['Id']}/start")
    assert set(snapshot.added(podman, before, seconds=0)) >= {"containers", "shims", "cgroups"}
    snapshot.clear(podman, images)
    assert not snapshot.added(podman, before)


def test_a_script_runs(podman_server):
    with podman_server() as server:
        server.initialize()
        result = server.run("import os, sys; open('made', 'w'); print(os.getcwd());"
                            " print('err', file=sys.stderr); sys.exit(3)")
        assert (result["stdout"], result["stderr"], result["returncode"]) == \
            ("/workspace\n", "err\n", 3), result
        assert [file["path"] for file in result["files"]] == ["made"]


@pytest.mark.parametrize("code, returncode", [("import os; os.kill(os.getpid(), 11)", -11)])
def test_the_real_exit_status_comes_back(podman_server, code, returncode):
    with podman_server() as server:
        server.initialize()
        assert server.run(code)["returncode"] == returncode


def test_a_timeout_ends_what_runs_inside(podman_server, podman):
    with podman_server() as server:
        server.initialize()
        code = "import time; print('early', flush=True); time.sleep(1000)"
        timed_out(lambda timeout: server.run(code, arguments={"timeout": timeout}),
                  lambda result: result["stdout"] == "early\n")
        assert leftovers.until(lambda: podman.api.get("/containers/json", all=1) == [])


def test_memory_is_limited(podman_server):
    with podman_server({"limits": {"memory": "64MiB"}}) as server:
        server.initialize()
        assert server.run("x = bytearray(500 << 20)")["out_of_memory"]


def test_a_container_is_kept(podman_server, podman):
    deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(100)"
    with podman_server({"keep_container_running": True}) as server:
        server.initialize()
        assert server.run("open('/opt/there', 'w')")["success"]
        assert server.run("open('/opt/there')")["success"]
        for timeout in TIMEOUTS:  # it may not be deaf yet
            assert server.run(deaf, arguments={"timeout": timeout})["timed_out"]
            if not server.run("open('/opt/there')")["success"]:
                break
        else:
            raise AssertionError("the container is still there")
    assert leftovers.until(lambda: podman.api.get("/containers/json", all=1) == [])


def test_a_server_that_is_killed_ends_what_it_kept(podman_server, podman):
    server = podman_server({"keep_container_running": True})
    server.initialize()
    server.run("pass")
    server.kill()
    assert leftovers.until(lambda: podman.api.get("/containers/json") == [])
    for container in podman.api.get("/containers/json", all=1):
        podman.api.delete(f"/containers/{container['Id']}", force=1)


def test_an_image_is_built_from_a_dockerfile(podman_server, tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM python:3.11-slim\nARG WORD\nCOPY file /opt/file\n"
                                         "ENV WORD=$WORD\n")
    (tmp_path / "file").write_text("from the context")
    with podman_server({"dockerfile": str(tmp_path / "Dockerfile"),
                        "build_args": {"WORD": "hello"}}) as server:
        server.initialize()
        result = server.run("import os; print(os.environ['WORD'], open('/opt/file').read())")
        assert result["stdout"] == "hello from the context\n", result


def test_an_image_that_is_not_there(podman_server):
    with podman_server({"image": "localhost/nowhere/nothing:1", "pull": "never"}) as server:
        server.initialize()
        assert "does not have image localhost/nowhere/nothing:1" in server.run("pass")["error"]


@pytest.mark.parametrize("kept", [False, True])
def test_the_next_call_is_waited_for(podman_server, podman, kept):
    with podman_server({"start": "warm", "keep_container_running": kept}) as server:
        server.initialize()
        seen = [server.run("print(0)")]
        while not seen[-1]["timings"]["warm"]:
            assert len(seen) < 20
            time.sleep(1)
            seen.append(server.run(f"import sys; print({len(seen)}); print('err', file=sys.stderr); sys.exit(3)"))
        assert seen[-1]["stdout"] == f"{len(seen) - 1}\n"
        assert (seen[-1]["stderr"], seen[-1]["returncode"]) == ("err\n", 3)
    assert leftovers.until(lambda: podman.api.get("/containers/json", all=1) == [])


@pytest.mark.parametrize("kept", [False, True])
def test_what_waits_ends_with_a_server_that_is_killed(podman_server, podman, tmp_path, kept):
    state = {"XDG_STATE_HOME": str(tmp_path)}
    server = podman_server({"start": "warm", "keep_container_running": kept}, environment=state)
    server.initialize()
    server.run("pass")
    # Kept, it is there from the first call on; else this is the one that waits, or is about to.
    assert leftovers.until(lambda: len(podman.api.get("/containers/json")) == 1)
    time.sleep(3)
    server.kill()
    assert leftovers.until(lambda: podman.api.get("/containers/json") == [])
    with podman_server(environment=state) as server:
        server.initialize()
        assert leftovers.until(lambda: podman.api.get("/containers/json", all=1) == [])
