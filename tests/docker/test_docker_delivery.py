"""A container has no say in which code runs, on this machine or in other containers."""

import pathlib
import re

import pytest

import replacer

SYSTEM = {"environments": {"system": {"type": "system", "executable": "/usr/bin/python3"}}}
KEPT = [{}, {"keep_container_running": True}]
NAMES = ["one-shot", "kept"]


def shared(path):
    """A configuration with one directory for containers and this machine."""
    return {**SYSTEM, "working_directory": str(path), "share_directory_across_isolation": True}


def on_this_machine(server, code):
    return server.run(code, arguments={"environment": "system"})


def start_replacer(server, folder):
    """Returns when it is at work in its container."""
    server.run("pass")
    request = server.start(replacer.CODE, timeout=300)
    while not (folder / "planted").exists():
        on_this_machine(server, "pass")
    return request


@pytest.mark.parametrize("definition", KEPT, ids=NAMES)
def test_a_container_that_replaces_script_py_has_no_code_run_on_this_machine(
        docker_server, tmp_path, definition):
    with docker_server(definition, config=shared(tmp_path)) as server:
        server.initialize()
        request = start_replacer(server, tmp_path)
        run = lambda code: on_this_machine(server, code)
        assert replacer.wrong_codes(run, 100) == 0
        server.cancel(request)
        assert replacer.wrong_codes(run, 20) == 0


def test_a_container_that_replaces_script_py_has_no_code_run_in_others(docker_server, tmp_path):
    with docker_server(config=shared(tmp_path)) as server:
        server.initialize()
        start_replacer(server, tmp_path)
        assert replacer.wrong_codes(server.run, 10) == 0


@pytest.mark.parametrize("definition", KEPT, ids=NAMES)
def test_code_in_a_container_cannot_be_changed_by_it(docker_server, definition):
    attempts = ("import os\n"
                "def attempt(act, *arguments):\n"
                "    try: act(*arguments); print('done')\n"
                "    except OSError as error: print(error.strerror)\n"
                "open('planted', 'w').write('print(666)')\n"
                "attempt(os.rename, 'planted', 'script.py')\n"
                "attempt(os.rename, 'script.py', 'old.py')\n"
                "attempt(os.remove, 'script.py')\n"
                "attempt(open, 'script.py', 'a')\n")
    with docker_server(definition) as server:
        server.initialize()
        for number in range(3):  # what is shown outside changes between the calls
            result = server.run(f"{attempts}print({number})\n")
            assert result["stdout"].splitlines() == [
                *["Device or resource busy"] * 3, "Read-only file system", str(number)]
            script = pathlib.Path(result["script"])
            assert script.read_text() == f"{attempts}print({number})\n"


def test_a_kept_container_gets_long_and_short_code(docker_server):
    with docker_server({"keep_container_running": True}) as server:
        server.initialize()
        for code, output in (("print('x' * 5)" + "\n# long" * 50_000, "xxxxx\n"), ("print(1)", "1\n"),
                             ("print('é')", "é\n")):
            assert server.run(code)["stdout"] == output


def test_what_a_container_plants_is_not_imported_on_this_machine(docker_server):
    with docker_server(config=SYSTEM) as server:
        server.initialize()
        planted = server.run("open('colorsys.py', 'w').write('print(666)')")
        assert planted["success"]
        assert on_this_machine(server, "import colorsys, os; print(os.listdir())")["stdout"] == \
            "['script.py']\n"
        assert server.run("import colorsys")["stdout"] == "666\n"


def test_a_directory_of_the_other_isolation_is_refused_in_words_for_a_model(docker_server):
    with docker_server(config=SYSTEM) as server:
        server.initialize()
        results = {name: server.run("pass", arguments={"environment": name})
                   for name in ("box", "system")}
        handles = {name: result["working_directory"] for name, result in results.items()}
        assert handles["box"] != handles["system"]
        level = results["system"]["isolation"]
        for name, own, other in (("box", "docker", level), ("system", level, "docker")):
            foreign = handles["system" if name == "box" else "box"]
            answer = server.call_tool("run_python", {
                "code": "print(1)", "environment": name, "working_directory": foreign})
            assert answer["isError"]
            (block,) = answer["content"]
            assert f'for environments with isolation "{other}"' in block["text"]
            assert f'this environment has "{own}"' in block["text"]


def test_a_call_cannot_bring_another_isolation_into_a_named_directory(docker_server, tmp_path):
    config = {"working_directory": str(tmp_path), "callers": {"define_environments": True}}
    with docker_server(config=config) as server:
        server.initialize()
        answer = server.call_tool("run_python", {
            "code": "print(1)", "environment_definition": {"type": "system"}})
        assert answer["isError"]
        assert re.search('not for environments with isolation "(sandbox|none)"',
                         answer["content"][0]["text"])
