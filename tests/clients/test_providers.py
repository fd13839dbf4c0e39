"""Loops around the SDKs of providers that stand on `Client.tools()` and `Client.answer()`: the programs of examples/,
with a model that calls several tools at once."""

import asyncio
import contextlib
import http.server
import json
import re
import threading

import pytest

import installed
import python_package
import standin

import pyexecd

EXAMPLES = installed.ROOT / "examples"
PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini"]

# Two calls that end only if both run at the same time, and one that fails.
MEETING = "import os, time\nopen({own!r}, 'w')\nwhile not os.path.exists({other!r}): time.sleep(0.01)\nprint('met', {other!r})"
CALLS = [{"code": MEETING.format(own="a", other="b")}, {"code": "1 / 0"}, {"code": MEETING.format(own="b", other="a")}]
TOOL = {"name": "run_python", "kind": "function"}


class Chat:
    """OpenAI's chat completions."""

    @staticmethod
    def said(message):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None, **message}}
        return {"id": "chat_1", "object": "chat.completion", "created": 1, "model": "standin", "choices": [choice]}

    @classmethod
    def calls(cls, calls):
        return cls.said({"tool_calls": [
            {"id": number, "type": "function", "function": {"name": "run_python", "arguments": json.dumps(arguments)}}
            for number, arguments in calls.items()]})

    @classmethod
    def end(cls):
        return cls.said({"content": standin.DONE})

    @staticmethod
    def results(request):
        return {message["tool_call_id"]: standin.Reading(message["content"])
                for message in request["messages"] if message["role"] == "tool"}


class Several:
    """A form of standin.py, with several calls in one response; INSIDE leads to them."""

    def __init__(self, form, *inside):
        self.form = form
        self.inside = inside
        self.results = form.results

    def calls(self, calls):
        wholes = [self.form.whole(self.form.call(number, TOOL, arguments)) for number, arguments in calls.items()]
        for whole in wholes[1:]:
            self._listed(wholes[0]).extend(self._listed(whole))
        return wholes[0]

    def _listed(self, whole):
        for key in self.inside:
            whole = whole[key]
        return whole

    def end(self):
        return self.form.whole(self.form.say(standin.DONE))


FORMS = {"openai": Chat, "openai-responses": Several(standin.OpenAI, "output"),
         "anthropic": Several(standin.Anthropic, "content"),
         "gemini": Several(standin.Gemini, "candidates", 0, "content", "parts")}


