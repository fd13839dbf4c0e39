"""The program as people use it in a shell."""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import termios
import time
import urllib.error
import urllib.request

import pytest

import client
import leftovers
import ports
import wheels

PYTHON = "/usr/bin/python3"


def pyexecd(*arguments, **options):
    """Runs the program. What this machine's containment lacks is told on stderr, which is left out."""
    options.setdefault("stdin", subprocess.DEVNULL)
    if "input" in options:
        del options["stdin"]
    result = subprocess.run([os.environ["PYEXECD"], *map(str, arguments)], capture_output=True,
                            text=True, check=False, timeout=60, **options)
    result.stderr = re.sub(r"^pyexecd: containment is weaker .*\n", "", result.stderr, flags=re.M)
    return result


@pytest.fixture(autouse=True)
def at_a_place_to_work(tmp_path, monkeypatch):
    """`pyexecd run` works where it is called."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write_config(tmp_path):
    """Writes a configuration (JSON is YAML, or the text itself) and returns its path."""
    def write(config):
        path = tmp_path / "config.yaml"
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        path.chmod(0o600)
        return path
    return write


# Asking about the program


def test_version_is_one_line():
    result = pyexecd("--version")
    assert result.returncode == 0
    assert re.fullmatch(r"pyexecd \d+\.\d+\.\d+\n", result.stdout)


def test_help_names_every_command():
    result = pyexecd("--help")
    assert result.returncode == 0 and result.stderr == ""
    assert len(result.stdout.splitlines()) <= 24
    for word in ("run", "map", "call", "doctor", "schema", "install", "uninstall", "--check-config", "--config",
                 "--listen"):
        assert word in result.stdout


@pytest.mark.parametrize("command", ["run", "map", "call", "prepare", "doctor", "schema", "token", "install",
                                     "uninstall"])
def test_help_of_a_command_is_its_own(command):
    result = pyexecd(command, "--help")
    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.startswith(f"Usage: pyexecd {command} ")


@pytest.mark.parametrize("arguments", [["--bogus"], ["frobnicate"], ["frobnicate", "--help"], ["run"], ["doctor", "a"],
                                       ["schema", "--for", "nobody"], ["--json"]])
def test_a_wrong_command_line_is_64(arguments):
    result = pyexecd(*arguments)
    assert result.returncode == 64
    assert result.stdout == ""
    assert result.stderr.startswith("pyexecd: ")


# run


def test_run_passes_everything_on(tmp_path):
    script = tmp_path / "hello.py"
    script.write_text("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(7)\n")
    result = pyexecd("run", script)
    assert (result.returncode, result.stdout, result.stderr) == (7, "out\n", "err\n")


def test_run_reads_standard_input():
    result = pyexecd("run", "-", input="print(6 * 7)")
    assert (result.returncode, result.stdout, result.stderr) == (0, "42\n", "")


def test_run_passes_bytes_on_unchanged():
    result = subprocess.run([os.environ["PYEXECD"], "run", "-"], capture_output=True, check=True,
                            input=b"import sys; sys.stdout.buffer.write(b'\\xff\\0\\n' * 1000000)")
    assert result.stdout == b"\xff\0\n" * 1000000


def test_run_prints_as_it_comes():
    process = subprocess.Popen([os.environ["PYEXECD"], "run", "-"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    process.stdin.write(b"import time\nprint('now', flush=True)\ntime.sleep(60)")
    process.stdin.close()
    try:
        assert process.stdout.readline() == b"now\n"
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 128 + signal.SIGINT
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("code, status, message", [
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 128 + 11, "was killed by SIGSEGV"),
    ("import time; print('x', flush=True); time.sleep(60)", 124, "timed out after 4 seconds"),
])
def test_run_says_how_the_script_was_stopped(code, status, message):
    result = pyexecd("run", "--timeout", "4", "-", input=code)
    assert result.returncode == status
    assert f"pyexecd: the script {message}" in result.stderr


def test_run_prints_the_result_as_json():
    result = pyexecd("run", "--json", "-", input="import sys; print(1); sys.exit(3)")
    structured = json.loads(result.stdout)
    assert result.returncode == 3
    assert structured["stdout"] == "1\n" and structured["returncode"] == 3
    assert structured["environment"] == "system"
    assert result.stderr == ""


def test_run_ends_when_nobody_reads_on():
    result = subprocess.run(["bash", "-c", '"$PYEXECD" run - | head -n 1; exit ${PIPESTATUS[0]}'],
                            input="while True: print('again')", capture_output=True, text=True,
                            check=False, timeout=100)
    assert result.stdout == "again\n"
    assert result.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_run_waits_for_an_output_that_others_made_nonblocking(form):
    """The pipe is full long before all is written."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    with subprocess.Popen([os.environ["PYEXECD"], "run", *form, "-c", "print(300000 * 'x')"], stdout=writing) as run:
        os.close(writing)
        assert leftovers.until(lambda: fcntl.ioctl(reading, termios.FIONREAD, bytes(4)) == (4096).to_bytes(4, "little"))
        with open(reading, encoding="utf-8") as output:
            text = output.read()
    assert (json.loads(text)["stdout"] if form else text) == 300000 * "x" + "\n"
    assert run.returncode == 0


