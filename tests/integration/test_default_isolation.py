"""What holds a run when nobody has said anything: the strongest that this machine gives it, and the result says so.
With `isolation: auto` no run fails because a machine, or a directory, is not made for sandboxes."""

import contextlib
import json
import os
import subprocess

import client
import pytest
from test_fallback import needs_namespaces, needs_x86_64, without

WEAK = ("namespaces", "landlock")  # without these there is no sandbox


@contextlib.contextmanager
def started_in(folder, denied=None, environment=None, **config):
    """A server whose client starts it in FOLDER, on a machine without what is DENIED."""
    command = ["env", f"--chdir={folder}", *(without(*denied) if denied else [os.environ["PYEXECD"]])]
    with client.Server(command=command, config={"containment": "best-effort", **config},
                       environment=environment) as server:
        server.initialize()
        yield server


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "data.txt").write_text("data\n")
    return folder


def run(server, code="pass", **arguments):
    return server.call_tool("run_python", {"code": code, **arguments})


def held(result):
    return result["structuredContent"]["isolation"]


def layers(result):
    return result["structuredContent"]["containment"]["layers"]


def text(result):
    return result["content"][0]["text"]


def printed(result):
    return result["structuredContent"]["stdout"]


def try_out(path):
    return f"""
try:
    print(open({str(path)!r}).read(), end='')
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture
def sandboxes(project):
    """Skips where this user has none."""
    with started_in(project) as server:
        if held(run(server)) != "sandbox":
            pytest.skip("this machine has no sandbox")


def test_a_run_is_in_a_sandbox_where_there_is_one(sandboxes, project, tmp_path):
    (tmp_path / "secret").write_text("secret")
    with started_in(project) as server:
        result = run(server, try_out(tmp_path / "secret"))
        assert held(result) == "sandbox"
        assert printed(result) in ("FileNotFoundError\n", "PermissionError\n")
        assert "not asked for" not in layers(result).values()


@needs_namespaces
@needs_x86_64
@pytest.mark.parametrize("denied", [["namespaces"], ["landlock"]])
def test_half_a_sandbox_is_better_than_none_and_says_so(sandboxes, project, tmp_path, denied):
    (tmp_path / "secret").write_text("secret")
    with started_in(project, denied) as server:
        result = run(server, try_out(tmp_path / "secret"))
        if denied == ["namespaces"] and held(result) == "none":
            pytest.skip("this machine has no file rules")
        assert held(result) == "sandbox"
        assert printed(result) in ("FileNotFoundError\n", "PermissionError\n")
        assert "absent" in layers(result).values()
        assert "The sandbox of this run was without: " in text(result)


@needs_namespaces
@needs_x86_64
def test_without_any_sandbox_a_run_goes_on_and_says_so(project, tmp_path):
    (tmp_path / "other").write_text("other\n")
    with started_in(project, WEAK) as server:
        first = run(server, try_out(tmp_path / "other"))
        assert held(first) == "none"
        assert printed(first) == "other\n"
        assert set(layers(first).values()) == {"absent"}
        assert "This run had no sandbox: own root directory (" in text(first)
        assert any(what.startswith("file rules: ")
                   for what in first["structuredContent"]["containment"]["missing"])
        said = json.dumps(server.find_tool())
        assert "no network" not in said and str(project) not in said


@needs_namespaces
@needs_x86_64
@pytest.mark.parametrize("insisted", [{"isolation": "sandbox"}, {"require": "sandbox"},
                                      {"network": ["packages.example.org:443"]}])
def test_who_insists_on_a_sandbox_gets_one_or_no_run(project, insisted):
    with started_in(project, WEAK, environments={"system": {"type": "system", **insisted}}) as server:
        result = run(server, "print('never')")
        assert result["isError"] and "never" not in text(result)
        assert "this machine cannot give the run its sandbox" in text(result)


@needs_namespaces
@needs_x86_64
def test_what_requires_a_sandbox_is_not_content_with_half_of_it(project):
    with started_in(project, ["landlock"],
                    environments={"system": {"type": "system", "require": "sandbox"}}) as server:
        assert "file rules" in text(run(server, "print('never')"))


def test_none_is_none(project):
    with started_in(project, environments={"system": {"type": "system", "isolation": "none"}}) as server:
        result = run(server)
        assert held(result) == "none"
        assert set(layers(result).values()) == {"not asked for"}
        assert "sandbox" not in text(result)


@needs_namespaces
@needs_x86_64
def test_a_person_is_told_what_a_run_would_be_held_by(project):
    for denied, isolation in ((None, "Isolation: a sandbox"), (WEAK, "Isolation: none: ")):
        with started_in(project, denied) as server:
            if held(run(server)) != ("none" if denied else "sandbox"):
                continue
        with client.Server(command=["env", f"--chdir={project}",
                                    *(without(*denied) if denied else [os.environ["PYEXECD"]])],
                           config={"containment": "best-effort", "approval": "always"}) as server:
            server.initialize("2025-11-25", {"elicitation": {}})
            request_id = server.start_tool("run_python", {"code": "pass"})
            asked = server.receive()
            assert isolation in asked["params"]["message"]
            server.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}})
            server.wait(request_id)


# The folder that a stdio server was started in

def test_the_start_folder_can_be_read_over_stdio_and_not_changed(sandboxes, project):
    with started_in(project) as server:
        assert printed(run(server, try_out(project / "data.txt"))) == "data\n"
        assert f"{project} (read-only)" in json.dumps(server.find_tool())
        written = run(server, f"open('{project}/data.txt', 'w')")
        assert written["isError"] or not written["structuredContent"]["success"]
    assert (project / "data.txt").read_text() == "data\n"
    assert sorted(os.listdir(project)) == ["data.txt"]


def test_the_start_folder_is_there_for_what_a_call_defines(sandboxes, project):
    with started_in(project) as server:
        result = run(server, try_out(project / "data.txt"), environment_definition={"type": "system"})
        assert held(result) == "sandbox"
        assert printed(result) == "data\n"


@pytest.mark.parametrize("definition", [{"network": True}, {"network": ["packages.example.org:443"]},
                                        {"isolation": "sandbox"}])
def test_the_start_folder_is_closed_where_it_could_be_carried_off_or_is_not_named(
        sandboxes, project, definition):
    with started_in(project, environments={"system": {"type": "system", **definition}}) as server:
        assert "data\n" not in printed(run(server, try_out(project / "data.txt")))


@pytest.mark.parametrize("transport", ["unix", "tcp", "http"])
def test_clients_of_a_socket_see_nothing_of_where_the_server_was_started(sandboxes, project, transport):
    with client.Server(transport=transport,
                       command=["env", f"--chdir={project}", os.environ["PYEXECD"]]) as server:
        server.initialize()
        result = run(server, try_out(project / "data.txt"))
        assert held(result) == "sandbox"
        assert "data\n" not in printed(result)
        assert str(project) not in json.dumps(server.find_tool())


def test_a_home_is_not_shown_because_the_server_was_started_there(sandboxes, project):
    with started_in(project, environment={"HOME": str(project)}) as server:
        result = run(server, try_out(project / "data.txt"))
        assert held(result) == "sandbox"
        assert "data\n" not in printed(result)
        assert f"{project} (read-only)" not in json.dumps(server.find_tool())


# Where a directory is not made for a sandbox

def test_a_home_is_worked_in_without_a_sandbox(project):
    with started_in(project, environment={"HOME": str(project)},
                    working_directory=str(project)) as server:
        result = run(server, try_out("data.txt"))
        assert held(result) == "none"
        assert printed(result) == "data\n"
        assert "This run had no sandbox: a sandbox cannot work in" in text(result)


def test_a_python_in_the_working_directory_is_not_given_to_a_sandbox(project):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", project / ".venv"], check=True)
    environments = {"system": {"type": "system", "executable": str(project / ".venv/bin/python")}}
    with started_in(project, environments=environments, working_directory=str(project)) as server:
        result = run(server, "print(1)")
        assert (held(result), printed(result)) == ("none", "1\n")
        assert "belongs to the Python of environment system" in text(result)


def test_environments_that_a_directory_holds_apart_do_not_share_it(sandboxes, project):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", project / ".venv"], check=True)
    config = project.parent / "config.yaml"
    config.write_text(json.dumps({"working_directory": str(project), "environments": {
        "system": {"type": "system", "executable": "/usr/bin/python3"},
        "inner": {"type": "system", "executable": str(project / ".venv/bin/python")}}}))
    config.chmod(0o600)
    result = subprocess.run([os.environ["PYEXECD"], "--config", config, "--check-config"],
                            capture_output=True, text=True)
    assert result.returncode == 78
    assert "share_directory_across_isolation: true" in result.stdout + result.stderr


def pyexecd(*arguments, cwd, **environment):
    return subprocess.run([os.environ["PYEXECD"], *map(str, arguments)], cwd=cwd, text=True,
                          env={**os.environ, **environment}, capture_output=True, timeout=120)


def test_a_check_of_the_configuration_names_who_has_no_sandbox(project):
    config = project.parent / "config.yaml"
    config.write_text(f"working_directory: {project}\n")
    config.chmod(0o600)
    result = pyexecd("--config", config, "--check-config", cwd=project, HOME=str(project))
    assert result.returncode == 0
    assert "environment system: no sandbox: a sandbox cannot work in" in result.stdout


def test_run_holds_a_script_and_gives_it_the_directory_it_is_called_in(sandboxes, project, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (project / "script.py").write_text(try_out(tmp_path / "secret") + try_out("data.txt"))
    result = pyexecd("run", "--json", "script.py", cwd=project)
    content = json.loads(result.stdout)
    assert content["isolation"] == "sandbox"
    assert content["stdout"].endswith("Error\ndata\n")


def test_run_finds_the_modules_beside_a_script_that_lies_elsewhere(sandboxes, project, tmp_path):
    (project / "helper.py").write_text("x = 42")
    (project / "script.py").write_text("import helper\nprint(helper.x, __file__)\nopen('made', 'w')")
    other = tmp_path / "other"
    other.mkdir()
    result = pyexecd("run", project / "script.py", cwd=other)
    assert result.stdout == f"42 {project / 'script.py'}\n"
    assert (other / "made").exists()


def test_run_keeps_a_script_from_a_home_that_it_is_called_in(sandboxes, project):
    code = try_out("data.txt") + try_out(project / "data.txt")
    result = pyexecd("run", "--json", "-c", code, cwd=project, HOME=str(project))
    content = json.loads(result.stdout)
    assert (content["isolation"], content["stdout"].count("data\n")) == ("sandbox", 0)
    assert f"a sandbox cannot work in {project}" in result.stderr and "`-w .` works here" in result.stderr
    assert content["working_directory"] in result.stderr


def test_run_works_in_a_home_that_is_named_and_says_what_that_means(project):
    result = pyexecd("run", "--json", "-w", ".", "-c", try_out("data.txt"), cwd=project, HOME=str(project))
    content = json.loads(result.stdout)
    assert (content["isolation"], content["stdout"]) == ("none", "data\n")
    assert "sandbox: a sandbox cannot work in" in content["containment"]["missing"][0]
    assert "the script has no sandbox: a sandbox cannot work in" in result.stderr


def test_run_in_a_home_finds_the_modules_beside_a_script_below_it(sandboxes, project):
    (project / "src").mkdir()
    (project / "src/helper.py").write_text("x = 42")
    (project / "src/script.py").write_text("import helper, sys\nprint(helper.x, sys.argv)")
    result = pyexecd("run", "src/script.py", "--flag", cwd=project, HOME=str(project))
    assert result.stdout == f"42 ['{project}/src/script.py', '--flag']\n", result.stderr


def test_run_may_insist_on_a_sandbox(sandboxes, project):
    held_here = pyexecd("run", "--json", "--require", "sandbox", "-c", "pass", cwd=project, HOME=str(project))
    assert json.loads(held_here.stdout)["isolation"] == "sandbox"
    in_home = pyexecd("run", "--require", "sandbox", "-w", ".", "-c", "print(1)", cwd=project, HOME=str(project))
    assert (in_home.returncode, in_home.stdout) == (78, "")
    config = project.parent / "config.yaml"
    config.write_text("environments: {free: {type: system, isolation: none}}\n")
    config.chmod(0o600)
    never = pyexecd("run", "--config", config, "--require", "sandbox", "-c", "print(1)", cwd=project)
    assert (never.returncode, never.stdout) == (64, "")
    assert 'environment "free" has none' in never.stderr


def test_files_in_memory_are_for_sandboxes_too(sandboxes, project):
    with started_in(project, working_directory="memory") as server:
        first = run(server, "open('a', 'w').write('kept')")
        assert held(first) == "sandbox"
        assert printed(run(server, "print(open('a').read())")) == "kept\n"
