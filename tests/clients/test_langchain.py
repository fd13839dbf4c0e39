"""LangChain's MCP adapters with the real server: examples/langchain_agent.py, a stand-in for its model."""

import drawings
import example_agents
import poem


def readings(steps, home):
    """LangChain speaks OpenAI's Responses with models of that name."""
    return example_agents.readings("agents", "langchain_agent.py", steps, home, "openai:gpt-5.1-codex")


def test_its_model_reads_the_poem_back_and_why_a_script_has_failed(tmp_path):
    written, read, failed = readings([{"code": poem.WRITE}, {"code": poem.READ}, {"code": "1 / 0"}], tmp_path)
    assert "poem.txt" in written.text
    assert poem.TEXT in read.text
    assert "ZeroDivisionError" in failed.text


def test_its_model_sees_a_picture(tmp_path):
    (drawn,) = readings([{"code": drawings.SMALL}], tmp_path)
    (seen,) = drawings.looked_at(drawn.images)
    assert drawings.is_red_and_blue(seen, 20) and "small.png" in drawn.text