# More than the pipes on its way hold.
TALKS = "import pathlib, time; print(400000 * 'x', flush=True); pathlib.Path('said').touch(); "


@pytest.mark.parametrize("errors", [None, subprocess.STDOUT])
def test_run_does_not_wait_for_a_reader_who_pauses(errors, tmp_path):
    """Else time would pass unnoticed, and a script that has ended would count as timed out. What is said about a script
    comes behind all that it has said itself."""
    code = TALKS + "import nowhere_at_all"
    with subprocess.Popen([os.environ["PYEXECD"], "run", "--timeout", "100", "-c", code], text=True,
                          stdout=subprocess.PIPE, stderr=errors or subprocess.PIPE) as run:
        assert leftovers.until((tmp_path / "said").exists)
        output, other = run.communicate(timeout=60)
    said = output if errors else other
    assert run.returncode == 1 and output.count("x") >= 400000
    assert re.search(r"^ModuleNotFoundError: ", said, re.M) and re.search(r"^pyexecd: .*\n\Z", said, re.M)


def test_a_script_that_is_far_ahead_of_its_reader_waits(tmp_path):
    """What he has not read takes memory."""
    code = "import pathlib\nfor n in range(50):\n    print(100000 * 'x', flush=True)\n    pathlib.Path(f'said-{n}').touch()"
    with subprocess.Popen([os.environ["PYEXECD"], "run", "--timeout", "100", "-c", code], text=True,
                          stdout=subprocess.PIPE) as run:
        assert leftovers.until((tmp_path / "said-5").exists)
        assert not leftovers.until((tmp_path / "said-30").exists, 3)
        assert run.communicate(timeout=60)[0] == 50 * (100000 * "x" + "\n")
        assert run.returncode == 0


@pytest.mark.parametrize("end", ["", "time.sleep(3000)"])
def test_a_signal_ends_a_run_while_the_reader_pauses(end, tmp_path):
    with subprocess.Popen([os.environ["PYEXECD"], "run", "--timeout", "500", "-c", TALKS + end],
                          stdout=subprocess.PIPE) as run:
        try:
            assert leftovers.until((tmp_path / "said").exists)
            run.terminate()
            assert run.wait(60) == 128 + signal.SIGTERM
        finally:
            run.kill()


def test_run_says_when_the_output_cannot_be_passed_on():
    with open("/dev/full", "w") as full:
        result = subprocess.run([os.environ["PYEXECD"], "run", "-"], input=b"print(1)", stdout=full,
                                stderr=subprocess.PIPE, check=False, timeout=100)
    assert result.returncode == 74
    assert b"cannot write the output: write: No space left on device" in result.stderr


def test_run_works_where_the_user_is_and_leaves_his_files_alone(tmp_path):
    (tmp_path / "script.py").write_text("the user's")
    code = "import os\nopen('made', 'w').write('x')\nprint(os.getcwd())"
    for arguments, options in ((["-"], {"input": code}), (["-c", code], {})):
        result = pyexecd("run", *arguments, cwd=tmp_path, **options)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{tmp_path}\n", "")
        assert (tmp_path / "script.py").read_text() == "the user's"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "script.py"]
        (tmp_path / "made").unlink()


def test_run_executes_the_file_itself(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "helper.py").write_text("x = 6 * 7")
    script = tmp_path / "lib" / "script.py"
    script.write_text("import helper, sys\nprint(helper.x, __file__, sys.argv)\n1 / 0\n")
    before = script.read_text()
    other = tmp_path / "other"
    other.mkdir()
    for here in (tmp_path, other):
        result = pyexecd("run", script, cwd=here)
        assert result.stdout == f"42 {script} ['{script}']\n"
        assert f'File "{script}", line 3' in result.stderr
        assert script.read_text() == before
    assert not list(other.iterdir())


