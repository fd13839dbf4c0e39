"""AG2's tool and environments by a changed import: what AG2 documents works, and its known faults are not here."""

import difflib
import json
import platform
import re
import sys

import installed
import package
import pytest
import standin

CHAT = package.HERE / "ag2_tool_chat.py"
EXAMPLES = installed.ROOT / "examples"
PAGE = (installed.ROOT / "docs" / "autogen.md").read_text()
DIFFS = re.findall(r"^```diff\n(.*?)^```$", PAGE, re.M | re.S)


def chat(tmp_path, *codes, how="initiate_chat", environment="SystemPythonEnvironment()"):
    """What the model was offered, and what it has read of CODES."""
    printed = package.run("ag2", CHAT, how, environment, home=tmp_path, text=json.dumps(codes))
    seen = json.loads(printed.splitlines()[-1])
    return seen["offered"], seen["read"]


@pytest.mark.parametrize("how", ["initiate_chat", "a_initiate_chat"])
def test_a_pair_of_agents_runs_code_and_its_model_reads_text(tmp_path, how):
    (offered,), (first, second) = chat(tmp_path, "open('a', 'w').write('kept')\nprint(6 * 7)",
                                       "print(open('a').read())\n1 / 0", how=how)
    assert first.startswith("exitcode: 0 (execution succeeded)\nCode output: 42\n")
    assert "kept" in second and "ZeroDivisionError" in second
    assert offered["function"]["name"] == "python_execute_code"
    assert offered["function"]["description"] == "Run Python code"
    request = offered["function"]["parameters"]["properties"]["code_execution_request"]
    assert set(request["properties"]) == {"code", "libraries"} and request["required"] == ["code"]


def test_a_timeout_keeps_what_was_printed(tmp_path):
    """AG2: the output is lost, and the model reads a dictionary with an error."""
    _, (read,) = chat(tmp_path, "import time\nprint('partly', flush=True)\ntime.sleep(60)")
    assert "timed out after 8 seconds" in read and "partly" in read


def test_a_venv_is_made_of_the_programs_python(tmp_path):
    _, (read,) = chat(tmp_path, "import sys; print(sys.prefix != sys.base_prefix)", environment="VenvPythonEnvironment()")
    assert "Code output: True" in read


def test_an_agent_of_ag2_1_has_the_tool(tmp_path):
    with standin.Model([{"code": "print(6 * 7)"}], tool="python_execute_code") as model:
        printed = package.run("ag2_toolkit", EXAMPLES / "ag2_agent.py", "standin", "Go on.", home=tmp_path,
                              OPENAI_BASE_URL=f"{model.url}/v1", OPENAI_API_KEY="none")
        assert model.ended, model.trouble
    assert printed == f"{standin.DONE}\n"
    (reading,) = model.readings
    assert "Code output: 42" in reading.text


@pytest.mark.parametrize("version", ["ag2_0_9", "ag2_0_13", "ag2"])
def test_the_example_goes_to_its_end(tmp_path, version):
    printed = package.run(version, EXAMPLES / "ag2_tool.py", home=tmp_path)
    assert "Code output: 285" in printed and "The sum is 285. TERMINATE" in printed


def written_for_ag2(text):
    """The program TEXT as the page has it before the change."""
    (diff,) = [diff for diff in DIFFS if "+from pyexecd.ag2 import PythonCodeExecutionTool" in diff]
    before, after = ("".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] == kept) for kept in "-+")
    assert text.count(after) == 1, "the page does not show the example"
    return text.replace(after, before), diff


@pytest.mark.parametrize("version", ["ag2_0_9", "ag2_0_13"])
def test_a_program_written_for_ag2s_tool_changes_its_imports_and_nothing_else(tmp_path, version):
    ours = (EXAMPLES / "ag2_tool.py").read_text()
    theirs, shown = written_for_ag2(ours)
    program = tmp_path / "program.py"
    program.write_text(theirs)
    printed = package.run(version, program, home=tmp_path)
    assert "'stdout': '285\\n'" in printed and "The sum is 285. TERMINATE" in printed
    changed = difflib.unified_diff(theirs.splitlines(keepends=True), ours.splitlines(keepends=True), n=0)
    lines = [line for line in changed if not line.startswith(("---", "+++", "@@"))]
    assert "".join(lines) == shown
    assert all(line[1:].startswith("from ") for line in lines)


# The environments themselves, as a program uses them without a tool; that needs pydantic, which AG2 has.

PROGRAM = """
import asyncio, json, os, sys, threading
from pyexecd.ag2 import SystemPythonEnvironment, VenvPythonEnvironment, WorkingDirectory

def run(environment, code, path="work/script.py", timeout=20):
    return asyncio.run(environment.execute_code(code, path, timeout))
"""


