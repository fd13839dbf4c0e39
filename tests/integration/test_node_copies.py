"""Nodes without the server's file system (`files: copied`): what a call finds in its directory, and what it leaves there, is
as if it had run here; nothing is left on the node; and neither a node nor a script gets at another file by it."""

import os
import pathlib
import signal
import stat
import sys
import tempfile

import pytest

import leftovers
import sessions
import test_nodes

FALSE = str(pathlib.Path(__file__).with_name("false_node.py"))
WHOLE = 64 << 20
SENDS = "telling losses -> sending"  # the server's log, when it has told a node what is gone


class Copies(test_nodes.Far):
    """A server whose environment is on nodes with a state directory of their own, and no file of the server's."""

    def __init__(self, launcher=None, level="info", **more):
        self.state = tempfile.TemporaryDirectory(prefix="pyexecd-node-")
        self.other = pathlib.Path(self.state.name)
        own = ["/usr/bin/env", f"XDG_STATE_HOME={self.other}", *test_nodes.node()]
        nodes = test_nodes.configuration(launcher or own, **more)
        nodes["nodes"]["far"]["files"] = "copied"
        self.arrangement = nodes
        leftovers.Watched.__init__(self, "--log-level", level, config=nodes)
        self.initialize()

    def __exit__(self, *details):
        super().__exit__(*details)
        self.state.cleanup()

    def directory(self, result):
        return next(path for path in self.home.rglob(result["working_directory"]) if "work" in path.parts)

    def put(self, code, **more):
        result = self.result(code, **more)
        return result, self.directory(result)

    def copies(self):
        """The directories that scripts work in, there."""
        return [path for path in self.other.glob("pyexecd/once/p-*/*")]


@pytest.fixture(scope="module")
def far():
    with Copies(most=4) as server:
        yield server


# A run


MAKE = """
import os, pathlib
pathlib.Path("deep/er").mkdir(parents=True)
pathlib.Path("deep/er/file").write_text("made")
pathlib.Path("deep/empty").mkdir()
pathlib.Path("tool").write_text("#!/bin/sh\\necho tool\\n")
os.chmod("tool", 0o750)
os.utime("tool", ns=(1_500_000_000_123_456_789, 1_500_000_000_123_456_789))
os.symlink("deep/er/file", "link")
pathlib.Path(os.fsdecode(b"odd \\xff\\nname")).write_bytes(b"odd")
pathlib.Path(".hidden").mkdir()
pathlib.Path(".hidden/state").write_text("kept")
pathlib.Path("__pycache__").mkdir()
pathlib.Path("__pycache__/x.pyc").write_text("not")
"""


def test_what_a_run_leaves_comes_back(far):
    result, directory = far.put(MAKE)
    assert result["success"] and result["stderr"] == "", result
    assert [file["path"] for file in result["files"]] == ["deep/er/file", "odd \ufffd\nname", "tool"]
    assert (directory / "deep/er/file").read_text() == (directory / "link").read_text() == "made"
    assert (directory / "deep/empty").is_dir() and (directory / ".hidden/state").read_text() == "kept"
    tool = (directory / "tool").stat()
    assert stat.S_IMODE(tool.st_mode) == 0o750 and tool.st_mtime_ns == 1_500_000_000_123_456_789
    assert os.readlink(directory / "link") == "deep/er/file"
    assert (pathlib.Path(os.fsdecode(os.fsencode(directory) + b"/odd \xff\nname"))).read_bytes() == b"odd"
    assert not (directory / "__pycache__").exists() and not list(directory.rglob(".put-*"))


def test_a_run_finds_what_is_there(far):
    _, directory = far.put(MAKE)
    result = far.result("import os, subprocess\nprint(open('link').read(), os.stat('tool').st_mtime_ns, oct(os.stat('tool').st_mode))\n"
                        "print(os.path.isdir('deep/empty'), open('.hidden/state').read(), open('in/put').read())\n"
                        "print(subprocess.run('./tool', capture_output=True, text=True).stdout)",
                        working_directory=directory.name, files=[{"path": "in/put", "text": "given"}])
    assert result["stdout"] == "made 1500000000123456789 0o100750\nTrue kept given\ntool\n\n", result
    assert result["files"] == []  # what was only read is as it was