@pytest.mark.parametrize("comment, name", [("# coding: cp1252", "<string>"), ("#" * 100_000, ".py")])
def test_run_executes_code_of_the_command_line_as_python_does(tmp_path, comment, name):
    """But for a long one, which is a file."""
    code = f"{comment}\nimport sys, __main__\nprint(sys.argv[1:], sys.path[0] in ('', {str(tmp_path)!r}), '€')\n1 / 0"
    result = pyexecd("run", "-c", code, "--", "-c", "a b", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "['-c', 'a b'] True €\n")
    assert re.search(rf'File ".*{name}", line 4', result.stderr), result.stderr
    assert result.stderr.endswith("\nZeroDivisionError: division by zero\n")


def test_run_passes_arguments_to_the_script(tmp_path):
    script = tmp_path / "echo.py"
    script.write_text("import sys; print(sys.argv[1:])")
    assert pyexecd("run", script, "--", "--json", "a b", "").stdout == "['--json', 'a b', '']\n"
    assert pyexecd("run", "-c", script.read_text(), "--", "-c").stdout == "['-c']\n"
    assert pyexecd("run", script, "--json", "a b", "--").stdout == "['--json', 'a b', '--']\n"


def test_run_works_in_the_directory_that_is_named(tmp_path):
    link = tmp_path / "link"
    (tmp_path / "work").mkdir()
    link.symlink_to("work")
    code = "import os; print(os.getcwd())"
    result = pyexecd("run", "-w", link, "-c", code)
    assert result.stdout == f"{tmp_path}/work\n"
    result = pyexecd("run", "-w", tmp_path / "nowhere", "-c", code)
    assert result.returncode not in (0, 124) and result.stdout == ""
    assert f"--working-directory: cannot work in {tmp_path}/nowhere" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_run_in_a_temporary_directory_says_how_to_get_back(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    here = tmp_path / "here"
    here.mkdir()
    first = pyexecd("run", "-w", "temporary", "-c", "open('poem', 'w').write('roses')", cwd=here)
    handle = re.search(r"`-w (\w{32})`", first.stderr)[1]
    second = pyexecd("run", "-w", handle, "-c", "print(open('poem').read())", cwd=here)
    assert (second.returncode, second.stdout, second.stderr) == (0, "roses\n", "")
    assert not list(here.iterdir())
    unknown = pyexecd("run", "-w", "0" * 32, "-c", "print(1)")
    assert unknown.returncode == 64 and "no such working directory" in unknown.stderr


def test_run_where_nobody_can_work_says_where_it_does(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    result = pyexecd("run", "-c", "import os; print(os.getcwd())", cwd="/")
    assert result.returncode == 0
    assert "cannot work in" in result.stderr and result.stdout.strip() in result.stderr
    assert result.stdout.startswith(str(tmp_path))


def test_run_makes_files_with_the_rights_that_the_user_wants(tmp_path):
    pyexecd("run", "-c", "open('made', 'w')", cwd=tmp_path, umask=0o022)
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o644


def test_run_works_in_the_configured_directory(tmp_path, write_config):
    work = tmp_path / "work"
    work.mkdir()
    config = write_config({"working_directory": str(work)})
    pyexecd("run", "--config", config, "-", input="open('left', 'w').write('x')")
    assert (work / "left").read_text() == "x"
    result = pyexecd("run", "--config", config, "-w", "temporary", "-c", "print(1)")
    assert result.returncode == 64 and f"every script works in {work}" in result.stderr


def test_run_chooses_an_environment(write_config):
    config = write_config({"environments": {
        "a": {"type": "system", "environment": {"NAME": "A"}},
        "b": {"type": "system", "environment": {"NAME": "B"}}}, "default_environment": "a"})
    code = "import os; print(os.environ['NAME'])"
    assert pyexecd("run", "--config", config, "-", input=code).stdout == "A\n"
    assert pyexecd("run", "--config", config, "--env", "b", "-", input=code).stdout == "B\n"
    result = pyexecd("run", "--config", config, "--env", "zebra", "-", input=code)
    assert result.returncode == 64 and 'no environment "zebra", but: a, b\n' in result.stderr


PRINTS_PACKAGES = """
import importlib.metadata
print(sorted(package.name for package in importlib.metadata.distributions()))
"""


def test_run_gives_a_script_the_packages_that_are_asked_for(tmp_path, monkeypatch):
    wheels.wheel(tmp_path, "gadget")
    wheels.wheel(tmp_path, "widget")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    script = tmp_path / "needy.py"
    script.write_text(f"# /// script\n# dependencies = ['gadget']\n# ///\n{PRINTS_PACKAGES}")
    with wheels.Index(tmp_path) as index:
        monkeypatch.setenv("PIP_INDEX_URL", index.url)
        monkeypatch.setenv("PIP_TRUSTED_HOST", index.host)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

        def packages(*arguments):
            result = pyexecd("run", *arguments)
            assert result.returncode == 0, result.stderr
            return {name for name in ("gadget", "widget") if name in result.stdout}

        assert packages(script) == {"gadget"}
        assert packages("--with", "widget", "--python", "3", script) == {"gadget", "widget"}
        assert packages("--with", "widget", "-c", PRINTS_PACKAGES) == {"widget"}
        assert packages("--env", "system", script) == set()
    contradiction = pyexecd("run", "--env", "system", "--with", "widget", script)
    assert contradiction.returncode == 64 and "leave it out" in contradiction.stderr


def test_run_uses_the_python_that_is_named(tmp_path, monkeypatch):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "project" / ".venv"], check=True)
    packages, = (tmp_path / "project" / ".venv" / "lib").glob("*/site-packages")
    (packages / "gadget.py").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python-of-mine").symlink_to(PYTHON)
    (tmp_path / "needy.py").write_text("# /// script\n# dependencies = []\n# ///\nimport gadget, sys\nprint(sys.prefix)")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path / "project")
    for named in (".venv", "./.venv/bin/python", ".venv/bin/python3", tmp_path / "project" / ".venv"):
        result = pyexecd("run", "--python", named, tmp_path / "needy.py")
        assert result.stdout == f"{tmp_path}/project/.venv\n", result
    for named in (PYTHON, "python-of-mine"):
        result = pyexecd("run", "--python", named, "-c", "import sys; print(sys.prefix)")
        assert result.stdout == "/usr\n", result
    os.mkdir("bare")
    for named, words in (("nowhere/python", "no Python at nowhere/python"), ("./", "no Python at ./"), ("bare", "no Python at bare;"),
                         ("snake", "name snake"), ("2.7", "Python 3")):
        result = pyexecd("run", "--python", named, "-c", "1")
        assert result.returncode == 64 and words in result.stderr and "environment_definition" not in result.stderr