def program(tmp_path, text, **more):
    """What TEXT prints, as JSON, run behind PROGRAM by a Python with AG2."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + text)
    return json.loads(package.run("ag2", path, home=tmp_path, **more).splitlines()[-1])


def test_the_dictionary_is_that_of_ag2(tmp_path):
    seen = program(tmp_path, "e = SystemPythonEnvironment()\nprint(json.dumps([run(e, code) for code in ("
                             "'print(1)', 'import sys; sys.exit(3)', 'import os; os.kill(os.getpid(), 9)')]))")
    assert seen[0] == {"success": True, "stdout": "1\n", "stderr": "", "returncode": 0}
    assert [each["returncode"] for each in seen] == [0, 3, -9]


SAME = """
import asyncio, json, os
from autogen.environments import SystemPythonEnvironment, WorkingDirectory

with SystemPythonEnvironment() as environment, WorkingDirectory("work") as directory:
    script = os.path.join(os.getcwd(), "script.py")
    print(json.dumps([asyncio.run(environment.execute_code(code, script, 20)) for code in
                      ("open('a', 'w').write('kept')", "import sys; print(open('a').read()); sys.exit(3)")]))
"""


def test_a_program_of_ag2_says_the_same_with_the_import_changed(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SAME)
    theirs = package.run("ag2", path, home=tmp_path)
    path.write_text(SAME.replace("autogen.environments", "pyexecd.ag2"))
    assert json.loads(package.run("ag2", path, home=tmp_path)) == json.loads(theirs)
    assert json.loads(theirs)[1] == {"success": False, "stdout": "kept\n", "stderr": "", "returncode": 3}


def test_code_runs_in_its_directory_with_no_input_and_none_of_the_programs_variables(tmp_path):
    seen = program(tmp_path, "e = SystemPythonEnvironment()\nprint(json.dumps(run(e, "
                             "'import os, sys; print(os.getcwd(), sys.stdin.read(), os.environ.get(\"SECRET\"))')))",
                   SECRET="key")
    assert seen["stdout"] == f"{tmp_path / 'work'}  None\n"


def test_calls_at_the_same_time_run_their_own_code(tmp_path):
    """AG2: all of them write the same script.py."""
    seen = program(tmp_path, "e = SystemPythonEnvironment()\nasync def all_():\n"
                             "    return await asyncio.gather(*(e.execute_code(f'print({n})', 'work/script.py') "
                             "for n in range(8)))\nprint(json.dumps([each['stdout'] for each in asyncio.run(all_())]))")
    assert seen == [f"{number}\n" for number in range(8)]


def test_a_directory_has_one_server_whatever_the_timeouts_of_its_calls(tmp_path):
    """In a container each would have a container of its own."""
    seen = program(tmp_path, """
e = SystemPythonEnvironment()
ended = [run(e, "import time\\nprint(1, flush=True)\\ntime.sleep(60)", timeout=5), run(e, "print(2)", timeout=40)]
servers = []
for thread in os.listdir("/proc/self/task"):
    try:
        servers += open(f"/proc/self/task/{thread}/children").read().split()
    except OSError:  # it has ended
        pass
print(json.dumps([[each["stdout"] for each in ended], [each["success"] for each in ended], len(servers)]))
""")
    assert seen == [["1\n", "2\n"], [False, True], 1]


WEAK = installed.ROOT / "tests" / "integration" / "limited.py"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="limited.py knows the system calls of x86-64 alone")
@pytest.mark.parametrize("settings, warnings", [({}, 1), ({"isolation": "none"}, 0)])
def test_a_program_is_warned_once_if_this_machine_has_no_sandbox(tmp_path, settings, warnings):
    wrapped = tmp_path / "bin" / "pyexecd"
    wrapped.parent.mkdir()
    wrapped.write_text(f'#!/bin/sh\nexec {sys.executable} {WEAK} namespaces landlock -- {installed.PYEXECD} "$@"\n')
    wrapped.chmod(0o755)
    seen = program(tmp_path, f"""
