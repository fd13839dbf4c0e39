"""Preparing environments: from the command line, when the server starts, while a call waits."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time

import pytest

import client
import leftovers
import ports
from terminal import CONTAINMENT, on_terminal, screen

PYTHON = "/usr/bin/python3"


class Slow:
    """An interpreter that takes its time to start, counts its starts (but for the question for its
    packages, which comes at any time), and may be broken."""

    def __init__(self, folder, name="slow", seconds=0.0, company=()):
        """It waits for SECONDS, and until those whose names are in COMPANY have been started, too."""
        self.path = folder / name
        self.starts = folder / f"{name}.starts"
        self.broken = folder / f"{name}.broken"
        self.path.write_text(f"#!/bin/sh\n"
                             f"[ \"$1\" = -Ic ] || echo start >>{self.starts}\n"
                             f"sleep {seconds}\n"
                             f"for name in {' '.join(company)}; do\n"
                             f"  while [ ! -e {folder}/$name.starts ]; do sleep 0.05; done\n"
                             f"done\n"
                             f"[ ! -e {self.broken} ] || {{ cat {self.broken} >&2; exit 3; }}\n"
                             f"exec {PYTHON} \"$@\"\n")
        self.path.chmod(0o755)

    def environment(self, **more):
        """Not in a sandbox, where it could not write down that it has been started."""
        return {"type": "system", "executable": str(self.path), "isolation": "none", **more}

    def count(self):
        return len(self.starts.read_text().splitlines()) if self.starts.exists() else 0

    def wait_for_start(self):
        assert leftovers.until(self.count), f"{self.path} was not started"

    def processes(self):
        return [pid for pid in leftovers.processes()
                if str(self.path).encode() in leftovers.read(f"/proc/{pid}/cmdline")]


@pytest.fixture
def configure(tmp_path):
    """Writes a configuration with these environments and returns its path."""
    def write(**environments):
        path = tmp_path / "config.yaml"
        path.write_text(json.dumps({"environments": environments,
                                    "default_environment": next(iter(environments))}))
        path.chmod(0o600)
        return path
    return write


def prepare(config, *arguments):
    """Runs the command to its end. What this machine's containment lacks is left out."""
    result = subprocess.run([os.environ["PYEXECD"], "prepare", "-c", config, *arguments],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                            timeout=180)
    result.stderr = CONTAINMENT.sub("", result.stderr)
    return result


# From the command line


def test_every_environment_is_prepared_or_those_that_are_named(tmp_path, configure):
    one, two = Slow(tmp_path, "one"), Slow(tmp_path, "two")
    config = configure(one=one.environment(), two=two.environment())
    result = prepare(config)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"(one|two): ready, Python 3\.\d+\.\d+, \d+(\.\d)? m?s\n"
                        r"(?!\1)(one|two): ready, Python 3\.\d+\.\d+, \d+(\.\d)? m?s\n",
                        result.stdout)
    result = prepare(config, "two", "two")
    assert result.returncode == 0
    assert result.stdout.startswith("two: ready, ") and result.stdout.count("\n") == 1
    assert (one.count(), two.count()) == (1, 2)


def test_environments_are_prepared_side_by_side(tmp_path, configure):
    names = ("one", "two", "three")
    slow = [Slow(tmp_path, name, company=names) for name in names]
    config = configure(**{each.path.name: each.environment() for each in slow})
    assert prepare(config).returncode == 0


def test_one_that_fails_does_not_keep_others_from_being_prepared(tmp_path, configure):
    config = configure(missing={"type": "system", "executable": "/nowhere/python3"},
                       there=Slow(tmp_path, seconds=0.5).environment())
    result = prepare(config)
    assert result.returncode == 69
    assert result.stdout.startswith("there: ready, ")
    assert result.stderr.startswith('pyexecd: cannot prepare environment "missing": ')
    assert "/nowhere/python3" in result.stderr