@contextlib.contextmanager
def model(form):
    """The URL of a model that makes CALLS in its first response, and what it reads of them, by number."""
    read = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            read.update(form.results(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            named = {f"call_{number}": call for number, call in enumerate(CALLS)}
            body = json.dumps(form.end() if read else form.calls(named)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", read
        server.shutdown()


# The program of each loop, and the variable by which its SDK finds the model.
LOOPS = {
    "openai": (installed.ROOT / "tests" / "clients" / "provider_chat.py", "OPENAI_BASE_URL", "/v1"),
    "openai without an SDK": (EXAMPLES / "tool_loop.py", "OPENAI_BASE_URL", "/v1"),
    "openai-responses": (EXAMPLES / "openai_loop.py", "OPENAI_BASE_URL", "/v1"),
    "anthropic": (EXAMPLES / "anthropic_loop.py", "ANTHROPIC_BASE_URL", ""),
    "gemini": (EXAMPLES / "gemini_loop.py", "GOOGLE_GEMINI_BASE_URL", ""),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_calls_of_one_response_run_at_once_and_each_has_its_answer(loop, tmp_path):
    program, variable, path = LOOPS[loop]
    keys = {f"{name}_API_KEY": "none" for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
    with model(FORMS[loop.partition(" ")[0]]) as (url, read):
        done = installed.run(installed.python("providers"), str(program), "standin", "Go on!", home=tmp_path,
                             PYEXECD=installed.PYEXECD, PYTHONPATH=str(python_package.FOLDER), **keys,
                             **{variable: url + path})
    assert done.stdout.strip() == standin.DONE, done
    assert "met b" in read["call_0"].text and "met a" in read["call_2"].text
    assert "ZeroDivisionError" in read["call_1"].text


def shown(*command, home):
    done = installed.run(installed.PYEXECD, *command, home=home)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def told(tool):
    """TOOL as text, without what a server that goes has found out of this machine."""
    text = re.sub(r", [^,]* \(read-only\)", "", json.dumps(tool, sort_keys=True))
    return re.sub(r"(- system: system)[^;]*", r"\1", text)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tools_are_declared_as_the_command_prints_them(provider, tmp_path):
    plain = {"sessions": None, "code_blocks": None, "environments": None}
    with pyexecd.Client(installed.PYEXECD, config=plain, cwd=tmp_path) as client:
        (tool,) = client.tools(provider)
    printed = shown("schema", "--provider", provider, home=tmp_path)
    assert told(tool) == told(printed)


PICTURE = ("import base64; open('a.png', 'wb').write(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAAD"
           "ElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'))")
WRITTEN = {
    "openai": {"id": "c", "type": "function", "function": {"name": "run_python", "arguments": "ARGUMENTS"}},
    "openai-responses": {"type": "function_call", "call_id": "c", "name": "run_python", "arguments": "ARGUMENTS"},
    "anthropic": {"type": "tool_use", "id": "c", "name": "run_python", "input": {}},
    "gemini": {"functionCall": {"id": "c", "name": "run_python", "args": {}}},
    "gemini alone": {"name": "run_python", "args": {}},
}


def written(form, code):
    """A call with CODE in FORM."""
    arguments = {"code": code}
    call = json.loads(json.dumps(WRITTEN[form]).replace('"ARGUMENTS"', json.dumps(json.dumps(arguments))))
    for holder in (call, call.get("functionCall", {})):
        holder.update({key: arguments for key in ("input", "args") if key in holder})
    return call


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("code", ["print(6 * 7)", "raise SystemExit(3)", PICTURE], ids=["works", "fails", "draws"])
def test_an_answer_is_what_the_command_prints(form, code, tmp_path):
    call = written(form, code)
    home, work = tmp_path / "home", tmp_path / "work"  # a sandbox does not work in a home
    home.mkdir()
    work.mkdir()
    configuration = {"working_directory": work, "environments": {"system": {"type": "system"}}}
    with pyexecd.Client(installed.PYEXECD, config=configuration) as client:
        (answer,) = client.answer(call)
    done = installed.run("/bin/sh", "-c", 'printf %s "$1" | "$2" call -w "$3"', "sh", json.dumps(call),
                         installed.PYEXECD, str(work), home=home)
    assert answer == json.loads(done.stdout)


def test_what_cannot_be_called_is_answered_too():
    calls = [{"type": "function_call", "call_id": "a", "name": "run_python", "arguments": "{code: print(1)}"},
             {"type": "function_call", "call_id": "b", "name": "run_perl", "arguments": "{}"},
             {"type": "function_call", "call_id": "c", "name": "run_python", "arguments": r'{"code": "\ud800"}'},
             {"type": "function_call", "call_id": "d", "name": "run_python", "arguments": "[" * 100_000}]
    with pyexecd.Client(installed.PYEXECD, config={}) as client:
        bad, unknown, half, deep = client.answer(calls)
    assert "not valid JSON" in bad["output"] and "not valid JSON" in deep["output"]
    assert "run_perl" in unknown["output"] and "surrogates" in half["output"]


def sleeping(*names):
    code = "import time\nprint('begun', flush=True)\ntime.sleep(3000)"
    return [{"type": "tool_use", "id": name, "name": "run_python", "input": {"code": code, "timeout": 6000}}
            for name in names]


BUSY = {"config": {"limits": {"concurrent_runs": 2}, "max_timeout": 6000}, "timeout": 120}


def test_all_calls_end_with_the_wait_for_their_answers():
    """There are two places: the next calls run only if the programs in them are gone."""
    cancel = threading.Event()
    with pyexecd.Client(installed.PYEXECD, **BUSY) as client:
        with pytest.raises(pyexecd.CallCancelled):
            client.answer(sleeping("a", "b"), on_progress=lambda line: cancel.set(), cancel=cancel)
        assert [client.run_python("print(1)", timeout=6000).stdout for _ in range(2)] == ["1\n", "1\n"]


def test_all_calls_of_a_cancelled_task_end():
    async def program():
        async with pyexecd.AsyncClient(installed.PYEXECD, **BUSY) as client:
            begun = asyncio.Event()
            task = asyncio.ensure_future(client.answer(sleeping("a", "b"), on_progress=lambda line: begun.set()))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return [(await client.run_python("print(1)", timeout=6000)).stdout for _ in range(2)]

    assert asyncio.run(program()) == ["1\n", "1\n"]


def test_only_calls_have_answers():
    with pyexecd.Client(installed.PYEXECD, config={}) as client:
        assert client.answer(None) == client.answer([]) == client.answer(Chat.end()) == []
        assert client.answer([{"type": "text", "text": "run_python"}]) == []
        for other in ("run_python", 5, {"code": "print(1)"}):
            with pytest.raises(TypeError, match="a tool call or the response of a model"):
                client.answer(other)
        with pytest.raises(ValueError, match="openai-responses"):
            client.tools("mistral")


def test_a_model_is_offered_no_tool_for_programs():
    with pyexecd.Client(installed.PYEXECD, config=python_package.CONFIGURATION) as client:
        assert [tool["name"] for tool in client.tools("anthropic")] == ["run_python", "manage_sessions"]
        (tool,) = client.tools("gemini")
    assert [function["name"] for function in tool["functionDeclarations"]] == ["run_python", "manage_sessions"]
