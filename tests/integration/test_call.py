"""`pyexecd call`: whatever comes in, a tool result of its provider goes out."""

import json
import os
import re
import subprocess

import pytest

PROVIDERS = ["openai", "openai-responses", "anthropic", "gemini"]


def written(provider, arguments, name="run_python"):
    """A tool call as PROVIDER's API has it."""
    return {
        "openai": {"id": "id-1", "type": "function",
                   "function": {"name": name, "arguments": json.dumps(arguments)}},
        "openai-responses": {"type": "function_call", "id": "fc_1", "call_id": "id-1",
                             "name": name, "arguments": json.dumps(arguments),
                             "status": "completed"},
        "anthropic": {"type": "tool_use", "id": "id-1", "name": name, "input": arguments},
        "gemini": {"functionCall": {"id": "id-1", "name": name, "args": arguments}},
    }[provider]


def pyexecd_call(document, *arguments, **options):
    """What is printed for DOCUMENT, a tool call or text. The exit status is always 0."""
    text = document if isinstance(document, str) else json.dumps(document)
    done = subprocess.run([os.environ["PYEXECD"], "call", *map(str, arguments)], input=text,
                          capture_output=True, text=True, check=False, timeout=60, **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def text_and_error(provider, result):
    """(the text that the model reads, whether it is marked as an error, or None)."""
    if provider == "openai":
        assert set(result) == {"role", "tool_call_id", "content"}
        assert (result["role"], result["tool_call_id"]) == ("tool", "id-1")
        return result["content"], None
    if provider == "openai-responses":
        assert set(result) == {"type", "call_id", "output"}
        assert (result["type"], result["call_id"]) == ("function_call_output", "id-1")
        return result["output"], None
    if provider == "anthropic":
        assert set(result) == {"type", "tool_use_id", "content", "is_error"}
        assert (result["type"], result["tool_use_id"]) == ("tool_result", "id-1")
        return result["content"], result["is_error"]
    response = result["functionResponse"]
    assert response["id"] == "id-1"
    ((key, text),) = response["response"].items()
    assert key in ("output", "error")
    return text, key == "error"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("named", [False, True])
def test_a_call_is_answered_in_its_form(provider, named):
    options = ["--provider", provider] if named else []
    result = pyexecd_call(written(provider, {"code": "print(6 * 7)"}), *options)
    text, failed = text_and_error(provider, result)
    assert text.startswith("exitcode: 0 (execution succeeded)\nCode output: 42")
    assert not failed


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("arguments, name, options, expected", [
    ({"code": "1 / 0"}, "run_python", [], "ZeroDivisionError"),
    ({}, "run_python", [], 'missing "code"'),
    ({"code": 5}, "run_python", [], "must be"),
    ({"code": "1", "environment": "nowhere"}, "run_python", [], "environment"),
    ({"code": "1", "working_directory": "0" * 32}, "run_python", [], "no such working directory"),
    ({"code": "1"}, "run_pythn", [], 'there is no tool "run_pythn"; there is run_python'),
    ({"code": "1"}, "run_python", ["--bogus"], "unknown option --bogus"),
    ({"code": "1"}, "run_python", ["extra"], "unexpected argument extra"),
    ({"code": "1"}, "run_python", ["--provider", "nobody"], "unknown provider nobody"),
    ({"code": "1"}, "run_python", ["--config", "/nowhere.yaml"], "/nowhere.yaml"),
    ({"code": "1"}, "run_python", ["-w", "/nowhere"], "cannot work in /nowhere"),
])
def test_every_failure_is_a_result(provider, arguments, name, options, expected):
    result = pyexecd_call(written(provider, arguments, name), *options)
    text, failed = text_and_error(provider, result)
    assert expected in text
    assert failed in (True, None)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", '{"a": 1}', "\udcff".encode(errors="surrogateescape")
                                  .decode("latin-1")])
def test_what_is_no_call_is_answered_too(text):
    assert pyexecd_call(text)["content"].startswith("error: ")
    result = pyexecd_call(text, "--provider", "gemini")
    assert result["functionResponse"]["response"]["error"].startswith("error: ")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_wrong_configuration_is_told_with_its_place(provider, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("timeout: soon\n")
    config.chmod(0o600)
    text, _ = text_and_error(provider, pyexecd_call(written(provider, {"code": "1"}), "-c", config))
    assert f"{config}:1:10: " in text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_files_stay_in_the_directory_that_is_named(provider, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "script.py").write_text("the user's")
    write = written(provider, {"code": "open('poem.txt', 'w').write('roses')"})
    read = written(provider, {"code": "print(open('poem.txt').read())"})
    pyexecd_call(write, "-w", work)
    assert "roses" in text_and_error(provider, pyexecd_call(read, "-w", work))[0]
    assert sorted(path.name for path in work.iterdir()) == ["poem.txt", "script.py"]
    assert (work / "script.py").read_text() == "the user's"


def test_a_call_never_runs_unasked_where_a_person_is_to_be_asked(tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("approval: always\n")
    config.chmod(0o600)
    code = f"open({str(tmp_path / 'ran')!r}, 'w')"
    result = pyexecd_call(written("anthropic", {"code": code}), "-c", config)
    assert result["is_error"] and "person" in result["content"]
    assert not (tmp_path / "ran").exists()


def test_what_the_schema_declares_is_what_is_taken():
    """Strict forms send null for what they leave out."""
    nulls = {"environment": None, "timeout": None, "working_directory": None}
    result = pyexecd_call(written("openai", {"code": "print(1)", **nulls}))
    assert "Code output: 1" in result["content"]


def test_a_person_gets_usage_errors_as_everywhere():
    master, slave = os.openpty()
    done = subprocess.run([os.environ["PYEXECD"], "call", "--bogus"], stdin=slave, capture_output=True,
                          text=True, check=False, timeout=30)
    os.close(master)
    os.close(slave)
    assert done.returncode == 64 and done.stdout == ""
    assert re.match(r"pyexecd: unknown option --bogus\nTry pyexecd call --help", done.stderr)
