"""Every example runs as its own first lines say."""

import ast
import http.server
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import threading

import pytest

import drawings
import installed

EXAMPLES = installed.ROOT / "examples"
sys.path.insert(0, str(EXAMPLES))

from approving_client import ApprovingClient  # noqa: E402
from client import Client, ToolError  # noqa: E402


def run_example(name, *arguments, home, interpreter="/usr/bin/python3"):
    return installed.run(interpreter, str(EXAMPLES / name), *arguments, home=home)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in sorted(EXAMPLES.glob("*.py"))])
def test_its_first_lines_say_what_it_takes(path):
    """As who stands in a checkout types it."""
    text = path.read_text()
    head = ast.get_docstring(ast.parse(text))
    assert f"python3 examples/{path.name}" in head
    if re.search(r"^(import|from) pyexecd", text, re.MULTILINE):
        assert re.search(r"pip install .*dist/pyexecd-\*\.whl", head)


def test_demo_shows_a_success_and_a_failure(tmp_path):
    done = run_example("demo.py", installed.PYEXECD, home=tmp_path)
    assert done.returncode == 0, done
    assert "run_python(code" in done.stdout
    assert "B(50) = 495057205241079648212477525/66" in done.stdout
    assert "KeyError: 'plum'" in done.stdout
    assert "a virtual environment: True" in done.stdout


def test_a_notebook_goes_on_after_a_failure_and_an_interrupt(tmp_path):
    done = run_example("notebook.py", installed.PYEXECD, "--config", str(EXAMPLES / "sessions.yaml"), home=tmp_path)
    assert done.returncode == 0, done
    assert "ValueError: 7 is not in list" in done.stdout
    assert "KeyboardInterrupt" in done.stdout
    assert done.stdout.endswith("set(throws)\n{6}\n\n")


def test_a_search_begins_each_try_in_a_copy(tmp_path):
    done = run_example("forked_search.py", installed.PYEXECD, "--config", str(EXAMPLES / "sessions.yaml"), home=tmp_path)
    if "gives a copy no cgroup" in done.stderr:
        pytest.skip("this machine gives no cgroup of its own to a copy")
    assert done.returncode == 0, done
    assert done.stdout.endswith("best: 3\npoints are left: (1000, 0.0)\n")


@pytest.fixture
def code_blocks(tmp_path):
    """The example's configuration, with packages that are installed."""
    text = (EXAMPLES / "code-blocks.yaml").read_text()
    place = pathlib.Path(installed.python("data")).parents[1]
    assert "pip_packages: [matplotlib]" in text
    path = tmp_path / "code-blocks.yaml"
    path.write_text(text.replace("pip_packages: [matplotlib]", f"venv_path: {place}"))
    path.chmod(0o600)
    return str(path)


def test_fibonacci_numbers_come_from_two_blocks(tmp_path, code_blocks):
    done = run_example("fibonacci.py", installed.PYEXECD, "--config", code_blocks, home=tmp_path)
    assert done.returncode == 0, done
    assert done.stdout.startswith("exitcode: 0 (execution succeeded)\n")
    assert "Block 2 of 2 (python)" in done.stdout and "Code output: 377" in done.stdout


def test_a_scatter_plot_is_saved_and_seen(tmp_path, code_blocks):
    done = run_example("scatter.py", "seen.png", installed.PYEXECD, "--config", code_blocks, home=tmp_path)
    assert done.returncode == 0, done
    assert ", not in the project: scatter.png" in done.stdout and "figure-1" not in done.stdout
    (looked,) = drawings.looked_at([(tmp_path / "seen.png").read_bytes()])
    assert looked["format"] == "PNG" and min(looked["size"]) > 400
    for half in "left", "right":  # red points on white
        red, green, blue = looked[half]
        assert red > green and abs(green - blue) < 3, looked


