"""What the server executes or believes lies where no script writes: servers of tools run outside of the sandbox, with the
operator's secrets, and the configuration says what is executed."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

import client
import leftovers
import plain_user
import pytest

PYEXECD = os.environ["PYEXECD"]
UPSTREAM, FALSE, LIMITED = (str(pathlib.Path(__file__).with_name(name)) for name in ("tools_upstream.py", "false_node.py", "limited.py"))
PYTHON = "/usr/bin/python3"
ECHO = "import tools; print(tools.t.echo(a=1))"
KEPT = "from the operator"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A user whose project is the current directory, and WRITTEN a folder in which scripts work."""
    plain_user.become(monkeypatch, tmp_path)
    for name in ("written", "other", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def honest(path):
    """A program that is a server of tools."""
    return program(path, f"#!/bin/sh\nexec {PYTHON} {UPSTREAM}\n")


def evil(place):
    """The text of a program that tells that it has been outside of a sandbox."""
    return f"#!/bin/sh\ntouch {place}/escaped\nexec {PYTHON} {UPSTREAM}\n"


def planting(path, text):
    """Code that puts TEXT at PATH as a program, if it can."""
    return f"import os\npath, text = {str(path)!r}, {text!r}\ntry:\n    os.makedirs(os.path.dirname(path), exist_ok=True)\n" \
           "    if os.path.lexists(path): os.unlink(path)\n    open(path, 'w').write(text)\n    os.chmod(path, 0o755)\n" \
           "except OSError as error:\n    print(error)\n"


def configured(tool, **more):
    held = {"type": "system", "isolation": "sandbox", "tools": ["t"], **more.pop("held", {})}
    return {"tools": {"t": {"approval": "never", **tool}}, "environments": {"held": held}, **more}


def write(path, config):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(config, indent=1))
    path.chmod(0o600)
    return path


def check(path):
    result = subprocess.run([PYEXECD, "--check-config", "--config", path], capture_output=True, text=True, timeout=120)
    return result.returncode, result.stderr


def run(*words, **more):
    return subprocess.run([PYEXECD, *map(str, words)], capture_output=True, text=True, timeout=240,
                          **{"stdin": subprocess.DEVNULL, **more})


# In a server

def attack(place, config, path):
    """A script of a server with CONFIG plants a program at PATH, and ends the server of tools; then that is started again.
    Returns what it said."""
    end = "import tools\ntry:\n    tools.t.die()\nexcept tools.ToolError:\n    pass\n"
    with client.Server(config=config) as server:
        server.initialize()
        for code in (planting(path, evil(place)) + end, ECHO):
            result = server.call_tool("run_python", {"code": code}, timeout=240)
        assert not (place / "escaped").exists()
        return result["structuredContent"]["stdout"]


@pytest.mark.parametrize("folder", ["written/later/bin", "link/bin", "written", "other"])
def test_no_program_is_found_in_a_folder_of_path_where_scripts_write(place, monkeypatch, folder):
    """Neither where the folder is not there yet, nor behind a link."""
    (place / "link").symlink_to(place / "written")
    honest(place / "own/helper")
    monkeypatch.setenv("PATH", f"{place}/{folder}:{place}/own:/usr/bin:/bin")
    config = configured({"command": ["helper"]}, working_directory=str(place / "written"), held={"write": [str(place / "other")]})
    assert attack(place, config, place / folder.replace("link", "written") / "helper") == "{'a': 1}\n"


def test_what_a_server_of_tools_starts_itself_is_not_found_there_either(place, monkeypatch):
    """As `npx` starts `node`."""
    program(place / "own/helper", "#!/bin/sh\nexec inner\n")
    honest(place / "own/inner")
    monkeypatch.setenv("PATH", f"{place}/written/bin:{place}/own:/usr/bin:/bin")
    config = configured({"command": ["helper"]}, working_directory=str(place / "written"))
    assert attack(place, config, place / "written/bin/inner") == "{'a': 1}\n"


def test_a_server_of_tools_reads_what_scripts_write(place):
    """Data: only code is refused."""
    (place / "written/data.txt").write_text("1")
    config = configured({"command": [PYTHON, UPSTREAM, str(place / "written"), f"--file={place}/written/data.txt"],
                         "environment": {"DATA": str(place / "written")}}, working_directory=str(place / "written"))
    with client.Server(config=config) as server:
        server.initialize()
        assert server.call_tool("run_python", {"code": ECHO}, timeout=240)["structuredContent"]["stdout"] == "{'a': 1}\n"


