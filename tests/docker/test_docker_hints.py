"""The hints about scripts in containers: each row is a script and a part of its only hint, or None. The same scripts in other
environments: tests/integration/test_hint_table.py, which says what a hint is."""

import pytest

from box import PREPARE_TIMEOUT
from docker_server import DockerServer
from test_hint_table import SHARED, hints_of, run, says

NO_NETWORK = "This environment has no network"
ROWS = [
    ("print(42)", None),
    (SHARED + "print('shared')", None),
    ("open('a.txt', 'w').close()\nopen('/tmp/a.txt', 'w').close()\nprint('written')", None),
    ("def main():\n    pass\nmain()", None),
    ("6 * 7", "Line 1 is a bare expression"),
    ("import socket\nsocket.create_connection(('example.com', 80))", NO_NETWORK),
    ("import urllib.request\nurllib.request.urlopen('http://example.com')", NO_NETWORK),
    ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "localhost is the run's own here"),
    ("open('/usr/lib/a', 'w')", "not to the files of the image: use relative paths"),
    ("import os\nos.makedirs('/opt/a')", "not to the files of the image: use relative paths"),
    ("import os\nos.remove('/etc/passwd')", "not to the files of the image: use relative paths"),
    ("open('script.py', 'w')", "script.py is the program that runs"),
    ("import sys\nname = sys.argv[1]", "Scripts get no arguments here"),
    ("import os\nos.environ['OPENAI_API_KEY']", "so OPENAI_API_KEY is not set"),
    ("input()", "Nobody can answer input()"),
    ("open('a.csv')", "The working directory has no a.csv"),
    ("open('C:\\\\Users\\\\a.csv')", "That is a path of Windows"),
    ("import glob\nprint(glob.glob('*.pdf'))", "The working directory is not a project"),
    ("import subprocess\nsubprocess.run(['sudo', 'true'])", "sudo does not work here"),
    (says("E: Could not open lock file /var/lib/dpkg/lock-frontend - open (30: Read-only file system)"),
     "Scripts here cannot install programs"),
    (says("WARNING: Retrying (Retry(total=4, connect=None))"), "scripts cannot install packages"),
    (says("ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/usr/local/x'"),
     "A script cannot install packages into this Python"),
]


CELLS = [
    ("6 * 7", None),
    ("import socket\nsocket.create_connection(('example.com', 80))", NO_NETWORK),
    ("open('/usr/lib/a', 'w')", "not to the files of the image: use relative paths"),
    ("import sys\nname = sys.argv[1]", "Scripts get no arguments here"),
    ("import os\nos.environ['OPENAI_API_KEY']", "so OPENAI_API_KEY is not set"),
    ("input()", "Nobody can answer input()"),
    ("import nothing_like_it", "Python found no module"),
    (says("WARNING: Retrying (Retry(total=4, connect=None))"), "scripts cannot install packages"),
]


@pytest.fixture(scope="module")
def server(engine):
    with DockerServer(engine, {"network": "none"}, config={"sessions": {}}) as server:
        server.initialize()
        yield server


def check(result, said):
    hints = hints_of(result)
    if said is None:
        assert hints == []
    else:
        assert len(hints) == 1 and said in hints[0], hints


@pytest.mark.parametrize("code, said", ROWS, ids=range(len(ROWS)))
def test_the_only_hint_of_a_call_is_true(server, code, said):
    check(server.call_tool("run_python", {"code": code}, timeout=PREPARE_TIMEOUT), said)


@pytest.mark.parametrize("code, said", CELLS, ids=range(len(CELLS)))
def test_the_only_hint_of_a_cell_is_true(server, code, said):
    check(run(server, "cell", code), said)
