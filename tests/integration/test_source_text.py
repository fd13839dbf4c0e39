"""Code comes as text, whatever its first lines say about bytes; a file of the command line is bytes, and says what they are."""

import os
import subprocess

import pytest
from client import Server

TEXT = "Grüße, 5 € 你好"
PRINTS = f"print({TEXT!r})"
FIRST_LINES = ["# -*- coding: cp1252 -*-", "# coding=ascii", "#!/usr/bin/env python3\n# vim: set fileencoding=gbk :",
               "# coding: no-such-encoding", "\ufeff# coding: latin-1", "\ufeff", "```python\n# coding: latin-1"]


def code_of(first_lines):
    return f"{first_lines}\n{PRINTS}" + ("\n```" if first_lines.startswith("`") else "")


def serve(environment):
    config = {"environments": {"it": environment}, "code_blocks": {}, "sessions": {}}
    return Server("--results", "structured", config=config)


@pytest.fixture(scope="module", params=[{"type": "system", "start": "warm"}, {"type": "system", "start": "cold"},
                                        {"type": "venv"}], ids=["warm", "cold", "venv"])
def server(request):
    with serve(request.param) as server:
        server.initialize()
        yield server


def printed(result):
    assert not result["isError"], result
    return result["structuredContent"]["stdout"]


def run(server, code, **arguments):
    return printed(server.call_tool("run_python", {"code": code, **arguments}))


@pytest.mark.parametrize("first_lines", FIRST_LINES)
def test_code_is_the_text_that_was_sent(server, first_lines):
    assert run(server, code_of(first_lines)) == TEXT + "\n"
    blocks = [{"language": "python", "code": code_of(first_lines)}]
    result = server.call_tool("run_code_blocks", {"blocks": blocks})
    assert [block["result"]["stdout"] for block in result["structuredContent"]["blocks"]] == [TEXT + "\n"]


def test_cells_are_the_text_that_was_sent(server):
    begun = server.call_tool("run_python", {"code": code_of(FIRST_LINES[0]), "session": "new"})
    name = begun["structuredContent"]["session"]["name"]
    assert printed(begun) == TEXT + "\n"
    for first_lines in FIRST_LINES[1:]:
        assert run(server, code_of(first_lines), session=name) == TEXT + "\n"


def test_a_python_file_is_the_text_that_was_sent(server):
    files = [{"path": "greeting.py", "text": f"# coding: cp1252\ntext = {TEXT!r}\n"},
             {"path": "notes.txt", "text": "# coding: cp1252\n"}]
    code = "import greeting\nprint(greeting.text, open('notes.txt').read())"
    assert run(server, code, files=files) == f"{TEXT} # coding: cp1252\n\n"


def test_lines_keep_their_numbers_in_a_traceback(server):
    result = server.call_tool("run_python", {"code": "# coding: gbk\n\nx = 'é €'; 1 / 0"})
    assert '"script.py", line 3, in <module>\n    x = \'é €\'; 1 / 0\n' in result["content"][0]["text"]


def command(directory, *arguments, **more):
    return subprocess.run([os.environ["PYEXECD"], "run", *arguments], capture_output=True, timeout=60, check=False, cwd=directory, **more).stdout


def test_a_file_of_the_command_line_says_how_its_bytes_are_encoded(tmp_path):
    file = tmp_path / "old.py"
    file.write_bytes("# coding: cp1252\nprint('Grüße, 5 €')\n".encode("cp1252"))
    assert command(tmp_path, str(file)).decode() == "Grüße, 5 €\n"
    assert command(tmp_path, "-", input=file.read_bytes()).decode() == "Grüße, 5 €\n"
    assert command(tmp_path, "-c", f"# coding: cp1252\n{PRINTS}").decode() == TEXT + "\n"