def test_files_that_were_changed_or_removed_are_so_here(far):
    _, directory = far.put("import pathlib\nfor name in 'abcd':\n    pathlib.Path(name).write_text(name)\npathlib.Path('e').mkdir()\n"
                           "pathlib.Path('e/f').write_text('f')")
    kept = (directory / "d").stat()
    result = far.result("import os, shutil\nopen('a', 'a').write('more')\nos.remove('b')\nshutil.rmtree('e')\nos.remove('c')\n"
                        "os.mkdir('c')\nopen('c/inner', 'w').write('x')\nopen('e', 'w').write('file')",
                        working_directory=directory.name)
    assert result["success"] and result["stderr"] == "", result
    assert (directory / "a").read_text() == "amore" and not (directory / "b").exists()
    assert (directory / "c/inner").read_text() == "x" and (directory / "e").read_text() == "file"
    assert (directory / "d").stat() == kept


def test_a_file_that_has_changed_here_meanwhile_is_not_removed(far):
    _, directory = far.put("open('notes', 'w').write('old')\nopen('same', 'w').write('old')")
    began = far.start_tool("run_python", {"code": "import os, time\nos.remove('notes')\nos.remove('same')\n"
                                                  "while not os.path.exists('go'):\n    time.sleep(0.01)",
                                          "working_directory": directory.name, "timeout": 500})
    assert leftovers.until(lambda: far.copies() and not (far.copies()[0] / "notes").exists()), far.stderr()
    (directory / "notes").write_text("new")
    (far.copies()[0] / "go").touch()
    result = far.wait(began)["result"]["structuredContent"]
    assert (directory / "notes").read_text() == "new" and not (directory / "same").exists()
    assert "not copied: notes (removed there; it has changed here, and stays)" in result["stderr"], result


BOTH = "notes (changed there; it has changed here, too, and stays)"
CHANGES_BOTH = """
import os, time
open('notes', 'w').write('there')
os.remove('link')
os.symlink('there', 'link')
open('new', 'w').write('there')
open('alone', 'w').write('there')
open('ready', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.01)
"""


def test_what_another_call_has_changed_here_stays_and_is_told():
    with Copies(most=2) as server:
        _, directory = server.put("import os\nopen('notes', 'w').write('old')\nopen('alone', 'w').write('old')\nos.symlink('old', 'link')")
        began = server.start_tool("run_python", {"code": CHANGES_BOTH, "working_directory": directory.name, "timeout": 500})
        assert leftovers.until(lambda: any((copy / "ready").exists() for copy in server.copies())), server.stderr()
        other = server.result("import os\nopen('notes', 'w').write('here')\nopen('new', 'w').write('here')\nos.remove('link')\n"
                           "os.symlink('here', 'link')", working_directory=directory.name)
        assert other["success"] and other["stderr"] == "", other
        (copy,) = [copy for copy in server.copies() if (copy / "ready").exists()]
        (copy / "go").touch()
        result = server.wait(began)["result"]["structuredContent"]
        assert (directory / "notes").read_text() == (directory / "new").read_text() == os.readlink(directory / "link") == "here"
        assert (directory / "alone").read_text() == "there"
        told = [f"{name} (changed there; it has changed here, too, and stays)" for name in ("link", "new", "notes")]
        assert f"not copied: {', '.join(told)}\n" in result["stderr"], result


def test_what_is_no_file_is_left_out_and_told(far):
    result, directory = far.put("import os, socket\nos.mkfifo('pipe')\nsocket.socket(socket.AF_UNIX).bind('socket')\nopen('file', 'w')")
    assert (directory / "file").exists() and not {"pipe", "socket"} & set(os.listdir(directory))
    assert "node far (" in result["stderr"] and "not copied: pipe (no regular file), socket (no regular file)\n" in result["stderr"]


@pytest.mark.plain
@pytest.mark.parametrize("isolation", ["none", "sandbox"])
def test_the_script_lies_in_the_copy(isolation):
    with Copies(environment={"isolation": isolation}) as server:
        result = server.result("import sys, os\nprint(os.path.dirname(sys.argv[0]) == os.getcwd(), open(sys.argv[0]).read().count('1 / 0'))\n1 / 0")
        assert result["stdout"] == "True 2\n" and "script.py\", line 3" in result["stderr"]