def test_an_environment_that_cannot_be_had_is_told(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(f"environments: {{lost: {{type: venv, venv_path: {tmp_path}/venv, requirements_file: {tmp_path}/none}}}}\n")
    done = run_example("stocks.py", installed.PYEXECD, "--config", str(config), home=tmp_path)
    assert done.returncode == 1 and "cannot prepare" in done.stderr, done


def test_gains_of_two_stocks_come_from_a_local_file(tmp_path):
    done = run_example("stocks.py", installed.PYEXECD, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "ACME: 50.00 to 75.00, +50.0%\nGLOBEX: 120.00 to 90.00, -25.0%\n")


def test_python_client_prints_what_the_script_printed(tmp_path):
    done = run_example("client.py", installed.PYEXECD, "print(6 * 7)", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "42\n")


def test_python_client_fails_when_the_script_does(tmp_path):
    done = run_example("client.py", installed.PYEXECD, "raise SystemExit('no')", home=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("no\n")


@pytest.fixture
def approval(tmp_path):
    """The example's configuration, with a mode that the program takes under every umask."""
    path = tmp_path / "approval.yaml"
    path.write_text((EXAMPLES / "approval.yaml").read_text())
    path.chmod(0o600)
    return str(path)


def test_approving_client_runs_what_its_user_agrees_to(approval):
    def ask(question):
        questions.append(question)
        return "print(42)" in question, "too dear"

    questions = []
    with ApprovingClient(ask, installed.PYEXECD, "--config", approval) as client:
        assert client.run_python("print(42)")["stdout"] == "42\n"
        with pytest.raises(ToolError, match="declined to run this code. The reason given: too dear"):
            client.run_python("print(43)")
    assert "    1 | print(43)\n" in questions[1]


def test_approving_client_asks_on_its_terminal(tmp_path, approval):
    command = [sys.executable, str(EXAMPLES / "approving_client.py"), installed.PYEXECD, "--config",
               approval]
    script = tmp_path / "script.py"
    script.write_text("print(6 * 7)\n")
    shown, status = on_terminal(command, script, b"y\n")
    assert status == 0
    assert "Run this Python code?" in shown and "1 | print(6 * 7)" in shown
    assert "42" in shown.splitlines()[-1]
    shown, status = on_terminal(command, script, b"use numpy\n")
    assert status == 1
    assert "The reason given: use numpy" in shown


def on_terminal(command, script, answer):
    """What COMMAND, whose input is SCRIPT, shows on a terminal where ANSWER is typed when it asks,
    and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.dup2(os.open(script, os.O_RDONLY), 0)
        os.execv(command[0], command)
    shown = b""
    while chunk := read_terminal(terminal):
        shown += chunk
        if answer and b"[y/N" in shown:
            os.write(terminal, answer)
            answer = None
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def read_terminal(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # EIO: nobody has it open any more
        return b""


def test_shell_client_prints_the_answer(tmp_path):
    code = 'text = "quoted \\"twice\\""\nif text:\n\tprint(text, 6 * 7)'
    done = run_example("client.sh", installed.PYEXECD, code, home=tmp_path, interpreter="/bin/sh")
    assert done.returncode == 0, done
    answer = json.loads(done.stdout)
    assert answer["result"]["content"][0]["text"].endswith('\nCode output: quoted "twice" 42\n')


def test_shell_client_fails_when_the_script_does(tmp_path):
    done = run_example("client.sh", installed.PYEXECD, "1 / 0", home=tmp_path,
                       interpreter="/bin/sh")
    assert done.returncode == 1
    assert json.loads(done.stdout)["result"]["isError"]


def test_transcript_is_answered(tmp_path):
    """Its messages in one go; the input stays open until all answers are there."""
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    answers = {}
    with subprocess.Popen([installed.PYEXECD], env=environment, cwd=tmp_path, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        late = threading.Timer(180, server.kill)
        late.start()
        server.stdin.write((EXAMPLES / "stdio.jsonl").read_bytes())
        server.stdin.flush()
        while not {1, 2, 3, 4, 5} <= answers.keys() and (line := server.stdout.readline()):
            message = json.loads(line)
            answers[message.get("id")] = message
        server.stdin.close()
        assert server.wait() == 0
        late.cancel()
    assert answers[1]["result"]["protocolVersion"] == "2025-11-25"
    assert "run_python" in [tool["name"] for tool in answers[2]["result"]["tools"]]
    assert answers[3]["result"]["content"][0]["text"].endswith("2432902008176640000\n")
    assert answers[4]["result"]["isError"]
    assert answers[5]["result"] == {}


def test_ag2_pair_ends_with_the_right_numbers(tmp_path):
    done = run_example("ag2_pair.py", installed.PYEXECD, home=tmp_path,
                       interpreter=installed.python("ag2"))
    assert done.returncode == 0, done
    assert "SyntaxError" in done.stdout
    assert "The 1229 primes below 10000 add up to 5736396." in done.stdout


def test_autogens_workbench_repairs_a_mistake(tmp_path):
    done = run_example("autogen_workbench.py", installed.PYEXECD, home=tmp_path, interpreter=installed.python("autogen"))
    assert done.returncode == 0, done
    _, failed, repaired = done.stdout.split("ToolCallExecutionEvent")
    assert "SyntaxError" in failed and "Code output: 285" in repaired and "The sum is 285." in repaired


def test_own_tool_throws_dice():
    program = pathlib.Path(installed.PYEXECD).parent / "examples" / "own_tool"
    source = (EXAMPLES / "own_tool.c").read_text()
    assert source.count("\n") < 64
    with Client(str(program)) as client:
        assert [tool["name"] for tool in client.list_tools()] == ["dice"]
        for five in 5, 5.0:
            thrown = client.request("tools/call", {"name": "dice", "arguments": {"count": five}})
            assert re.fullmatch("[1-6]( [1-6]){4}", thrown["content"][0]["text"])
        refused = client.request("tools/call", {"name": "dice", "arguments": {"count": 101}})
        assert refused["isError"] and "at most 100" in refused["content"][0]["text"]


def test_a_caller_in_c_prints_what_a_model_reads(tmp_path):
    program = str(pathlib.Path(installed.PYEXECD).parent / "examples" / "caller")
    for code, status, text in [("print('süß', 6 * 7)", 0, "Code output: süß 42\n"), ("1 / 0", 1, "ZeroDivisionError")]:
        done = installed.run(program, code, installed.PYEXECD, home=tmp_path)
        assert done.returncode == status and text in done.stdout, done
    done = installed.run(program, "1", "/bin/true", home=tmp_path)
    assert done.returncode == 2 and "has ended" in done.stderr, done


class Chat(http.server.BaseHTTPRequestHandler):
    """A stand-in for chat completions: asks for two calls, one after the other, then repeats what it was told."""

    CODE = ["open('poem.txt', 'w').write('roses')", "print(open('poem.txt').read())"]

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert request["tools"][0]["function"]["name"] == "run_python"
        results = [message for message in request["messages"] if message["role"] == "tool"]
        message = {"role": "assistant", "content": results[-1]["content"] if results else None}
        if len(results) < len(self.CODE):
            arguments = json.dumps({"code": self.CODE[len(results)], "timeout": None})
            message["tool_calls"] = [{"id": f"call_{len(results)}", "type": "function",
                                      "function": {"name": "run_python", "arguments": arguments}}]
        assert [result["tool_call_id"] for result in results] == [f"call_{i}" for i in range(len(results))]
        body = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_a_tool_loop_writes_a_poem_and_reads_it_back(tmp_path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat) as chat:
        threading.Thread(target=chat.serve_forever, daemon=True).start()
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYEXECD": str(installed.PYEXECD),
                       "PYTHONPATH": str(installed.ROOT / "python"), "OPENAI_BASE_URL": f"http://127.0.0.1:{chat.server_port}/v1"}
        done = subprocess.run(["/usr/bin/python3", EXAMPLES / "tool_loop.py", "a-model", "A poem!"], env=environment,
                              capture_output=True, text=True, check=False, timeout=120)
        chat.shutdown()
    assert done.returncode == 0, done.stderr
    assert "Code output: roses" in done.stdout