def test_a_python_in_the_current_directory_can_be_used_there_and_not_changed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", ".venv"], check=True)
    pathlib.Path("data.csv").write_text("1,2")
    pathlib.Path("change.py").write_text("""
import os, sys
print(sys.prefix, open("data.csv").read())
for change in (lambda: open(".venv/pyvenv.cfg", "a"), lambda: os.remove(".venv/bin/python"), lambda: os.rename(".venv", "x")):
    try:
        change()
        print("changed")
    except OSError:
        pass
open("out", "w")
""")
    result = pyexecd("run", "-j", "--python", ".venv", "change.py")
    found = json.loads(result.stdout)
    if found["containment"]["layers"].get("own root directory") != "enforced":
        pytest.skip("no mounts here")
    assert (found["stdout"], result.stderr) == (f"{tmp_path}/project/.venv 1,2\n", "")
    assert sorted(os.listdir()) == [".venv", "change.py", "data.csv", "out"]
    os.makedirs("deep/er")
    os.rename(".venv", "deep/er/.venv")  # a script could rename what is around it
    result = pyexecd("run", "--python", "deep/er/.venv", "-c", "import os; print(os.getcwd())")
    assert result.stdout != f"{tmp_path}/project\n" and "`-w .` works here, without a sandbox" in result.stderr, result
    result = pyexecd("run", "-w", ".", "--python", "deep/er/.venv", "-c", "import os; print(os.getcwd())")
    assert result.stdout == f"{tmp_path}/project\n" and "the script has no sandbox" in result.stderr, result


BLOCK = "# /// script\n# {}\n# ///\nprint(1)\n"


@pytest.mark.parametrize("arguments, script, words", [
    (["--with", "nump y"], "", '--with "nump y": '),
    (["--with", ""], "", '--with "": there is no package name'),
    (["--with", "-r list.txt"], "", "options are not taken"),
    (["--python", "3.11 x"], "", '--python "3.11 x": must be a version'),
    ([], BLOCK.format('dependencies = ["nump y"]'), 'dependencies of the script\'s block: "nump y"'),
    ([], BLOCK.format('requires-python = "3.99 x"'), 'requires-python of the script\'s block: "3.99 x"'),
])
def test_run_says_in_its_own_words_what_cannot_be_asked_for(arguments, script, words, tmp_path):
    (tmp_path / "needy.py").write_text(script)
    result = pyexecd("run", *arguments, tmp_path / "needy.py")
    assert result.returncode == 64 and words in result.stderr, result
    assert "environment_definition" not in result.stderr