def test_as_much_goes_over_and_comes_back_as_it_was(far):
    count = WHOLE // (8 if leftovers.sanitized() else 1)
    made, directory = far.put(f"import hashlib, os\ndata = os.urandom({count})\nopen('data', 'wb').write(data)\n"
                              "print(hashlib.sha256(data).hexdigest())", timeout=500)
    back = far.result("import hashlib\ndata = open('data', 'rb').read()\nprint(hashlib.sha256(data).hexdigest(), len(data))",
                      working_directory=directory.name, timeout=500)
    assert back["stdout"].split() == [made["stdout"].strip(), str(count)]
    assert (directory / "data").stat().st_size == count


def test_an_interrupted_run_leaves_its_files(far):
    result, directory = far.put("open('before', 'w').write('x')\nimport time\ntime.sleep(1000)", timeout=3)
    assert result["timed_out"] and (directory / "before").read_text() == "x"


def test_more_than_the_limit_of_the_disk_is_killed_there():
    with Copies(environment={"limits": {"disk": "4 MiB"}}) as server:
        result = server.result("import time\nfor i in range(64):\n    open(f'file{i}', 'wb').write(bytes([i + 1]) * (1 << 20))\ntime.sleep(1000)",
                               timeout=500)
        assert "grew beyond the limit of 4 MiB" in result["error"], result


def test_a_sparse_file_beyond_the_limit_stays_there():
    with Copies(environment={"limits": {"disk": "4 MiB"}}) as server:
        result, directory = server.put("for name in 'abc':\n    open(name, 'wb').truncate(3 << 20)")
        assert (directory / "a").stat().st_size == 3 << 20 and not (directory / "c").exists()
        assert "not copied: b (too large), c (too large)\n" in result["stderr"], result


def test_too_many_files_are_refused_before_the_run():
    with Copies() as server:
        _, directory = server.put("pass")
        for i in range(10100):
            (directory / str(i)).touch()
        answer = server.run("open('ran', 'w')", working_directory=directory.name)
        assert "more files than can be copied" in sessions.text_of(answer) and not (directory / "ran").exists()


def test_holes_are_not_sent_without_a_bound():
    with Copies() as server:
        _, directory = server.put("pass")
        with open(directory / "hole", "wb") as file:
            file.truncate(11 << 30)
        answer = server.run("open('ran', 'w')", working_directory=directory.name)
        assert "files with holes of more than 10 GiB" in sessions.text_of(answer) and not (directory / "ran").exists()


# Sessions


def test_cells_work_in_one_copy_that_comes_back_each_time(far):
    session = sessions.Session(far, "import os\nlog = open('log', 'w')\nlog.write('1'); log.flush()\nprint(os.getcwd())")
    directory, place = far.directory(session.result), session.result["stdout"]
    assert (directory / "log").read_text() == "1"
    (directory / "here").write_text("given")
    shown = session.shown("log.write('2'); log.flush()\nprint(open('here').read(), open('put').read(), os.getcwd())",
                          files=[{"path": "put", "text": "cell"}])
    assert shown + "\n" == "given cell " + place
    assert (directory / "log").read_text() == "12" and session.files() == ["log"]
    (directory / "here").unlink()
    assert session.shown("print(os.path.exists('here'))\nos.remove('put')") == "False"
    assert not (directory / "put").exists()
    session.run("log.write('3'); log.close()\nos._exit(3)")
    assert (directory / "log").read_text() == "123" and session.is_gone()


def test_files_of_the_first_cell_are_there_though_its_node_prepares_for_long():
    with Copies(environment={"type": "venv"}) as server:
        session = sessions.Session(server, "print(open('put').read())", files=[{"path": "put", "text": "first"}], timeout=300)
        assert session.result["stdout"] == "first\n", session.result


def test_what_threads_write_between_cells_comes_with_the_next(far):
    session = sessions.Session(far, "import os, threading, time\ndef work():\n    while not os.path.exists('start'):\n"
                                    "        time.sleep(0.01)\n    open('late', 'w').write('x')\n"
                                    "thread = threading.Thread(target=work)\nthread.start()")
    directory = far.directory(session.result)
    (copy,) = [path for path in far.copies() if not (path / "start").exists()]
    (copy / "start").touch()
    assert leftovers.until((copy / "late").exists)
    session.run("thread.join()")
    assert (directory / "late").read_text() == "x"


