"""Environments that calls define: what is found again, what is refused, and who may."""

import fcntl
import os
import signal
import subprocess
import time

import pytest

import client
import wheels

PYTHON = "/usr/bin/python3"
WAIT = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)"


def has_ensurepip():
    return subprocess.run([PYTHON, "-c", "import ensurepip; ensurepip.version()"],
                          capture_output=True).returncode == 0


needs_pip = pytest.mark.skipif(not has_ensurepip(), reason="no python3-venv on this machine")


@pytest.fixture(scope="module")
def server():
    """One server with the defaults, for the tests that leave nothing behind."""
    with client.Server() as server:
        server.initialize()
        yield server


@pytest.fixture
def shared(tmp_path):
    """A directory that calls may name, beside one that they may not."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "private").mkdir()
    return tmp_path / "shared"


@pytest.fixture
def sharing(shared):
    with client.Server(config={"callers": {"allowed_paths": [str(shared)]}}) as server:
        server.initialize()
        yield server


def run(server, definition, code="print(6 * 7)", wait=client.TIMEOUT, **arguments):
    return server.call_tool("run_python", {"code": code, "environment_definition": definition,
                                           **arguments}, timeout=wait)


def refusal(server, definition, **arguments):
    """The words in which DEFINITION is refused as an argument."""
    result = run(server, definition, **arguments)
    assert result["isError"]
    assert "structuredContent" not in result
    block, *links = result["content"]
    assert all(link["type"] == "resource_link" for link in links)
    return block["text"]


def succeed(server, definition, code="print(6 * 7)", **more):
    result = run(server, definition, code, **more)
    structured = result["structuredContent"]
    assert structured["success"], structured
    assert structured["environment"] == "inline"
    return structured


# Files that scripts could have put there


def put_fifo(path):
    os.mkfifo(path)


def put_link(path):
    path.symlink_to(path.parent.parent / "private" / "secret.txt")


def put_directory(path):
    path.mkdir()


def put_endless(path):
    path.touch()
    os.truncate(path, 1 << 40)


def put_leased(path):
    path.write_text("")
    return path.open("r+")


@pytest.mark.parametrize("put", [put_fifo, put_link, put_directory, put_endless, put_leased],
                         ids=lambda put: put.__name__)
def test_what_is_no_file_is_an_error_of_that_call_and_holds_up_nobody(sharing, shared, put):
    (shared.parent / "private" / "secret.txt").write_text("the secret of somebody else")
    path = shared / "requirements.txt"
    held = put(path)
    if held:
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    began = time.monotonic()
    result = run(sharing, {"type": "venv", "requirements_file": str(path)})
    assert result["isError"]
    assert "secret of" not in str(result)
    assert succeed(sharing, {"type": "system"})["stdout"] == "42\n"
    assert time.monotonic() - began < 40  # a lease holds up whoever waits for it for 45 s
    if held:
        held.close()


# What works without a word in the configuration


def test_a_call_defines_its_environment(server):
    structured = succeed(server, {"type": "system"})
    assert structured["stdout"] == "42\n"


def test_variables_and_times_are_the_definitions_own(server):
    definition = {"type": "system", "environment": {"GREETING": "hello"}, "timeout": 4}
    structured = succeed(server, definition, "import os; print(os.environ['GREETING'])")
    assert structured["stdout"] == "hello\n"
    structured = run(server, definition, "import time; time.sleep(60)")["structuredContent"]
    assert structured["timed_out"] and structured["duration"] < 40


def test_the_timeout_of_a_call_is_held_against_its_own_environment(server):
    definition = {"type": "system", "max_timeout": 40}
    assert "allows at most 40" in refusal(server, definition, timeout=41)
    succeed(server, definition, timeout=40)


def test_limits_hold(server):
    definition = {"type": "system", "limits": {"output": 1024}}
    structured = succeed(server, definition, "print('x' * 5000)")
    assert structured["truncated"] and len(structured["stdout"]) < 1500


def test_nulls_stand_for_nothing(server):
    succeed(server, {"type": "system", "image": None, "pip_packages": None, "environment": None})


def test_files_stay_where_they_are(server):
    succeed(server, {"type": "system"}, "open('kept.txt', 'w').write('here')")
    other = {"type": "system", "environment": {"OTHER": "1"}}
    assert succeed(server, other, "print(open('kept.txt').read())")["stdout"] == "here\n"


# Found again


@pytest.fixture
def counting(tmp_path, shared):
    """A Python in SHARED that writes a line whenever it is asked what it is."""
    log = tmp_path / "asked"
    python = shared / "python"
    python.write_text(f"#!/bin/sh\ncase $* in *script.py) ;; *) echo x >>{log} ;; esac\n"
                      f"exec {PYTHON} \"$@\"\n")
    python.chmod(0o755)
    return python, log


def test_the_same_definition_is_prepared_once(shared, counting):
    python, log = counting
    definition = {"type": "system", "executable": str(python)}
    config = {"callers": {"allowed_paths": [str(shared)]},
              "environments": {"system": {"type": "system", "isolation": "none"}}}  # the Python keeps a log
    with client.Server(config=config) as server:
        server.initialize()
        succeed(server, definition)
        asked = log.read_text()
        assert asked
        for again in (definition, {"executable": str(python), "type": "system"},
                      {"type": "system", "executable": f"{python.parent}//../shared/python"}):
            succeed(server, again)
        assert log.read_text() == asked
        succeed(server, {**definition, "max_timeout": 9})
        assert log.read_text() == 2 * asked


def test_many_different_definitions(server):
    for number in range(40):
        definition = {"type": "system", "environment": {"NUMBER": str(number)}}
        structured = succeed(server, definition, "import os; print(os.environ['NUMBER'])")
        assert structured["stdout"] == f"{number}\n"


def test_more_definitions_at_once_than_one_caller_may_use(tmp_path):
    config = {"limits": {"concurrent_runs": 2, "queued_runs": 200}, "working_directory": str(tmp_path)}
    with client.Server(config=config) as server:
        server.initialize()
        calls = [server.start_tool("run_python", {
            "code": WAIT,
            "environment_definition": {"type": "system", "environment": {"N": str(number)}}})
            for number in range(40)]
        server.request("ping")  # all have been taken
        (tmp_path / "go").touch()
        results = [server.wait(call)["result"] for call in calls]
        refused = [result["content"][0]["text"] for result in results
                   if "structuredContent" not in result]
        assert len(refused) == 24
        assert all("16 environments that your calls have defined are in use" in text for text in refused)
        succeed(server, {"type": "system", "environment": {"N": "later"}})


# Virtual environments


@pytest.fixture
def venv_server(tmp_path, shared, monkeypatch):
    """A server whose operator has set up a package index of the tests' own."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "index").mkdir()
    for version in ("1.0", "2.0"):
        wheels.wheel(tmp_path / "index", "gadget", version)
    with wheels.Index(tmp_path / "index") as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.setenv("PIP_TRUSTED_HOST", index.host)
        with client.Server(config={"callers": {"allowed_paths": [str(shared)]}}) as server:
            server.initialize()
            server.index = index
            yield server