def test_run_says_how_a_script_gets_the_package_that_it_misses():
    result = pyexecd("run", "-c", "import module_of_nobody")
    assert result.returncode == 1 and "add --with PACKAGE" in result.stderr


@pytest.mark.parametrize("command, status, words", [
    ("run - <&-", 66, "standard input"), ("map main.py - <&-", 65, "standard input"), ("serve <&-", 64, "standard input"),
    ("<&-", 64, "standard input"), ("run -c 'print(1)' >&-", 74, "cannot write"), ("help >&-", 74, "cannot write"),
    ("schema >/dev/full", 74, "No space left"), ("doctor >/dev/full", 74, "No space left")])
def test_a_stream_that_is_closed_is_no_file_of_the_program(tmp_path, command, status, words):
    """A file that it opens would have the number of the stream: requests would be read from it."""
    (tmp_path / "main.py").write_text("def main(n): return n")
    done = subprocess.run(["sh", "-c", f'"$0" {command}', os.environ["PYEXECD"]], cwd=tmp_path, capture_output=True, text=True,
                          check=False, timeout=client.TIMEOUT)
    assert (done.returncode, done.stdout) == (status, "") and words in done.stderr, done


def test_run_in_a_missing_directory_is_66():
    assert pyexecd("run", "-w", "/nowhere", "-c", "1").returncode == 66


def test_run_of_a_missing_file_is_66(tmp_path):
    result = pyexecd("run", tmp_path / "nowhere.py")
    assert result.returncode == 66
    assert "nowhere.py" in result.stderr


def test_run_in_a_missing_interpreter_is_69(write_config):
    config = write_config({"environments": {"system": {"type": "system",
                                                       "executable": "/nowhere/python3"}}})
    result = pyexecd("run", "--config", config, "-", input="print(1)")
    assert result.returncode == 69
    assert "/nowhere/python3" in result.stderr


# doctor


def test_doctor_tells_what_is_there():
    result = pyexecd("doctor")
    assert result.returncode == 0, result.stdout + result.stderr
    for name in ("user namespaces", "PID namespace", "mounting /proc", "Landlock", "seccomp",
                 "memory cgroup", "pids cgroup", "cgroup.kill", "pidfd", "openat2", "close_range"):
        assert re.search(rf"^  (yes|no ) +{re.escape(name)}", result.stdout, re.MULTILINE), name
    assert re.search(r"^  yes +system +/\S+, Python 3\.\d+", result.stdout, re.MULTILINE)
    assert "process tree" in result.stdout and "limits" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 200


def test_doctor_begins_with_a_verdict(write_config):
    result = pyexecd("doctor")
    verdict, *lacks = result.stdout.partition("\nkernel ")[0].splitlines()[1:]
    assert verdict == ("ready, but" if lacks else "ready")
    assert all(line.startswith("  ") for line in lacks)
    for lack in (line.strip().removeprefix("no ").partition(":") for line in lacks if ":" in line):
        assert result.stdout.count(lack[2].strip()) == 1, lack  # each is told once


