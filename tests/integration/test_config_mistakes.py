"""`pyexecd --check-config` and the mistakes that people make: where, what, and what to do."""

import grp
import os
import pathlib
import pwd
import socket
import subprocess

import pytest

SYSTEM = "environments: {system: {type: system}}\n"


def docker(line):
    return f"environments:\n  box:\n    type: docker\n    {line}\n"


def venv(line):
    return f"environments:\n  v:\n    type: venv\n    {line}\n"


def system(line):
    return f"environments:\n  s:\n    type: system\n    {line}\n"


def sandbox(line):
    return f"environments:\n  s:\n    type: system\n    isolation: sandbox\n    {line}\n"


# What is written, the place of the fault, and what the message says: what is wrong, and what to do.
# DIR is a directory with the files "file" (of text), "full/file", "needy.py", "private" and the socket "socket".
MISTAKES = {
    # Shape
    "a string for a list": ("listen: stdio\n", "1:9", ["must be a list", "[stdio]"]),
    "a package for a list": (venv("pip_packages: numpy"), "4:19", ["must be a list", "[numpy]"]),
    "yes": (venv("system_site_packages: yes"), "4:27", ["write true or false"]),
    "on": ("share_directory_across_isolation: on\n", "1:35", ["write true or false"]),
    "a number with a unit": ("timeout: 60s\n", "1:10", ["a number of seconds", "60"]),
    "a time in minutes": ("max_timeout: 5min\n", "1:14", ["a number of seconds"]),
    "a number in quotes": ('timeout: "60"\n', "1:10", ["a number of seconds", "60"]),
    "a tab": ("limits:\n\tmemory: 1GiB\n", "2:1", ["tab", "indent with spaces"]),
    "a tab behind spaces": ("limits:\n  memory: 1GiB\n \tdisk: 1GiB\n", "3:", ["tab", "spaces"]),
    "a bracket left open": ("listen: [stdio\n", "2:1", ["expected ',' or ']'"]),
    "no space behind the colon": ("timeout:60\n", "1:1", ["must be a mapping", "a space after the colon"]),
    "a list for the whole": ("- timeout: 60\n", "1:1", ["must be a mapping", "KEY: VALUE"]),
    "no colon": ("timeout 60\n", "1:1", ["must be a mapping", "a space after the colon"]),
    "no colon before other lines": ("timeout 60\nlimits: {}\n", "2:7", ["has the line before it a colon"]),
    "true for one of some words": ("approval: true\n", "1:11", ["must be one of never, first, always, not true"]),
    "nothing for one of some words": ("approval:\n", "1:", ["must be one of never, first, always, not empty"]),
    "a port": ("listen: 8080\n", "1:9", ['must be a list of addresses: ["http://127.0.0.1:8080/mcp"]']),
    "true for a section": ("sessions: true\n", "1:11", ["must be a mapping, not true: {} has the defaults"]),
    "true for a section without defaults": ("oauth: true\n", "1:8", ["must be a mapping: {NAME: value}", "not true"]),
    "false for a section": ("sessions: false\n", "1:11", ["not false: leave it out to have none"]),
    "no environments": ("environments:\n", "1:", ["is empty: write lines of NAME: value below it"]),
    "true for a number": ("timeout: true\n", "1:10", ["must be a number of seconds, such as 60, not true"]),
    "a module for a list": (system("preload: numpy"), "4:14", ["auto, none or a list of modules", "[numpy, pandas]"]),
    "the settings of a client": (
        '{"mcpServers": {"pyexecd": {"command": "pyexecd"}}}\n', "1:", ["the settings of a client", "pyexecd install"]),
    "volumes as for docker run": (
        docker("volumes: ['/a:/b:ro']"), "4:14", ["must be a mapping: {/a: {path: /b, mode: ro}}"]),
    "a volume as for docker run": (docker("volumes: ['/a:/b']"), "4:14", ["must be a mapping: {/a: /b}"]),
    "a key twice": ("timeout: 1\ntimeout: 2\n", "2:1", ["given twice", "line 1"]),
    "an anchor": ("a: &a 1\n", "1:4", ["anchors and aliases are not read"]),
    "environments as a list": ("environments:\n  - type: system\n", "2:3", ["must be a mapping"]),
    "an environment without a type": ("environments:\n  s: {}\n", "2:6", ['is missing "type", one of "system", "venv", "docker"']),
    "an environment that is empty": ("environments:\n  s:\n", "2:", ["is empty"]),
    "a second document": ("timeout: 1\n---\ntimeout: 2\n", "2:1", ["second document"]),
    # Names
    "a misspelt key": ("time_out: 60\n", "1:1", ['did you mean "timeout"?']),
    "a misspelt section": ("enviroments: {}\n", "1:1", ['did you mean "environments"?']),
    "a misspelt type": ("environments:\n  s: {type: dockr}\n", "2:13", ["docker"]),
    "a key of another type": (system("image: python:3"), "4:5", ["is a key of type docker, not of system"]),
    "env": (system("env: {A: b}"), "4:5", ['did you mean "environment"?']),
    "packages": (venv("packages: [numpy]"), "4:5", ['did you mean "pip_packages"?']),
    "libraries": (venv("libraries: [numpy]"), "4:5", ['did you mean "pip_packages"?']),
    "requirements": (venv("requirements: r.txt"), "4:5", ['did you mean "requirements_file"?']),
    "python": (venv("python: /usr/bin/python3"), "4:5", ['did you mean "python_path"?']),
    "a default that is not there": (SYSTEM + "default_environment: sistem\n", "2:22", ["no environment", "system"]),
    "two environments and no default": (
        "environments: {a: {type: system}, b: {type: system}}\n", "1:15", ["default_environment is needed", "a, b"]),
    "a space in a name": ("environments:\n  my env: {type: system}\n", "2:3", ["letters, digits"]),
    # Values
    "a small size": ("limits: {memory: 8MiB}\n", "1:18", ["at least 16MiB"]),
    "a size of nothing": ("limits: {disk: 5XB}\n", "1:16", ["512MiB"]),
    "a default above the most": ("timeout: 900\n", "1:10", ["max_timeout"]),
    "Python 2": (venv('python_version: "2.7"'), "4:21", ["a version of Python 3"]),
    "Python 2.99": (venv('python_version: "2.99"'), "4:21", ["a version of Python 3"]),
    "a version without quotes": (venv("python_version: 3.10"), "4:21", ["quotes"]),
    "a version that is not there": (venv('python_version: "3.42"'), "4:21", ["3.42"]),
    "results": ("results: json\n", "1:10", ["text", "structured"]),
    "containment": ("containment: none\n", "1:14", ["strict", "best-effort"]),
    "an environment variable as a list": (system("environment: [A=b]"), "4:18", ["must be a mapping", "NAME: value"]),
    "a variable that is a number": (system("environment: {PORT: 80}"), "4:25", ["must be a string", 'write "80"']),
    "LD_PRELOAD": (system("environment: {LD_PRELOAD: x}"), "4:19", ["how every program is loaded"]),
    "the network of the host": (docker("network: host"), "4:14", ["host"]),
    "a host without an address": (docker("extra_hosts: [db]"), "4:19", ["NAME:ADDRESS", "db.example:192.0.2.7"]),
    "hosts as a mapping": (docker("extra_hosts: {db: 192.0.2.7}"), "4:18", ["must be a list"]),
    "a host at a strange address": (
        docker("extra_hosts: ['db:192.0.2.700']"), "4:18", ["192.0.2.700", "is no address of IPv4 or IPv6"]),
    "an image in capitals": (docker("image: Python"), "4:12", ["image"]),
    "a package that is an option": (venv("pip_packages: [--pre]"), "4:20", ["package"]),
    # Files
    "a home with ~": (system("executable: ~/bin/python"), "4:17", ["~ is not read, write it out: HOME/bin/python"]),
    "a home to read, with ~": (sandbox("read: [~/data]"), "5:12", ["~ is not read, write it out: HOME/data"]),
    "a home with $HOME": (sandbox("read: [$HOME/data]"), "5:12", ["$HOME is not read, write it out: HOME/data"]),
    "a home with ${HOME}": (venv("pip_find_links: ${HOME}/x"), "4:21", ["${HOME} is not read, write it out: HOME/x"]),
    "a home to work in": ("working_directory: ~/work\n", "1:20", ["~ is not read, write it out: HOME/work"]),
    "a home with a socket": ("listen: ['unix:~/s']\n", "1:10", ["~ is not read, write it out: HOME/s"]),
    "a home for callers": ("callers: {allowed_paths: [~/x]}\n", "1:27", ["~ is not read, write it out: HOME/x"]),
    "a home with tokens": ("token_file: $HOME/tokens\n", "1:13", ["write it out: HOME/tokens"]),
    "a home as a volume": (docker("volumes: {~/a: /b}"), "4:15", ["~ is not read, write it out: HOME/a"]),
    "a program that is not there": (system("executable: /nowhere/python3"), "4:17", ["/nowhere/python3"]),
    "a program that is no Python": (system("executable: /bin/ls"), "4:17", ["/bin/ls is not a Python interpreter"]),
    "a base that is not there": (venv("python_path: /nowhere/python3"), "4:18", ["/nowhere/python3"]),
    "a base that is no Python": (venv("python_path: /bin/ls"), "4:18", ["/bin/ls is not a Python interpreter"]),
    "a venv in /etc": (venv("venv_path: /etc"), "4:16", ["/etc", "neither empty nor a virtual environment"]),
    "a venv that is a file": (venv("venv_path: DIR/file"), "4:16", ["is not a directory"]),
    "no requirements file": (venv("requirements_file: /no.txt"), "4:24", ["/no.txt", "No such file"]),
    "no requirements file for a container": (docker("requirements_file: /no.txt"), "4:24", ["/no.txt"]),
    "no wheels": (venv("pip_find_links: /nowhere"), "4:21", ["/nowhere", "No such file"]),
    "no Dockerfile": (docker("dockerfile: /nowhere/Dockerfile"), "4:17", ["/nowhere/Dockerfile", "No such file"]),
    "no functions file": (system("functions: /no.py"), "4:16", ["/no.py", "No such file"]),
    "a functions file without any": (system("functions: DIR/file"), "4:16", ["defines no functions"]),
    "functions that need packages": (system("functions: DIR/needy.py"), "4:16", ["packages", "use a venv"]),
    "an image and a Dockerfile": (
        docker("image: python:3\n    dockerfile: DIR/file"), "5:17", ["contradicts image", "one of the two"]),
    "no volume": (docker("volumes: {/nowhere: /data}"), "4:", ["/nowhere", "No such file"]),
    "/etc as a volume": (docker("volumes: {/etc: /data}"), "4:", ["/etc", "containers never get"]),
    "the engine's socket as a volume": (
        docker("volumes: {DIR/socket: /s}\n    host: unix://DIR/socket"), "4:", ["the engine's socket"]),
    "a volume into the workspace": (docker("volumes: {DIR/full: /workspace/x}"), "4:", ["/workspace"]),
    "a working directory that is not there": ("working_directory: /nowhere/work\n", "1:20", ["/nowhere/work", "mkdir"]),
    "a working directory that is a file": ("working_directory: DIR/file\n", "1:20", ["DIR/file"]),
    "a path for callers that is not there": (
        "callers: {allowed_paths: [/nowhere]}\n", "1:27", ["/nowhere", "No such file"]),
    # Sandboxes
    "another level than sandbox": (
        sandbox("require: docker"), "5:14", ["must be sandbox, which refuses a run", 'not "docker"']),
    "a level that is true": (sandbox("require: true"), "5:14", ["must be sandbox", "not true"]),
    "a sandbox around a container": (
        docker("isolation: sandbox"), "4:16", ["must be auto or docker, both of which are a container"]),
    "no list of paths": (sandbox("read:"), "5:", ["is empty: write a list, [A, B], or leave it out"]),
    "the isolation of all": ("isolation: sandbox\n", "1:12", ["is a key of an environment", "below environments"]),
    "paths for all": ("read: [/srv]\n", "1:7", ["is a key of an environment"]),
    "a sandbox for all": ("sandbox: true\n", "1:10", ["is not a key", "isolation: sandbox in an environment"]),
    "a sandbox in an environment": (system("sandbox: true"), "4:14", ["is not a key", "isolation: sandbox"]),
    "nothing to read": (sandbox("read: [DIR/none]"), "5:12", ["DIR/none: No such file or directory; make it first"]),
    "programs to change": (sandbox("write: [/usr]"), "5:13", ["/usr is a place of the system", "never change"]),
    "libraries to change": (sandbox("write: [/usr/lib]"), "5:13", ["/usr/lib lies in a place of the system"]),
    "a home to read": (sandbox("read: [/home]"), "5:12", ["name the directories in it that scripts need"]),
    "a Python that others change": (
        sandbox("write: [DIR/full]") + "  v: {type: venv, venv_path: DIR/full/venv}\ndefault_environment: s\n", "6:30",
        ["lies in DIR/full, where scripts of s can write", "keep the one outside of the other"]),
    "a Python that containers change": (
        "environments:\n  c:\n    type: docker\n    image: python:3\n    volumes: {DIR/full: {path: /data, mode: rw}}\n"
        "  v: {type: venv, venv_path: DIR/full/venv}\ndefault_environment: v\n", "6:30",
        ["lies in DIR/full, where scripts of c can write"]),
    # Access
    "TCP without tokens": ('listen: ["tcp:127.0.0.1:7700"]\n', "1:10", ["token_file"]),
    "an address of other machines": ('listen: ["http://0.0.0.0:7700/mcp"]\nauth: none\n', "1:10", ["other machines"]),
    "an address without a port": ('listen: ["tcp:localhost"]\n', "1:10", ["the port is missing: HOST:PORT"]),
    "no tokens": ("token_file: /nowhere/tokens\n", "1:13", ["/nowhere/tokens"]),
    "HTTPS without a certificate": ('listen: ["https://127.0.0.1:7700/mcp"]\nauth: none\n', "1:10", ["tls"]),
}