# Where the configuration lies in PLACE: a tool, the key to blame, and the path that is told.
TOOLS = {
    "a program": ({"command": ["{}/written/.venv/bin/python", "-m", "server"]}, "command.0", "written/.venv/bin/python"),
    "a relative program": ({"command": ["written/server"]}, "command.0", "written/server"),
    "a program behind a link": ({"command": ["{}/link/server"]}, "command.0", "link/server"),
    "a program on PATH that is a link": ({"command": ["linked"]}, "command.0", "own/linked"),
    "a program that only scripts have": ({"command": ["theirs"]}, "command.0", "written/theirs"),
    "a script": ({"command": [PYTHON, "-u", "{}/written/server.py"]}, "command.2", "written/server.py"),
    "a script that is not there yet": ({"command": ["node", "./written/later/index.mjs"]}, "command.1", "written/later/index.mjs"),
    "a folder of code": ({"command": ["python3", "{}"]}, "command.1", ""),
    "a program of another one": ({"command": ["/usr/bin/env", "A=1", "{}/written/theirs"]}, "command.2", "written/theirs"),
    "a script of a shell that ends at failures": ({"command": ["sh", "-e", "{}/written/server"]}, "command.2", "written/server"),
    "a script of dash": ({"command": ["dash", "{}/written/server"]}, "command.1", "written/server"),
    "a script behind nice": ({"command": ["nice", "-n", "5", PYTHON, "{}/written/server.py"]}, "command.4", "written/server.py"),
    "a script behind timeout": ({"command": ["timeout", "--signal", "INT", "-k", "5", "90", PYTHON, "{}/written/server.py"]},
                                "command.7", "written/server.py"),
    "a script behind two": ({"command": ["env", "-i", "-u", "X", "A=1", "nohup", PYTHON, "{}/written/server.py"]},
                            "command.7", "written/server.py"),
    "the interpreter of a program": ({"command": ["{}/own/banged"]}, "command.0", "written/python"),
    "a variable": ({"command": [PYTHON, "-m", "server"], "environment": {"PYTHONPATH": "/usr/lib:{}/written/lib"}},
                   "environment.PYTHONPATH", "written/lib"),
    "a folder around": ({"command": [PYTHON, "-m", "server"], "environment": {"PYTHONPATH": "{}"}}, "environment.PYTHONPATH", ""),
    "a socket": ({"url": "unix://{}/written/socket#/mcp"}, "url", "written/socket"),
}


def filled(value, place):
    return json.loads(json.dumps(value).replace("{}", str(place)))


def told(stderr, path, pointer):
    """The lines of STDERR about POINTER, each with its place in the file."""
    return [line for line in stderr.splitlines() if line.startswith(f"{path}:") and f": {pointer}: " in line]


@pytest.mark.parametrize("way", ["working_directory", "write", "volumes"])
@pytest.mark.parametrize("case", TOOLS)
def test_a_server_of_tools_in_a_place_of_scripts_is_refused(place, monkeypatch, case, way):
    tool, key, path = TOOLS[case]
    (place / "link").symlink_to(place / "written")
    honest(place / "written/theirs")
    (place / "own").mkdir()
    (place / "own/linked").symlink_to(place / "written/theirs")
    program(place / "own/banged", f"#! {place}/written/python -u\n")
    monkeypatch.setenv("PATH", f"{place}/written:{place}/own:/usr/bin:/bin")
    config = configured(filled(tool, place))
    if way == "working_directory":
        config[way] = str(place / "written")
    elif way == "write":
        config["environments"]["held"][way] = [str(place / "written")]
    else:
        config["environments"]["c"] = {"type": "docker", "image": "x", "volumes": {str(place / "written"): {"path": "/d", "mode": "rw"}}}
        config["default_environment"] = "held"
    status, stderr = check(write(place / "config.yaml", config))
    lines = told(stderr, place / "config.yaml", f"tools.t.{key}")
    assert status == 78 and lines, stderr
    path = f"{place}/{path}".rstrip("/")
    assert len(stderr.splitlines()) == 1 and f"scripts that write in {place}/written could change {path} and " in lines[0], stderr
    assert "keep the one outside of the other" in lines[0]


WITH_CODE = [["node", "-e", "1"], [PYTHON, "-Ic", "1"], [PYTHON, "-m", "x"], ["sh", "-ec", "true"], ["perl", "-ne", "1"]]


@pytest.mark.parametrize("command", WITH_CODE)
def test_a_path_behind_code_is_data(place, command):
    config = configured({"command": [*command, str(place / "written/data")]}, working_directory=str(place / "written"))
    assert check(write(place / "config.yaml", config)) == (0, "")


def test_a_relative_path_to_modules_is_told(place):
    """It would begin in the empty folder of the server of tools."""
    config = configured({"command": [PYTHON, "-m", "server"], "environment": {"PYTHONPATH": "/usr/lib:src", "ENV": "production"}})
    status, stderr = check(write(place / "config.yaml", config))
    assert status == 78 and "absolute" in "".join(told(stderr, place / "config.yaml", "tools.t.environment.PYTHONPATH")), stderr
    assert len(stderr.splitlines()) == 1


