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


def test_a_server_of_tools_has_a_variable_once(configure, tmp_path):
    """Of two with one name a shell takes the last, and Python the first."""
    seen, mine = tmp_path / "seen", {"PATH": "/mine:/usr/bin:/bin", "HOME": "/mine"}
    command = ["/bin/sh", "-c", f"cat /proc/$$/environ >{seen}"]
    pyexecd(configure(one={"command": command, "environment": mine}), "tools", "list")
    variables = [line.partition("=") for line in seen.read_text().split("\0")[:-1]]
    names = [name for name, _, _ in variables]
    assert len(set(names)) == len(names)
    assert mine.items() <= {name: value for name, _, value in variables}.items()


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


# Scripts of commands


CALLING = """
import tools
print(tools.test.echo(a=1))
try:
    tools.test.write(text="x")
except tools.Denied as error:
    print(error)
def main(value):
    return tools.test.echo(value=value)
"""
DENIED = "test.write: a person has to approve it, and "


@pytest.fixture
def calling(tmp_path):
    """The configuration and a script that calls its tools."""
    upstream = pathlib.Path(__file__).with_name("tools_upstream.py")
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"tools": {"test": {"command": [sys.executable, str(upstream)]}}, "default_environment": "it",
                                  "environments": {"it": {"type": "system", "tools": ["test"]}}}))
    config.chmod(0o600)
    (tmp_path / "script.py").write_text(CALLING)
    return config


def command(*words, given=""):
    return subprocess.run([PYEXECD, *words], input=given, capture_output=True, text=True, timeout=120)


def test_a_script_of_run_calls_tools_and_asks_nobody(calling):
    done = command("run", "--config", calling, calling.with_name("script.py"))
    first, second = done.stdout.splitlines()
    assert first == "{'a': 1}" and second.startswith(DENIED + "nobody is asked here"), done
    done = command("run", "--json", "--config", calling, calling.with_name("script.py"))
    account = json.loads(done.stdout)["tools"]
    assert {name: (each["calls"], each["errors"]) for name, each in account.items()} == {"test.echo": (1, 0), "test.write": (1, 1)}


def test_scripts_of_map_call_tools(calling):
    done = command("map", "--config", calling, calling.with_name("script.py"), given="1\n2\n")
    printed = [json.loads(line)["stdout"].splitlines() for line in done.stdout.splitlines()]
    assert sorted(lines[-1] for lines in printed) == ['{"value": 1}', '{"value": 2}'], done


def test_a_script_of_call_calls_tools(calling):
    call = json.dumps({"type": "tool_use", "id": "1", "name": "run_python", "input": {"code": CALLING}})
    done = command("call", "--config", calling, given=call)
    assert "{'a': 1}" in done.stdout and DENIED in done.stdout, done


def test_a_command_that_is_interrupted_leaves_no_server_of_tools(calling):
    script = calling.with_name("script.py")
    script.write_text("import tools\nprint(tools.test.process(), flush=True)\ntools.test.hang()\n")
    with subprocess.Popen([PYEXECD, "run", "--config", calling, script], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        children = leftovers.descendants(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert leftovers.until(lambda: not leftovers.alive(children))