def check(path):
    return subprocess.run([os.environ["PYEXECD"], "--check-config", "--config", path], check=False,
                          capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("kind", ["{type: system}", "{type: venv}", "{type: venv, python_version: '3'}"])
def test_a_python_found_by_name_lies_where_no_script_can_write(folder, monkeypatch, kind):
    for name in ("full/bin", "other"):
        (folder / name).mkdir()
    (folder / "full/bin/python3").symlink_to("/usr/bin/python3")
    monkeypatch.setenv("PATH", f"{folder}/full/bin:/usr/bin:/bin")
    text = f"environments:\n  s: {{type: system, executable: /usr/bin/python3, write: [DIR/full]}}\n  v: {kind}\n" \
           "default_environment: s\n"
    result = check(write(folder, text))
    assert result.returncode == 78, result.stdout
    assert f"{folder}/full/bin/python3, its Python, lies in {folder}/full, where scripts of s can write" in result.stderr
    assert check(write(folder, text.replace("full", "other"))).returncode == 0


MADE_OF = {  # where scripts of the other environment write, the venv's key, and what the message says
    "what holds it": ("v", "venv_path", "lies in DIR/v"),
    "packages": ("v/venv/lib/packages/data", "venv_path", "holds DIR/v/venv/lib/packages/data"),
    "its library": ("v/venv/lib", "venv_path", "holds DIR/v/venv/lib"),
    "its programs": ("v/venv/bin", "venv_path", "holds DIR/v/venv/bin"),
    "its settings": ("v/venv/pyvenv.cfg", "venv_path", "holds DIR/v/venv/pyvenv.cfg"),
    "a link on the way": ("hop", "venv_path", "DIR/hop/python3, a part of its Python, lies in DIR/hop"),
    "a link that leads nowhere": ("gone", "venv_path", "DIR/gone/python3, a part of its Python, lies in DIR/gone"),
    "its base": ("base/bin", "venv_path", "DIR/base/bin/python3, a part of its Python, lies in DIR/base/bin"),
    "the base in its settings": ("home/bin", "venv_path", "DIR/home/bin, a part of its Python, lies in DIR/home/bin"),
    "the library of that": ("home/lib/python3.11", "venv_path",
                            "DIR/home/lib, a part of its Python, holds DIR/home/lib/python3.11"),
    "the library of its base": ("base/lib/python3.11", "venv_path",
                                "DIR/base/lib, a part of its Python, holds DIR/base/lib/python3.11"),
    "its Python's library": ("base/lib/python3.11", "executable",
                             "DIR/base/lib, a part of its Python, holds DIR/base/lib/python3.11"),
    "the settings of its Python": ("v/venv/pyvenv.cfg", "executable",
                                   "DIR/v/venv/pyvenv.cfg, a part of its Python, lies in DIR/v/venv/pyvenv.cfg"),
    "the packages of its Python": ("v/venv/lib/packages/data", "executable",
                                   "DIR/v/venv/lib, a part of its Python, holds DIR/v/venv/lib/packages/data"),
    "the Python of a new venv": ("base/lib/python3.11", "python_path",
                                 "DIR/base/lib, a part of its Python, holds DIR/base/lib/python3.11"),
    "what it is installed from": ("from", "pip_find_links", "lies in DIR/from"),
    "a folder of that": ("from/inner", "pip_find_links", "holds DIR/from/inner"),
    "what links to that": ("full", "pip_find_links", "lies in DIR/full"),
    "a list of packages": ("from", "requirements_file", "lies in DIR/from"),
    "the list of packages": ("from/list", "requirements_file", "lies in DIR/from/list"),
    "functions": ("from", "functions", "lies in DIR/from"),
    "a Dockerfile": ("from/list", "dockerfile", "lies in DIR/from/list"),
    "what an image is built from": ("from/inner", "dockerfile", "DIR/from, its build context, holds DIR/from/inner"),
}


@pytest.fixture
def made(folder):
    """A venv without files that are of no interest here, and what it is made of and installed from."""
    for name in ("v/venv/bin", "v/venv/lib/packages/data", "hop", "gone", "base/bin", "base/lib/python3.11", "from/inner",
                 "home/bin", "home/lib/python3.11"):
        (folder / name).mkdir(parents=True)
    (folder / "base/bin/python3").write_text("#!/bin/sh\n")
    (folder / "base/bin/python3").chmod(0o755)
    (folder / "base/lib/python3.11/os.py").touch()
    (folder / "from/list").write_text("gadget\n")
    (folder / "from/functions.py").write_text("def f(): pass\n")
    (folder / "hop/python3").symlink_to("../base/bin/python3")
    (folder / "v/venv/bin/python").symlink_to("../../../hop/python3")
    (folder / "v/venv/pyvenv.cfg").write_text(f"include-system-site-packages = false\nHome = {folder}/home/bin\n")
    (folder / "full/wheels").symlink_to("../from")
    return folder


@pytest.mark.parametrize("case", MADE_OF)
def test_nothing_that_a_python_is_made_of_lies_where_others_write(made, case):
    place, key, words = MADE_OF[case]
    path = {"venv_path": "v/venv", "executable": "v/venv/bin/python", "python_path": "base/bin/python3",
            "pip_find_links": "full/wheels", "requirements_file": "from/list", "functions": "from/functions.py",
            "dockerfile": "from/list"}[key]
    kind = {"executable": "system", "dockerfile": "docker"}.get(key, "venv")
    if place == "gone":
        (made / "hop/python3").unlink()
        (made / "hop/python3").symlink_to("../gone/python3")
    text = "environments:\n  s: {type: system, executable: /usr/bin/python3, write: [DIR/PLACE]}\n" \
           f"  v:\n    type: {kind}\n    {key}: DIR/{path}\ndefault_environment: s\n"
    result = check(write(made, text.replace("PLACE", place)))
    assert result.returncode == 78, result.stdout
    said = [line for line in result.stderr.splitlines() if line.startswith(f"{made}/config.yaml:5:{len(key) + 7}: ")]
    words = words.replace("DIR", str(made))
    assert any(f"{words}, where scripts of s can write: they would change the " in line for line in said), result.stderr
    for elsewhere in ("s/elsewhere", "v/elsewhere"):  # beside it, scripts of others may write
        (made / elsewhere).mkdir(parents=True)
        assert "where scripts of s can write" not in check(write(made, text.replace("PLACE", elsewhere))).stderr


def test_a_new_venv_is_made_from_a_python_that_lies_where_no_script_can_write(made, monkeypatch):
    monkeypatch.setenv("PATH", f"{made}/hop:/usr/bin:/bin")
    text = "environments:\n  s: {type: system, executable: /usr/bin/python3, write: [DIR/base/lib]}\n" \
           "  v: {type: venv, venv_path: DIR/new}\ndefault_environment: s\n"
    result = check(write(made, text))
    assert result.returncode == 78, result.stdout
    assert f"{made}/base/lib, a part of its Python, lies in {made}/base/lib, where scripts of s can write" in result.stderr
    assert check(write(made, text.replace("base/lib", "full"))).returncode == 0


def test_scripts_may_write_beside_their_own_packages(made):
    """What lies there is empty where a Python waits for the next call of its own environment."""
    text = "environments:\n  v: {type: venv, venv_path: DIR/v/venv, write: [DIR/v/venv/lib/packages/data]}\n"
    assert "can write" not in check(write(made, text)).stderr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", "/home/someone")
    place = tmp_path / "dir"
    (place / "full").mkdir(parents=True)
    (place / "file").write_text("text\n")
    (place / "full" / "file").write_text("text\n")
    (place / "needy.py").write_text("# /// script\n# dependencies = ['numpy']\n# ///\ndef f(): pass\n")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place / "socket"))
    return place


