"""AutoGen's Docker executor and AG2's Docker environment by a changed import, in an engine."""

import difflib
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients"))

import installed  # noqa: E402
import package  # noqa: E402
import suites  # noqa: E402

DOCKER = "DockerCommandLineCodeExecutor"


@pytest.fixture
def docker(engine, tmp_path):
    """Runs steps with AutoGen's Docker executor whose work_dir is TMP_PATH/work."""
    def run(*steps, file=(), **options):
        (tmp_path / "work").mkdir()
        options = {"image": "python:3.11-slim", "work_dir": str(tmp_path / "work"), "timeout": 20, **options}
        return package.executed(DOCKER, steps, tmp_path, *file, environment=engine.environment, **options)

    return run


def test_blocks_share_a_container_and_a_directory_and_nothing_is_left(docker, engine, tmp_path):
    """AutoGen leaves files of code, and a container where the program crashes."""
    (tmp_path / "extra").mkdir()
    first, second, failed = docker(
        [["python", "open('/tmp/inner', 'w').write('kept')\nprint(1)"], ["sh", "cat /tmp/inner; echo; pwd"]],
        [["bash", "cat /tmp/inner /tmp/prepared; echo; touch /extra/new; grep -c somewhere /etc/hosts"]],
        [["sh", "echo partly; exit 7"], ["sh", "echo never"]],
        extra_volumes={str(tmp_path / "extra"): {"bind": "/extra", "mode": "rw"}},
        extra_hosts={"somewhere": "192.0.2.1"}, init_command="printf ready > /tmp/prepared", delete_tmp_files=True)
    assert first["output"] == "1\nkept\n/workspace\n", first
    assert second["output"] == "keptready\n1\n", second
    assert (failed["exit_code"], failed["output"]) == (7, "partly\n")
    assert (tmp_path / "extra" / "new").exists() and list((tmp_path / "work").iterdir()) == []
    assert engine.api.get("/containers/json", all=1) == []


def test_code_that_ignores_signals_is_ended_and_its_output_kept(docker):
    """AutoGen hangs for good, and what a script has started lives on."""
    code = "import signal, time\nfor number in (signal.SIGTERM, signal.SIGINT):\n    signal.signal(number, " \
        "signal.SIG_IGN)\nprint('partly', flush=True)\ntime.sleep(500)"
    seen, after, refused = docker([["python", code]], [["sh", "cat /tmp/prepared"]], [["cobol", "x"]],
                                  init_command="printf ready > /tmp/prepared", timeout=5)
    assert seen["exit_code"] == 124 and "Timeout" in seen["output"] and "partly" in seen["output"]
    assert after["output"] == "ready"
    assert refused["exit_code"] == 1 and "unknown language cobol" in refused["output"]


def test_no_block_is_an_error(docker):
    (seen,) = docker([])
    assert seen == {"raised": "ValueError", "output": "No code blocks to execute."}


PROGRAM = installed.ROOT / "examples" / "autogen_executors.py"
SAID = """\
LocalCommandLineCodeExecutor python 0{blank}
LocalCommandLineCodeExecutor sh 0 285
LocalCommandLineCodeExecutor bash 3 before
DockerCommandLineCodeExecutor python 0{blank}
DockerCommandLineCodeExecutor sh 0 285
DockerCommandLineCodeExecutor bash 3 before
JupyterCodeExecutor python 0{blank}
JupyterCodeExecutor python 0 285
""".format(blank=" ")


def test_a_program_of_autogens_three_executors_says_the_same_by_a_changed_import(engine, tmp_path):
    assert package.run("autogen", PROGRAM, "python:3.11-slim", home=tmp_path, **engine.environment) == SAID


def test_that_program_says_so_with_autogens_own_executors_and_the_documents_show_the_difference(engine, tmp_path):
    """With the packages of the benchmarks, which have Jupyter and Docker's library."""
    ours = PROGRAM.read_text()
    text = (installed.ROOT / "docs" / "autogen.md").read_text()
    (shown,) = [diff for diff in re.findall(r"```diff\n(.*?)```", text, re.DOTALL) if "code_executors.jupyter" in diff]
    (new,) = re.findall(r"^\+(.*\n)", shown, re.MULTILINE)
    theirs = ours.replace(new, "".join(re.findall(r"^-(.*\n)", shown, re.MULTILINE)))
    changed = difflib.unified_diff(theirs.splitlines(keepends=True), ours.splitlines(keepends=True), n=0)
    assert "".join(line for line in changed if not line.startswith(("---", "+++", "@@"))) == shown
    program = tmp_path / "program.py"
    program.write_text(theirs)
    assert package.run("bench", "-W", "ignore", program, "python:3.11-slim", home=tmp_path, **engine.environment) == SAID


AG2 = """
import asyncio, json, sys
from pyexecd.ag2 import DockerPythonEnvironment

with DockerPythonEnvironment(image="python:3.11-slim", volumes=json.loads(sys.argv[1]), environment={"A": "b"}) as box:
    def run(code):
        return asyncio.run(box.execute_code(code, "work/script.py", 20))
    print(json.dumps([run("open('/tmp/inner', 'w').write('kept'); open('/data/new', 'w'); import sys; sys.exit(7)"),
                      run("import os; print(open('/tmp/inner').read(), os.environ['A']); open('made', 'w')")]))
try:
    DockerPythonEnvironment(image="no-such-image:1", settings={"pull": "never"})
except RuntimeError as error:
    print(json.dumps(str(error)))
"""


