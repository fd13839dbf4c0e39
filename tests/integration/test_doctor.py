"""What `pyexecd doctor` finds beside the kernel: engines of Docker's kind."""

import contextlib
import http.server
import json
import os
import re
import signal
import socket
import socketserver
import stat
import subprocess
import threading
import time

import pytest

import leftovers

ESCAPE = "\x1b[2J"
VERSION = {
    "Version": "20.10.24+dfsg1", "ApiVersion": "1.41",
    "Components": [{"Name": "Engine", "Version": "20.10.24+dfsg1"},
                   {"Name": "runc", "Version": "1.1.5+ds1",
                    "Details": {"GitCommit": "1.1.5+ds1-1+deb12u1"}}],
}
INFO = {
    "CgroupVersion": "2", "CgroupDriver": "systemd", "MemoryLimit": True, "PidsLimit": False,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=default", "name=rootless"],
    "Runtimes": {"io.containerd.runc.v2": {}, "runc": {}, "runsc": {}}, "DefaultRuntime": "runc",
}
PODMAN = {
    "Version": "4.3.1", "ApiVersion": "1.41",
    "Components": [{"Name": "Podman Engine", "Version": "4.3.1"},
                   {"Name": "OCI Runtime (runc)", "Version": "runc version 1.3.3\nspec: 1.0.2",
                    "Details": {"Package": "runc_1.3.3-1_amd64"}}],
}


