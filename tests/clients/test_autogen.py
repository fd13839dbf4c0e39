"""AutoGen's executors by a changed import: what AutoGen documents works, and its known faults are not here."""

import json
import os
import sys

import drawings
import installed
import package
import pytest
import suites

sys.path.append(str(installed.ROOT / "tests" / "integration"))

import wheels  # noqa: E402

LOCAL = "LocalCommandLineCodeExecutor"
JUPYTER = "JupyterCodeExecutor"


@pytest.fixture
def local(tmp_path):
    """Runs steps with a LocalCommandLineCodeExecutor whose work_dir is TMP_PATH/work."""
    return lambda *steps, **options: package.executed(LOCAL, steps, tmp_path, work_dir=str(tmp_path / "work"), **options)


@pytest.fixture
def jupyter(tmp_path):
    """Runs steps with a JupyterCodeExecutor whose output_dir is TMP_PATH/work."""
    return lambda *steps, **options: package.executed(
        JUPYTER, steps, tmp_path, output_dir=str(tmp_path / "work"), **options)


@pytest.mark.parametrize("test", ["code_executors/test_commandline_code_executor.py",
                                  "code_executors/test_user_defined_functions.py",
                                  "code_executors/test_jupyter_code_executor.py",
                                  "tools/test_python_code_executor_tool.py"])
def test_autogens_own_tests_pass(tmp_path, test):
    assert " passed" in suites.autogen(tmp_path, test)


PROGRAM = """
import asyncio
from autogen_agentchat.agents import CodeExecutorAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor

TEXT = "Two steps:\\n```python\\nopen('a', 'w').write('kept')\\nprint(6 * 7)\\n```\\n```sh\\ncat a; exit 3\\n```\\n"

async def main():
    async with LocalCommandLineCodeExecutor(work_dir="coding") as executor:
        agent = CodeExecutorAgent("runner", code_executor=executor)
        response = await agent.on_messages([TextMessage(content=TEXT, source="user")], CancellationToken())
        print(response.chat_message.content)

asyncio.run(main())
"""