def test_ag2s_environment_has_one_container_and_what_it_writes_stays(engine, tmp_path):
    """AG2 reports every failure as 1, and deletes what was written into the directory."""
    (tmp_path / "data").mkdir()
    (tmp_path / "program.py").write_text(AG2)
    printed = package.run("ag2", tmp_path / "program.py", json.dumps({str(tmp_path / "data"): "/data"}),
                          home=tmp_path, **engine.environment)
    (first, second), error = map(json.loads, printed.splitlines()[-2:])
    assert first["returncode"] == 7 and second["stdout"] == "kept b\n", (first, second)
    assert (tmp_path / "data" / "new").exists() and (tmp_path / "work" / "made").exists()
    assert "no-such-image" in error
    assert engine.api.get("/containers/json", all=1) == []


CODING = """
import json, sys
from autogen.coding import CodeBlock
from pyexecd.coding import DockerCommandLineCodeExecutor, DockerJupyterServer, JupyterCodeExecutor

def run(executor, *blocks):
    return executor.execute_code_blocks([CodeBlock(language=language, code=code) for language, code in blocks]).model_dump()

options = {"environment": {"A": "b"}, "extra_hosts": {"somewhere": "192.0.2.1"}}
with DockerCommandLineCodeExecutor("python:3.11-slim", work_dir="coding", container_create_kwargs=options) as box:
    seen = [run(box, ("sh", "echo $A; grep -c somewhere /etc/hosts; touch /tmp/inner"), ("js", "1"), ("sh", "ls /tmp/inner"))]
    box.restart()
    seen.append(run(box, ("sh", "ls /tmp/inner")))
with DockerJupyterServer(custom_image_name="python:3.11-slim", docker_env={"A": "b"}) as server, \\
        JupyterCodeExecutor(server, output_dir="coding", timeout=20) as cells:
    seen += [run(cells, ("python", "import os, pathlib\\nx = os.environ['A']\\nopen('new.png', 'w').close()")),
             run(cells, ("python", "x, pathlib.Path.cwd()"))]
    seen += [run(cells, ("python", "print('partly', flush=True); import time; time.sleep(90)")), run(cells, ("python", "x"))]
try:
    DockerCommandLineCodeExecutor("no-such-image:1", settings={"pull": "never"})
except RuntimeError as error:
    seen.append(str(error))
print(json.dumps(seen))
"""


def test_the_docker_classes_of_autogen_0_2_hold_one_container_and_leave_none(engine, tmp_path):
    (tmp_path / "program.py").write_text(CODING)
    printed = package.run("ag2", tmp_path / "program.py", home=tmp_path, **engine.environment)
    first, restarted, drawn, value, late, after, error = json.loads(printed.splitlines()[-1])
    assert first["exit_code"] == 0 and first["output"].startswith("b\n1\nCode saved to ") and "/tmp/inner" in first["output"]
    assert restarted["exit_code"] != 0
    assert drawn["output_files"] == [str(tmp_path / "coding" / "new.png")] and (tmp_path / "coding" / "new.png").exists()
    assert value["output"] == "('b', PosixPath('/workspace'))\n"
    assert late["exit_code"] == 1 and "Timeout" in late["output"] and "partly" in late["output"]
    assert after["output"] == "'b'\n"
    assert "no-such-image" in error
    assert engine.api.get("/containers/json", all=1) == []


KILLED = """
import json, os, signal, time
from autogen.coding import CodeBlock
from pyexecd.coding import DockerCommandLineCodeExecutor

def run(executor, code):
    return executor.execute_code_blocks([CodeBlock(language="sh", code=code)]).output

first = DockerCommandLineCodeExecutor("python:3.11-slim", container_name="same", work_dir="coding")
second = DockerCommandLineCodeExecutor("python:3.11-slim", container_name="same", work_dir="coding")
seen = [run(first, "echo 1"), run(second, "sleep 1000 >/dev/null 2>&1 & echo 2")]
begun = time.monotonic()
first.stop()
print(json.dumps([*seen, time.monotonic() - begun]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_program_that_is_killed_leaves_no_container(engine, tmp_path):
    """AutoGen's stays. A second one of its name is refused there, and stop() takes the engine's ten seconds."""
    path = tmp_path / "program.py"
    path.write_text(KILLED)
    done = subprocess.run([installed.python("ag2"), str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=180,
                          env=package.variables(HOME=str(tmp_path), LANG="C.UTF-8", **engine.environment))
    assert done.returncode == -signal.SIGKILL, done
    first, second, seconds = json.loads(done.stdout.splitlines()[-1])
    assert (first, second) == ("1\n", "2\n") and seconds < 10
    deadline = time.monotonic() + 60
    while engine.api.get("/containers/json", all=1) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert engine.api.get("/containers/json", all=1) == []


@pytest.fixture
def slim(engine):
    """The variables of a program whose engine has python:3-slim, AutoGen's default."""
    engine.api.post("/images/python:3.11-slim/tag", repo="python", tag="3-slim")
    yield engine.environment
    engine.api.delete("/images/python:3-slim")


@pytest.mark.parametrize("test", ["test_docker_commandline_code_executor.py", "test_docker_jupyter_code_executor.py"])
def test_autogens_own_tests_of_its_docker_executors_pass(slim, tmp_path, test):
    said = suites.autogen(tmp_path, f"code_executors/{test}", **slim)
    assert " passed" in said and " skipped" not in said, said


@pytest.mark.parametrize("test", ["test_commandline_code_executor.py", "test_embedded_ipython_code_executor.py",
                                  "test_user_defined_functions.py"])
def test_ag2s_own_tests_of_the_executors_of_autogen_0_2_pass(slim, tmp_path, test):
    said = suites.ag2(tmp_path, f"coding/{test}", **slim)
    assert " passed" in said, said
