"""The OpenAI Agents SDK with the real server: examples/openai_agent.py, a stand-in for its model."""

import example_agents
import poem


def readings(steps, home):
    return example_agents.readings("openai_agents", "openai_agent.py", steps, home)


def test_its_model_reads_the_poem_back(tmp_path):
    written, read = readings([{"code": poem.WRITE}, lambda seen: poem.read(seen[0].text)], tmp_path)
    assert "poem.txt" in written.text
    assert poem.TEXT in read.plain.replace("\\n", "\n")


def test_its_model_reads_why_a_script_has_failed(tmp_path):
    (failed,) = readings([{"code": "print('before')\n1 / 0"}], tmp_path)
    assert "ZeroDivisionError" in failed.text and "before" in failed.text
