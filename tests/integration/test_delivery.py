"""The code that runs is the code of the call, whatever other scripts do in its directory."""

import os
import pathlib

import pytest

import client
import replacer

RUNS = 100


def start_replacer(connection, **arguments):
    """Returns when it is at work."""
    request = connection.start_tool("run_python", {"code": replacer.CODE, "timeout": 300, **arguments})
    directory = run(connection, "print(1)", **arguments)["script"]
    while not pathlib.Path(directory).with_name("planted").exists():
        run(connection, "print(1)", **arguments)
    return request


def run(connection, code, **arguments):
    return connection.call_tool("run_python", {"code": code, **arguments})["structuredContent"]


@pytest.mark.once
def test_a_script_that_replaces_script_py_for_ever_is_never_run_in_place_of_others():
    with client.Server() as server:
        server.initialize()
        request = start_replacer(server)
        assert replacer.wrong_codes(lambda code: run(server, code), RUNS) == 0
        server.cancel(request)
        assert replacer.wrong_codes(lambda code: run(server, code), RUNS) == 0


@pytest.mark.once
def test_servers_in_one_directory_are_safe_from_each_others_scripts(tmp_path):
    config = {"working_directory": str(tmp_path)}
    with client.Server(config=config) as one, client.Server(config=config) as two:
        one.initialize()
        two.initialize()
        start_replacer(one)
        assert replacer.wrong_codes(lambda code: run(two, code), RUNS) == 0


def test_a_script_cannot_change_its_own_code():
    with client.Server() as server:
        server.initialize()
        structured = run(server, "open('script.py', 'a')")
        assert "Read-only file system: 'script.py'" in structured["stderr"]


def test_the_newest_code_is_shown_as_script_py():
    with client.Server() as server:
        server.initialize()
        for code in ("print(1)", "print('longer')", "print(3)"):
            script = pathlib.Path(run(server, code)["script"])
            assert script.read_text() == code
            assert script.stat().st_uid == os.geteuid()