@needs_pip
def test_packages_are_installed_once(venv_server):
    definition = {"type": "venv", "python_version": "3", "pip_packages": ["gadget<2"]}
    code = "import gadget, sys; print(gadget.VERSION, sys.prefix != sys.base_prefix)"
    assert succeed(venv_server, definition, code, wait=120)["stdout"] == "1.0 True\n"
    asked = len(venv_server.index.requests)
    again = succeed(venv_server, dict(reversed(definition.items())), code)
    assert again["stdout"] == "1.0 True\n"
    assert len(venv_server.index.requests) == asked
    other = {**definition, "pip_packages": ["gadget"]}
    assert succeed(venv_server, other, code, wait=120)["stdout"] == "2.0 True\n"


@needs_pip
def test_the_steps_of_its_preparation_are_told(venv_server):
    arguments = {"code": "pass", "environment_definition": {"type": "venv",
                                                            "pip_packages": ["gadget==2.0"]}}
    assert not venv_server.call_tool("run_python", arguments, 7, timeout=120)["isError"]
    told = [each.get("message", "") for each in venv_server.progress(7)]
    assert any("gadget" in message for message in told), told


@needs_pip
def test_a_package_that_is_not_there_is_an_error_of_the_preparation(venv_server):
    result = run(venv_server, {"type": "venv", "pip_packages": ["nothing-like-it"]}, wait=120)
    error = result["structuredContent"]["error"]
    assert 'cannot prepare environment "inline": installing' in error
    assert "nothing-like-it" in error


def test_a_venv_is_made_where_the_call_says(venv_server, shared):
    definition = {"type": "venv", "venv_path": str(shared / "new")}
    code = "import sys; print(sys.prefix)"
    assert succeed(venv_server, definition, code)["stdout"] == f"{shared}/new\n"
    assert (shared / "new" / "pyvenv.cfg").exists()
    (shared / "up").symlink_to("../private")
    for path in (shared / "up" / "new", shared.parent / "new", f"{shared}/none/../../new"):
        assert "does not lead into" in refusal(venv_server, {"type": "venv",
                                                             "venv_path": str(path)})
    assert sorted(os.listdir(shared.parent / "private")) == []


# Refusals


