"""Files in a /tmp of the run's own are gone with it: the result says which."""

import pytest
from client import Server

SAID = "Gone with this run: "


@pytest.fixture(scope="module", params=["warm", "cold"])
def server(request):
    with Server(config={"environments": {"it": {"type": "system", "start": request.param}}, "sessions": {}}) as server:
        server.initialize()
        yield server


def run(server, code, **arguments):
    result = server.call_tool("run_python", {"code": code, **arguments})
    return "".join(block.get("text", "") for block in result["content"])


def write(*names):
    return "".join(f"open({name!r}, 'w').write('content')\n" for name in names)


def test_a_file_that_is_gone_is_named(server):
    text = run(server, write("/tmp/report.csv", "kept.csv"))
    assert f"{SAID}/tmp/report.csv. " in text and ", not in the project: kept.csv (" in text
    assert f"{SAID}/tmp/report.csv. " in run(server, write("/var/tmp/report.csv"))


def test_many_files_are_a_handful_and_a_number(server):
    text = run(server, write(*(f"/tmp/part-{number}" for number in range(100))))
    line = next(line for line in text.splitlines() if line.startswith(SAID))
    assert line.count("/tmp/part-") == 5 and " and 95 more. " in line
    assert SAID in run(server, "for i in range(20000): open(f'/tmp/{i}', 'w').write('x')")


@pytest.mark.parametrize("code", [
    "print(1)",
    write("/tmp/report.csv") + "1 / 0",
    write("/tmp/report.csv") + "import os; os.remove('/tmp/report.csv')",
    "open('/tmp/lock', 'w')",
    write("/tmp/.hidden"),
    "import tempfile; file = tempfile.NamedTemporaryFile('w', delete=False); file.write('x')",
    "import os; os.mkfifo('/tmp/pipe'); os.symlink('/etc/passwd', '/tmp/link'); os.mkdir('/tmp/folder')",
    "import socket; s = socket.socket(socket.AF_UNIX); s.bind('/tmp/socket')",
])
def test_what_is_no_lost_result_is_not_told_of(server, code):
    assert SAID not in run(server, code)


@pytest.mark.parametrize("name", ["a" * 255, "\n\x1b[31m", "\udcff", "e\u0301 \u202e"])
def test_names_are_shown_on_one_line(server, name):
    text = run(server, write(f"/tmp/{name}"))
    line = next(line for line in text.splitlines() if line.startswith(SAID))
    assert line.endswith("use relative paths.") and "\x1b" not in text and "\u202e" not in text


def test_where_tmp_is_that_of_the_machine_nothing_is_gone(tmp_path):
    with Server(config={"environments": {"it": {"type": "system", "isolation": "none"}}}) as server:
        server.initialize()
        assert SAID not in run(server, write(f"{tmp_path}/report.csv"))
