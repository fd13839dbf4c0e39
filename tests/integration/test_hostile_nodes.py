"""Nodes, launchers and scripts that mean harm: a server outlives its nodes, and no script gets at the wire."""

import contextlib
import os
import pathlib
import signal
import sys
import time

import pytest

import leftovers
import sessions
import test_nodes

FALSE, SPOILER = (str(pathlib.Path(__file__).with_name(name)) for name in ("false_node.py", "spoiler.py"))
ESCAPE = "\x1b"


def false(*arguments):
    return test_nodes.Far([sys.executable, FALSE, *arguments])


def told(server, timeout=2, **more):
    """What is said of a run, by which the server has been neither ended nor held up."""
    answer = server.call_tool("run_python", {"code": "print(1)", "timeout": timeout, **more})
    server.request("ping", timeout=5)
    return answer


def starts(server):
    return server.stderr().count("says: started")


# Nodes


@pytest.mark.once
@pytest.mark.parametrize("behaviour", ["deaf", "flood"])
def test_a_node_that_ends_nothing_is_lost(behaviour):
    with false(behaviour) as server:
        began = time.monotonic()
        answer = told(server)
        assert answer["isError"] and "was lost: it has not ended in 15 seconds" in sessions.text_of(answer)
        assert 15 < time.monotonic() - began < 40 and starts(server) == 1
        assert leftovers.until(lambda: not server.launchers())


@pytest.mark.once
def test_a_cancelled_run_leaves_a_node_that_ends_nothing():
    with false("deaf") as server:
        began = server.start_tool("run_python", {"code": "print(1)", "timeout": 500})
        assert leftovers.until(lambda: starts(server))
        server.cancel(began)
        assert leftovers.until(lambda: not server.launchers())


def test_words_of_a_node_give_no_orders_to_terminals():
    with false("chatter") as server:
        answer = server.call_tool("run_python", {"code": "print(1)"}, progress_token="p")
        told_all = sessions.text_of(answer) + str(answer["structuredContent"]) + str(server.progress("p"))
        assert "enough" in told_all and "owned" in told_all and ESCAPE not in told_all + server.stderr()
        assert len(server.progress("p")) < 100


def test_what_a_node_says_beside_the_protocol_changes_nothing():
    with false("strangers") as server:
        structured = told(server)["structuredContent"]
        assert not structured["success"] and structured["stacks"] is None and structured["stdout"] == ""


def test_a_node_that_says_what_was_not_asked_is_lost():
    with false("own") as server:
        assert "it says what was not asked" in sessions.text_of(told(server))


@pytest.mark.parametrize("behaviour, shown", [("again", "ran\n"), ("vanished", "ran\n"), ("reversed_delivery", "ran\n"),
                                              ("silent", ""), ("fickle", "")])
def test_what_was_handed_over_is_not_started_again(behaviour, shown):
    with false(behaviour) as server:
        structured = told(server)["structuredContent"]
        assert not structured["success"] and structured["stdout"] == shown
        assert starts(server) == 1
        told(server)
        assert starts(server) == 2  # of another call


@pytest.mark.once
def test_a_node_that_is_never_ready_is_lost():
    with false("mute") as server:
        assert "it has not looked for the server's files in 15 seconds" in sessions.text_of(told(server))
        assert leftovers.until(lambda: not server.launchers())


@pytest.mark.parametrize("arguments, said", [
    (["deaf", "1"], "its pyexecd speaks another protocol (1) than this one (3): install the same version on both"),
    (["deaf", "2", "pyexecd wire 2\n"], "its pyexecd is of another version than this one"),
])
def test_another_version_is_told(arguments, said):
    with false(*arguments) as server:
        assert said in sessions.text_of(told(server))
        assert leftovers.until(lambda: not server.launchers())


# Files


def spoilt(times):
    return test_nodes.Far([sys.executable, SPOILER, str(times), *test_nodes.node()])


def test_a_file_that_is_spoilt_is_made_again():
    with spoilt(3) as server:
        assert server.result("print(1)")["stdout"] == "1\n"
        assert not list(server.home.rglob(".pyexecd-*"))


