"""What is said of sandboxes, by the real program about real runs: what is closed, before a call; which layers held,
with its result; and what was in the way, when a script failed."""

import json
import os
import re
import subprocess

import client
import pytest

LAYERS = ("own root directory", "own network", "file rules", "system calls")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opened")
    for name in ("data", "out", "secret"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(f"{name}\n")
    return folder


def config(folder):
    return {
        "default_environment": "held",
        "environments": {
            "held": {"type": "system", "isolation": "sandbox", "read": [f"{folder}/data"],
                     "write": [f"{folder}/out"]},
            "open": {"type": "system", "isolation": "sandbox", "network": True},
            "free": {"type": "system", "isolation": "none"},
        },
        "callers": {"define_environments": True},
    }


@pytest.fixture(scope="module", params=["stdio", "unix", "tcp", "http"])
def server(request, folder):
    with client.Server(transport=request.param, config=config(folder)) as server:
        server.initialize()
        if layers(run(server, "pass"))["own root directory"] != "enforced":
            pytest.skip("this machine gives a run no root of its own")
        yield server


def run(server, code, environment="held", **arguments):
    return server.call_tool("run_python", {"code": code, "environment": environment, **arguments})


def layers(result):
    return result["structuredContent"]["containment"]["layers"]


def text(result):
    return result["content"][0]["text"]


def test_a_result_names_each_layer(server):
    held = run(server, "print(42)")
    assert held["structuredContent"]["isolation"] == "sandbox"
    assert set(layers(held)) == set(LAYERS)
    assert "not asked for" not in layers(held).values()
    assert layers(run(server, "print(42)", "open"))["own network"] == "not asked for"
    free = run(server, "print(42)", "free")
    assert free["structuredContent"]["isolation"] == "none"
    assert set(layers(free).values()) == {"not asked for"}


def test_the_text_of_a_run_that_was_held_wholly_says_nothing_of_it(server):
    result = run(server, "print(42)")
    if "absent" in layers(result).values():
        assert "The sandbox of this run was without: " in text(result)
    else:
        assert text(result).startswith("exitcode: 0 (execution succeeded)\nCode output: 42\n")
        assert "sandbox" not in text(result)


def test_what_the_operator_opens_is_there_and_nothing_else(server, folder):
    code = f"""
import os
print(open('{folder}/data/a.txt').read(), end='')
open('{folder}/out/b.txt', 'w').write('written')
print(os.path.exists('{folder}/secret'), os.path.exists('/etc/shadow'))
"""
    result = run(server, code)
    assert result["structuredContent"]["stdout"] == "data\nFalse False\n", result
    assert (folder / "out" / "b.txt").read_text() == "written"


def test_a_path_that_is_not_shown_is_named_whether_it_is_there_or_not(server, folder):
    # Of the same length: Python points at what has failed.
    there, missing = (f"/var/lib/dpkg/{name}" for name in ("status", "absent"))
    assert os.path.exists(there)
    said = [text(run(server, f"open('{path}')")) for path in (there, missing)]
    for path, line in zip((there, missing), said):
        assert f"{path} is not shown to scripts here" in line, line
        assert f"/tmp, {folder}/out, {folder}/data and nothing else" in line, line
    assert said[0].replace("status", "absent") == said[1]


def test_a_path_that_can_only_be_read_is_explained(server, folder):
    assert "Scripts here can write to" in text(run(server, f"open('{folder}/data/c', 'w')"))
    (line,) = [line for line in text(run(server, "open('a.txt')")).splitlines() if line.startswith("The working")]
    assert line.endswith(f" Scripts here can also read {folder}/data: use absolute paths for that.")


def test_a_script_that_has_left_its_directory_is_told_so(server):
    for place in ("/", "/usr/lib"):
        said = text(run(server, f"import os\nos.chdir('{place}')\nopen('a.csv', 'w')"))
        assert f'After os.chdir("{place}") relative paths lead there. Scripts here can write to' in said
    assert "After os.chdir" not in text(run(server, "import os\nos.chdir('/tmp')\nopen('a/b.csv', 'w')"))


def test_a_service_on_localhost_that_is_not_there_is_explained(server):
    code = "import socket\nsocket.create_connection(('127.0.0.1', 1))"
    assert "localhost is the run's own here: nothing answers" in text(run(server, code))
    for environment in ("open", "free"):
        assert "the run's own" not in text(run(server, code, environment))


def test_a_path_that_is_closed_gets_one_line(server):
    for code in ("open('/etc/shadow')", "open('/tmp/a')", "import os\nopen(os.path.expanduser('~/.aws/config'))"):
        said = text(run(server, code))
        assert said.count("working directory") == 1 and "it has no files" not in said, said


@pytest.mark.parametrize("code", [
    "import urllib.request\nurllib.request.urlopen('http://name.example/')",
    "import socket\nsocket.create_connection(('name.example', 80))",
    "import socket\nsocket.create_connection(('192.0.2.1', 80))",
    "import http.client\ntry:\n    http.client.HTTPConnection('name.example').connect()\n"
    "except OSError as e:\n    print('failed:', e)",
])
def test_the_closed_network_is_explained(server, code):
    result = run(server, code)
    assert "This environment has no network. Environment " in text(result), text(result)
    assert "no network" not in text(run(server, code, "free"))


def test_an_installation_without_a_network_is_explained(server):
    code = ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import sys; sys.exit(1)', 'pip', 'install', "
            "'rich'], check=True, capture_output=True)")
    assert "scripts cannot install packages. To have packages, call with" in text(run(server, code))
    assert "cannot install" not in text(run(server, code, "free"))