@contextlib.contextmanager
def engine(path, version, info):
    """Something that answers like an engine, at a socket."""
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"OK"
            if not self.path.endswith("_ping"):
                body = json.dumps(version if self.path.endswith("/version") else info).encode()
            self.send_response(200)
            self.send_header("Api-Version", "1.41")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(str(path), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"unix://{path}"
        finally:
            server.shutdown()
            thread.join()


def doctor(*arguments, host=None, **options):
    """Its exit code, and the lines of each heading."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("DOCKER_")}
    if host:
        environment["DOCKER_HOST"] = host
    result = subprocess.run([os.environ["PYEXECD"], "doctor", *map(str, arguments)],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                            timeout=180, env=environment, **options)
    sections = {}
    for line in result.stdout.splitlines():
        if not line.startswith(" "):
            lines = sections.setdefault(line, [])
        else:
            lines.append(line)
    return result.returncode, sections


def line_of(lines, name):
    (line,) = [line for line in lines if re.match(rf"  .{{4}} {re.escape(name)} ", line)]
    return line


@pytest.fixture
def needs_docker(tmp_path):
    """A configuration with docker environments at these hosts."""
    def write(*hosts):
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps({"default_environment": "d0", "environments": {
            f"d{i}": {"type": "docker", **({"host": host} if host else {})}
            for i, host in enumerate(hosts)}}))
        path.chmod(0o600)
        return path
    return write


def test_an_engine_that_answers_is_described(tmp_path):
    with engine(tmp_path / "socket", VERSION, INFO) as host:
        status, sections = doctor(host=host)
    lines = sections["docker"]
    assert status == 0
    assert f"{host}: Docker 20.10.24+dfsg1, API 1.41" in line_of(lines, "engine")
    assert line_of(lines, "engine").startswith("  yes ")
    assert line_of(lines, "its cgroups").endswith(
        "version 2, by systemd; processes cannot be limited")
    assert line_of(lines, "its security").endswith(" apparmor, seccomp (default), rootless")
    assert line_of(lines, "rootless").endswith(" yes")
    assert line_of(lines, "its runtimes").endswith(" runc (default), runsc")
    assert line_of(lines, "runc").endswith(" 1.1.5+ds1 (1.1.5+ds1-1+deb12u1)")


def test_podman_says_it_in_its_own_way(tmp_path):
    with engine(tmp_path / "socket", PODMAN, INFO) as host:
        lines = doctor(host=host)[1]["docker"]
    assert "Podman 4.3.1, API 1.41" in line_of(lines, "engine")
    assert line_of(lines, "runc").endswith(" 1.3.3 (runc_1.3.3-1_amd64)")


@pytest.mark.parametrize("version, info", [({}, {}), ([], []), ({"Components": [7, {}]}, {
    "SecurityOptions": [7], "Runtimes": [7]}), ({"Version": ESCAPE}, {"DefaultRuntime": 7})])
def test_an_engine_that_answers_oddly_does_no_harm(tmp_path, version, info):
    with engine(tmp_path / "socket", version, info) as host:
        status, sections = doctor(host=host)
    assert status == 0
    assert "(unknown)" in line_of(sections["docker"], "engine") or "?[2J" in str(sections)
    assert ESCAPE not in "\n".join(sections["docker"])


def test_without_an_engine_nothing_is_said_of_it(tmp_path):
    status, sections = doctor(host=f"unix://{tmp_path}/nowhere")
    assert status == 0 and "docker" not in sections


def test_an_engine_that_is_needed_and_not_there_is_told(tmp_path, needs_docker):
    config = needs_docker(None, None, f"unix://{tmp_path}/elsewhere")
    _, sections = doctor("-c", config, host=f"unix://{tmp_path}/nowhere")
    first, second = sections["docker"]  # the same one is looked at once
    assert first.startswith("  no   engine ") and f"{tmp_path}/nowhere: No such file" in first
    assert "an engine is installed" in first or "no engine seems to be installed" in first
    assert f"{tmp_path}/elsewhere: No such file" in second


@pytest.mark.once
def test_an_engine_that_does_not_answer_is_not_waited_for(tmp_path, needs_docker):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "socket"))
        silent.listen()
        started = time.monotonic()
        status, sections = doctor("-c", needs_docker(f"unix://{tmp_path}/socket"))
    assert 4.5 < time.monotonic() - started < 100  # it is asked, and then tried as by a call
    assert status == 1 and "no script can be run" in sections["environments"][0]
    (line,) = sections["docker"]
    assert line.startswith("  no   engine ") and "in 5 seconds" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every socket")
def test_an_engine_without_permission_names_the_group(tmp_path, needs_docker):
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind(str(tmp_path / "socket"))
        closed.listen()
        (tmp_path / "socket").chmod(0)
        (line,) = doctor("-c", needs_docker(f"unix://{tmp_path}/socket"))[1]["docker"]
    assert "no permission" in line and "must be in the group" in line


def test_a_trial_that_does_not_start_is_not_said_to_have_been_held(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"environments": {"broken": {"type": "system", "executable": "/bin/false"}},
                                  "default_environment": "broken"}))
    status, sections = doctor("-c", str(config))
    first, second = sections["environments"][:2]
    assert status == 1 and "no script can be run: " in first and "/bin/false" in first
    assert second.split()[0] == "isolation" and "did not start; planned: " in second


# What venvs are made from


def script_at(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(stat.S_IRWXU)


def test_pythons_for_venvs_are_listed_once_each():
    status, sections = doctor()
    pythons = [line for line in sections["venv"] if re.match(r"  yes  Python 3\.\d+\.\d+ +/", line)]
    assert status == 0 and pythons
    paths = [os.path.realpath(re.search(r" (/[^;]+)", line).group(1)) for line in pythons]
    assert len(paths) == len(set(paths))
    assert re.match(r"  (yes|no ) +uv ", sections["venv"][0])


def test_a_python_without_ensurepip_says_what_to_install(tmp_path, monkeypatch):
    python = tmp_path / "python3"  # answers as one would
    script_at(python, f"printf '%s\\0' python {python} 3.99.1 {tmp_path}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    lines = doctor()[1]["venv"]
    assert "; no ensurepip, so its venvs get no pip" in line_of(lines, "Python 3.99.1")
    (tmp_path / "lib/python3.99/ensurepip").mkdir(parents=True)
    (tmp_path / "lib/python3.99/ensurepip/__init__.py").touch()
    assert line_of(doctor()[1]["venv"], "Python 3.99.1").endswith(f" {python}")


def test_pythons_are_asked_in_a_sandbox(tmp_path, monkeypatch):
    python = tmp_path / "python3"
    script_at(python, f"touch {tmp_path}/changed\nprintf '%s\\0' python {python} 3.99.1 {tmp_path}")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sections = doctor()[1]
    if not any("isolation        sandbox" in line for line in sections["environments"]):
        pytest.skip("this machine has no sandbox")
    assert line_of(sections["venv"], "Python 3.99.1")
    assert not (tmp_path / "changed").exists()


@pytest.mark.once
def test_pythons_that_hang_are_not_waited_for(tmp_path, monkeypatch):
    for name in ("3.7.1", "3.8.1", "3.9.1"):
        script_at(tmp_path / ".pyenv/versions" / name / "bin/python3", f"sleep 300; echo {name}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    started = time.monotonic()
    status, sections = doctor()
    assert status == 0 and time.monotonic() - started < 150
    assert sections["venv"][-1].startswith("  ?    others ")


def test_a_signal_gives_up_the_environment_that_is_tried(tmp_path):
    slow = tmp_path / "python3"
    slow.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 60\n")
    slow.chmod(stat.S_IRWXU)
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"environments": {"slow": {"type": "system", "isolation": "none",
                                                            "executable": str(slow)}}}))
    config.chmod(0o600)
    process = subprocess.Popen([os.environ["PYEXECD"], "doctor", "-c", config],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert leftovers.until((tmp_path / "started").exists)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 128 + signal.SIGINT
    finally:
        process.kill()
        process.wait()


def test_every_path_that_is_not_there_is_named_as_by_check_config(tmp_path):
    path = tmp_path / "config.yaml"
    for read in ([], [f"{tmp_path}/a"]):  # without what keeps a server from starting, and with it
        path.write_text(json.dumps({"default_environment": "s", "environments": {
            "s": {"type": "system", "read": read},
            "v": {"type": "venv", "requirements_file": f"{tmp_path}/b", "pip_find_links": f"{tmp_path}/c"}}}))
        path.chmod(0o600)
        said = [subprocess.run([os.environ["PYEXECD"], *command, "--config", path], capture_output=True, text=True,
                               timeout=120) for command in (["doctor"], ["--check-config"])]
        assert [each.returncode for each in said] == [78, 78], said
        assert said[0].stderr == said[1].stderr and len(said[0].stderr.splitlines()) == 2 + len(read)


@pytest.mark.parametrize("start, is_told", [("warm", True), ("fresh", True), ("cold", False)])
def test_the_next_call_is_tried(tmp_path, start, is_told):
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps({"environments": {"system": {"type": "system", "start": start}}}))
    path.chmod(0o600)
    def told_warm():
        """Its lines, if it found the next call warm. It waits for a second and a half; a busy machine needs longer."""
        lines = doctor("--config", path)[1]["environments"]
        return lines if not is_told or any("warm: the next" in line for line in lines) or \
            not any("isolation        sandbox" in line for line in lines) else None

    lines = leftovers.until(told_warm) or doctor("--config", path)[1]["environments"]
    if any("isolation        sandbox" in line for line in lines) and is_told:
        assert re.match(r"  yes +start +warm: the next call starts in \d+\.\d ms", line_of(lines, "  start"))
    else:
        assert not any(" start  " in line for line in lines)