def test_what_another_call_changes_while_files_come_back_is_there_in_the_next_cell():
    with Copies(most=2) as server:
        session = sessions.Session(server, "open('here', 'w').write('old')")
        directory = server.directory(session.result)
        cell = server.start_tool("run_python", {"session": session.name, "timeout": 500,
                                             "code": "for i in range(3000):\n    open(f'made{i:04}', 'w').write('x')"})
        assert leftovers.until((directory / "made0000").exists), server.stderr()
        (directory / "here").write_text("new")
        assert server.wait(cell)["result"]["structuredContent"]["success"]
        assert session.shown("print(open('here').read())") == "new"


def test_what_both_have_changed_during_a_cell_is_told_and_then_as_it_is_here():
    with Copies(most=2) as server:
        session = sessions.Session(server, "open('notes', 'w').write('old')")
        directory = server.directory(session.result)
        cell = server.start_tool("run_python", {"session": session.name, "timeout": 500,
                                             "code": "import os, time\nopen('notes', 'w').write('there')\nopen('ready', 'w').close()\n"
                                                     "while not os.path.exists('go'):\n    time.sleep(0.01)"})
        assert leftovers.until(lambda: any((copy / "ready").exists() for copy in server.copies())), server.stderr()
        (directory / "notes").write_text("here")
        (copy,) = [copy for copy in server.copies() if (copy / "ready").exists()]
        (copy / "go").touch()
        result = server.wait(cell)["result"]["structuredContent"]
        assert result["stderr"].endswith(f"not copied: {BOTH}\n") and (directory / "notes").read_text() == "here", result
        assert session.shown("print(open('notes').read())") == "here" and session.result["stderr"] == ""
        session.run("open('notes', 'a').write(' and there')")
        assert (directory / "notes").read_text() == "here and there" and session.result["stderr"] == ""


def test_a_file_that_a_thread_has_changed_there_comes_back_though_it_was_removed_here():
    with Copies() as server:
        session = sessions.Session(server, "open('kept', 'w').write('old')")
        directory = server.directory(session.result)
        (copy,) = server.copies()
        (copy / "kept").write_text("of a thread")
        (directory / "kept").unlink()
        assert session.shown("print(open('kept').read())") == "of a thread" and session.result["stderr"] == ""
        assert (directory / "kept").read_text() == "of a thread"


def test_a_session_may_get_more_files_in_its_life_than_a_directory_has():
    with Copies() as server:
        session = sessions.Session(server)
        directory = server.directory(session.result)
        for turn in range(3):
            for i in range(9000):
                path = directory / str(i)
                path.unlink(missing_ok=True)
                path.touch()
            assert session.shown("import os\nprint(sum(name.isdigit() for name in os.listdir()))", timeout=500) == "9000", turn


def test_a_session_with_too_many_files_goes_on():
    with Copies() as server:
        session = sessions.Session(server, "kept = 1")
        directory = server.directory(session.result)
        for i in range(10100):
            (directory / str(i)).touch()
        assert session.shown("print(kept)") == "1"
        assert "not copied: a part of it (too many files, or too deep)" in session.result["stderr"], session.result


def test_a_cell_that_timed_out_leaves_its_files(far):
    session = sessions.given_in(lambda: sessions.Session(far), "open('before', 'w').write('x')\nimport time\ntime.sleep(1000)",
                                lambda result: any(file["path"] == "before" for file in result["files"]))
    assert (far.directory(session.result) / "before").read_text() == "x"


def with_files_to_copy(server):
    """A session whose next cell has to wait for files: more of them than go over without an answer of the node."""
    session = sessions.Session(server, "x = 1")
    (server.directory(session.result) / "large").write_bytes(bytes(WHOLE))
    return session


def test_the_time_of_a_cell_begins_behind_its_files():
    with Copies(most=5) as server:
        session = sessions.given_in(lambda: with_files_to_copy(server), "import time; time.sleep(1000)", timeout=0.001)
        assert "KeyboardInterrupt" in session.result["stderr"] and session.shown("print(x)") == "1"