def write(folder, text):
    path = folder / "config.yaml"
    path.write_text(text.replace("DIR", str(folder)))
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("mistake", MISTAKES)
def test_is_told_where_what_and_what_to_do(mistake, folder):
    text, place, words = MISTAKES[mistake]
    path = write(folder, text)
    result = check(path)
    assert result.returncode == 78, result.stdout + result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith(f"{path}:{place}")]
    assert lines, result.stderr
    words = [word.replace("DIR", str(folder)).replace(" HOME/", " /home/someone/") for word in words]
    assert any(all(word in line for word in words) for line in lines), lines
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize("name, text, words", [
    ("main.py", "def main(): pass\n", "is a program, not a configuration: `pyexecd run FILE` runs"),
    ("start", "#!/bin/sh\necho: yes\n", "is a program, not a configuration"),
    ("pyproject.toml", "[project]\n", "is TOML, and a configuration is YAML: `pyexecd config init` writes one"),
])
def test_a_file_of_another_kind_is_told_as_that(name, text, words, folder):
    path = folder / name
    path.write_text(text)
    result = check(path)
    assert result.returncode == 78 and result.stderr.startswith(f"{path}: {words}"), result
    assert len(result.stderr.splitlines()) == 1


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= 90


@pytest.mark.parametrize("text", ["# nothing yet\n", "", "---\n", "# a\n\n# b\n"])
def test_a_file_of_comments_is_as_good_as_none(text, folder):
    result = check(write(folder, text))
    assert (result.returncode, result.stderr) == (0, "")


