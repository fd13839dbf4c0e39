"""The OpenAI Agents SDK with the real server: examples/openai_agent.py, a stand-in for its model."""

import installed
import model_scripts
import poem
import standin

EXAMPLE = installed.ROOT / "examples" / "openai_agent.py"


def readings(steps, home):
    with standin.Model(steps) as model:
        done = installed.run(installed.python("openai_agents"), str(EXAMPLE), "standin", "Go on.",
                             *model_scripts.command(home), home=home, OPENAI_BASE_URL=f"{model.url}/v1",
                             OPENAI_API_KEY="none")
        assert done.returncode == 0 and model.ended, f"{done} {model.trouble}"
    assert done.stdout.strip() == standin.DONE
    return model.readings


def test_its_model_reads_the_poem_back(tmp_path):
    written, read = readings([{"code": poem.WRITE}, lambda seen: poem.read(seen[0].text)], tmp_path)
    assert "poem.txt" in written.text
    assert poem.TEXT in read.plain.replace("\\n", "\n")


def test_its_model_reads_why_a_script_has_failed(tmp_path):
    (failed,) = readings([{"code": "print('before')\n1 / 0"}], tmp_path)
    assert "ZeroDivisionError" in failed.text and "before" in failed.text
