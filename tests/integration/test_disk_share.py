"""What one principal may take of the disk that all working directories are on: a file system of 64 MiB."""

import contextlib
import hashlib
import os

from leftovers import Watched, until
from test_fallback import NAMESPACE, needs_namespaces

MOUNT = 'for place in $PLACES; do mount -t tmpfs -o size=64m none "$place"; done; exec "$0"'
WRITE = "open('{}', 'wb').write(bytes(int({} * 2**20)))"
REMOVE = "import os\nfor name in ('most', 'rest', 'note'): os.remove(name)"

pytestmark = needs_namespaces


@contextlib.contextmanager
def serving(tmp_path, **settings):
    """A server with a token for each of two principals; yields a function that connects as one of them, which has
    another working directory each time."""
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{name} sha256:{hashlib.sha256(name.encode() * 4).hexdigest()}\n" for name in ("alice", "bob")))
    tokens.chmod(0o600)
    work = tmp_path / "work"
    work.mkdir()
    config = {"environments": {"system": {"type": "system", "isolation": "none"}}, "token_file": str(tokens),
              "sessions": {}, **settings}
    command = [*NAMESPACE, "--mount", "sh", "-ec", f"PLACES=\"$XDG_STATE_HOME {work}\"; {MOUNT}", os.environ["PYEXECD"]]
    with Watched(transport="tcp", config=config, command=command) as server, contextlib.ExitStack() as stack:
        def connect(name):
            server.token = name * 4
            connection = stack.enter_context(contextlib.closing(server.connect()))
            connection.initialize()
            return connection

        yield connect


def call(connection, code, **arguments):
    return connection.call_tool("run_python", {"code": code, **arguments})


def run(connection, code, **arguments):
    result = call(connection, code, **arguments)
    assert not result["isError"], result["content"]
    return result["structuredContent"]


def refusal(connection):
    result = call(connection, "print('ran')")
    assert result["isError"]
    return result["content"][0]["text"]


def is_refused(connect):
    with contextlib.closing(connect("alice")) as connection:
        return call(connection, "pass")["isError"]


def take_half(connection, **arguments):
    """A little more than half of the disk. The second run comes beyond it by less than 1 MiB, and so may, whenever that is seen."""
    result = run(connection, WRITE.format("most", 31), **arguments)
    if "session" in result:
        arguments["session"] = result["session"]["name"]
    return run(connection, WRITE.format("rest", 1.5), **arguments)


def test_who_takes_most_of_the_disk_gets_a_new_directory_when_it_has_removed_files(tmp_path):
    with serving(tmp_path) as connect:
        run(connect("bob"), "pass")
        alice = connect("alice")
        earlier = {"working_directory": take_half(alice)["working_directory"]}
        text = refusal(connect("alice"))
        assert "no new working directory" in text and "(argument working_directory)" in text, text
        assert "your working directories take 32" in text and "that are free" in text, text
        run(connect("bob"), WRITE.format("some", 5))

        for connection in alice, connect("alice"):
            killed = call(connection, WRITE.format("more", 3), **earlier)
            assert "grew by more than 1 MiB: your working directories take" in killed["structuredContent"]["error"]
            run(connection, "import os; os.remove('more'); open('note', 'w').write('more is gone')", **earlier)
        run(connect("alice"), REMOVE, **earlier)
        assert run(connect("alice"), "print(1)")["stdout"] == "1\n"
        run(connect("bob"), "pass")


def test_what_a_principal_has_in_many_directories_counts(tmp_path):
    with serving(tmp_path) as connect:
        run(connect("bob"), "pass")
        for size in 10, 10, 11, 1.5:
            run(connect("alice"), WRITE.format("some", size))
        assert "no new working directory" in refusal(connect("alice"))
        run(connect("bob"), "pass")


def test_what_a_session_has_written_counts(tmp_path):
    with serving(tmp_path) as connect:
        run(connect("bob"), "pass")
        alice = connect("alice")
        session = take_half(alice, session="new")["session"]["name"]
        assert not alice.call_tool("manage_sessions", {"action": "close", "session": session})["isError"]
        assert until(lambda: is_refused(connect))
        run(connect("bob"), "pass")


def test_who_calls_alone_may_take_the_whole_disk(tmp_path):
    with serving(tmp_path) as connect:
        earlier = {"working_directory": run(connect("alice"), WRITE.format("most", 40))["working_directory"]}
        run(connect("alice"), WRITE.format("more", 10))
        run(connect("alice"), WRITE.format("more", 3), **earlier)


def test_one_directory_for_all_has_no_shares(tmp_path):
    with serving(tmp_path, working_directory=str(tmp_path / "work")) as connect:
        run(connect("bob"), "pass")
        run(connect("alice"), WRITE.format("most", 40))
        run(connect("alice"), WRITE.format("more", 3))
