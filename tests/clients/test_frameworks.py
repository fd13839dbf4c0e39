"""AG2's MCP toolkit and AutoGen's tools, which start the server anew for each call, and a loop of
function calls around `pyexecd call`: a model that does what it reads gets its poem back."""

import json
import subprocess

import pytest

import drawings
import installed
import model_scripts
import poem
import standin

TOOLKIT = installed.ROOT / "tests" / "clients" / "ag2_toolkit.py"
RESOURCES = installed.ROOT / "tests" / "clients" / "ag2_resources.py"
TOOLS = installed.ROOT / "tests" / "clients" / "autogen_tools.py"
LOOP = installed.ROOT / "tests" / "clients" / "provider_loop.py"


def ag2(steps, home):
    """The readings of the model of an AG2 agent."""
    with standin.Model(steps) as model:
        done = installed.run(installed.python("ag2_toolkit"), str(TOOLKIT), model.url,
                             *model_scripts.command(home), home=home)
        assert done.returncode == 0 and model.ended, f"{done} {model.trouble}"
        return model.readings


@pytest.mark.parametrize("answer, read", [
    ("yes", "Code output: 42"), ("No, use the test data", "The reason given: use the test data")])
def test_a_person_approves_through_ag2(tmp_path, answer, read):
    """AG2 shows its user the question and sends what is typed, and only where the form has one field."""
    config = tmp_path / "config.yaml"
    config.write_text("approval: always\n")
    config.chmod(0o600)
    with standin.Model([{"code": "print(6 * 7)"}]) as model:
        done = installed.run(installed.python("ag2_toolkit"), str(TOOLKIT), model.url, "--person", answer,
                             installed.PYEXECD, "--config", str(config), home=tmp_path)
        assert done.returncode == 0 and model.ended, f"{done} {model.trouble}"
        (reading,) = model.readings
    assert read in reading.text


def autogen(codes, home):
    """What a model reads of CODES through AutoGen."""
    done = subprocess.run(
        [installed.python("autogen"), str(TOOLS), *model_scripts.command(home)],
        input="".join(json.dumps(code) + "\n" for code in codes), capture_output=True, text=True,
        timeout=180, env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_ag2_reads_the_poem_back(tmp_path):
    written, read = ag2([{"code": poem.WRITE}, lambda readings: poem.read(readings[0].text)], tmp_path)
    assert "poem.txt" in written.text
    assert poem.TEXT in read.text


def test_ag2_shows_its_model_a_picture_and_goes_on(tmp_path):
    drawn, answer = ag2([{"code": drawings.SMALL}, {"code": "print(42)"}], tmp_path)
    (seen,) = drawings.looked_at(drawn.images)
    assert drawings.is_red_and_blue(seen, 20) and "small.png" in drawn.text
    assert "42" in answer.text


def test_autogen_reads_the_poem_back(tmp_path):
    written, read = autogen([poem.WRITE, poem.READ], tmp_path)
    assert "poem.txt" in written
    assert json.dumps(poem.TEXT)[1:-1] in json.loads(read)[0]["text"].replace("\n", "\\n")


def called(item, home):
    """What `pyexecd call` answers ITEM, a call as OpenAI's Responses have it."""
    done = installed.run("/bin/sh", "-c", 'printf %s "$1" | "$2" call', "sh", json.dumps(item),
                         installed.PYEXECD, home=home)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def test_call_reads_the_poem_back(tmp_path):
    """Of a loop around it: the stand-in's call goes in as it is, what comes out is its result."""
    text = ""
    for step in [{"code": poem.WRITE}, poem.read]:
        arguments = step(text) if callable(step) else step
        events = standin.OpenAI.call("call_1", {"name": "run_python", "kind": "function"}, arguments)
        output = called(events[-1]["response"]["output"][0], tmp_path)
        text = standin.OpenAI.results({"input": [output]})["call_1"].text
    assert poem.TEXT in text


def sdk(provider, url, home):
    """What is printed by the loop with the SDK of PROVIDER, which checks every type."""
    done = installed.run(installed.python("providers"), str(LOOP), installed.PYEXECD, provider, url, home=home)
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.parametrize("provider", ["anthropic", "openai-responses", "gemini"])
def test_a_loop_with_a_providers_sdk_goes_to_its_end(tmp_path, provider):
    steps = [{"code": poem.WRITE}, lambda readings: poem.read(readings[0].text), {"code": "1 / 0"},
             {"code": drawings.SMALL}]
    with standin.Model(steps) as model:
        assert sdk(provider, model.url, tmp_path) == f"{standin.DONE}\n"
    written, read, failed, drawn = model.readings
    assert "poem.txt" in written.text and poem.TEXT in read.text
    assert "ZeroDivisionError" in failed.text
    assert "small.png" in drawn.text
    assert len(drawn.images) == ("Pictures shown" in drawn.text) == (provider != "gemini")
    assert all(drawings.is_red_and_blue(seen, 20) for seen in drawings.looked_at(drawn.images))


PLACES = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL", "gemini": "GOOGLE_GEMINI_BASE_URL"}


@pytest.mark.parametrize("provider", PLACES)
def test_an_example_of_a_loop_writes_a_poem_and_reads_it_back(tmp_path, provider):
    """All calls of it work in one directory."""
    steps = [{"code": poem.WRITE}, {"code": "print(open('poem.txt').read())"}, {"code": "1 / 0"}]
    with standin.Model(steps) as model:
        url = f"{model.url}/v1" if provider == "openai" else model.url
        done = installed.run(
            installed.python("providers"), str(installed.ROOT / "examples" / f"{provider}_loop.py"), "standin", "A poem!",
            home=tmp_path, PYEXECD=installed.PYEXECD, PYTHONPATH=str(installed.ROOT / "python"),
            **{PLACES[provider]: url, f"{provider.upper()}_API_KEY": "none"})
        assert done.returncode == 0 and model.ended, f"{done} {model.trouble}"
        _, read, failed = model.readings
    assert poem.TEXT in read.plain and "ZeroDivisionError" in failed.plain
    assert done.stdout.strip() == standin.DONE


def test_openais_types_of_chats_take_what_call_prints(tmp_path):
    assert "Code output: 42" in sdk("openai", "-", tmp_path)


def test_ag2_makes_a_toolkit_of_tools_and_files(tmp_path):
    done = installed.run(installed.python("ag2"), str(RESOURCES), installed.PYEXECD, home=tmp_path)
    assert done.returncode == 0, done
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen == {"tools": ["run_python", "working_directory_file"], "text": "read me"}