# The same for what else the server executes or believes.
OTHERS = {
    "a launcher": ({"nodes": {"n": {"launcher": ["{}/written/launch", "pyexecd", "node"]}}}, "nodes.n.launcher.0"),
    "a launcher on PATH": ({"nodes": {"n": {"launcher": ["ssh", "h", "pyexecd", "node"]}}}, "nodes.n.launcher.0"),
    "settings of a launcher": ({"nodes": {"n": {"launcher": ["/usr/bin/ssh", "-F", "{}/written/ssh_config", "h"]}}},
                               "nodes.n.launcher.2"),
    "tokens": ({"token_file": "{}/written/tokens"}, "token_file"),
    "a certificate": ({"tls": {"certificate": "{}/written/c.pem", "key": "/etc/k.pem"}}, "tls.certificate"),
    "a key": ({"tls": {"certificate": "/etc/c.pem", "key": "{}/written/k.pem"}}, "tls.key"),
    "the key of replicas": ({"replicas": {"self": "a", "all": {n: f"https://{n}.example.org/mcp" for n in "ab"}, "key_file": "{}/written/key"}},
                            "replicas.key_file"),
    "an engine": ({"environments": {"c": {"type": "docker", "image": "x", "host": "unix://{}/written/engine.sock"}}},
                  "environments.c.host"),
    "the authority of an engine": ({"environments": {"c": {"type": "docker", "image": "x", "host": "tcp://e:2376",
                                                           "tls": {"ca_file": "{}/written/ca.pem"}}}},
                                   "environments.c.tls.ca_file"),
    "a listener": ({"listen": ["unix://{}/written/socket"]}, "listen.0"),
    "a listener for lines": ({"listen": ["unix:{}/written/socket"]}, "listen.0"),
    "an administrator's socket": ({"admin": "unix://{}/written/admin"}, "admin"),
    "a build": ({"environments": {"c": {"type": "docker", "dockerfile": "{}/written/Dockerfile"}}}, "environments.c.dockerfile"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_the_server_executes_or_believes_is_not_in_a_place_of_scripts(place, monkeypatch, case):
    more, pointer = OTHERS[case]
    monkeypatch.setenv("PATH", f"{place}/written/bin:/usr/bin:/bin")
    (place / "written/Dockerfile").write_text("FROM x\n")
    (place / "written/ssh_config").write_text("")
    config = filled(more, place)
    held = {"held": {"type": "system", "isolation": "sandbox", "write": [str(place / "written")]}}
    config["environments"] = {**held, **config.get("environments", {})}
    config["default_environment"] = "held"
    status, stderr = check(write(place / "config.yaml", config))
    assert status == 78 and told(stderr, place / "config.yaml", pointer), stderr
    config["environments"]["held"]["write"] = [str(place / "other")]
    assert "scripts that write in" not in check(write(place / "config.yaml", config))[1]


@pytest.mark.parametrize("name", ["written/config.yaml", "written/deep/config.yaml", "config.yaml"])
def test_the_configuration_lies_where_no_script_writes(place, name):
    """Behind a link neither."""
    path = write(place / name, {"environments": {"held": {"type": "system", "isolation": "sandbox", "write": [str(place / "written")]}}})
    if name == "config.yaml":
        path.rename(place / "written/real.yaml")
        path.symlink_to("written/real.yaml")
    status, stderr = check(path)
    assert status == 78 and told(stderr, path, "environments.held.write"), stderr
    assert f"scripts that write in {place}/written could change {path} and decide what the server executes next" in stderr
    assert check(write(place / "plain.yaml", {"environments": {"held": {"type": "system", "isolation": "none"}}}))[0] == 0


def served(path, code):
    """What CODE prints in a server with the configuration at PATH."""
    with client.Server("--config", path) as server:
        server.initialize()
        return server.call_tool("run_python", {"code": code}, timeout=240)["structuredContent"]["stdout"]


@pytest.mark.parametrize("isolation", ["sandbox", "auto"])
def test_a_server_keeps_its_configuration_in_the_directory_of_its_scripts(place, isolation):
    path = project(place, working_directory=str(place / "project"), held={"isolation": isolation})
    text = path.read_text()
    assert served(path, SPOIL + ECHO) == "{'a': 1}\n"
    assert path.read_text() == text and sorted(os.listdir()) == ["out.csv", "pyexecd.yaml", "script.py"]


def test_no_call_has_the_server_write_what_is_kept(place):
    """The files of a call and blocks with a name are written by the server itself, which no mount holds."""
    (place / "project/srv").mkdir()
    (place / "project/srv/s.py").write_text(pathlib.Path(UPSTREAM).read_text())
    path = project(place, {"command": [PYTHON, "./srv/s.py"]}, working_directory=str(place / "project"), code_blocks={}, sessions={})
    text = path.read_text()
    with client.Server("--config", path) as server:
        server.initialize()
        for name in ("pyexecd.yaml", "./srv/s.py", "srv//new.py", "srv"):
            for more in ({}, {"session": "new"}):
                result = server.call_tool("run_python", {"code": "1", "files": [{"path": name, "text": "spoilt"}], **more}, timeout=240)
                assert result["isError"] and "is only read here" in result["content"][0]["text"], result
        for name in ("pyexecd.yaml", "srv/s.py"):
            block = {"language": "python", "code": f"# filename: {name}\nprint(1)"}
            result = server.call_tool("run_code_blocks", {"blocks": [block]}, timeout=240)
            assert "is only read here" in result["content"][0]["text"], result
        result = server.call_tool("run_python", {"code": ECHO, "files": [{"path": "srv2/s.py", "text": "1"}]}, timeout=240)
        assert result["structuredContent"]["stdout"] == "{'a': 1}\n", result
    assert path.read_text() == text and os.listdir("srv") == ["s.py"] and "spoilt" not in (place / "project/srv/s.py").read_text()


UNKEPT = {
    "a link": (lambda path: (path.rename(path.with_name("real.yaml")), path.symlink_to("real.yaml")), "it is found there by a link"),
    "a link to elsewhere": (lambda path: (path.rename(path.parents[1] / "real.yaml"), path.symlink_to("../real.yaml")), "{}/pyexecd.yaml is a link"),
    "a second name": (lambda path: os.link(path, path.with_name(".y")), "{}/pyexecd.yaml has a second name (a hard link)"),
}


@pytest.mark.parametrize("case", UNKEPT)
def test_a_configuration_that_cannot_be_kept_is_refused(place, case):
    change, reason = UNKEPT[case]
    path = project(place, working_directory=str(place / "project"))
    change(path)
    status, stderr = check(path)
    assert status == 78 and told(stderr, path, "working_directory") and reason.format(place / "project") in stderr, stderr
    path = write(place / "other/own.yaml", configured({"command": [PYTHON, UPSTREAM]}))
    result = run("run", "--config", path, "-c", "open('pyexecd.yaml', 'a')")
    assert reason.format(place / "project") in result.stderr and "the script works in" in result.stderr, result
    assert "remove it if it is not yours" in result.stderr


@pytest.mark.parametrize("kind", ["file", "link", "fifo", "second name"])
def test_no_script_keeps_a_server_from_its_start_by_a_configuration_that_nobody_uses(place, kind):
    planted = place / "written/pyexecd.yaml"
    config = {"environments": {"held": {"type": "system", "isolation": "sandbox"}}, "working_directory": str(place / "written")}
    with client.Server("--log-level", "info", config=config) as server:
        server.initialize()
        if kind == "link":
            planted.symlink_to("/etc/passwd")
        elif kind == "fifo":
            os.mkfifo(planted)
        else:
            planted.write_text("{}")
        if kind == "second name":
            os.link(planted, place / "written/other")
        path = pathlib.Path(server.environment["PYEXECD_CONFIG"])
        write(path, {**config, "keep_for": 77})
        server.process.send_signal(signal.SIGHUP)
        assert leftovers.until(lambda: "the configuration was read again" in server.stderr())
    assert check(write(place / "config.yaml", config)) == (0, "")


def test_what_is_kept_is_not_made_anew_by_scripts(place):
    path = project(place, working_directory=str(place / "project"))
    with client.Server("--config", path) as server:
        server.initialize()
        path.rename(place / "aside.yaml")
        result = server.call_tool("run_python", {"code": "open('pyexecd.yaml', 'w')"}, timeout=240)
        assert result["isError"] and f"{path} is gone" in result["content"][0]["text"] and "put it back" in result["content"][0]["text"]
        assert not path.exists()
        path.symlink_to("../aside.yaml")
        result = server.call_tool("run_python", {"code": "import os; os.unlink('pyexecd.yaml')"}, timeout=240)
        assert result["isError"] and f"{path} is a link or a socket now" in result["content"][0]["text"] and path.is_symlink(), result
        (place / "aside.yaml").rename(path)
        os.link(path, path.with_name("backup.yaml"))
        result = server.call_tool("run_python", {"code": "open('backup.yaml', 'a').write('x')"}, timeout=240)
        assert result["isError"] and f"{path} has a second name now" in result["content"][0]["text"], result
        path.with_name("backup.yaml").unlink()
        result = server.call_tool("run_python", {"code": SPOIL + ECHO}, timeout=240)
        assert result["structuredContent"]["stdout"] == "{'a': 1}\n", result


def test_nothing_is_made_where_the_operator_replaces_a_file(place):
    """As git and tar do, which remove it before they make it."""
    path = project(place, working_directory=str(place / "project"))
    text = path.read_text()
    stop, made = threading.Event(), []

    def replace():
        while not stop.is_set() and not made:
            path.unlink()
            try:
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(text)
            except FileExistsError:
                made.append(path.read_text())

    with client.Server("--config", path) as server:
        server.initialize()
        thread = threading.Thread(target=replace)
        thread.start()
        try:
            for _ in range(100):
                server.call_tool("run_python", {"code": ""}, timeout=240)
        finally:
            stop.set()
            thread.join()
        assert not made and path.read_text() == text
        result = server.call_tool("run_python", {"code": SPOIL + ECHO}, timeout=240)
        assert result["structuredContent"]["stdout"] == "{'a': 1}\n", result


def test_what_a_reload_does_not_need_may_go(place):
    honest(place / "written/bin/server")
    config = configured({"command": [str(place / "written/bin/server")]}, working_directory=str(place / "written"))
    with client.Server("--log-level", "info", config=config) as server:
        server.initialize()
        config["tools"]["t"]["command"] = [PYTHON, UPSTREAM]
        write(pathlib.Path(server.environment["PYEXECD_CONFIG"]), config)
        server.process.send_signal(signal.SIGHUP)
        assert leftovers.until(lambda: "the configuration was read again" in server.stderr())
        shutil.rmtree(place / "written/bin")
        result = server.call_tool("run_python", {"code": ECHO}, timeout=240)
        assert result["structuredContent"]["stdout"] == "{'a': 1}\n", result


def test_what_is_kept_later_needs_a_new_start(place):
    """Sessions and containers that are there can write it."""
    first = {"environments": {"held": {"type": "system", "isolation": "sandbox"}}, "working_directory": str(place / "written")}
    config = configured({"command": [str(honest(place / "written/bin/server"))]}, working_directory=str(place / "written"))
    with client.Server(config=first) as server:
        server.initialize()
        write(pathlib.Path(server.environment["PYEXECD_CONFIG"]), config)
        server.process.send_signal(signal.SIGHUP)
        leftovers.until(lambda: "start the server anew" in server.stderr())
        assert f"scripts must only read {place}/written/bin from now on" in server.stderr()
    assert check(write(place / "config.yaml", config)) == (0, "")


def test_scripts_without_isolation_have_the_rights_of_the_user(place):
    """What they can change anyway is not refused."""
    config = configured({"command": [str(honest(place / "written/server"))]}, working_directory=str(place / "written"),
                        held={"isolation": "none"})
    assert check(write(place / "config.yaml", config)) == (0, "")


@pytest.mark.parametrize("words", [["run", "-c", ""], ["run", "-w", ".", "-c", ""], ["map", "each.py"], ["call", "-w", "."]])
def test_a_command_without_isolation_works_in_the_project(place, words):
    project(place, held={"isolation": "none"})
    (place / "project/each.py").write_text("def main(input):\n    return input\n")
    code = f"open('pyexecd.yaml'); {ECHO}"
    words = [code if word == "" else word for word in words]
    call = json.dumps({"type": "tool_use", "id": "1", "name": "run_python", "input": {"code": code}})
    result = run(words[0], "--config", "pyexecd.yaml", *words[1:], input=call if words[0] == "call" else "1\n", stdin=None)
    assert result.returncode == 0 and result.stderr == "" and ("{'a': 1}" in result.stdout or words[0] == "map"), result


def test_a_reload_refuses_it_as_well(place):
    good = configured({"command": [PYTHON, UPSTREAM]}, working_directory=str(place / "written"))
    with client.Server(config=good) as server:
        server.initialize()
        path = pathlib.Path(server.environment["PYEXECD_CONFIG"])
        write(path, configured({"command": [str(place / "written/server")]}, working_directory=str(place / "written")))
        server.process.send_signal(signal.SIGHUP)
        leftovers.until(lambda: "scripts that write in" in server.stderr())
        assert "tools.t.command.0: scripts that write in" in server.stderr(), server.stderr()
        assert server.call_tool("run_python", {"code": ECHO}, timeout=240)["structuredContent"]["stdout"] == "{'a': 1}\n"


def test_no_call_defines_an_environment_into_which_a_server_of_tools_leads(place):
    """Packages of a model, in the virtual environment that the server of tools is started from."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", place / "servers"], check=True)
    config = configured({"command": [str(place / "servers/bin/python"), UPSTREAM]},
                        callers={"define_environments": True, "allowed_paths": [str(place)]})
    definition = {"type": "venv", "venv_path": str(place / "servers"), "pip_packages": ["gadget"]}
    with client.Server(config=config) as server:
        server.initialize()
        answer = server.call_tool("run_python", {"code": "1", "environment_definition": definition}, timeout=240)
        text = answer["content"][0]["text"]
        assert answer["isError"] and "scripts could change what the server itself executes or reads" in text, text


def test_a_call_uses_the_virtual_environment_that_is_active(place, monkeypatch):
    """Nothing is installed there, and nothing of it is executed by the server."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", place / "project/.venv"], check=True)
    monkeypatch.setenv("PATH", f"{place}/project/.venv/bin:/usr/bin:/bin")
    config = {"environments": {"held": {"type": "system", "isolation": "sandbox"}},
              "callers": {"define_environments": True, "allowed_paths": [str(place / "project")]}}
    code = "import sys; print(sys.prefix)"
    definition = {"type": "venv", "venv_path": str(place / "project/.venv")}
    with client.Server(config=config) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": code, "environment_definition": definition}, timeout=240)
        assert result["structuredContent"]["stdout"] == f"{place}/project/.venv\n", result