def test_a_cell_that_is_cancelled_while_its_files_are_copied_is_not_executed():
    with Copies(level="debug") as server:
        session = with_files_to_copy(server)
        (node,) = server.nodes()
        os.kill(node, signal.SIGSTOP)
        before = server.stderr().count(SENDS)
        cell = server.start_tool("run_python", {"session": session.name, "code": "x = 2"})
        assert leftovers.until(lambda: server.stderr().count(SENDS) > before), server.stderr()
        server.cancel(cell)
        os.kill(node, signal.SIGCONT)
        assert session.shown("print(x, open('put').read())", files=[{"path": "put", "text": "next"}]) == "1 next"
        assert (server.directory(session.result) / "large").stat().st_size == WHOLE


# What is left


def test_nothing_is_left_on_a_node():
    with Copies() as server:
        server.result("open('made', 'w').write('x')")
        assert leftovers.until(lambda: not list(server.other.rglob("made")) and not server.copies())


def test_what_a_killed_node_leaves_goes_with_the_next():
    with Copies() as server:
        began = server.start_tool("run_python", {"code": "open('mark', 'w').close()\nimport time\ntime.sleep(1000)", "timeout": 500})
        assert leftovers.until(lambda: list(server.other.rglob("mark"))), server.stderr()
        for pid in server.nodes():
            os.kill(pid, signal.SIGKILL)
        answer = server.wait(began)["result"]
        assert answer["isError"] and "was lost" in sessions.text_of(answer)
        assert server.result("print(1)")["stdout"] == "1\n"
        assert leftovers.until(lambda: not list(server.other.rglob("mark")))


# Hostile


def false(behaviour):
    return Copies([sys.executable, FALSE, behaviour])


def outside(server):
    """All files with forged bytes, and all that are half there."""
    found = [path for folder in (server.home, server.other) for path in folder.rglob("*")
             if path.is_file() and not path.is_symlink()]
    return [path for path in found if path.read_bytes() == b"forged" or path.name.startswith(".put-")]


@pytest.mark.parametrize("path", ["../evil", "/evil", "a/../../evil", "..", "./evil", "a//evil", "evil/", "a/" * 70 + "evil"])
@pytest.mark.parametrize("more", ["", " gone"])
def test_a_path_that_leads_out_ends_the_run(path, more):
    with false(f"forge {path}{more}") as server:
        answer = server.run("print(1)")
        assert answer["isError"] and "has failed: it sends a file to where none may be" in sessions.text_of(answer)
        assert not outside(server) and not os.path.exists("/evil")


def test_no_file_is_written_through_a_link():
    with false("forge out/evil link") as server:
        result = server.result("print(1)")
        assert "not copied: out/evil" in result["stderr"] and not outside(server), result


def test_only_what_was_sent_can_be_removed():
    with false("forge never gone") as server:
        directory = server.directory(server.result("1"))
        (directory / "never").write_text("x")
        server.result("1", working_directory=directory.name)
        assert not (directory / "never").exists()  # it was sent


def test_a_file_that_has_not_come_whole_is_not_there():
    with false("half") as server:
        answer = server.run("print(1)")
        assert "was lost" in sessions.text_of(answer) and "A part of its files has come back" in sessions.text_of(answer)
        (first,) = server.home.rglob("first")
        assert first.read_bytes() == b"whole"
        assert leftovers.until(lambda: not list(first.parent.glob(".put-*"))) and not (first.parent / "second").exists()


@pytest.mark.parametrize("behaviour, said", [
    ("endless", "it sends more than the limit of the disk allows"),
    ("unasked", "it sends files that were not asked for"),
    ("repeats", "it sends files that were not asked for"),
    ("unsent", "it has ended a cell that it was not sent"),
])
def test_files_against_the_rules_end_the_run(behaviour, said):
    with false(behaviour) as server:
        assert said in sessions.text_of(server.run("print(1)"))
        assert not outside(server)


@pytest.mark.parametrize("behaviour", ["lavish", "hurried"])
def test_a_node_that_gives_back_what_it_has_not_got_ends_its_run(behaviour):
    with false(behaviour) as server:
        directory = server.directory(server.run("print(1)")["structuredContent"])
        with open(directory / "sparse", "wb") as file:
            file.truncate(9 << 30)
        answer = server.run("print(1)", working_directory=directory.name)
        assert "has failed: it gives back more than it was sent" in sessions.text_of(answer)
        server.request("ping")