@pytest.mark.parametrize("definition, words", [
    ({"packages": []}, "environment_definition is missing \"type\""),
    ({"type": "podman"}, "environment_definition.type must be one of"),
    ({"type": "docker", "image": "evil/x:1"},
     "environment_definition.image: \"evil/x:1\" is not among callers.allowed_images (python:*)"),
    ({"type": "docker", "image": "evil/python:3"}, "is not among callers.allowed_images"),
    ({"type": "docker", "gpus": "all"}, "environment_definition.gpus: only the operator can set"),
    ({"type": "docker", "extra_hosts": ["a:192.0.2.1"]}, "environment_definition.extra_hosts: only the operator"),
    ({"type": "docker", "host": "unix:///x"}, "environment_definition.host: only the operator"),
    ({"type": "docker", "volumes": {"/": "/x"}}, "callers.allowed_paths is empty"),
    ({"type": "docker", "network": "bridge"}, "environment_definition.network: only the operator"),
    ({"type": "venv", "venv_path": "/tmp/v"}, "callers.allowed_paths is empty"),
    ({"type": "venv", "pip_index_url": "https://x/"}, "pip_index_url: only the operator"),
    ({"type": "venv", "pip_packages": ["-r/etc/passwd"]}, "environment_definition.pip_packages.0"),
    ({"type": "system", "executable": "/usr/bin/python3"}, "callers.allowed_paths is empty"),
    ({"type": "system", "timeout": 601}, "more than the server's max_timeout, which is 600"),
    ({"type": "system", "limits": {"memory": "1TiB"}}, "memory is more than the server's"),
    ({"type": "system", "executabel": "/x"}, "environment_definition.executabel: unknown key"),
])
def test_a_refusal_names_the_rule(server, definition, words):
    assert words in refusal(server, definition)


def test_one_environment_at_a_time(server):
    assert "both given" in refusal(server, {"type": "system"}, environment="system")


def test_what_is_no_object_is_an_argument_that_does_not_fit(server):
    assert "environment_definition must be object" in refusal(server, "system")
    assert "environment_definition must be object" in refusal(server, "[\"system\"]")
    assert succeed(server, "{\"type\": \"system\"}")["stdout"] == "42\n"


# Paths


def test_a_path_in_an_allowed_directory_can_be_used(sharing, counting):
    python, _ = counting
    assert succeed(sharing, {"type": "system", "executable": str(python)})["stdout"] == "42\n"


def test_a_link_out_of_it_cannot(sharing, shared):
    (shared / "link").symlink_to(PYTHON)
    (shared / "up").symlink_to("../private")
    private = shared.parent / "private"
    (private / "python").symlink_to(PYTHON)
    for path in (shared / "link", shared / "up" / "python", private / "python",
                 f"{shared}/../private/python", f"{shared}x", "/proc/self/root/usr/bin/python3"):
        assert "does not lead into" in refusal(sharing, {"type": "system", "executable": str(path)})


def test_the_python_of_a_venv_has_its_packages(sharing, shared):
    """It is a link out of the allowed directory, and has its packages by its own place."""
    for folder in (shared, shared.parent / "private"):
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = shared / "venv" / "bin" / "python3"
    packages, = (shared / "venv" / "lib").glob("*/site-packages")
    (packages / "gadget.py").write_text("print('found')")
    definition = {"type": "system", "executable": str(python)}
    assert succeed(sharing, definition, "import gadget")["stdout"] == "found\n"
    private = shared.parent / "private" / "venv" / "bin" / "python3"
    assert "does not lead into" in refusal(sharing, {"type": "system", "executable": str(private)})


def test_a_link_that_is_swapped_between_calls_is_seen(sharing, counting):
    python, _ = counting
    link = python.parent / "link"
    link.symlink_to("python")
    definition = {"type": "system", "executable": str(link)}
    succeed(sharing, definition)
    link.unlink()
    link.symlink_to(PYTHON)
    assert "does not lead into" in refusal(sharing, definition)


def test_a_file_that_becomes_a_link_while_a_call_waits_is_not_used(tmp_path, shared, counting):
    python, _ = counting
    config = {"limits": {"concurrent_runs": 1}, "callers": {"allowed_paths": [str(shared)]},
              "environments": {"system": {"type": "system", "isolation": "none"}},  # the Python lies in ...
              "working_directory": str(tmp_path)}
    with client.Server(config=config) as server:
        server.initialize()
        first = server.start_tool("run_python", {"code": WAIT})
        second = server.start_tool("run_python", {
            "code": "print(1)",
            "environment_definition": {"type": "system", "executable": str(python)}})
        server.request("ping")  # both have been taken
        python.unlink()
        python.symlink_to(PYTHON)
        (tmp_path / "go").touch()
        assert server.wait(first)["result"]["structuredContent"]["success"]
        structured = server.wait(second)["result"]["structuredContent"]
    assert "leads elsewhere than it did when it was checked" in structured["error"]


