"""smolagents with our executor: a CodeAgent that writes code in its text, and a stand-in for its model."""

import contextlib
import http.server
import json
import threading

import installed
import package

EXAMPLE = installed.ROOT / "examples" / "smolagents_agent.py"


class Writer(http.server.BaseHTTPRequestHandler):
    """A stand-in for chat completions that writes the codes of its class, one for each step."""

    codes = []
    read = None  # what it was told last, before each answer

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = request["messages"][-1]["content"]
        self.read.append(told if isinstance(told, str) else told[0]["text"])
        text = f"I compute.\n<code>\n{self.codes[(len(self.read) - 1) % len(self.codes)]}\n</code>"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "standin",
                           "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1,
                                                          "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Quiet."""


@contextlib.contextmanager
def writing(*codes):
    """The URL of a model that writes CODES, and what it reads."""
    handler = type("Handler", (Writer,), {"codes": codes, "read": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", handler.read
        finally:
            server.shutdown()
            thread.join()


def run(program, url, home, *arguments):
    return package.run("agents", program, *arguments, home=home, OPENAI_BASE_URL=url, OPENAI_API_KEY="none")


def test_variables_stay_from_step_to_step_and_a_failure_is_read(tmp_path):
    codes = ["squares = [n * n for n in range(10)]\nprint(len(squares), __import__('os').environ.get('OPENAI_API_KEY'))",
             "squares / 2", "final_answer({'sum': sum(squares)})"]
    with writing(*codes) as (url, read):
        printed = run(EXAMPLE, url, tmp_path, "standin", "Go on.")
    assert "Go on." in read[0]
    assert "Code output: 10 None" in read[1]
    assert "TypeError: unsupported operand" in read[2] and "squares / 2" in read[2]
    assert printed.splitlines()[-1] == "{'sum': 285}"


PROGRAM = """
from pyexecd.smolagents import SessionExecutor
from smolagents import CodeAgent, OpenAIServerModel, tool

@tool
def twice(number: int) -> int:
    '''Doubles.

    Args:
        number: what is doubled
    '''
    return number * 2

with CodeAgent(tools=[twice], model=OpenAIServerModel("standin"), executor=SessionExecutor()) as agent:
    for _ in range(2):
        print(repr(agent.run("Go on.", additional_args={"number": 4})))
"""


def test_tools_and_variables_are_there_again_after_the_end_of_a_session(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with writing("print(twice(number))", "import os; os._exit(3)", "print(twice(number + 1))",
                 "final_answer({1, 2})") as (url, read):
        printed = run(program, url, tmp_path)
    for first, lost, again in (read[1:4], read[5:8]):
        assert "Code output: 8" in first
        assert "its variables are gone" in lost
        assert "Code output: 10" in again
    assert printed.splitlines().count("'{1, 2}'") == 2
