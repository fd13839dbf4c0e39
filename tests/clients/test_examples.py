"""Every example runs as its own first lines say."""

import json
import pathlib
import re
import sys

import installed

EXAMPLES = installed.ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))

from client import Client  # noqa: E402


def run_example(name, *arguments, home, interpreter="/usr/bin/python3"):
    return installed.run(interpreter, str(EXAMPLES / name), *arguments, home=home)


def test_demo_shows_a_success_and_a_failure(tmp_path):
    done = run_example("demo.py", installed.PYEXECD, home=tmp_path)
    assert done.returncode == 0, done
    assert "run_python(code" in done.stdout
    assert "B(50) = 495057205241079648212477525/66" in done.stdout
    assert "KeyError: 'plum'" in done.stdout
    assert "a virtual environment: True" in done.stdout


def test_python_client_prints_what_the_script_printed(tmp_path):
    done = run_example("client.py", installed.PYEXECD, "print(6 * 7)", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "42\n")


def test_python_client_fails_when_the_script_does(tmp_path):
    done = run_example("client.py", installed.PYEXECD, "raise SystemExit('no')", home=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("no\n")


def test_shell_client_prints_the_answer(tmp_path):
    code = 'text = "quoted \\"twice\\""\nif text:\n\tprint(text, 6 * 7)'
    done = run_example("client.sh", installed.PYEXECD, code, home=tmp_path, interpreter="/bin/sh")
    assert done.returncode == 0, done
    answer = json.loads(done.stdout)
    assert answer["result"]["structuredContent"]["stdout"] == 'quoted "twice" 42\n'


def test_shell_client_fails_when_the_script_does(tmp_path):
    done = run_example("client.sh", installed.PYEXECD, "1 / 0", home=tmp_path,
                       interpreter="/bin/sh")
    assert done.returncode == 1
    assert json.loads(done.stdout)["result"]["isError"]


def test_transcript_is_answered(tmp_path):
    """Its messages in one go; the input stays open until the slowest answer can be there."""
    done = installed.run("/bin/sh", "-c", '{ cat "$1"; sleep 3; } | "$2"', "sh",
                         str(EXAMPLES / "stdio.jsonl"), installed.PYEXECD, home=tmp_path)
    assert done.returncode == 0, done
    answers = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            message = json.loads(line)
            answers[message.get("id")] = message
    assert answers[1]["result"]["protocolVersion"] == "2025-11-25"
    assert answers[2]["result"]["tools"][0]["name"] == "run_python"
    assert answers[3]["result"]["structuredContent"]["stdout"] == "2432902008176640000\n"
    assert answers[4]["result"]["isError"]
    assert answers[5]["result"] == {}


def test_ag2_pair_ends_with_the_right_numbers(tmp_path):
    done = run_example("ag2_pair.py", installed.PYEXECD, home=tmp_path,
                       interpreter=installed.python("ag2"))
    assert done.returncode == 0, done
    assert "SyntaxError" in done.stdout
    assert "The 1229 primes below 10000 add up to 5736396." in done.stdout


def test_own_tool_throws_dice():
    program = pathlib.Path(installed.PYEXECD).parent / "examples" / "own_tool"
    source = (EXAMPLES / "own_tool.c").read_text()
    assert source.count("\n") < 60
    with Client(str(program)) as client:
        assert [tool["name"] for tool in client.list_tools()] == ["dice"]
        for five in 5, 5.0:
            thrown = client.request("tools/call", {"name": "dice", "arguments": {"count": five}})
            assert re.fullmatch("[1-6]( [1-6]){4}", thrown["content"][0]["text"])
        refused = client.request("tools/call", {"name": "dice", "arguments": {"count": 101}})
        assert refused["isError"] and "at most 100" in refused["content"][0]["text"]
