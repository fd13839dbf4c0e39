"""What a model reads of a result, and where the rest of a long output is."""

import pathlib
import re

import client
import pytest
import wire
from client import Server

TEXT_CHARACTERS = 20000
HANDLE = re.compile(r'pass working_directory: "([^"]+)"')
LINES = 'for i in range(60000): print("line", i)'


def text_of(result):
    block, *links = result["content"]
    assert all(link["type"] == "resource_link" for link in links)
    return block["text"]


def run(connection, code, **arguments):
    return text_of(connection.call_tool("run_python", {"code": code, **arguments}))


@pytest.fixture
def server():
    with Server() as server:
        server.results = None
        server.initialize()
        yield server


def test_little_output_costs_little(server):
    assert run(server, "print(42)") == "exitcode: 0 (execution succeeded)\nCode output: 42\n"


def test_text_is_the_result_unless_somebody_asks_for_more(server):
    assert "outputSchema" not in server.find_tool()
    result = server.call_tool("run_python", {"code": "print(42)"})
    assert result.keys() == {"content", "isError"}
    server.results = "structured"
    assert "outputSchema" in server.find_tool()
    result = server.call_tool("run_python", {"code": LINES})
    assert result.keys() == {"content", "isError", "structuredContent"}
    assert len(result["structuredContent"]["stdout"].splitlines()) == 60000


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_older_revisions_get_all_output_in_meta(revision):
    with Server() as server:
        server.initialize(revision)
        result = server.call_tool("run_python", {"code": LINES})
    assert len(result["_meta"][client.RESULT]["stdout"].splitlines()) == 60000


@pytest.mark.parametrize("arguments, config", [
    (["--results", "structured"], {}),
    ([], {"results": "structured"}),
    (["--results", "structured"], {"results": "text"}),
], ids=["option", "configuration", "both"])
def test_an_operator_chooses_the_form(arguments, config):
    with Server(*arguments, config=config) as server:
        server.results = None
        server.initialize()
        assert "outputSchema" in server.find_tool()
        assert "structuredContent" in server.call_tool("run_python", {"code": "print(42)"})
        server.results = "text"
        assert "outputSchema" not in server.find_tool()
        assert "structuredContent" not in server.call_tool("run_python", {"code": "print(42)"})


def test_a_failure_is_text_alone(server):
    """Some clients show a model all of a result that is an error."""
    result = server.call_tool("run_python", {"code": LINES + "\n1 / 0"})
    assert result.keys() == {"content", "isError"} and result["isError"]
    server.results = "structured"
    result = server.call_tool("run_python", {"code": LINES + "\n1 / 0"})
    assert "ZeroDivisionError" in result["structuredContent"]["stderr"]
    assert len(result["structuredContent"]["stdout"].splitlines()) == 60000


@pytest.mark.parametrize("environment", ["system", "venv"])
def test_what_is_left_out_is_in_a_file_for_the_next_script(environment, tmp_path):
    config = {"environments": {"only": {"type": environment}}}
    with Server(config=config, environment={"XDG_STATE_HOME": str(tmp_path)}) as server:
        server.results = None
        server.initialize()
        code = 'for i in range(60000): print("line", i)'
        text = run(server, code)
        assert len(text) < TEXT_CHARACTERS
        assert text.startswith("exitcode: 0 (execution succeeded)\nCode output: line 0\nline 1\n")
        assert "\n... [left out] ...\nline " in text and "\nline 59999\n" in text
        assert "The whole is in output.txt.\n" in text
        assert ", not in the project: output.txt (" in text
        search = "print([line for line in open('output.txt') if line.endswith(' 31415\\n')])"
        assert run(server, search).endswith("['line 31415\\n']\n")
        assert "The whole is in output-2.txt.\n" in run(server, code)  # the first one stays


def lines_about_files(transport, config):
    """What a client reads of the file that it has a script write."""
    with Server(transport=transport, config=config) as server:
        server.results = None
        server.initialize()
        return [line for line in run(server, "open('a.txt', 'w').write('text')").splitlines() if line.startswith("Files created")]


@pytest.mark.parametrize("transport", ["stdio", "unix"])
def test_a_client_on_this_machine_reads_where_files_are(transport):
    (line,) = lines_about_files(transport, {})
    place = re.fullmatch(r"Files created or changed in (/.*), not in the project: a\.txt \(4 bytes\)", line)[1]
    assert pathlib.Path(place, "a.txt").read_text() == "text"


@pytest.mark.parametrize("transport", ["tcp", "http"])
def test_a_client_elsewhere_reads_no_path_of_this_machine(transport):
    assert lines_about_files(transport, {}) == ["Files created or changed: a.txt (4 bytes)"]


def test_a_directory_of_the_operator_may_be_the_project(tmp_path):
    assert lines_about_files("stdio", {"working_directory": str(tmp_path)}) == ["Files created or changed: a.txt (4 bytes)"]