# In the folder in which a command is typed

def project(place, tool=None, **more):
    """A project with a configuration, as its owner runs scripts there."""
    return write(place / "project/pyexecd.yaml", configured(tool or {"command": [PYTHON, UPSTREAM]}, **more))


SPOIL = """
import os
for change in (lambda: open("pyexecd.yaml", "a"), lambda: os.remove("pyexecd.yaml"), lambda: os.rename("pyexecd.yaml", "x"),
               lambda: os.link("pyexecd.yaml", "y"), lambda: os.rename("/etc/hostname", "pyexecd.yaml"),
               lambda: os.chmod("pyexecd.yaml", 0o666), lambda: os.truncate("pyexecd.yaml", 0)):
    try:
        change()
        print("spoilt")
    except OSError:
        pass
open("out.csv", "w").write("1")
"""


@pytest.mark.parametrize("words", [[], ["-w", "."]])
def test_a_script_works_in_a_project_and_leaves_its_configuration(place, words):
    path = project(place)
    text = path.read_text()
    result = run("run", *words, "--config", "pyexecd.yaml", "-c", SPOIL + ECHO)
    assert (result.returncode, result.stdout, result.stderr) == (0, "{'a': 1}\n", "")
    assert path.read_text() == text and sorted(os.listdir()) == ["out.csv", "pyexecd.yaml"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_call_and_a_map_leave_it_as_well(place):
    path = project(place)
    text = path.read_text()
    call = json.dumps({"type": "tool_use", "id": "1", "name": "run_python", "input": {"code": SPOIL + ECHO}})
    result = run("call", "-w", ".", "--config", "pyexecd.yaml", input=call, stdin=None)
    assert result.returncode == 0 and "{'a': 1}" in result.stdout and "spoilt" not in result.stdout, result
    (place / "project/each.py").write_text(f"def main(input):\n    exec({SPOIL!r}, {{}})\n")
    result = run("map", "--config", "pyexecd.yaml", "each.py", input="1\n2\n", stdin=None)
    assert result.returncode == 0 and "spoilt" not in result.stdout, result
    assert path.read_text() == text


def on_nodes(place, files="shared", launcher=None, **more):
    """A project whose scripts work on a node."""
    far = {"launcher": launcher or ["/usr/bin/env", f"XDG_STATE_HOME={place}/far", PYEXECD, "node"], "most": 1, "idle": 600, "files": files}
    config = {"nodes": {"far": far}, "environments": {"there": {"type": "system", "node": "far"}}, **more}
    return write(place / "project/pyexecd.yaml", config)


@pytest.mark.parametrize("words", [[], ["-w", "."]])
@pytest.mark.parametrize("files", ["shared", "copied"])
def test_a_script_on_a_node_works_in_a_project_and_leaves_its_configuration(place, files, words):
    path = on_nodes(place, files)
    text = path.read_text()
    result = run("run", *words, "--config", "pyexecd.yaml", "-c", SPOIL + "print(len(open('pyexecd.yaml').read()))")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{len(text)}\n", "")
    assert path.read_text() == text and sorted(os.listdir()) == ["out.csv", "pyexecd.yaml"]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("files", ["shared", "copied"])
def test_a_folder_of_the_project_is_kept_on_a_node(place, files):
    on_nodes(place, files, ["./launch/far"])
    program(place / "project/launch/far", f"#!/bin/sh\nXDG_STATE_HOME={place}/far exec {PYEXECD} node\n")
    code = "import os\nfor change in (lambda: os.rename('launch', 'x'), lambda: open('launch/far', 'a'), lambda: open('launch/new', 'w')):\n" \
           "    try:\n        change(); print('spoilt')\n    except OSError:\n        pass\nprint(os.listdir('launch'))\n"
    result = run("run", "--config", "pyexecd.yaml", "-c", code)
    assert (result.stdout, result.stderr) == ("['far']\n", "") and os.listdir("launch") == ["far"]


def test_a_session_on_a_node_that_copies_has_its_configuration_as_it_began(place):
    """What the operator changes meanwhile does not reach it, and does not come back."""
    path = on_nodes(place, "copied", working_directory=str(place / "project"), sessions={})
    with client.Server("--config", path) as server:
        server.initialize()
        first = server.call_tool("run_python", {"code": SPOIL, "session": "new"}, timeout=240)["structuredContent"]
        assert (first["stdout"], first["stderr"]) == ("1\n", ""), first  # as the last expression is
        path.write_text(path.read_text() + "\n")
        text = path.read_text()
        second = server.call_tool("run_python", {"code": SPOIL + "print(len(open('pyexecd.yaml').read()))", "session": first["session"]["name"]},
                                  timeout=240)["structuredContent"]
        assert second["stdout"] == f"{len(text) - 1}\n" and "not copied: pyexecd.yaml (scripts only read it)" in second["stderr"], second
    assert path.read_text() == text


@pytest.mark.parametrize("more", ["", " gone"])
def test_no_node_changes_the_configuration(place, more):
    path = on_nodes(place, "copied", [PYTHON, FALSE, f"forge pyexecd.yaml{more}"])
    text = path.read_text()
    result = run("run", "--config", "pyexecd.yaml", "-c", "")
    assert "not copied: pyexecd.yaml (scripts only read it)" in result.stderr and path.read_text() == text, result
    assert (place / "project/first").read_text() == "whole"


def test_a_node_without_namespaces_runs_nothing_beside_a_configuration(place):
    path = on_nodes(place, "shared", [PYTHON, LIMITED, "namespaces", "--", PYEXECD, "node"])
    text = path.read_text()
    result = run("run", "--config", "pyexecd.yaml", "-c", "open('pyexecd.yaml', 'a').write('x')")
    assert result.returncode != 0 and "root" in result.stderr and path.read_text() == text, result


PLANTED = {
    "a module": ([PYTHON, "-m", "upstream_module"], "upstream_module.py", None),
    "settings of npm, and the like": ([PYTHON, "-c", "import os; assert not os.path.exists('.npmrc'); "
                                       f"exec(open({UPSTREAM!r}).read())"], ".npmrc", "{'a': 1}"),
}


@pytest.mark.parametrize("case", PLANTED)
def test_a_server_of_tools_does_not_begin_where_a_script_works(place, case):
    command, name, shown = PLANTED[case]
    project(place, {"command": command})
    text = f"import os, sys\nopen({str(place / 'escaped')!r}, 'w')\n"
    plant = f"open({name!r}, 'w').write({text!r})\n"
    for code in (plant, ECHO):
        result = run("run", "--config", "pyexecd.yaml", "-c", code)
    assert not (place / "escaped").exists() and os.path.exists(name), result
    assert shown is None or result.stdout == f"{shown}\n", result


def test_modules_of_the_operator_are_found(place):
    (place / "own").mkdir()
    (place / "own/upstream_module.py").write_text(pathlib.Path(UPSTREAM).read_text())
    project(place, {"command": [PYTHON, "-m", "upstream_module"], "environment": {"PYTHONPATH": str(place / "own")}})
    result = run("run", "--config", "pyexecd.yaml", "-c", ECHO)
    assert (result.stdout, result.stderr) == ("{'a': 1}\n", "")


IN_PROJECT = {
    "a virtual environment": ["{}/project/.venv/bin/python", UPSTREAM],
    "a relative program": ["./.venv/bin/python", UPSTREAM],
    "a folder of its own": [PYTHON, "./servers/server.py"],
    "the folder as data": [PYTHON, UPSTREAM, "."],
    "words that are names of folders": [PYTHON, UPSTREAM, "run", "src"],
}


@pytest.mark.parametrize("case", IN_PROJECT)
def test_a_server_of_tools_in_a_folder_of_the_project_is_kept(place, case):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", ".venv"], check=True)
    for folder in ("servers", "run", "src"):
        (place / "project" / folder).mkdir()
    (place / "project/servers/server.py").write_text(pathlib.Path(UPSTREAM).read_text())
    project(place, {"command": filled(IN_PROJECT[case], place)})
    plants = "".join(planting(place / "project" / name, evil(place)) for name in (".venv/bin/python", "servers/server.py"))
    if case in ("the folder as data", "words that are names of folders"):
        plants = ""
    for _ in range(2):
        result = run("run", "--config", "pyexecd.yaml", "-c", f"{plants}open('out', 'w')\n{ECHO}")
        assert result.returncode == 0 and result.stderr == "" and result.stdout.endswith("{'a': 1}\n"), result
    assert not (place / "escaped").exists() and os.path.exists("out")


def test_a_program_beside_what_scripts_write_is_told(place):
    """A Python executes the modules beside a script."""
    (place / "project/server.py").write_text(pathlib.Path(UPSTREAM).read_text())
    project(place, {"command": [PYTHON, "./server.py"]})
    code = planting(place / "project/json.py", f"open({str(place / 'escaped')!r}, 'w')") + ECHO
    result = run("run", "--config", "pyexecd.yaml", "-c", code)
    assert "it may load what they put beside it" in result.stderr and "(tools.t.command.1)" in result.stderr, result
    assert result.stdout.endswith("{'a': 1}\n") and not (place / "escaped").exists(), result
    result = run("run", "-w", ".", "--config", "pyexecd.yaml", "-c", code)
    assert result.returncode == 64 and "or let the script work in another directory" in result.stderr, result


def test_the_next_command_executes_nothing_that_a_run_has_left(place):
    project(place)
    run("run", "--config", "pyexecd.yaml", "-c", planting(place / "project/json.py", f"open({str(place / 'escaped')!r}, 'w')"))
    assert os.path.exists("json.py")
    result = run("tools", "--config", "pyexecd.yaml")
    assert "echo" in result.stdout and not (place / "escaped").exists(), result


def test_a_server_of_tools_that_ends_says_where_it_began(place):
    project(place, {"command": [PYTHON, "server.py"]})
    result = run("tools", "--config", "pyexecd.yaml")
    began = re.search(r"\(it began in (\S+/tools), which is empty: .* begins with \./\)", result.stdout + result.stderr)
    assert began and os.stat(began[1]).st_mode & 0o777 == 0o500, result


def test_a_server_of_tools_that_misses_a_folder_of_path_says_so(place, monkeypatch):
    """As `python3` is another one where the virtual environment of the project is active."""
    (place / "project/.venv/bin").mkdir(parents=True)
    project(place, {"command": ["python3", "-c", "import no_such_module"]}, working_directory=str(place / "project"))
    for folder, lacks in (("project/.venv/bin", True), ("own", False)):
        monkeypatch.setenv("PATH", f"{place}/{folder}:/usr/bin:/bin")
        result = run("tools", "--config", "pyexecd.yaml")
        told = result.stdout + result.stderr
        assert (f"; its PATH lacks {place}/{folder}, where scripts write)" in told) == lacks and "no_such_module" in told, result


def test_a_configuration_above_the_folder_of_a_script_is_no_matter(place):
    project(place)
    (place / "project/sub").mkdir()
    os.chdir("sub")
    result = run("run", "--config", "../pyexecd.yaml", "-c", "open('out', 'w')\n" + ECHO)
    assert (result.stdout, result.stderr) == ("{'a': 1}\n", "") and os.listdir() == ["out"]


def test_a_dockerfile_of_the_project_is_kept(place):
    (place / "project/Dockerfile").write_text("FROM x\n")
    config = configured({"command": [PYTHON, UPSTREAM]}, default_environment="held")
    config["environments"]["c"] = {"type": "docker", "dockerfile": "./Dockerfile"}
    write(place / "project/pyexecd.yaml", config)
    result = run("run", "--config", "pyexecd.yaml", "-c", "try:\n    open('Dockerfile', 'a')\nexcept OSError as e:\n    print(e.strerror)\n")
    assert (result.stdout, result.stderr) == ("Read-only file system\n", "")


def without_namespaces(*words):
    """As in a container: file rules alone, and no capabilities."""
    limits = "for kind in user pid; do echo 0 >/proc/sys/user/max_${kind}_namespaces; done"
    command = ["unshare", "--map-root-user", "sh", "-c", f'{limits}; exec setpriv --bounding-set=-all --inh-caps=-all "$0" "$@"']
    if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        pytest.skip("no user namespaces for this user")
    return subprocess.run([*command, PYEXECD, *words], capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL)


def test_a_run_that_cannot_work_where_it_is_typed_has_its_sandbox(place):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", ".venv"], check=True)
    (place / "project").chmod(0o555)
    result = without_namespaces("run", "--python", ".venv", "-c", f"open({str(place / 'escaped')!r}, 'w')")
    assert "PermissionError" in result.stderr and "the script works in" in result.stderr and not (place / "escaped").exists(), result


@pytest.mark.parametrize("words", [[], ["-w", "."]])
def test_a_machine_without_namespaces_keeps_nothing(place, words):
    """File rules add up: what lies in a folder that scripts write, they write."""
    text = project(place).read_text()
    result = without_namespaces("run", *words, "--config", "pyexecd.yaml", "-c", "open('pyexecd.yaml', 'a').write('x')")
    assert "without a root of their own" in result.stderr and (place / "project/pyexecd.yaml").read_text() == text, result


def test_a_configuration_that_is_read_by_a_descriptor_is_kept_as_well(place):
    path = project(place)
    text = path.read_text()
    for name in ("/proc/self/cwd/pyexecd.yaml", "/dev/stdin"):
        with open(path) as file:
            result = run("run", "--config", name, "-c", SPOIL + ECHO, stdin=file)
        assert (result.stdout, result.stderr) == ("{'a': 1}\n", "") and path.read_text() == text, result


def test_no_later_run_writes_the_configuration_by_another_name(place):
    """A run that does not use it keeps it, too."""
    text = project(place).read_text()
    result = run("run", "-c", SPOIL)
    assert (result.stdout, result.stderr) == ("", "") and sorted(os.listdir()) == ["out.csv", "pyexecd.yaml"], result
    assert (place / "project/pyexecd.yaml").read_text() == text


def test_the_folder_of_a_configuration_is_kept_whole(place):
    project(place).parent.joinpath("settings").mkdir()
    os.rename("pyexecd.yaml", "settings/pyexecd.yaml")
    code = "import os\nfor change in (lambda: os.rename('settings', 'x'), lambda: open('settings/new', 'w')):\n" \
           "    try:\n        change(); print('spoilt')\n    except OSError:\n        pass\nopen('out', 'w')\n"
    result = run("run", "--config", "settings/pyexecd.yaml", "-c", code + ECHO)
    assert (result.stdout, result.stderr) == ("{'a': 1}\n", "") and sorted(os.listdir()) == ["out", "settings"]


def test_the_programs_of_a_server_that_is_installed_in_the_project_are_kept(place):
    """As `uv add pyexecd` installs it there."""
    (place / "project/.venv/bin").mkdir(parents=True)
    for path in pathlib.Path(PYEXECD).parent.glob("pyexecd*"):
        if path.is_file():
            shutil.copy2(path, place / "project/.venv/bin")
    code = "import os\nfor change in (lambda: os.rename('.venv', 'x'), lambda: open('.venv/bin/pyexecd-runner', 'r+b'),\n" \
           "               lambda: os.unlink('.venv/bin/pyexecd')):\n" \
           "    try:\n        change(); print('spoilt')\n    except OSError:\n        pass\nopen('out', 'w')\n"
    result = subprocess.run([".venv/bin/pyexecd", "run", "-c", code], capture_output=True, text=True, timeout=240)
    assert (result.stdout, result.stderr) == ("", "") and sorted(os.listdir()) == [".venv", "out"]


def test_a_configuration_that_is_not_there_yet_is_not_made(place):
    """`~/.config/pyexecd/config.yaml` would be read the next time."""
    (place / "home/.config").mkdir()
    os.chdir(place / "home/.config")
    code = "import os\nos.makedirs('pyexecd'); open('pyexecd/config.yaml', 'w')\n"
    result = run("run", "-c", code)
    assert "the script works in" in result.stderr and os.listdir() == [], result
    assert run("run", "-w", ".", "-c", code).returncode == 64