def test_a_preparation_that_takes_too_long_is_69(tmp_path, configure):
    config = configure(slow=Slow(tmp_path, seconds=60).environment(prepare_timeout=1))
    result = prepare(config)
    assert (result.returncode, result.stdout) == (69, "")
    assert result.stderr.startswith('pyexecd: cannot prepare environment "slow": ')
    assert "not done after 1 seconds" in result.stderr


def test_a_missing_libcurl_stops_containers_alone(tmp_path, monkeypatch):
    (tmp_path / "libcurl.so.4").write_text("no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    config = tmp_path / "config.yaml"
    config.write_text("environments: {system: {type: system}, box: {type: docker}}\n")
    config.chmod(0o600)

    def said(*arguments):
        return subprocess.run([os.environ["PYEXECD"], *arguments], capture_output=True, text=True, timeout=60)

    assert said("run", "--config", config, "-w", "temporary", "-c", "print(42)").stdout == "42\n"
    stopped = said("run", "--config", config, "--env", "box", "-w", "temporary", "-c", "print(42)")
    assert (stopped.returncode, stopped.stdout) == (69, "")
    assert "libcurl is needed" in stopped.stderr and "apt install libcurl4" in stopped.stderr
    checked = said("--check-config", config)
    assert checked.returncode == 0 and "environment box: libcurl is needed" in checked.stdout


def test_an_unknown_name_is_64_and_a_near_one_is_told(tmp_path, configure):
    config = configure(science=Slow(tmp_path).environment())
    for name, hint in (("sciense", ', did you mean "science"?'), ("zoo", ", but: science")):
        result = prepare(config, name)
        assert (result.returncode, result.stdout) == (64, "")
        assert result.stderr == f'pyexecd: there is no environment "{name}"{hint}\n'


def test_the_outcome_as_json(tmp_path, configure):
    config = configure(missing={"type": "system", "executable": "/nowhere/python3"},
                       slow=Slow(tmp_path, seconds=0.2).environment())
    result = prepare(config, "--json")
    missing, slow = json.loads(result.stdout)
    assert result.returncode == 69
    assert missing.keys() == {"name", "ready", "seconds", "error"}
    assert (missing["name"], missing["ready"]) == ("missing", False)
    assert "/nowhere/python3" in missing["error"]
    assert slow.keys() == {"name", "ready", "seconds", "python_version"}
    assert (slow["name"], slow["ready"]) == ("slow", True)
    assert slow["python_version"].startswith("3.") and slow["seconds"] >= 0.2


def test_each_step_is_a_line_and_what_is_found_again_has_none(tmp_path, configure):
    config = configure(venv={"type": "venv", "venv_path": str(tmp_path / "venv")})
    first = prepare(config)
    assert first.returncode == 0, first.stderr
    lines = first.stderr.splitlines()
    assert "venv: creating venv" in lines and len(lines) == len(set(lines))
    assert all(line.startswith("venv: ") for line in lines)
    assert prepare(config).returncode == 0
    assert (tmp_path / "venv/bin/python").exists()
    assert "venv: creating venv" not in prepare(config).stderr


def test_the_last_lines_of_a_tool_are_shown_below_the_error(tmp_path, configure, monkeypatch):
    monkeypatch.setenv("PIP_RETRIES", "0")
    config = configure(venv={"type": "venv", "venv_path": str(tmp_path / "venv"),
                             "pip_packages": ["nowhere-to-be-had"],
                             "pip_index_url": f"http://127.0.0.1:{ports.free_port()}/simple"})
    result = prepare(config)
    assert result.returncode == 69
    at = result.stderr.index('pyexecd: cannot prepare environment "venv": installing nowhere-to-be')
    error, *below = result.stderr[at:].splitlines()
    assert below and all(line.startswith("pyexecd:   ") for line in below), result.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_up_what_goes_on(tmp_path, configure, number):
    slow = Slow(tmp_path, seconds=60)
    config = configure(slow=slow.environment())
    process = subprocess.Popen([os.environ["PYEXECD"], "prepare", "-c", config],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        slow.wait_for_start()
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 128 + number
    assert output == ""
    assert 'cannot prepare environment "slow": given up\n' in errors
    assert leftovers.until(lambda: not slow.processes())


def test_output_that_cannot_be_written_is_74(tmp_path, configure):
    config = configure(slow=Slow(tmp_path).environment())
    for arguments in ([], ["--json"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([os.environ["PYEXECD"], "prepare", "-c", config, *arguments],
                                    stdout=full, stderr=subprocess.DEVNULL, check=False, timeout=180)
        assert result.returncode == 74


# On a terminal


def test_a_line_is_redrawn_until_its_environment_is_ready(tmp_path, configure):
    config = configure(fast=Slow(tmp_path, "fast").environment(),
                       slow=Slow(tmp_path, "slow", seconds=3).environment())
    status, text = on_terminal("prepare", "-c", config)
    assert status == 0
    drawn = re.findall(r"slow +preparing +(\d+\.\d) s", text)
    assert len(drawn) >= 3 and drawn == sorted(drawn, key=float), text
    assert [line.partition(":")[0] for line in screen(text)] == ["fast", "slow"], text


def test_nothing_of_a_line_is_left_when_it_was_given_up(tmp_path, configure):
    config = configure(slow=Slow(tmp_path, seconds=30).environment(prepare_timeout=1))
    status, text = on_terminal("prepare", "-c", config)
    assert status == 69 and "preparing" in text
    (line,) = screen(text)
    assert line.startswith('pyexecd: cannot prepare environment "slow": ')


def test_colour_is_used_unless_it_is_not_wanted(tmp_path, configure):
    config = configure(fast=Slow(tmp_path).environment())
    assert "\x1b[32mready\x1b[m" in on_terminal("prepare", "-c", config, NO_COLOR="")[1]
    assert "\x1b[3" not in on_terminal("prepare", "-c", config)[1]
    assert "\x1b" not in on_terminal("prepare", "-c", config, NO_COLOR="", TERM="dumb")[1]


def test_lines_fit_a_narrow_terminal(tmp_path, configure):
    config = configure(**{"a-name-that-is-rather-long": Slow(tmp_path, seconds=1).environment()})
    _, text = on_terminal("prepare", "-c", config, columns=30)
    drawn = re.findall(r"([^\r\n\x1b]*)\x1b\[J\r", text)
    assert drawn and all(0 < len(line) < 30 for line in drawn)


def test_what_a_tool_writes_does_not_command_the_terminal(tmp_path, configure):
    slow = Slow(tmp_path)
    slow.broken.write_bytes(b"\x1b[2J\x1b]0;title\x07\xc2\x9b31mtold\n")
    status, text = on_terminal("prepare", "-c", configure(slow=slow.environment()))
    assert status == 69
    assert "told" in text and "\x1b[2J" not in text and "\x1b]" not in text and "\x07" not in text
    assert "\u009b" not in text


# When the server starts


def eager(slow, **more):
    return {"environments": {"slow": slow.environment(prepare="eager")},
            "default_environment": "slow", **more}


def test_an_eager_environment_is_prepared_before_any_call(tmp_path):
    slow = Slow(tmp_path)
    with client.Server(config=eager(slow)) as server:
        slow.wait_for_start()
        server.initialize()
        assert server.call_tool("run_python", {"code": "print(1)"})["isError"] is False
    assert slow.count() == 1


def test_a_lazy_environment_is_not(tmp_path):
    slow = Slow(tmp_path)
    config = {"environments": {"slow": slow.environment()}, "default_environment": "slow"}
    with client.Server(config=config) as server:
        server.initialize()
        time.sleep(0.5)
        assert slow.count() == 0


def test_calls_share_the_preparation_that_is_under_way(tmp_path):
    slow = Slow(tmp_path, seconds=1)
    with client.Server(config=eager(slow)) as server:
        slow.wait_for_start()
        server.initialize()
        calls = [server.start_tool("run_python", {"code": f"print({i})"}) for i in range(3)]
        for i, call in enumerate(calls):
            assert server.wait(call)["result"]["structuredContent"]["stdout"] == f"{i}\n"
    assert slow.count() == 1


def test_a_call_that_is_cancelled_does_not_stop_an_eager_preparation(tmp_path):
    slow = Slow(tmp_path, seconds=1)
    with client.Server(config=eager(slow)) as server:
        slow.wait_for_start()
        server.initialize()
        server.cancel(server.start_tool("run_python", {"code": "print(1)"}))
        assert server.call_tool("run_python", {"code": "print(2)"})["isError"] is False
    assert slow.count() == 1


def test_a_failure_is_a_warning_and_the_next_call_tries_again(tmp_path):
    slow = Slow(tmp_path)
    slow.broken.write_text("not today\n")
    with client.Server(config=eager(slow)) as server:
        assert leftovers.until(lambda: "the next call that needs it tries again" in server.stderr())
        server.initialize()
        result = server.call_tool("run_python", {"code": "print(1)"})
        assert result["isError"] is True and str(slow.path) in result["content"][0]["text"]
        slow.broken.unlink()
        assert server.call_tool("run_python", {"code": "print(1)"})["isError"] is False
    assert slow.count() == 3


@pytest.mark.parametrize("transport", ["stdio", "unix"])
def test_the_end_of_the_server_ends_an_eager_preparation(tmp_path, transport):
    slow = Slow(tmp_path, seconds=60)
    with client.Server(transport=transport, config=eager(slow)) as server:
        slow.wait_for_start()
        server.initialize()
        assert slow.processes()
    assert leftovers.until(lambda: not slow.processes())


def test_kill_of_the_server_ends_an_eager_preparation(tmp_path):
    slow = Slow(tmp_path, seconds=60)
    server = client.Server(config=eager(slow))
    try:
        slow.wait_for_start()
        server.process.kill()
        server.wait_exit()
        assert leftovers.until(lambda: not slow.processes())
    finally:
        server.kill()


# While a call waits


@pytest.mark.once
def test_a_preparation_without_steps_gives_signs_of_life_in_every_revision(tmp_path):
    Slow(tmp_path, "python3", seconds=60)  # is given up after 5 seconds; PATH has another one
    places = {"PATH": f"{tmp_path}:{os.path.dirname(PYTHON)}:/bin"}
    with contextlib.ExitStack() as stack:
        calls = []
        for revision in client.REVISIONS:  # all at the same time
            server = stack.enter_context(client.Server(environment=places))
            server.initialize(revision)
            calls.append((revision, server, server.start_tool("run_python", {"code": "print(1)"},
                                                              progress_token="p")))
        for revision, server, call in calls:
            assert server.wait(call)["result"]["isError"] is False
            note, *_ = server.progress("p")  # a slow machine needs more than one
            assert note["progress"] > 3
            assert note.get("message") == (None if revision == "2024-11-05" else "preparing")


# With `run`


def test_run_is_silent_about_it_unless_on_a_terminal(tmp_path, configure, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it works
    config = configure(slow=Slow(tmp_path, seconds=0.5).environment())
    result = subprocess.run([os.environ["PYEXECD"], "run", "--config", config, "-"], input="print(1)",
                            capture_output=True, text=True, check=False, timeout=180)
    assert (result.returncode, result.stdout) == (0, "1\n")
    assert CONTAINMENT.sub("", result.stderr) == ""


def test_run_shows_the_steps_on_a_terminal(tmp_path, configure):
    script = tmp_path / "script.py"
    script.write_text("print('begun')\n")
    config = configure(venv={"type": "venv", "venv_path": str(tmp_path / "venv")})
    status, text = on_terminal("run", "--config", config, script, TERM="dumb")
    assert status == 0
    assert text.index("venv: creating venv") < text.index("begun")


def test_run_tells_a_name_that_is_nearly_right(tmp_path, configure):
    config = configure(science=Slow(tmp_path).environment())
    result = subprocess.run([os.environ["PYEXECD"], "run", "--config", config, "--env", "sciene", "-"],
                            input="print(1)", capture_output=True, text=True, check=False)
    assert result.returncode == 64
    assert 'did you mean "science"?' in result.stderr