def test_a_flood_is_a_count(server):
    text = run(server, "for i in range(500000): print('spam')")
    assert "... [left out] ..." not in text and len(text) < 1000
    assert re.search(r"spam\n\.\.\. \[\d+ more lines like this\] \.\.\.\n", text)
    assert "which has 2.4 MiB. What was kept of it is in output.txt." in text


def test_a_traceback_survives_floods_of_both_streams(server):
    text = run(server, f"import sys\n{LINES}\n"
                       "for i in range(60000): print('warning', i, file=sys.stderr)\n"
                       "raise KeyError('plum')")
    assert len(text) < TEXT_CHARACTERS
    assert '  File "script.py", line 4, in <module>\n' in text
    assert "\nKeyError: 'plum'\n" in text
    assert "is in output.txt.\n" in text and "is in error-output.txt.\n" in text


def test_a_progress_bar_is_its_last_state(server):
    text = run(server, r"import sys" "\n"
                       r"for i in range(101): sys.stderr.write(f'\r{i:3}%|{i * chr(35)}|')")
    assert text.endswith("Error output:\n... [100 earlier states of this line left out] ...\n100%|" + 100 * "#" + "|")


def test_rows_behind_carriage_returns_are_all_there(server):
    assert run(server, r"print('name,qty\rapple,3\rpear,5\r')").endswith("Code output: name,qty\napple,3\npear,5\n")


def test_states_that_are_left_out_are_in_a_file(server):
    text = run(server, r"for i in range(1000): print('row', i, end='\r')")
    assert "Code output: ... [999 earlier states of this line left out] ...\nrow 999\n" in text
    assert "Left out: 999 states of lines that were written over, in the output. The whole is in output.txt.\n" in text
    assert run(server, r"print(open('output.txt', newline='').read().split('\r')[500])").endswith("row 500\n")


def test_text_that_was_decoded_wrongly_is_whole(server):
    text = run(server, r"""print("it’s 5 €".encode("cp1252").decode("latin-1"), "a\x85b \x9b31mred")""")
    assert text.endswith("Code output: it\\x92s 5 \\x80 a\\x85b \\x9b31mred\n")
    text = run(server, r"""import sys; sys.stdout.buffer.write(b"it\x92s \x9b31m, na\xc3\xafve\n")""")
    assert text.endswith("Code output: it�s �31m, naïve\n")


def test_files_of_scripts_are_not_written_to(server, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    text = run(server, f"""
import os
open("output.txt", "w").write("mine")
os.symlink({str(victim)!r}, "output-2.txt")
os.symlink("nowhere", "output-3.txt")
os.mkfifo("output-4.txt")
os.mkdir("output-5.txt")
{LINES}
""")
    assert "The whole is in output-6.txt." in text
    assert victim.read_text() == "mine"
    assert run(server, "print(open('output.txt').read())").endswith("mine\n")
    assert run(server, "import os; print(os.path.lexists('nowhere'))").endswith("False\n")


def test_a_script_that_takes_the_rights_away_changes_nothing(server):
    text = run(server, f"import os\n{LINES}\nos.chmod('.', 0)")
    assert "The whole is in output.txt." in text
    assert run(server, "print(len(open('output.txt').read().splitlines()))").endswith("60000\n")


def test_output_that_cannot_be_put_into_a_file_is_said(tmp_path):
    place = tmp_path / "work"
    place.mkdir()
    with Server(config={"working_directory": str(place)}) as server:
        server.results = None
        server.initialize()
        text = run(server, f"import os\n{LINES}\nfor name in ['output'] + [f'output-{{i}}' for i in "
                           "range(2, 101)]: open(name + '.txt', 'w')")
        assert "It could not be put into a file (all names from output.txt to output-100.txt are " \
               "taken)" in text
        assert "let the script write to one." in text


@pytest.mark.parametrize("transport, revision", [("stdio", wire.NEWEST_LEGACY), ("http", wire.MODERN)])
def test_a_poem_is_read_back_by_who_follows_the_text(transport, revision, tmp_path):
    """Also over stdio with a server for each call, as AG2 and AutoGen start it."""
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    arguments = {}
    for code in ("open('poem.txt', 'w').write('a rose')", "print(open('poem.txt').read())"):
        with Server(transport=transport, environment=environment) as server:
            server.results = None
            server.initialize(revision)
            text = run(server, code, **arguments)
        if handle := HANDLE.search(text):
            arguments["working_directory"] = handle[1]
    assert text == "exitcode: 0 (execution succeeded)\nCode output: a rose\n"


def test_the_handle_is_said_once_to_who_stays(server):
    assert not HANDLE.search(run(server, "print(42)"))
    assert HANDLE.search(run(server, "open('a', 'w')"))
    assert not HANDLE.search(run(server, "open('b', 'w')"))