def test_doctor_says_that_a_home_has_no_sandbox(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert re.search(r"^ +home +no sandbox works in it", pyexecd("doctor").stdout, re.MULTILINE)


def test_doctor_fails_where_a_run_would_be_refused(write_config):
    config = write_config({"environments": {"system": {"type": "system",
                                                       "executable": "/nowhere/python3"}}})
    result = pyexecd("doctor", "-c", config)
    assert result.returncode == 1
    assert re.search(r"^  no +system +.*/nowhere/python3", result.stdout, re.MULTILINE)
    assert re.match(r"pyexecd .*\nnot ready, because\n  no +system +.*/nowhere/python3", result.stdout)


def test_doctor_tells_where_a_person_is_asked(write_config):
    config = write_config({"approval": "first", "environments": {
        "system": {"type": "system"}, "other": {"type": "system", "approval": "always"}}})
    result = pyexecd("doctor", "-c", config)
    assert re.search(r"^approval\n +system +first\n +other +always$", result.stdout, re.MULTILINE)


# --check-config


def test_a_good_configuration_is_ok(write_config):
    config = write_config({"timeout": 5})
    result = pyexecd("--check-config", "--config", config)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{config}: ok\n", "")


def test_every_error_has_its_place(write_config):
    config = write_config("timeout: soon\nlimits:\n  memory: 1XB\nenviroments: {}\n")
    result = pyexecd("--check-config", "--config", config)
    assert result.returncode == 78
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    for place, line in zip((f"{config}:1:10: ", f"{config}:3:11: ", f"{config}:4:1: "), lines):
        assert line.startswith(place), line
    assert "environments" in lines[2]


def test_an_interpreter_that_cannot_be_used_is_an_error_with_its_place(write_config):
    config = write_config("environments:\n  system:\n    type: system\n"
                          "    executable: /nowhere/python3\n")
    result = pyexecd("--check-config", "--config", config)
    assert result.returncode == 78
    assert result.stderr.startswith(f"{config}:4:17: environments.system.executable: ")
    assert "/nowhere/python3" in result.stderr


def test_what_would_have_to_be_fetched_is_not_checked(write_config, tmp_path):
    config = write_config({"default_environment": "box", "environments": {
        "box": {"type": "docker", "host": f"unix://{tmp_path}/nowhere"}}})
    result = pyexecd("--check-config", "--config", config)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_token_that_cannot_be_used_is_an_error_with_its_place(write_config, tmp_path):
    token = tmp_path / "token"
    token.write_text("short")
    token.chmod(0o600)
    config = write_config(f"listen: [\"tcp:127.0.0.1:7\"]\ntoken_file: {token}\n")
    result = pyexecd("--check-config", "--config", config)
    assert result.returncode == 78
    assert result.stderr.startswith(f"{config}:2:13: token_file: ")


def test_every_fault_of_the_tokens_is_told_with_its_line(write_config, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"alice sha256:{'1' * 64} environments=nowhere\nbob secret-without-digest\n")
    tokens.chmod(0o600)
    config = write_config(f"token_file: {tokens}\n")
    result = pyexecd("--check-config", "--config", config)
    assert result.returncode == 78
    assert f"{config}:1:13: token_file: {tokens}:2: must be: NAME sha256:DIGEST" in result.stderr
    assert "secret-without-digest" not in result.stderr
    tokens.write_text(f"alice sha256:{'1' * 64} environments=system,nowhere\n")
    result = pyexecd("--check-config", "--config", config)
    assert result.stderr == (f"{config}:1:13: token_file: {tokens}:1: "
                             'no environment is called "nowhere"\n')


# Tokens


def test_token_makes_another_one_each_time():
    made = [json.loads(pyexecd("token", "--json", "alice").stdout) for _ in range(2)]
    for token in made:
        digest = hashlib.sha256(token["token"].encode()).hexdigest()
        assert len(token["token"]) == 64  # 256 bits
        assert token["line"] == f"alice sha256:{digest}"
        assert token["name"] == "alice"
    assert made[0]["token"] != made[1]["token"]


def test_token_tells_where_the_line_goes():
    result = pyexecd("token", "alice")
    token, line = (text.strip() for text in result.stdout.splitlines() if text.startswith("    "))
    assert line == f"alice sha256:{hashlib.sha256(token.encode()).hexdigest()}"
    assert "token_file" in result.stdout


def test_token_puts_its_line_into_the_file_of_the_server(tmp_path):
    tokens = tmp_path / "tokens"
    first = pyexecd("token", "alice", "--add", tokens)
    assert re.search(r"^    [0-9a-f]{64}$", first.stdout, re.MULTILINE)
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o600
    tokens.write_text(tokens.read_text().rstrip("\n"))  # as an editor may leave it
    second = json.loads(pyexecd("token", "--json", "--add", tokens, "bob").stdout)
    assert [line.split()[0] for line in tokens.read_text().splitlines()] == ["alice", "bob"]
    assert second["line"] in tokens.read_text()
    assert "alice has 2 tokens there" in pyexecd("token", "alice", "--add", tokens).stdout
    assert "tokens there" not in first.stdout


@pytest.mark.parametrize("text", ["The token, shown only once:\n", "0123456789abcdef0123456789abcdef\n"])
def test_token_adds_nothing_to_a_file_of_another_kind(text, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(text)
    tokens.chmod(0o600)
    result = pyexecd("token", "alice", "--add", tokens)
    assert (result.returncode, result.stdout, tokens.read_text()) == (78, "", text)
    assert "must be: NAME sha256:DIGEST" in result.stderr


@pytest.mark.parametrize("name", ["", "a b", "uid-0", "tcp", "oauth-x", "x" * 65, "../x"])
def test_a_token_needs_a_name_of_its_own(name):
    result = pyexecd("token", name)
    assert result.returncode == 64
    assert result.stdout == ""
    assert "the name must be" in result.stderr


def test_a_missing_configuration_is_66(tmp_path):
    result = pyexecd("--check-config", "--config", tmp_path / "nowhere.yaml")
    assert result.returncode == 66
    assert "nowhere.yaml" in result.stderr


@pytest.mark.parametrize("command", [[], ["run", "-c", "1"], ["doctor"], ["schema"]])
def test_a_wrong_configuration_stops_every_command(write_config, command):
    config = write_config("timeout: soon\n")
    result = pyexecd(*command, "--config", config)
    assert result.returncode == 78
    assert f"{config}:1:10: " in result.stderr
    assert result.stdout == ""


def test_the_configuration_is_found_by_its_variable(write_config, monkeypatch):
    monkeypatch.setenv("PYEXECD_CONFIG", str(write_config("timeout: soon\n")))
    assert pyexecd("--check-config").returncode == 78


def test_a_configuration_to_begin_with_is_written_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.delenv("PYEXECD_CONFIG", raising=False)
    path = tmp_path / "settings/pyexecd/config.yaml"
    assert f"wrote {path}\n" in pyexecd("config", "init").stdout
    assert pyexecd("--check-config").stdout == f"{path}: ok\n"
    text = path.read_text()
    assert all(line.startswith("#") or not line for line in text.splitlines())  # it changes nothing
    for setting in ("timeout: 60", "default_environment: system", "environments:\n#   system:\n#     type: system"):
        assert f"# {setting}\n" in text
    path.write_text("timeout: 5\n")
    again = pyexecd("config", "init")
    assert (again.returncode, again.stdout, path.read_text()) == (64, "", "timeout: 5\n")
    elsewhere = tmp_path / "mine.yaml"
    assert pyexecd("config", "init", elsewhere).returncode == 0
    assert pyexecd("--check-config", elsewhere).stdout == f"{elsewhere}: ok\n"


def test_the_configuration_to_check_may_be_named_without_an_option(write_config):
    config = write_config("timeout: soon\n")
    result = pyexecd("--check-config", config)
    assert result.returncode == 78 and result.stderr.startswith(f"{config}:1:10: ")


# Serving


def said_on_a_terminal(*arguments, until, end):
    """What a server that is started on a terminal says first; END is typed then."""
    master, slave = os.openpty()
    process = subprocess.Popen([os.environ["PYEXECD"], *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave,
                               env={**os.environ, "PYEXECD_CONFIG": ""}, start_new_session=True)
    os.close(slave)
    said = b""
    try:
        while until not in said and select.select([master], [], [], 20)[0]:
            said += os.read(master, 4096)
        end(process, master)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return said.decode()


def test_a_server_for_several_tells_how_they_connect(tmp_path):
    tokens = tmp_path / "tokens"
    token = json.loads(pyexecd("token", "--json", "--add", tokens, "alice").stdout)["token"]
    port = ports.free_port()
    said = said_on_a_terminal("serve", "--http", port, "--token-file", tokens, until=f"({tokens})".encode(),
                              end=lambda process, _: process.terminate())
    url = f"http://127.0.0.1:{port}/mcp"
    assert f"serving {url}" in said and f"tokens of alice ({tokens})" in said and token not in said
    (entry,) = [json.loads(line.partition(": ")[2]) for line in said.splitlines() if line.startswith("for a client: ")]
    assert entry == {"mcpServers": {"pyexecd": {"type": "http", "url": url,
                                                "headers": {"Authorization": "Bearer TOKEN"}}}}


def status_of(port, token):
    """Of a request with TOKEN that a server of HTTP refuses without one: 401, or anything else."""
    question = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", data=b"{}", method="POST", headers={
        "Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"})
    try:
        with urllib.request.urlopen(question, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def test_the_tokens_of_the_command_line_are_read_again(tmp_path):
    tokens, port = tmp_path / "tokens", ports.free_port()

    def token_of(name):
        return json.loads(pyexecd("token", "--json", "--add", tokens, name).stdout)["token"]

    alice = token_of("alice")
    server = subprocess.Popen([os.environ["PYEXECD"], "serve", "--http", str(port), "--token-file", tokens],
                              stdin=subprocess.DEVNULL)
    try:
        assert leftovers.until(lambda: status_of(port, alice) not in (None, 401))
        bob = token_of("bob")
        assert status_of(port, bob) == 401
        server.send_signal(signal.SIGHUP)
        assert leftovers.until(lambda: status_of(port, bob) not in (None, 401))
        assert status_of(port, alice) != 401
    finally:
        server.terminate()
        assert server.wait(60) == 0


def test_a_port_without_tokens_says_what_to_do():
    result = pyexecd("serve", "--http", ports.free_port())
    assert result.returncode == 78 and "--token-file" in result.stderr


def test_a_port_that_is_in_use_is_69(tmp_path):
    tokens = tmp_path / "tokens"
    pyexecd("token", "--add", tokens, "alice")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = pyexecd("serve", "--http", port, "--token-file", tokens)
    assert result.returncode == 69, result.stderr
    assert f"127.0.0.1:{port}" in result.stderr and "in use" in result.stderr


def test_on_a_terminal_it_says_what_it_waits_for():
    said = said_on_a_terminal(until=b"pyexecd --help", end=lambda _, master: os.write(master, b"\x04"))
    assert "waiting for the messages of an MCP client" in said


def test_listen_replaces_the_configured_addresses(write_config, tmp_path):
    config = write_config({"listen": ["unix:/nowhere/at/all"]})
    result = pyexecd("--config", config, "--listen", "stdio", input="")
    assert result.returncode == 0, result.stderr
    assert "listen" not in result.stderr  # `pyexecd install` writes such a command for clients


def test_an_address_that_is_in_use_is_69(tmp_path, write_config):
    address = tmp_path / "socket"
    config = write_config({"listen": [f"unix:{address}"]})
    first = subprocess.Popen([os.environ["PYEXECD"], "--config", config])
    try:
        while not address.exists():
            time.sleep(0.01)
        assert stat.S_IMODE(address.stat().st_mode) & 0o077 == 0
        result = pyexecd("--config", config)
        assert result.returncode == 69, result.stderr
        assert str(address) in result.stderr
    finally:
        first.terminate()
        assert first.wait(60) == 0
    assert not address.exists()


def test_tcp_without_a_token_is_refused():
    result = pyexecd("--listen", "tcp:127.0.0.1:0")
    assert result.returncode in (64, 78)
    assert "token" in result.stderr


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_is_told(tmp_path, monkeypatch, abstract):
    name = f"@pyexecd-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + name[1:] if abstract else name)
        manager.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        with client.Server() as server:
            assert manager.recv(4096) == b"READY=1"
            server.initialize()
        assert manager.recv(4096) == b"STOPPING=1"


def test_a_working_directory_that_is_a_file_is_a_fault_of_the_configuration(write_config):
    path = write_config("working_directory: /etc/passwd\n")
    result = pyexecd("--config", path, "--check-config")
    assert result.returncode == 78
    assert f"{path}:1:20: working_directory: " in result.stdout + result.stderr


def test_a_directory_for_environments_of_different_isolation_has_to_be_confirmed(
        write_config, tmp_path):
    text = (f"environments: {{system: {{type: system}}, box: {{type: docker}}}}\n"
            f"working_directory: {tmp_path}/shared\n")
    (tmp_path / "shared").mkdir()
    path = write_config(text)
    result = pyexecd("--config", path, "--check-config")
    assert result.returncode == 78
    said = result.stdout + result.stderr
    assert (f"{path}:2:20: working_directory: is for environments of different isolation "
            "(sandbox: system; docker: box)") in said
    assert "share_directory_across_isolation: true" in said
    path = write_config(text + "share_directory_across_isolation: true\n")
    assert pyexecd("--config", path, "--check-config").returncode == 0


def test_an_installed_tree_may_be_moved(tmp_path):
    program = pathlib.Path(os.environ["PYEXECD"])
    (tmp_path / "bin").mkdir()
    (tmp_path / "libexec" / "pyexecd").mkdir(parents=True)
    moved = shutil.copy(program, tmp_path / "bin")
    shutil.copy(program.parent / "pyexecd-runner", tmp_path / "libexec" / "pyexecd")
    result = subprocess.run([moved, "run", "-"], input="print(6 * 7)", capture_output=True,
                            text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "42\n")


def test_each_command_has_a_manual_page():
    """One of its own, or a page that sends there: `man pyexecd run` looks for pyexecd-run."""
    pages = pathlib.Path(os.environ["PYEXECD"]).resolve().parent / "docs"
    if not (pages / "pyexecd.1").exists():
        pytest.skip("built without scdoc")
    for command in re.findall(r"^ +pyexecd ([a-z]+) ", pyexecd("--help").stdout, re.M):
        text = (pages / f"pyexecd-{command}.1").read_text()
        sent = re.fullmatch(r"\.so man1/(\S+)\n", text)
        assert command in ((pages / sent[1]).read_text() if sent else text)