def test_a_program_of_autogen_says_the_same_with_the_import_changed(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    theirs = package.run("autogen", path, home=tmp_path)
    path.write_text(PROGRAM.replace("autogen_ext.code_executors.local", "pyexecd.autogen"))
    assert package.run("autogen", path, home=tmp_path) == theirs
    assert "42" in theirs and "kept" in theirs and "POSIX exit code: 3" in theirs


# The command line


def test_blocks_run_in_order_and_what_they_print_is_the_output(local, tmp_path):
    (seen,) = local([["python", "open('a', 'w').write('1')\nprint('one')"], ["sh", "cat a; echo two"],
                     ["bash", "[[ -f a ]] && echo three"], ["py", "import sys; sys.stderr.write('err\\n'); print(4)"]])
    assert seen["exit_code"] == 0 and seen["output"] == "one\n1two\nthree\nerr\n4\n"
    assert sorted(os.listdir(tmp_path / "work")) == ["a"]


@pytest.mark.parametrize("name", [LOCAL, JUPYTER])
def test_a_temporary_directory_goes_however_deep_it_is(name, tmp_path):
    """Functions of Python that remove directories raise RecursionError."""
    (tmp_path / "temporary").mkdir()
    code = "import os\nfor _ in range(1500): os.mkdir('a'); os.chdir('a')\nprint('made')"
    (seen,) = package.executed(name, [[["python", code]]], tmp_path, environment={"TMPDIR": str(tmp_path / "temporary")})
    assert seen["output"] == "made\n" and os.listdir(tmp_path / "temporary") == []


LED_ELSEWHERE = """
import asyncio, os, sys
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock
from pyexecd.autogen import LocalCommandLineCodeExecutor

async def run(executor, code):
    return await executor.execute_code_blocks([CodeBlock(language="python", code=code)], CancellationToken())

async def main():
    outer = LocalCommandLineCodeExecutor(work_dir="coding")
    inner = LocalCommandLineCodeExecutor(work_dir="coding/sub", cleanup_temp_files=False)
    await run(inner, "print(1)")
    await run(outer, f"import os; os.rename('sub', 'away'); os.symlink({sys.argv[1]!r}, 'sub')")
    print((await run(inner, "print(2)")).exit_code)
    await inner.stop()
    await outer.stop()

asyncio.run(main())
"""


def test_no_file_is_written_or_removed_behind_a_link_of_code(tmp_path):
    """The work_dir of one executor lies in that of another one, whose code puts a link in its place."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "script.py").write_text("mine")
    (tmp_path / "program.py").write_text(LED_ELSEWHERE)
    (tmp_path / "coding").mkdir()
    assert package.run("autogen", tmp_path / "program.py", str(victim), home=tmp_path) == "1\n"
    assert os.listdir(victim) == ["script.py"]


def test_a_timeout_keeps_what_was_printed_and_nothing_lives_on(local, tmp_path):
    """AutoGen: all output is lost, and what the script has started goes on."""
    child = "import subprocess, sys, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" \
        "print('partly', flush=True)\nsubprocess.Popen(['sh', '-c', 'sleep 9; touch late'])\ntime.sleep(60)"
    first, second = local([["sh", "echo kept"], ["python", child], ["sh", "echo never"]],
                          [["sh", "sleep 5; ls"]], timeout=8)
    assert first["exit_code"] == 124
    for word in ("kept", "Timeout", "partly"):
        assert word in first["output"]
    assert "never" not in first["output"]
    assert second["exit_code"] == 0 and "late" not in second["output"]


def test_the_timeout_is_for_each_block(local):
    (seen,) = local([["sh", "sleep 6; echo one"], ["sh", "sleep 6; echo two"]], timeout=10)
    assert seen["output"] == "one\ntwo\n"


@pytest.mark.parametrize("last, said", [
    (["cobol", "x"], "unknown language cobol"),
    (["sh", "# filename: /etc/x.sh\necho never"], "Filename is not in the workspace"),
    (["sh", "# filename: ../x.sh\necho never"], "Filename is not in the workspace"),
    (["sh", "exit 3"], "kept")])
def test_what_earlier_blocks_printed_is_never_lost(local, last, said):
    (seen,) = local([["python", "print('kept')"], last])
    assert seen["exit_code"] == (3 if said == "kept" else 1)
    assert "kept" in seen["output"] and said in seen["output"] and "never" not in seen["output"]


def test_a_comment_is_no_file_name_and_a_named_file_stays(local, tmp_path):
    """AutoGen 0.2 takes any comment for a name, and does not make directories; 0.7 deletes what was named."""
    comment, named = local([["python", "# see a/b\nprint(1)"]],
                           [["python", "# filename: lib/tool.py\nX = 5"], ["python", "from lib.tool import X; print(X)"]])
    assert (comment["exit_code"], comment["output"]) == (0, "1\n")
    assert (named["exit_code"], named["output"]) == (0, "5\n")
    assert named["code_file"] == str(tmp_path / "work" / "lib" / "tool.py")
    assert os.path.exists(named["code_file"])


def test_files_have_autogens_names_where_they_are_kept(local, tmp_path):
    python, shell = local([["python", "print(1)"]], [["shell", "echo 2"]], cleanup_temp_files=False)
    assert open(python["code_file"]).read() == "print(1)" and open(shell["code_file"]).read() == "echo 2"
    assert os.path.basename(python["code_file"]).startswith("tmp_code_") and python["code_file"].endswith(".py")
    assert sorted(os.listdir(tmp_path / "work")) == sorted(os.path.basename(each["code_file"]) for each in (python, shell))


def test_a_link_in_the_place_of_a_kept_file_is_not_followed(local, tmp_path):
    """A script knows the name that a block will have."""
    victim = tmp_path / "work" / "victim"
    plant = "import hashlib, os\nname = 'tmp_code_' + hashlib.sha256(b'print(2)').hexdigest() + '.py'\n" \
        "open('victim', 'w').write('mine')\nos.symlink('victim', name)"
    _, kept = local([["python", plant]], [["python", "print(2)"]], cleanup_temp_files=False)
    assert kept["output"] == "2\n" and victim.read_text() == "mine"


def test_output_that_is_not_utf8_no_blocks_and_words_that_look_dangerous(local):
    """Each of them is an exception in AutoGen 0.2."""
    binary, nothing, harmless = local([["python", "import os; os.write(1, b'a\\xff\\n')"]], [],
                                      [["sh", "# dd is not used here\necho fine"]])
    assert binary["exit_code"] == 0 and binary["output"].startswith("a")
    assert (nothing["exit_code"], nothing["output"]) == (0, "")
    assert harmless["output"] == "fine\n"


def test_code_gets_no_input_and_none_of_the_programs_variables(tmp_path):
    code = "import os, sys; print('SECRET' in os.environ, sys.stdin.read() == '')"
    lines = package.run("autogen", package.HERE / "autogen_blocks.py", LOCAL, json.dumps({}), home=tmp_path,
                        text=json.dumps([["python", code]]) + "\n" + json.dumps([["sh", "echo next"]]) + "\n",
                        SECRET="key")
    first, second = map(json.loads, lines.splitlines())
    assert first["output"] == "False True\n" and second["output"] == "next\n"


def test_a_block_that_runs_can_be_cancelled(tmp_path):
    """AutoGen's token does nothing once the script is running: it ran to its end."""
    (tmp_path / "work").mkdir()
    code = "import time\nopen('started', 'w').close()\ntime.sleep(100)\nopen('late', 'w').close()"
    (seen,) = package.executed(LOCAL, [[["python", code]]], tmp_path, tmp_path / "work" / "started",
                               work_dir=str(tmp_path / "work"), timeout=90)
    assert seen["exit_code"] == 125 and "Cancelled" in seen["output"]
    assert not (tmp_path / "work" / "late").exists()


# Jupyter


def test_variables_stay_and_the_value_of_a_last_expression_is_shown(jupyter):
    _, value, failed, after = jupyter([["python", "import math\nx = 6"]], [["python", "x * 7"]],
                                      [["python", "print('kept')"], ["python", "print('also')\n1 / 0"]], [["python", "x"]])
    assert (value["exit_code"], value["output"]) == (0, "42\n")
    assert failed["exit_code"] == 1 and all(
        word in failed["output"] for word in ("kept", "also", "ZeroDivisionError: division by zero"))
    assert "\x1b" not in failed["output"]
    assert after["output"] == "6\n"


def test_a_cell_installs_packages_for_its_session(jupyter, tmp_path):
    (tmp_path / "packages").mkdir()
    wheels.wheel(tmp_path / "packages", "gadget")
    with wheels.Index(tmp_path / "packages") as index:
        first, later, failed = jupyter([["python", "%pip install gadget\nimport gadget\ngadget.VERSION"]], [["python", "gadget.VERSION"]],
                                       [["python", "!pip install nothing-like-it"]], environment={"PIP_INDEX_URL": index.url})
    assert (first["exit_code"], first["output"], later["output"]) == (0, "'1.0'\n", "'1.0'\n"), first
    assert failed["exit_code"] == 1 and "nothing-like-it" in failed["output"]


def test_a_timeout_raises_with_what_was_printed_and_the_variables_stay(jupyter):
    """AutoGen loses the output, and the cell goes on in the kernel."""
    _, timeout, after = jupyter([["python", "x = 6"]],
                                [["python", "import time\nprint('partly', flush=True)\ntime.sleep(90)\nx = 7"]],
                                [["python", "x"]], timeout=10)
    assert timeout["raised"] == "TimeoutError" and "partly" in timeout["output"]
    assert after["output"] == "6\n"


def test_a_cell_that_runs_can_be_cancelled_and_the_variables_stay(tmp_path):
    (tmp_path / "work").mkdir()
    code = "import time\nx = 6\nopen('started', 'w').close()\ntime.sleep(100)\nx = 7"
    seen, after = package.executed(JUPYTER, [[["python", code]], [["python", "x"]]], tmp_path,
                                   tmp_path / "work" / "started", output_dir=str(tmp_path / "work"), timeout=90)
    assert seen["raised"] == "CancelledError" and after["output"] == "6\n"


def test_pictures_and_html_are_output_files(jupyter, tmp_path):
    (seen,) = jupyter([["python", drawings.SMALL], ["python", "print('<p>', file=open('page.html', 'w'))"]])
    assert seen["output_files"] == [str(tmp_path / "work" / name) for name in ("small.png", "page.html")]
    assert drawings.is_red_and_blue(drawings.looked_at([open(seen["output_files"][0], "rb").read()])[0], 20)