def test_files_that_are_always_spoilt_are_told():
    with spoilt(1000) as server:
        assert "somebody spoils the files in" in sessions.text_of(told(server))


@pytest.mark.once
def test_doctor_waits_for_no_word_for_ever(tmp_path):
    result = test_nodes.doctor(tmp_path, {"far": {"launcher": [sys.executable, FALSE, "deaf"]}})
    assert result.returncode == 1 and "has not said a word back in 15 seconds" in result.stdout


# Launchers


def sleepers(server):
    return [pid for pid in leftovers.descendants(server.process.pid) if b"1000" in leftovers.read(f"/proc/{pid}/cmdline")]


@pytest.mark.parametrize("script, said", [
    ("echo 'Last login: today'; sleep 1000", "Last login: today"),
    ("exec >&-; sleep 1000", "signal 15"),
    ("head -c 1000000 /dev/urandom; sleep 1000", "printed something"),
    ("yes >&2 & exit 7", "exit status 7"),
    ("(trap '' TERM; sleep 1000) & exit 7", "exit status 7"),
    ("trap '' TERM; printf 'pyexecd wire 1\\n'; head -c 1000 /dev/zero; sleep 1000", "no frame"),
])
def test_a_launcher_that_stays_is_ended(script, said):
    with test_nodes.Far(["/bin/sh", "-c", script + "; : node"]) as server:
        assert said in sessions.text_of(told(server))
        assert leftovers.until(lambda: not sleepers(server), test_nodes.LOST)


@pytest.mark.parametrize("end", ["term", "stdin"])
@pytest.mark.parametrize("script", ["\"$0\" node; sleep {0}", "\"$0\" node; trap '' TERM; exec sleep {0}",
                                    "trap '' TERM; \"$0\" node; sleep {0}"])
def test_children_of_a_launcher_end_with_the_server(script, end):
    seconds = f"100.{time.monotonic_ns()}"
    server = test_nodes.Far(["/bin/sh", "-c", script.format(seconds) + "; : node", os.environ["PYEXECD"]])
    try:
        assert server.result("print(1)")["stdout"] == "1\n"
        if end == "term":
            server.process.terminate()
        else:
            server.process.stdin.close()
        server.process.wait(test_nodes.LOST)
        left = [pid for pid in leftovers.processes() if seconds.encode() in leftovers.read(f"/proc/{pid}/cmdline")]
        assert leftovers.until(lambda: not leftovers.alive(left)), left
    finally:
        server.kill()


def test_the_end_of_a_launcher_is_not_taken_for_that_of_an_orphan():
    rest = test_nodes.configuration(["/bin/sh", "-c", "(trap '' TERM; sleep 1000) & sleep 0.$(($$ % 10)); exit 7; : node"], most=8)
    rest["environments"]["here"] = {"type": "system"}
    with leftovers.Watched(config={**rest, "default_environment": "there"}) as server:
        server.initialize()
        for _ in range(2):
            ids = [server.start_tool("run_python", {"code": "pass"}) for _ in range(8)]
            while not all(str(began) in server.responses for began in ids):
                server.call_tool("run_python", {"code": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(5)",
                                                "environment": "here"})
            assert all("exit status 7" in sessions.text_of(answer) for answer in test_nodes.answers(server, ids))


def test_a_launcher_that_chatters_fills_no_memory():
    with test_nodes.Far(["/bin/sh", "-c", "yes job 17 waits | head -n 100000 >&2; exec \"$0\" node",
                         os.environ["PYEXECD"]]) as server:
        answer = server.call_tool("run_python", {"code": "print(1)"}, progress_token="p")
        assert answer["structuredContent"]["stdout"] == "1\n"
        assert len(server.progress("p")) < 1000


# Scripts