@pytest.mark.parametrize("definition", [{"type": "system"}, {"type": "venv"}, {"type": "venv", "python_version": "3"}])
def test_a_python_found_by_name_lies_where_no_script_can_write(tmp_path, monkeypatch, definition):
    """Scripts of a configured environment could have put it there."""
    python = tmp_path / "bin/python3"
    python.parent.mkdir()
    python.symlink_to(PYTHON)
    monkeypatch.setenv("PATH", f"{python.parent}:/usr/bin:/bin")
    writer = {"type": "system", "executable": PYTHON, "isolation": "sandbox", "write": [str(tmp_path)]}
    with client.Server(config={"environments": {"writer": writer}}) as server:
        server.initialize()
        assert f"{python}, its Python, lies in {tmp_path}, where scripts of writer can write" in refusal(server, definition)


@pytest.fixture
def installing(tmp_path):
    """A folder of wheels with a folder in it, and a venv."""
    for name in ("links/inner", "venv/bin", "venv/lib/packages"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "links/list").write_text("gadget\n")
    (tmp_path / "venv/bin/python").symlink_to(PYTHON)
    (tmp_path / "venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    return tmp_path


@pytest.mark.parametrize("place, key, path, words", [
    ("links", "pip_find_links", "links", "lies in DIR/links"),
    ("links/inner", "pip_find_links", "links", "holds DIR/links/inner"),
    ("links", "requirements_file", "links/list", "lies in DIR/links"),
    ("venv/lib", "venv_path", "venv", "holds DIR/venv/lib"),
    ("venv/pyvenv.cfg", "venv_path", "venv", "holds DIR/venv/pyvenv.cfg")])
def test_no_definition_is_made_of_what_scripts_can_change(installing, place, key, path, words):
    writer = {"type": "system", "executable": PYTHON, "isolation": "sandbox", "write": [f"{installing}/{place}"]}
    config = {"environments": {"writer": writer}, "callers": {"allowed_paths": [str(installing)]}}
    with client.Server(config=config) as server:
        server.initialize()
        said = refusal(server, {"type": "venv", key: f"{installing}/{path}"})
        assert f"environment_definition.{key}: {words.replace('DIR', str(installing))}, where scripts of writer can write: " \
               "name another place" in said, said


@pytest.mark.parametrize("volume, words", [
    ("links", "pip_find_links: lies in DIR/links"), ("links/inner", "pip_find_links: holds DIR/links/inner"),
    ("venv/lib", "")])
def test_no_container_of_a_call_changes_what_others_are_made_of(installing, volume, words):
    system = {"type": "system", "executable": PYTHON}
    fixed = {"type": "venv", "pip_find_links": f"{installing}/links", "pip_packages": ["gadget"]}
    config = {"environments": {"system": system, "fixed": fixed}, "default_environment": "system",
              "callers": {"allowed_paths": [str(installing)], "allowed_images": ["python:*"]}}
    with client.Server(config=config) as server:
        server.initialize()
        definition = {"type": "docker", "image": "python:3", "pull": "never",
                      "volumes": {f"{installing}/{volume}": {"path": "/data", "mode": "rw"}}}
        said = str(run(server, definition))
        expected = f"an environment in the configuration ({words.replace('DIR', str(installing))}); let them only read it"
        assert (expected in said) == ("could change" in said) == bool(words), said
        definition["volumes"] = {f"{installing}/{volume}": "/data"}
        assert "could change" not in str(run(server, definition))


# Who may


def assert_not_offered(server):
    tool = server.find_tool()
    assert "environment_definition" not in tool["inputSchema"]["properties"]
    assert "environment_definition: unknown key" in refusal(server, {"type": "system"})


def test_the_operator_can_forbid_it():
    with client.Server(config={"callers": {"define_environments": False}}) as server:
        server.initialize()
        assert_not_offered(server)


def test_clients_of_sockets_may_not():
    with client.Server(transport="unix") as server:
        server.initialize()
        assert_not_offered(server)


def test_clients_of_sockets_may_where_the_operator_says_so():
    with client.Server(transport="unix",
                       config={"callers": {"define_environments": True}}) as server:
        server.initialize()
        succeed(server, {"type": "system"})


def test_a_pattern_that_is_none_is_an_error_of_the_configuration(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("callers:\n  allowed_images: ['python:*', 'a//b']\n")
    path.chmod(0o600)
    checked = subprocess.run([os.environ["PYEXECD"], "--check-config", "--config", str(path)],
                             capture_output=True, text=True)
    assert checked.returncode == 78
    assert f"{path}:2:32: callers.allowed_images.1: must be the name of an image" in checked.stderr