def test_a_node_sends_no_files_when_it_is_asked_to_prepare():
    with Copies([sys.executable, FALSE, "hasty"], most=2) as server:
        server.start_tool("run_python", {"code": "print(1)", "timeout": 500})
        assert leftovers.until(lambda: "says: started" in server.stderr())
        answer = server.run("print(2)")  # on the second node
        assert "it sends files before it has a script" in sessions.text_of(answer) and not outside(server)


def test_a_node_makes_no_flood_of_folders():
    with false("folders") as server:
        result = server.result("print(1)")
        made = sum(len(folders) for _, folders, _ in os.walk(server.directory(result)))
        assert 0 < made <= 1000 and "(No such file or directory), and" in result["stderr"], (made, result)


@pytest.mark.once
def test_a_node_that_has_given_all_files_back_and_does_not_end_is_given_up():
    with false("stuck") as server:
        assert "it has given all files back, and not ended in 15 seconds" in sessions.text_of(server.run("print(1)"))


@pytest.mark.once
def test_a_node_that_stops_the_time_of_a_cell_and_does_not_end_it_is_given_up():
    with false("dawdles") as server:
        session = sessions.Session(server, "print(1)")
        (server.directory(session.result) / "new").write_bytes(bytes(1 << 20))
        answer = sessions.call(server, "print(2)", session.name, timeout=500)
        assert "it has given all files back, and not ended in 15 seconds" in sessions.text_of(answer), answer


def test_a_script_that_ends_its_cell_again_and_again_ends_its_session():
    with false("insists") as server:
        answer = sessions.call(server, "print(1)", "new", timeout=5)
        assert "its code has closed or used a descriptor that is not its own" in sessions.text_of(answer), answer


@pytest.mark.parametrize("code", ["os.write(200, bytes(2))", "os.write(200, bytes(5))", "for _ in range(50): os.write(200, bytes(1))"])
def test_a_second_end_of_a_cell_is_not_blamed_on_the_node(far, code):
    session = sessions.Session(far, "import os")
    first = sessions.call(far, code + "\nimport time\ntime.sleep(1000)", session.name, timeout=5)
    assert "has failed" not in sessions.text_of(first) + sessions.text_of(sessions.call(far, "1", session.name)), first


def test_a_killed_server_leaves_no_part_of_a_file():
    server = false("idle")
    try:
        server.start_tool("run_python", {"code": "print(1)"})
        assert leftovers.until(lambda: server.stderr().count("says: taken") == 2)
        server.process.kill()
        server.process.wait()
        assert not list(server.home.rglob(".put-*"))
    finally:
        server.kill()
        server.state.cleanup()


@pytest.mark.once
def test_a_node_that_stops_within_a_file_is_given_up():
    with false("idle") as server:
        assert "it lives, and has copied no file in 15 seconds" in sessions.text_of(server.run("print(1)"))
        assert not list(server.home.rglob(".put-*"))


SWAP = """
import os, threading
open("real", "w").write("mine")
stop = False
def swap():
    i = 0
    while not stop:
        i += 1
        os.link("real", "next") if i % 2 else os.symlink({secret!r}, "next")
        os.replace("next", "changing")
thread = threading.Thread(target=swap)
thread.start()
"""


def test_a_link_that_is_swapped_in_while_it_is_copied_leads_nowhere(far, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    session = sessions.Session(far, SWAP.format(secret=str(secret)))
    directory = far.directory(session.result)
    for i in range(20):
        session.run(f"open('count', 'w').write('{i}')")
        changing = directory / "changing"
        assert changing.is_symlink() or not changing.exists() or changing.read_text() == "mine"
    assert (directory / "count").read_text() == "19"
    session.run("stop = True\nthread.join()")


# By doctor


def test_doctor_says_that_files_are_copied(tmp_path):
    launcher = ["/usr/bin/env", f"XDG_STATE_HOME={tmp_path / 'other'}", *test_nodes.node()]
    result = test_nodes.doctor(tmp_path, {"far": {"launcher": launcher, "files": "copied"}})
    assert "files are copied to it and back" in result.stdout, result.stdout