LOOK = """
import glob, os
found = []
for folder in glob.glob("/proc/[0-9]*"):
    try:
        command = open(folder + "/cmdline", "rb").read()
    except OSError:
        continue
    if PROGRAM in command and b"runner" not in command:
        for name in ["/fd", "/mem", "/environ"]:
            try:
                os.listdir(folder + name) if name == "/fd" else os.close(os.open(folder + name, os.O_RDONLY))
                found.append((command, name))
            except OSError:
                found.append((command, ""))
print(sorted(set(found)))
"""


def look():
    return f"PROGRAM = {os.fsencode(os.environ['PYEXECD'])!r}\n" + LOOK


@pytest.mark.plain
@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_script_without_a_sandbox_cannot_open_the_wire():
    with test_nodes.Far(environment={"isolation": "none"}) as server:
        found = server.result(look())["stdout"]
        assert "/fd" not in found and "/mem" not in found, found


@pytest.mark.plain
def test_a_script_in_a_sandbox_sees_nothing_of_a_node():
    with test_nodes.Far() as server:
        result = server.result(look())
        assert result["stdout"] == "[]\n" or "/fd" not in result["stdout"], result


@pytest.mark.plain
@pytest.mark.parametrize("isolation", ["none", "sandbox"])
def test_a_script_inherits_nothing_of_the_wire(isolation):
    with test_nodes.Far(environment={"isolation": isolation}) as server:
        here = "import os\nfor name in sorted(os.listdir('/proc/self/fd')):\n    print(name, end=' ')"
        assert server.result(here)["stdout"].split()[:4] == ["0", "1", "2", "3"]  # 3 is the folder that is listed
        assert len(server.result(here)["stdout"].split()) == 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees the descriptors of a node")
@pytest.mark.parametrize("isolation", ["none", "sandbox"])
def test_no_process_below_a_node_has_its_wire(isolation):
    with test_nodes.Far(environment={"isolation": isolation}) as server:
        server.result("pass")
        server.start_tool("run_python", {"code": "NAME = 'run0'\n" + test_nodes.DAEMON})
        assert leftovers.until(lambda: test_nodes.begun(server)), server.stderr()
        (node,) = server.nodes()
        wire = set(open_files(node).values()) & set(open_files(server.process.pid).values())
        pipes = {file for file in wire if file.startswith("pipe:")}
        below = leftovers.descendants(node)
        assert len(below) > 2 and len(pipes) >= 2
        assert not pipes & {file for pid in below for file in open_files(pid).values()}
        server.responses = {}


def open_files(pid):
    """{descriptor: what it leads to} of a process."""
    found = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            found[name] = os.readlink(f"/proc/{pid}/fd/{name}")
    return found


@pytest.mark.parametrize("ends, warned", [("\"$0\" node; true", True), ("exec \"$0\" node", False)])
def test_a_shell_that_holds_the_wire_is_told(ends, warned):
    with test_nodes.Far(["/bin/sh", "-c", ends, os.environ["PYEXECD"]]) as server:
        assert server.result("print(1)")["stdout"] == "1\n"
        assert ("exec pyexecd node" in server.stderr()) == warned


def test_a_script_that_prints_frames_forges_nothing():
    frames = b"".join(n.to_bytes(4, "little") for n in (18, 6, 1)) + b"{}" + b"pyexecd wire 1\n"
    with test_nodes.Far() as server:
        result = server.result(f"import os\nos.write(1, {frames!r})\nos.write(2, {frames!r})\nprint('end')")
        assert result["success"] and result["stdout"].endswith("end\n") and result["stdout_bytes"] == len(frames) + 4


# The node itself


@pytest.mark.once
def test_runs_whose_node_is_stopped_are_answered_by_name():
    with test_nodes.Far(test_nodes.relayed()) as server:
        began = server.start_tool("run_python", {"code": "NAME = 'run0'\n" + test_nodes.DAEMON, "timeout": 500})
        assert leftovers.until(lambda: test_nodes.begun(server)), server.stderr()
        pids = test_nodes.killed(server, server.nodes(), signal.SIGSTOP)
        server.ids = [began]
        test_nodes.assert_all_are_answered_by_name(server)
        test_nodes.assert_nothing_is_left(pids)