def test_a_file_that_an_earlier_call_left_in_tmp_is_explained(server):
    run(server, "open('/tmp/kept', 'w').close()")
    assert "/tmp is each run's own and empty when it begins" in text(run(server, "open('/tmp/kept')"))
    assert "each run's own" not in text(run(server, "open('/tmp/no-such-file')", "free"))


def test_a_file_of_a_home_is_explained(server):
    code = "import os\nopen(os.path.expanduser('~/.netrc'))"
    for environment in ("held", "free"):
        assert "~ is the working directory here, not the home of a user" in text(run(server, code, environment))
    assert "/home/somebody/.netrc is not shown to scripts here" in text(run(server, "open('/home/somebody/.netrc')"))


def test_what_was_closed_is_said_at_a_terminal_too(server, folder, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(config(folder)))
    path.chmod(0o600)
    done = subprocess.run([os.environ["PYEXECD"], "run", "--config", path, "-c", "open('/home/somebody/a')"],
                          cwd=folder / "secret", capture_output=True, text=True, check=False)
    assert "pyexecd: /home/somebody/a is not shown to scripts here" in done.stderr
    assert "The configuration can show more (read, write)." in done.stderr


def test_a_refused_call_is_explained(server):
    code = ("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
            "assert libc.mount(b'x', b'/tmp', b'tmpfs', 0, None) == -1\n"
            "raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))")
    result = run(server, code)
    if layers(result)["system calls"] == "enforced":
        assert "The sandbox refused that" in text(result), text(result)


def test_a_failure_of_the_script_alone_gets_no_word_about_the_sandbox(server):
    for code in ("1 / 0", "open('missing.csv')", "open('/tmp/missing.csv')", "import no_such_module"):
        said = text(run(server, code))
        assert "sandbox" not in said and "not shown" not in said and "no network" not in said, said


def test_what_a_call_defines_is_held_too(server):
    result = server.call_tool("run_python", {"code": "print(1)",
                                             "environment_definition": {"type": "system"}})
    assert result["structuredContent"]["isolation"] == "sandbox"
    assert layers(result)["own network"] != "not asked for"


@pytest.mark.parametrize("key, value", [
    ("isolation", "none"), ("read", ["/srv"]), ("write", ["/srv"]), ("network", True), ("require", "sandbox"),
])
def test_a_call_opens_nothing(server, key, value):
    result = server.call_tool("run_python", {"code": "print(1)",
                                             "environment_definition": {"type": "system", key: value}})
    assert result["isError"]
    assert f"environment_definition.{key}: only the operator can" in text(result)


def test_a_directory_of_a_sandbox_is_its_own(server):
    free = run(server, "open('left.txt', 'w').write('x')", "free")
    handle = free["structuredContent"]["working_directory"]
    assert "left.txt" not in run(server, "import os; print(os.listdir())")["structuredContent"]["stdout"]
    refused = run(server, "print(1)", working_directory=handle)
    assert refused["isError"] and 'for environments with isolation "none"' in text(refused)


def test_what_is_closed_is_said_before_the_first_call(folder):
    with client.Server(config=config(folder)) as server:
        server.initialize()
        tool = server.find_tool()
    said = tool["inputSchema"]["properties"]["environment"]["description"]
    held, opened, free = (next(line for line in said.splitlines() if line.startswith(f"- {name}: system"))
                          for name in ("held", "open", "free"))
    assert held.endswith(f"; no network, of files only the working directory, /tmp, {folder}/out, "
                         f"{folder}/data (read-only)")
    assert opened.endswith("; of files only the working directory, /tmp")
    assert "/tmp" not in free
    assert "no network" in tool["inputSchema"]["properties"]["environment_definition"]["description"]


def test_doctor_names_the_layers_of_each_environment(folder, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"environments:\n  held: {{type: system, isolation: sandbox, read: ['{folder}/data']}}\n")
    said = subprocess.run([os.environ["PYEXECD"], "doctor", "--config", path], capture_output=True,
                          text=True, check=False).stdout
    (line,) = [line for line in said.splitlines() if re.match(r" +(no +)?isolation +sandbox: ", line)]
    assert "own network" in line


def test_a_path_that_is_gone_is_an_error_of_the_configuration(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("environments:\n  held:\n    type: system\n    isolation: sandbox\n"
                    f"    read:\n      - /usr\n      - {tmp_path}/none\n      - /\n")
    checked = subprocess.run([os.environ["PYEXECD"], "--config", path, "--check-config"],
                             capture_output=True, text=True, check=False)
    assert checked.returncode == 78
    assert f"{path}:7:9: environments.held.read.1: {tmp_path}/none: No such file" in checked.stderr
    assert f"{path}:8:9: environments.held.read.2: / holds " in checked.stderr


def test_a_run_that_could_change_its_own_python_is_refused(tmp_path):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    config = {"default_environment": "own", "working_directory": str(tmp_path),
              "environments": {"own": {"type": "venv", "venv_path": str(tmp_path / ".venv"), "isolation": "sandbox"}}}
    with client.Server(config=config) as server:
        server.initialize()
        result = run(server, "print(1)", "own")
        assert result["isError"]
        assert f"{tmp_path}/.venv belongs to the Python of environment own" in result["content"][0]["text"]
