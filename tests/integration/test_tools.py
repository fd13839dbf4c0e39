"""`tools` of the configuration, as an operator types it: `pyexecd tools`, `doctor`, `--check-config`."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

import leftovers

PYEXECD = os.environ["PYEXECD"]
FAKE = pathlib.Path(__file__).resolve().parents[1] / "unit" / "toolbox" / "fake_server.py"
SECRET = "a-secret-of-the-operator"


@pytest.fixture
def configure(tmp_path):
    def write(**servers):
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps({"tools": servers, "environments": {"system": {"type": "system",
                                                                                  "tools": list(servers)}}}, indent=1))
        path.chmod(0o600)
        return path
    return write


def fake(*arguments, **more):
    return {"command": [sys.executable, str(FAKE), *(arguments or ("2025-11-25",))], **more}


def pyexecd(config, *words, **variables):
    return subprocess.run([PYEXECD, *words, "--config", config], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **variables}, stdin=subprocess.DEVNULL)


def test_tools_are_listed_by_server_and_name(configure):
    config = configure(one=fake(allow=["echo", "d*"], deny=["denied_one"]), two=fake("2026-07-28", allow=["echo"]))
    listed = pyexecd(config, "tools")
    assert listed.returncode == 0, listed.stderr
    assert sorted(listed.stdout.splitlines()) == [
        "one.die  Does die.", "one.dribble  Does dribble.", "one.echo  Does echo.", "two.echo  Does echo."]


def test_a_list_of_nothing_says_why(configure):
    listed = pyexecd(configure(), "tools")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert "the configuration names no server" in listed.stderr
    assert json.loads(pyexecd(configure(), "tools", "list", "--json").stdout) == []


def test_a_description_names_what_cannot_be_seen(configure):
    described = pyexecd(configure(one=fake()), "tools", "describe", "one.echo")
    tool = json.loads(described.stdout)
    assert tool["description"] == "Does echo. More of it\u202e."  # as it came, for programs
    assert tool["summary"] == "Does echo."
    assert tool["inputSchema"] == {"type": "object"}
    assert (tool["approval"], tool["asks"]) == ("writes", False)


@pytest.mark.parametrize("words, status, said", [
    (["describe", "one.ecko"], 64, "did you mean echo?"),
    (["describe", "on.echo"], 64, 'did you mean "one"?'),
    (["call", "echo"], 64, "must be SERVER.TOOL"),
    (["call", "one.echo", "[1]"], 64, "must be an object of JSON"),
    (["call", "one.echo", "{"], 64, "must be an object of JSON"),
    (["call", "one.denied"], 1, "does not allow the tool denied"),
    (["call", "two.echo"], 1, "there is no server"),
    (["cal", "one.echo"], 64, "must be tools [list], tools describe SERVER.TOOL or tools call"),
    (["describe"], 64, "SERVER.TOOL is missing"),
    (["call", "one.die"], 69, "killed by signal 9"),
])
def test_a_mistake_is_explained(configure, words, status, said):
    done = pyexecd(configure(one=fake(deny=["denied"])), "tools", *words)
    assert said in done.stderr
    assert (done.returncode, done.stdout) == (status, "")


def test_a_call_prints_the_result_as_it_came(configure):
    config = configure(one=fake())
    done = pyexecd(config, "tools", "call", "one.echo", '{"a": "ä"}')
    assert json.loads(json.loads(done.stdout)["content"][0]["text"])["arguments"] == {"a": "ä"}
    failed = pyexecd(config, "tools", "call", "one.refuse")
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["isError"]


def test_a_secret_is_nowhere(configure):
    config = configure(one=fake(environment={"TOKEN": "${OPERATORS_TOKEN}"}))
    for words in (["call", "one.env"], ["call", "one.refuse"], ["call", "one.echo", json.dumps({"a": SECRET})]):
        done = pyexecd(config, "tools", *words, "--log-level", "debug", OPERATORS_TOKEN=SECRET)
        assert SECRET not in done.stdout + done.stderr
        assert "[secret]" in done.stdout


def test_a_variable_that_is_not_set_has_its_place(configure):
    config = configure(one=fake(environment={"TOKEN": "${NO_SUCH_VARIABLE}"}))
    done = pyexecd(config, "--check-config")
    assert done.returncode == 78
    assert "tools.one.environment: the server's environment has no variable NO_SUCH_VARIABLE" in done.stderr
    assert ":9:19: " in done.stderr


def test_doctor_reports_servers(configure):
    done = pyexecd(configure(one=fake(), two={"command": ["no-such-program"]}), "doctor")
    assert re.search(r"^ *yes  one +[0-9]+ tools$", done.stdout, re.M)
    assert "no   two                there is no program no-such-program" in done.stdout
    assert done.stdout.index("tools of two") < done.stdout.index("\ntools\n")  # in the verdict, too


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_server_of_tools_ends_with_us(configure, tmp_path, way):
    seen = tmp_path / "seen"
    config = configure(one=fake(environment={"SEEN": str(seen)}))
    process = subprocess.Popen([PYEXECD, "tools", "call", "one.hang", "--config", config])
    leftovers.until(lambda: seen.exists() and "hang" in seen.read_text())
    process.send_signal(way)
    process.wait(60)
    mark = str(seen).encode()

    def is_gone():
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes():
                    return False
            except OSError:
                continue
        return True

    assert leftovers.until(is_gone)
