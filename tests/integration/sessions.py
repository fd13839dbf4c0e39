"""A session as tests use it."""

import pathlib

import pytest

DEPS = pathlib.Path(__file__).parents[2] / ".deps"
SECONDS = 120  # what the first import of a large package may take on a busy machine


def venv(name):
    """The definition of an environment with the packages of tests/clients/NAME.txt."""
    if not (DEPS / name / "installed").exists():
        pytest.skip(f"no .deps/{name}: ./dev deps installs it")
    return {"type": "venv", "venv_path": str(DEPS / name)}


def call(server, code, session=None, **more):
    if session:
        more["session"] = session
    return server.call_tool("run_python", {"code": code, **more}, timeout=more.get("timeout", 60) + 60)


def text_of(answer):
    return answer["content"][0]["text"]


class Session:
    """A session of SERVER, new or with `fork` a copy of another; `text` is what a model reads of its last cell, `images`
    what it sees."""

    def __init__(self, server, code="pass", fork=None, **more):
        self.server = server
        self.take(call(server, code, **({"fork": fork} if fork else {"session": "new"}), **more))
        self.name = self.result["session"]["name"]

    def take(self, answer):
        self.text = text_of(answer)
        self.images = [block for block in answer["content"] if block["type"] == "image"]
        assert "structuredContent" in answer, self.text
        self.result = answer["structuredContent"]

    def run(self, code, **more):
        self.take(call(self.server, code, self.name, **more))
        return self.result

    def shown(self, code, **more):
        result = self.run(code, **more)
        assert result["success"], result
        return result["stdout"].strip()

    def files(self):
        """The paths of what the last cell has made."""
        return sorted(file["path"] for file in self.result["files"])

    def is_gone(self):
        answer = call(self.server, "1", self.name)
        return answer["isError"] and f'there is no session "{self.name}"' in text_of(answer)


def given_in(make, code, shows=lambda result: True, timeout=1, tries=5):
    """A session that MAKE() makes and whose cell gives in to its timeout when it has got as far as SHOWS(its result)
    says. It has two seconds to give in. A busy machine does not always leave it these, or time enough before: then
    another session tries, with twice as much."""
    for number in range(tries):
        session = make()
        result = session.run(code, timeout=timeout * 2 ** number)
        assert result["timed_out"], result
        if result["session"]["alive"] and shows(result):
            break
    assert result["session"]["alive"], result
    return session