import warnings
e = SystemPythonEnvironment(settings={settings!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    ended = [run(e, "print(1)"), run(e, "print(2)")]
print(json.dumps([[each["stdout"] for each in ended],
                  [[each.category.__name__, str(each.message)] for each in caught]]))
""", PATH=f"{wrapped.parent}:/usr/local/bin:/usr/bin:/bin")
    assert seen[0] == ["1\n", "2\n"] and len(seen[1]) == warnings
    for category, message in seen[1]:
        assert category == "UserWarning" and "without a sandbox" in message and "file rules" in message


def test_output_that_is_not_utf8_is_no_failure(tmp_path):
    seen = program(tmp_path, "e = SystemPythonEnvironment()\n"
                             "print(json.dumps(run(e, 'import os; os.write(1, b\"a\\\\xff\\\\r\\\\n\")')))")
    assert seen["success"] and seen["stdout"].startswith("a") and seen["stdout"].endswith("\r\n")


def test_what_cannot_be_had_is_an_error_when_the_object_is_made(tmp_path):
    seen = program(tmp_path, """
said = []
for make in (lambda: SystemPythonEnvironment("/none/python"), lambda: VenvPythonEnvironment(python_version="3.1"),
             lambda: VenvPythonEnvironment(python_path="/none/python")):
    try:
        make()
    except RuntimeError as error:
        said.append(str(error))
print(json.dumps(said))
""")
    assert seen[0] == "Python executable not found at: /none/python"
    assert "3.1" in seen[1] and "/none/python" in seen[2]


FORGER = """#!/usr/bin/python3
import os, sys
answer = ["python", {python!r}, "3.11.2", {venv!r}, {shown!r}, "/usr", ""]
if any("S" in each for each in sys.argv[1:2]):
    os.write(1, chr(0).join(answer).encode())
elif os.path.exists({shown!r} + "/secret"):
    os.write(2, b"it is seen")
    sys.exit(3)
"""
PLANTED = """
import asyncio, json, os, sys, venv
from autogen.coding import CodeBlock
from pyexecd import PyexecdError
from pyexecd.ag2 import VenvPythonEnvironment
from pyexecd.coding import LocalCommandLineCodeExecutor

def told(environment):
    try:
        return asyncio.run(environment().run("print(6 * 7)", "scripts", 60)).text
    except (PyexecdError, RuntimeError) as error:
        return str(error)

venv.EnvBuilder(with_pip=False, symlinks=True).create("coding/.venv")
environment = lambda: VenvPythonEnvironment(venv_path="coding/.venv")
first, made = told(environment), environment()
planted = LocalCommandLineCodeExecutor(work_dir="coding").execute_code_blocks([CodeBlock(language="python", code=sys.argv[1])])
print(json.dumps([first, planted.exit_code, told(environment), told(lambda: made)]))
"""


def test_a_python_that_other_code_can_have_changed_is_not_asked_what_it_needs(tmp_path):
    """A planted one could have any directory shown to code."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("correct-horse")
    folder = tmp_path / "coding" / ".venv"
    python = str(folder / "bin" / "python")
    forger = FORGER.format(python=python, venv=str(folder), shown=str(tmp_path / "elsewhere"))
    plant = f"import os; os.remove({python!r}); open({python!r}, 'w').write({forger!r}); os.chmod({python!r}, 0o755)"
    (tmp_path / "program.py").write_text(PLANTED)
    printed = package.run("ag2", tmp_path / "program.py", plant, home=tmp_path)
    first, exit_code, *then = json.loads(printed.splitlines()[-1])
    assert "42" in first and exit_code == 0
    assert then == [f"{folder} lies in {tmp_path / 'coding'}, where code of this program can have changed it"] * 2


def test_a_venv_in_the_directory_of_its_own_code_can_be_used_again(tmp_path):
    (tmp_path / "program.py").write_text("""
import asyncio
from pyexecd.ag2 import VenvPythonEnvironment
for _ in range(2):
    print(asyncio.run(VenvPythonEnvironment(venv_path=".venv").run("print(6 * 7)", ".", 60)).stdout, end="")
""")
    assert package.run("ag2", tmp_path / "program.py", home=tmp_path) == "42\n42\n"


def test_a_working_directory_is_the_programs_too_and_goes_if_it_is_temporary(tmp_path):
    seen = program(tmp_path, """
with WorkingDirectory("given"):
    inner = os.getcwd()
    with WorkingDirectory.create_tmp() as made:
        pass
print(json.dumps([inner, os.getcwd(), os.path.exists(made.path), os.path.isdir("given")]))
""")
    assert seen == [str(tmp_path / "given"), str(tmp_path), False, True]


def test_what_the_server_does_not_accept_is_an_error_before_a_model_can_read_it(tmp_path):
    said = program(tmp_path, """
from pyexecd import ConfigurationError
from pyexecd.ag2 import PythonCodeExecutionTool
wrong = {"timeuot": 60}
said = []
with WorkingDirectory("work"):
    for make in (lambda: PythonCodeExecutionTool(python_environment=SystemPythonEnvironment(settings=wrong)),
                 lambda: VenvPythonEnvironment(settings=wrong)):
        try:
            make()
        except ConfigurationError as error:
            said.append([str(error), isinstance(error, RuntimeError)])
    PythonCodeExecutionTool(python_environment=SystemPythonEnvironment())
print(json.dumps(said))
""")
    told = 'environments.code.timeuot: unknown key "timeuot", did you mean "timeout"?'
    assert said == [[told, True]] * 2


def test_a_container_that_is_to_stay_is_a_warning(tmp_path):
    said, failed = program(tmp_path, """
import warnings
from pyexecd.ag2 import DockerPythonEnvironment
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        DockerPythonEnvironment(keep_container_running=True, settings={"host": "unix:///nowhere"})
    except RuntimeError as error:
        print(json.dumps([[str(each.message) for each in caught], str(error)]))
""")
    assert any("keep_container_running has no effect" in each for each in said) and "nowhere" in failed