def test_nothing_is_made_by_looking(folder):
    check(write(folder, f"working_directory: {folder}/new\n"))
    assert not (folder / "new").exists()


def test_what_is_there_is_good(folder):
    (folder / "Dockerfile").write_text("FROM scratch\n")
    text = (
        "environments:\n"
        "  box:\n    type: docker\n    dockerfile: DIR/Dockerfile\n    volumes: {DIR/full: /data}\n"
        "    requirements_file: DIR/file\n    pip_find_links: DIR/full\n"
        "  v:\n    type: venv\n    venv_path: DIR/new\n    python_version: \"3\"\n"
        "default_environment: v\n"
        "callers: {allowed_paths: [DIR/full]}\n")
    result = check(write(folder, text))
    assert (result.returncode, result.stderr) == (0, "")
    assert not (folder / "new").exists()


# Who may write the file


def private_group():
    """The group of the user alone, if the one that he has is that."""
    user = pwd.getpwuid(os.geteuid())
    group = grp.getgrgid(user.pw_gid)
    others = [each for each in pwd.getpwall() if each.pw_gid == user.pw_gid and each.pw_uid != user.pw_uid]
    if others or set(group.gr_mem) - {user.pw_name}:
        pytest.skip("the user's group has other members")
    return user.pw_gid


def test_a_file_that_the_owners_own_group_may_write_is_accepted(folder):
    path = write(folder, "timeout: 5\n")
    os.chown(path, -1, private_group())
    path.chmod(0o664)
    assert check(path).returncode == 0, check(path).stderr


@pytest.mark.parametrize("mode, group", [(0o666, None), (0o664, "a group of others"), (0o646, None)])
def test_a_file_that_others_may_write_is_not(mode, group, folder):
    path = write(folder, "timeout: 5\n")
    if group:
        if os.geteuid() != 0:
            pytest.skip("only root may give a file to another group")
        os.chown(path, -1, grp.getgrnam("users").gr_gid)
    path.chmod(mode)
    result = check(path)
    assert result.returncode == 78
    assert "may write it" in result.stderr and "chmod" in result.stderr
