"""Environments on nodes: calls are prepared and executed by `pyexecd node` behind a launcher, as they are here, and
whatever is lost, nobody waits for it, nothing of it is left, and nothing runs twice."""

import functools
import hashlib
import json
import os
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import time

import pytest

import client
import leftovers
import sessions
import wire

RELAY, LIMITED, FALSE = (str(pathlib.Path(__file__).with_name(name)) for name in ("relay.py", "limited.py", "false_node.py"))
LOST = 20  # seconds in which nothing is left of what was lost
WHOLE = 8 << 20  # bytes: more than the window of a channel, and than pipes hold
RUNS = 4 if leftovers.sanitized() else 20

# Marks that it has begun, and leaves a process behind that only the end of its tree ends.
DAEMON = leftovers.DAEMON.replace("os.wait()", """
os.wait()
print("here", flush=True)
time.sleep(0.5)
with open(NAME, "a") as file:
    file.write("begun\\n")
time.sleep(1000)
""")


# Marks that it has begun, and has a name of its own.
NAMED = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"a-script")
print("here", flush=True)
with open(NAME, "w") as file:
    file.write("begun\\n")
time.sleep(500)
"""


def node():
    return [os.environ["PYEXECD"], "node"]


def relayed(seconds=0):
    return [sys.executable, RELAY, str(seconds), *node()]


def limited(*denied):
    """A node that has less than this machine."""
    return [sys.executable, LIMITED, *denied, "--", *node()]


def by_turns(first, second):
    """A launcher of the shell: the first time it is FIRST, then SECOND. Its words are a limited node; the last two, a whole
    one."""
    script = f'if mkdir "$HOME/begun" 2>/dev/null; then {first}; else {second}; fi; : node'
    return ["/bin/bash", "-c", script, *limited("namespaces")]


def configuration(launcher=None, most=1, **more):
    far = {"type": "system", "node": "far", "environment": {}, **more.pop("environment", {})}
    kind = {"launcher": launcher or node(), "most": most, "idle": more.pop("idle", 600)}
    return {"nodes": {"far": kind}, "environments": {"there": far}, "sessions": {"number": 8}, **more}


class Far(leftovers.Watched):
    """A server whose environment is on nodes."""

    ids = ()

    def __init__(self, *arguments, variables=None, **more):
        self.arrangement = configuration(*arguments, **more)
        super().__init__("--log-level", "info", config=self.arrangement, environment=variables)
        self.initialize()

    def marked(self, config):
        config["environments"]["there"]["environment"][leftovers.VARIABLE] = self.mark
        return config

    def run(self, code, **more):
        return self.call_tool("run_python", {"code": code, **more})

    def result(self, code, **more):
        answer = self.run(code, **more)
        assert "structuredContent" in answer, answer
        return answer["structuredContent"]

    def launchers(self):
        return [pid for pid in leftovers.descendants(self.process.pid)
                if leftovers.read(f"/proc/{pid}/cmdline").rstrip(b"\0").endswith(b"\0node")
                and leftovers.parent_and_state(pid)[0] == self.process.pid]

    def nodes(self):
        name = os.environ["PYEXECD"].encode() + b"\0node\0"
        return [pid for pid in leftovers.descendants(self.process.pid)
                if leftovers.read(f"/proc/{pid}/cmdline") == name]


@pytest.fixture(scope="module")
def far():
    with Far() as server:
        yield server


@pytest.fixture
def victim(request):
    """A server with RUNS calls under way behind relays, which the test spoils."""
    server = Far(relayed(), most=RUNS)
    try:
        server.ids = [server.start_tool("run_python", {"code": f"NAME = 'run{i}'\n" + DAEMON, "timeout": 500})
                      for i in range(RUNS)]
        assert leftovers.until(lambda: len(begun(server)) == RUNS), server.stderr()
        yield server
    finally:
        server.kill()


def begun(server):
    return [path for path in server.home.rglob("run*") if path.name[3:].isdigit()]


def assert_ran_once(server):
    assert {path.read_text() for path in begun(server)} == {"begun\n"}


def answers(server, ids, seconds=60):
    deadline = time.monotonic() + seconds
    return [server.wait(request_id, deadline - time.monotonic())["result"] for request_id in ids]


def assert_nothing_is_left(pids, seconds=LOST):
    assert leftovers.until(lambda: not leftovers.alive(pids), seconds) is True, \
        {pid: leftovers.read(f"/proc/{pid}/cmdline") for pid in leftovers.alive(pids)}


# A run


def test_a_run_is_what_it_is_here(far):
    result = far.result("import sys, os\nprint(os.getcwd())\nprint('aside', file=sys.stderr)\nopen('made', 'w').write('x')")
    assert result["success"] and result["stderr"] == "aside\n" and result["isolation"] == "sandbox"
    assert result["working_directory"] in result["stdout"]
    assert [file["path"] for file in result["files"]] == ["made"]
    assert result["python_version"].startswith("3.")


def test_the_receipt_is_that_of_the_node_and_names_it(far):
    held = far.result("pass")["containment"]
    assert held["node"] == f"far ({socket.gethostname()})"
    assert set(held["layers"].values()) <= {"enforced", "absent"} and "enforced" in held["layers"].values()


def test_files_of_the_call_and_its_directory_are_there(far):
    first = far.result("print(open('given.txt').read())", files=[{"path": "given.txt", "text": "a gift"}])
    assert first["stdout"] == "a gift\n"
    again = far.result("import os; print(sorted(os.listdir()))", working_directory=first["working_directory"])
    assert "given.txt" in again["stdout"]


@pytest.mark.parametrize("code, returncode", [("raise SystemExit(3)", 3), ("1 / 0", 1),
                                              ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", -11)])
def test_the_end_is_told(far, code, returncode):
    result = far.result(code)
    assert not result["success"] and result["returncode"] == returncode
    assert ("ZeroDivisionError" in result["stderr"]) == (code == "1 / 0")


def test_a_timeout_interrupts_it(far):
    result = client.given_time(lambda: far.result("import time\ntry:\n    time.sleep(60)\nfinally:\n    print('late')", timeout=2))
    assert result["timed_out"] and result["stdout"] == "late\n"


def test_a_timeout_kills_what_ignores_it(far):
    code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)"
    result = far.result(code, timeout=1)
    assert result["timed_out"] and result["signal"] == "SIGKILL"


def test_output_that_is_larger_than_the_window_comes_whole_or_is_counted(far):
    code = f"import os, sys\nfor _ in range(8):\n    sys.stdout.buffer.write(os.urandom({WHOLE}))"
    result = far.result(code)
    assert result["success"] and result["stdout_bytes"] == 8 * WHOLE
    assert far.result("print('after')")["stdout"] == "after\n"


def test_output_comes_while_it_runs(far):
    with Far(relayed()) as server:
        server.call_tool("run_python", {"code": "pass"})
        began = server.start_tool("run_python", {"code": "import time\nprint('first', flush=True)\ntime.sleep(1000)"},
                                  progress_token="p")
        assert leftovers.until(lambda: any("first" in str(news) for news in news_of(server)))
        server.cancel(began)


def news_of(server):
    try:
        server.request("ping")
    except TimeoutError:
        pass
    return server.progress("p")


def test_limits_hold(far):
    with Far(environment={"limits": {"memory": "200MiB", "disk": "1MiB"}}) as server:
        result = server.result("a = bytearray(1 << 30)\nprint(len(a))")
        assert not result["success"] and ("MemoryError" in result["stderr"] or result["out_of_memory"])
        result = server.result("import time\nfor i in range(60):\n    open(f'f{i}', 'wb').write(bytes(1 << 19))\n    time.sleep(0.1)")
        assert not result["success"]


def test_a_free_node_goes_to_who_has_the_fewest(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.touch(0o600)
    tokens.write_text("".join(f"{name} sha256:{hashlib.sha256(name.encode() * 8).hexdigest()}\n" for name in ("alice", "bobby")))
    with client.Server(transport="tcp", config=configuration(most=2, token_file=str(tokens))) as server:
        first, second = callers = [server.connect() for _ in range(2)]
        for caller, name in zip(callers, ("alice", "bobby")):
            caller.send_line(f"Authorization: Bearer {name * 8}")
            caller.initialize(wire.NEWEST_LEGACY)
        opened = [first.call_tool("run_python", {"code": "pass", "session": "new"})["structuredContent"] for _ in range(2)]
        waits = first.start_tool("run_python", {"code": "pass", "session": "new"})
        first.request("ping")
        later = second.start_tool("run_python", {"code": "print('second')"})
        second.request("ping")
        time.sleep(1)
        first.call_tool("manage_sessions", {"action": "close", "session": opened[0]["session"]["name"]})
        assert second.wait(later)["result"]["structuredContent"]["stdout"] == "second\n"
        assert not first.wait(waits)["result"]["isError"]


def test_a_cancelled_run_is_ended_and_its_node_is_used_again(far):
    began = far.start_tool("run_python", {"code": "NAME = 'run0'\n" + DAEMON})
    assert leftovers.until(lambda: begun(far)), far.stderr()
    nodes = far.nodes()
    far.cancel(began)
    assert not far.survivors()
    assert far.result("print('next')")["stdout"] == "next\n"
    assert far.nodes() == nodes
    for path in begun(far):
        path.unlink()


def test_warm_starts_are_had_there(far):
    assert leftovers.until(lambda: far.result("pass")["timings"]["warm"])


@pytest.mark.serial
def test_a_call_on_a_held_node_takes_a_millisecond_more_at_most():
    here = {"type": "system"}
    with leftovers.Watched(config={**configuration(), "default_environment": "here",
                                   "environments": {"here": here, "there": {**here, "node": "far"}}}) as server:
        server.initialize()
        taken = {"here": [], "there": []}
        for i in range(440):
            name = "there" if i // 22 % 2 else "here"
            began = time.monotonic()
            server.call_tool("run_python", {"code": "print(1)", "environment": name})
            if i % 22 > 1:  # the Python for the first was started for another environment
                taken[name].append(time.monotonic() - began)
        medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
        most = 0.005 if leftovers.sanitized() else max(0.001, medians["here"] / 5)  # a busy machine takes longer for both
        assert medians["there"] - medians["here"] < most, medians


def test_without_a_sandbox_it_has_none_there():
    with Far(environment={"isolation": "none"}) as server:
        result = server.result("print(1)")
        assert result["stdout"] == "1\n" and result["isolation"] == "none"


def test_the_gpus_of_its_job_are_told():
    given = ["env", "CUDA_VISIBLE_DEVICES=3", "SLURM_JOB_ID=7", *node()]
    show = "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'), 'SLURM_JOB_ID' in os.environ)"
    with Far(given, most=2) as server:
        assert server.result(show)["stdout"] == "3 False\n"
        assert sessions.Session(server).shown(show) == "3 False"
        assert leftovers.until(lambda: server.result("pass")["timings"]["warm"])
        assert server.result(show)["stdout"] == "3 False\n"
    with Far(given, environment={"environment": {"CUDA_VISIBLE_DEVICES": "0"}}) as server:
        assert server.result(show)["stdout"] == "0 False\n"


def test_models_are_told_its_places():
    with Far(environment={"read": ["/usr/share"]}) as server:
        text = json.dumps(server.find_tool())
        assert "there: another machine" in text and "/usr/share (read-only)" in text


def test_a_venv_is_made_there():
    with Far(environment={"type": "venv"}) as server:
        assert "venv" in server.result("import sys; print(sys.prefix)")["stdout"]


def writer_and_reader(tmp_path, elsewhere):
    """A configuration in which scripts of one environment write where those of the other read; ELSEWHERE are on a node."""
    (tmp_path / "lib").mkdir()
    python = {"type": "system", "isolation": "sandbox", "environment": {}}
    environments = {"writer": {**python, "write": [str(tmp_path / "lib")]},
                    "reader": {**python, "read": [str(tmp_path / "lib")], "start": "warm"}}
    for name in elsewhere:
        environments[name]["node"] = "far"
    return {**configuration(), "environments": environments, "default_environment": "reader"}


@pytest.mark.parametrize("elsewhere", [["reader"], ["reader", "writer"], ["writer"]])
def test_what_scripts_of_another_environment_write_is_not_executed_ahead(tmp_path, elsewhere):
    """Places may be shared between all machines."""
    config = writer_and_reader(tmp_path, elsewhere)
    with leftovers.Watched("--log-level", "info", config=config) as server:
        server.initialize()
        run = functools.partial(server.call_tool, "run_python", {"code": "pass"})
        assert leftovers.until(lambda: run()["structuredContent"]["timings"]["warm"])
        assert not [pid for pid in leftovers.descendants(server.process.pid) if leftovers.is_zygote(pid)]
        said = f"reader reads {tmp_path}/lib, where scripts of writer can write{' on its nodes' * ('writer' in elsewhere)}: "
        assert said in server.stderr()


@pytest.mark.parametrize("elsewhere, meet", [(["reader"], False), (["writer"], False), (["reader", "writer"], True)])
def test_what_is_written_on_nodes_without_a_file_of_this_machine_is_not_read_here(tmp_path, elsewhere, meet):
    config = writer_and_reader(tmp_path, elsewhere)
    config["nodes"]["far"]["files"] = "copied"
    with leftovers.Watched("--log-level", "info", config=config) as server:
        server.initialize()
        assert (f"reader reads {tmp_path}/lib, where scripts of writer can write" in server.stderr()) == meet


# Sessions


def test_a_session_keeps_its_variables(far):
    session = sessions.Session(far, "x = 6")
    assert session.shown("print(x * 7)") == "42"
    assert "ZeroDivisionError" in session.run("1 / 0")["stderr"]
    assert session.shown("print(x)") == "6"


def test_a_cell_is_interrupted_and_its_session_lives_on():
    with Far() as server:
        session = sessions.Session(server, "x = 1")
        assert session.run("import time; time.sleep(60)", timeout=1)["timed_out"]
        assert session.shown("print(x)") == "1"


def test_an_interrupt_does_not_come_before_its_cell():
    with Far([sys.executable, FALSE, "ear"]) as server:
        assert sessions.call(server, "pass", "new", timeout=1e-6)["isError"]
        assert leftovers.until(lambda: server.stderr().count("says: heard") == 2), server.stderr()
        assert re.findall("says: heard (.*)", server.stderr()) == ["cells", "an interrupt"]


def test_all_output_of_a_cell_is_its_own():
    with Far() as server:
        session = sessions.Session(server)
        assert session.run(f"print('x' * {WHOLE})")["stdout_bytes"] == WHOLE + 1
        assert session.shown("print('next')") == "next"


def test_a_cell_that_is_larger_than_the_window_comes_whole():
    with Far() as server:
        session = sessions.Session(server)
        assert session.shown(f"x = '{'y' * 900_000}'\nprint(len(x))") == "900000"
        assert session.shown("print(x.count('y'))") == "900000"


def test_a_session_has_its_node_for_itself():
    with Far(most=2) as server:
        session = sessions.Session(server, "x = 1")
        assert server.result("print(1)")["stdout"] == "1\n"
        assert len(server.nodes()) == 2
        assert session.shown("print(x)") == "1"


def test_a_session_on_a_node_is_not_copied():
    with Far() as server:
        session = sessions.Session(server, "x = 1")
        answer = sessions.call(server, "x", fork=session.name)
        assert answer["isError"] and 'cannot be copied: it is on a node of "far"' in sessions.text_of(answer)


# Nodes


def test_no_more_nodes_than_most_and_others_wait():
    with Far(most=2, limits={"concurrent_runs": 1}) as server:
        ids = [server.start_tool("run_python", {"code": "import time; time.sleep(1); print(1)"}) for _ in range(4)]
        assert leftovers.until(lambda: len(server.nodes()) == 2)
        for answer in answers(server, ids):
            assert answer["structuredContent"]["stdout"] == "1\n"
            assert len(server.nodes()) == 2


def test_a_node_that_nobody_uses_is_ended():
    with Far(idle=1) as server:
        assert server.result("pass")["success"]
        assert leftovers.until(lambda: not server.nodes())
        assert server.result("print('anew')")["stdout"] == "anew\n"


def test_the_queue_of_a_scheduler_is_progress():
    with Far(relayed(2)) as server:
        answer = server.call_tool("run_python", {"code": "print(1)"}, progress_token="p")
        assert answer["structuredContent"]["success"]
        assert any("job 17 queued" in str(news) for news in server.progress("p"))


@pytest.mark.parametrize("more", [{}, {"session": "new"}])
def test_a_cancel_leaves_nothing_in_the_queue(more):
    with Far(relayed(1000)) as server:
        began = server.start_tool("run_python", {"code": "print(1)", **more})
        assert leftovers.until(server.launchers)
        server.cancel(began)
        assert leftovers.until(lambda: not server.launchers(), LOST)


def test_nothing_stays_in_the_queue_of_a_server_that_is_killed():
    server = Far(relayed(1000))
    try:
        server.start_tool("run_python", {"code": "print(1)"})
        assert leftovers.until(server.launchers)
        pids = server.launchers()
        os.kill(server.process.pid, signal.SIGKILL)
        assert_nothing_is_left(pids)
    finally:
        server.kill()


def test_a_run_waits_for_a_node_that_a_session_has():
    with Far() as server:
        session = sessions.Session(server, "x = 1")
        began = server.start_tool("run_python", {"code": "print('at last')"}, progress_token="p")
        assert leftovers.until(lambda: any("every node of far is in use" in str(news) for news in news_of(server)))
        server.call_tool("manage_sessions", {"action": "close", "session": session.name})
        assert server.wait(began)["result"]["structuredContent"]["stdout"] == "at last\n"


def test_a_run_that_waits_hears_of_one_node_only():
    queue = 'echo "job $$ queued" >&2; until [ -e "$HOME/go" ]; do sleep 0.1; done; exec "${@: -2}"'
    with Far(by_turns('exec "${@: -2}"', queue), most=3) as server:
        session = sessions.Session(server, "x = 1")
        ids = [server.start_tool("run_python", {"code": "print(1)"}, progress_token=token) for token in ("p", "q")]
        assert leftovers.until(lambda: all(jobs(server, token) for token in ("p", "q"))), server.stderr()
        assert len(jobs(server, "p")) == len(jobs(server, "q")) == 1 and jobs(server, "p") != jobs(server, "q")
        (pathlib.Path(server.environment["HOME"]) / "go").touch()
        assert all(answer["structuredContent"]["stdout"] == "1\n" for answer in answers(server, ids))
        assert session.shown("print(x)") == "1"


def jobs(server, token):
    """The jobs of which a run was told."""
    server.request("ping")
    return set(re.findall(r"job \d+ queued", json.dumps(server.progress(token))))


@pytest.mark.parametrize("launcher, said", [
    (["/bin/sh", "-c", "echo no such partition >&2; exit 3"], "exit status 3:\nno such partition"),
    (["/nowhere/srun"], "No such file or directory"),
    (["/bin/echo", "Welcome to worker"], "Welcome to worker"),
    (["/bin/sh", "-c", "printf 'pyexecd wire 1\\n'; cat /dev/urandom"], "no frame"),
])
def test_a_launcher_that_fails_is_told(launcher, said):
    with Far(launcher) as server:
        answer = server.run("print(1)")
        assert answer["isError"] and said in sessions.text_of(answer) and '"far"' in sessions.text_of(answer)
        assert not leftovers.alive(server.launchers())


def test_what_a_node_lacks_is_told(far):
    with Far(environment={"read": ["/nowhere/data"]}) as server:
        answer = server.run("print(1)")
        assert answer["isError"] and "on this node: read: /nowhere/data" in sessions.text_of(answer)


def test_a_node_that_gives_less_than_the_first_gets_scripts_as_it_can_take_them():
    """Nothing is started twice for that."""
    with Far(by_turns('exec "${@: -2}"', 'exec "$0" "$@"'), idle=1) as server:
        server.result("pass")
        assert leftovers.until(lambda: not server.nodes())
        result = server.result("open('begun', 'a').write('once\\n')\nprint(__file__.rpartition('/')[2])")
        assert result["stdout"] == "script.py\n" and result["containment"]["layers"]["own root directory"] == "absent"
        assert [path.read_text() for path in server.home.rglob("begun") if path.is_file()] == ["once\n"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is somebody else")
def test_a_node_of_another_user_is_refused_by_that_name(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    os.chown(state, 65534, 65534)
    launcher = ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups", "env", f"XDG_STATE_HOME={state}", *node()]
    with Far(launcher) as server:
        text = sessions.text_of(server.run("print(1)"))
        assert "runs as user 65534" in text and "log in as the server's user" in text and "mount" not in text


def test_the_place_of_the_files_may_be_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for more in ({}, {"working_directory": str(tmp_path / "link/work")}):
        with Far(variables={"XDG_STATE_HOME": str(tmp_path / "link")}, **more) as server:
            assert server.result("print(1)")["stdout"] == "1\n"


def test_a_node_without_the_files_is_refused():
    with Far(["/usr/bin/unshare", "-m", "/bin/sh", "-c", 'mount -t tmpfs none "$HOME" && exec "$0" node',
              os.environ["PYEXECD"]]) as server:
        if os.geteuid() != 0:
            pytest.skip("only root mounts")
        answer = server.run("print(1)")
        assert answer["isError"] and "`files: shared`" in sessions.text_of(answer)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
@pytest.mark.parametrize("hides", [False, True])
def test_a_directory_of_the_user_is_that_directory_there_too(tmp_path, hides):
    place = tmp_path / "place"
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    mounts = f"mount -t tmpfs none {place} && " if hides else ""
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(configuration(
        ["/usr/bin/unshare", "-m", "/bin/sh", "-c", mounts + 'exec "$0" node', os.environ["PYEXECD"]])))
    path.chmod(0o600)
    result = subprocess.run([os.environ["PYEXECD"], "run", "--config", path, "-c", "print(open('mine.txt').read())"],
                            cwd=place, capture_output=True, text=True, timeout=60,
                            env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")})
    assert (result.stdout == "") if hides else (result.stdout == "mine\n"), result
    assert (f"another directory than the server at {place}" in result.stderr) == hides


def test_the_end_of_the_server_is_the_end_of_its_nodes():
    with Far(relayed()) as server:
        server.result("pass")
        pids = leftovers.descendants(server.process.pid)
        assert pids
    assert_nothing_is_left(pids)


def test_a_server_that_ends_ends_runs_and_sessions_on_nodes():
    with Far(relayed(), most=2) as server:
        sessions.Session(server, "x = 1")
        server.start_tool("run_python", {"code": "NAME = 'run0'\n" + DAEMON})
        assert leftovers.until(lambda: begun(server)), server.stderr()
        pids = [pid for launcher in server.launchers() for pid in [launcher, *leftovers.descendants(launcher)]]
        server.responses = {}
        began = time.monotonic()
    assert time.monotonic() - began < LOST
    assert_nothing_is_left(pids)


def test_another_launcher_takes_effect_with_a_reload():
    with Far() as server:
        server.result("pass")
        nodes = server.nodes()
        server.arrangement["nodes"]["far"]["launcher"] = relayed()
        path = pathlib.Path(server.environment["PYEXECD_CONFIG"])
        path.write_text(json.dumps({**json.loads(path.read_text()), "nodes": server.arrangement["nodes"]}))
        server.process.send_signal(signal.SIGHUP)
        assert_nothing_is_left(nodes)
        assert server.result("print('anew')")["stdout"] == "anew\n"
        assert any(b"relay.py" in leftovers.read(f"/proc/{pid}/cmdline") for pid in server.launchers())


# What is lost


def killed(server, pids, number=signal.SIGKILL):
    before = [pid for launcher in server.launchers() for pid in [launcher, *leftovers.descendants(launcher)]]
    assert len(before) > 3 * len(server.ids) or not server.ids
    for pid in pids:
        os.kill(pid, number)
    return before


def assert_was_lost(answer):
    text = sessions.text_of(answer)
    assert answer["isError"] and "node far (" in text and "was lost" in text and "not started again" in text
    assert "Code output: here" in text and answer["structuredContent"]["isolation"] == "sandbox"


def assert_all_are_answered_by_name(server):
    for answer in answers(server, server.ids):
        assert_was_lost(answer)
    assert_ran_once(server)


def test_runs_whose_server_is_killed_are_ended(victim):
    pids = killed(victim, [victim.process.pid])
    victim.process.wait()
    assert_nothing_is_left(pids)
    assert_ran_once(victim)


def test_runs_whose_node_is_killed_are_answered_by_name(victim):
    pids = killed(victim, victim.nodes())
    assert_all_are_answered_by_name(victim)
    assert_nothing_is_left(pids)


def test_runs_whose_launcher_is_killed_are_answered_by_name(victim):
    pids = killed(victim, victim.launchers())
    assert_all_are_answered_by_name(victim)
    assert_nothing_is_left(pids)


def test_runs_whose_launcher_is_stopped_are_answered_by_name(victim):
    pids = killed(victim, victim.launchers(), signal.SIGSTOP)
    assert_all_are_answered_by_name(victim)
    assert_nothing_is_left(pids)


def test_whoever_ends_a_node_ends_its_scripts_in_whatever_order():
    """A scheduler signals all processes of a job. Here the node hears of its script's end and of its own at the same time."""
    with Far() as server:
        server.ids = [server.start_tool("run_python", {"code": f"NAME = 'run0'\n{NAMED}", "timeout": 500})]
        assert leftovers.until(lambda: begun(server)), server.stderr()
        node, = server.nodes()
        script, = (pid for pid in leftovers.descendants(node) if leftovers.read(f"/proc/{pid}/comm") == b"a-script\n")
        supervisor = leftovers.parent_and_state(script)[0]
        os.kill(node, signal.SIGSTOP)
        os.kill(script, signal.SIGTERM)
        assert leftovers.until(lambda: not leftovers.alive([script, supervisor]))
        time.sleep(1)  # the more there is to read at once, the more the test shows
        os.kill(node, signal.SIGTERM)
        os.kill(node, signal.SIGCONT)
        assert_all_are_answered_by_name(server)


def test_a_session_whose_node_is_lost_says_so():
    with Far() as server:
        session = sessions.Session(server, "x = 1")
        killed(server, server.nodes())
        answer = sessions.call(server, "print(x)", session.name)
        assert answer["isError"] and "was lost" in sessions.text_of(answer)


# The program


def test_the_end_of_its_input_ends_it():
    result = subprocess.run(node(), input=b"pyexecd wire 1\n", capture_output=True, timeout=60)
    assert result.returncode == 0 and result.stdout.startswith(b"pyexecd wire 1\n")


@pytest.mark.parametrize("hello", [b"", b"pyexecd wire 1\n"])
def test_what_is_no_server_is_given_up(hello):
    result = subprocess.run(node(), input=hello + os.urandom(1 << 20), capture_output=True, timeout=60)
    assert result.returncode == 1 and b"the server is given up" in result.stderr and b"Sanitizer" not in result.stderr


class Wire:
    """The server's end of the wire of a node, by hand."""

    HELLO, READY, PING, CREDIT, ENVIRONMENT, PREPARE, START, CODE = range(1, 9)
    BEGUN, OUT, ENDED, ECHO = 14, 15, 18, 19

    def __init__(self, folder, launcher=()):
        variables = {**os.environ, "XDG_STATE_HOME": str(folder), leftovers.VARIABLE: folder.name}
        self.process = subprocess.Popen([*launcher, *node()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables,
                                        bufsize=0)
        (folder / "trial").write_text("found")
        assert self.read(15) == b"pyexecd wire 1\n"
        self.process.stdin.write(b"pyexecd wire 1\n")
        assert self.receive()[0] == self.HELLO
        self.tell(self.HELLO, 0, protocol=3, is_best_effort=True, trial=str(folder / "trial"), content="found")
        assert self.receive()[2] == b"{}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def read(self, count):
        data = b""
        while len(data) < count and (piece := self.process.stdout.read(count - len(data))):
            data += piece
        return data

    def receive(self):
        """(type, channel, data) of the next frame but pings; None at the end."""
        while head := self.read(12):
            kind, length, channel = (int.from_bytes(head[i:i + 4], "little") for i in (0, 4, 8))
            data = self.read(length - 4)
            if kind != self.PING:
                return kind, channel, data

    def send(self, kind, channel, data=b""):
        numbers = (kind, len(data) + 4, channel)
        self.process.stdin.write(b"".join(number.to_bytes(4, "little") for number in numbers) + data)

    def tell(self, kind, channel, **message):
        self.send(kind, channel, json.dumps(message).encode())

    def start(self, folder, code, timeout):
        (folder / "work").mkdir()
        (folder / "work/script.py").write_text(code)
        definition = {"type": "system", "isolation": "none", "environment": {leftovers.VARIABLE: folder.name}}
        settings = {"timeout": 60, "max_timeout": 60,
                    "limits": {"memory": 1 << 30, "disk": 1 << 30, "output": 1 << 20, "processes": 64, "cpus": 1}}
        self.tell(self.ENVIRONMENT, 1, number=1, name="there", definition=definition, settings=settings)
        self.tell(self.START, 1, environment=1, directory=str(folder / "work"), owner="me", timeout=timeout, isolation=0,
                  script=str(folder / "work/script.py"), code_length=0)

    def take_output(self):
        """The next frame, with credit for what it has printed."""
        frame = self.receive()
        if frame[0] == self.OUT:
            self.send(self.CREDIT, frame[1], len(frame[2]).to_bytes(4, "little"))
        return frame

    def until(self, kind):
        """The data of the next frame of KIND, and the bytes printed before."""
        printed = 0
        while frame := self.receive():
            if frame[0] == kind:
                return frame[2], printed
            printed += len(frame[2]) if frame[0] == self.OUT else 0
        return None, printed

    def runs(self, folder):
        mark = f"{leftovers.VARIABLE}={folder.name}".encode()
        return [pid for pid in leftovers.descendants(self.process.pid) if mark in leftovers.read(f"/proc/{pid}/environ")]


@pytest.mark.once
def test_a_node_kills_what_its_server_has_not_ended(tmp_path):
    with Wire(tmp_path) as wire:
        wire.start(tmp_path, "import time; time.sleep(1000)", 1)
        wire.until(wire.BEGUN)
        began = time.monotonic()
        for _ in range(3):
            time.sleep(3)
            wire.send(wire.PING, 0)
        end = json.loads(wire.until(wire.ENDED)[0])
        assert end["killed"] and end["returncode"] == -9
        assert 10 < time.monotonic() - began < 40


@pytest.mark.once
def test_a_node_that_hears_nothing_ends_with_its_trees(tmp_path):
    with Wire(tmp_path) as wire:
        wire.start(tmp_path, leftovers.DAEMON + "\ntime.sleep(1000)", 500)
        wire.until(wire.BEGUN)
        assert leftovers.until(lambda: len(wire.runs(tmp_path)) >= 2)
        assert_nothing_is_left([*wire.runs(tmp_path), wire.process.pid])
        assert wire.process.wait() == 1


def test_a_script_without_credit_waits(tmp_path):
    with Wire(tmp_path) as wire:
        wire.start(tmp_path, f"print('x' * {WHOLE}, end='', flush=True)\nopen('written', 'w')", 500)
        wire.until(wire.BEGUN)
        printed = 0
        while printed < 1 << 18:
            printed += len(wire.receive()[2])
        time.sleep(2)
        assert printed == 1 << 18 and not (tmp_path / "work/written").exists()
        for _ in range(WHOLE >> 18):
            wire.send(wire.CREDIT, 1, (1 << 18).to_bytes(4, "little"))
        _, rest = wire.until(wire.ENDED)
        assert printed + rest == WHOLE and (tmp_path / "work/written").exists()


PIECE = 32 << 10  # bytes: the most of one frame
WINDOW = 256 << 10  # bytes: of the output of one script, the most that is under way


def assert_bytes_come_back(wire, size):
    """Random bytes go there and come back as they were, eight frames at a time."""
    data = os.urandom(size)
    pieces = [data[at:at + PIECE] for at in range(0, size, PIECE)]
    for i, piece in enumerate(pieces):
        wire.send(wire.ECHO, 7, piece)
        if i >= 8:
            assert wire.receive() == (wire.ECHO, 7, pieces[i - 8])
    for piece in pieces[-8:]:
        assert wire.receive() == (wire.ECHO, 7, piece)


def test_random_bytes_go_each_way_as_they_were(tmp_path):
    with Wire(tmp_path) as wire:
        assert_bytes_come_back(wire, 64 << 20)


@pytest.mark.once
def test_a_flood_of_one_script_holds_up_no_word_of_another_channel(tmp_path):
    """Credit comes as fast as a server gives it, and the script prints as fast as it can: one window is before the word."""
    code = f"import os\nwhile True:\n    os.write(1, b'x' * {PIECE})"
    with Wire(tmp_path) as wire:
        wire.start(tmp_path, code, 500)
        wire.until(wire.BEGUN)
        waits = []
        for i in range(50):
            for _ in range(20):
                wire.take_output()
            began = time.monotonic()
            wire.send(wire.ECHO, 2, str(i).encode())
            before = 0
            while (frame := wire.take_output())[0] != wire.ECHO:
                before += len(frame[2])
            assert frame[2] == str(i).encode() and before <= WINDOW
            waits.append(time.monotonic() - began)
        print(f"median {statistics.median(waits) * 1000:.2f} ms, most {max(waits) * 1000:.2f} ms")


# What doctor says


def doctor(folder, nodes, **environments):
    path = folder / "config.yaml"
    environments = environments or {"here": {"type": "system"}}
    path.write_text(json.dumps({"nodes": nodes, "environments": environments, "default_environment": min(environments)}))
    path.chmod(0o600)
    return subprocess.run([os.environ["PYEXECD"], "doctor", "-c", path], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "XDG_STATE_HOME": str(folder / "state")})


def test_doctor_starts_each_node(tmp_path):
    lost = {"launcher": ["/bin/sh", "-c", "echo no such host >&2; exit 255"]}
    result = doctor(tmp_path, {"far": {"launcher": node()}, "lost": lost},
                    here={"type": "system"}, there={"type": "system", "node": "far"})
    assert result.returncode == 1 and result.stdout.startswith("pyexecd ") and "not ready, because\n  no   lost " in result.stdout
    lines = result.stdout.partition("\nnodes\n")[2].splitlines()
    assert lines[0].startswith("  yes  far ") and f"far ({socket.gethostname()}); started in " in lines[0]
    assert "working directories" in lines[0] and "round trip" in lines[1] and "throughput" in lines[2]
    assert lines[3].startswith("  no   lost ") and "exit status 255" in lines[3] and "no such host" in lines[4]
    there = result.stdout[result.stdout.index("  yes  there "):]
    assert "Python 3." in there and "isolation" in there


def test_doctor_names_the_command_that_looks_at_a_node(tmp_path):
    """What a node lacks is told where it is."""
    launcher = limited("landlock")
    result = doctor(tmp_path, {"far": {"launcher": launcher}}, there={"type": "system", "node": "far"})
    verdict = result.stdout.partition("\nkernel ")[0]
    assert "there: scripts run without file rules" in verdict and " ".join([*launcher[:-1], "doctor"]) in verdict, result.stdout


# The configuration


@pytest.mark.parametrize("config, complaint", [
    ("environments:\n  a: {type: system, node: gpu}\n", 'environments.a.node: no node is called "gpu"'),
    ("nodes:\n  cpu: {launcher: [ssh]}\nenvironments:\n  a: {type: system, node: gpu}\n", "there are: cpu"),
    ("nodes:\n  gpu: {most: 2}\n", "launcher"),
    ("nodes:\n  gpu: {launcher: []}\n", "nodes.gpu.launcher"),
    ("nodes:\n  gpu: {launcher: [ssh], files: moved}\n",
     "nodes.gpu.files: must be one of \"shared\", \"copied\""),
    ("nodes:\n  gpu: {launcher: [ssh]}\nenvironments:\n  a: {type: docker, image: 'x:1', node: gpu}\n",
     "environments.a.node: is a key of type system or venv, not of docker"),
])
def test_a_mistake_is_told_with_its_place(tmp_path, config, complaint):
    path = tmp_path / "config.yaml"
    path.write_text(config)
    path.chmod(0o600)
    result = subprocess.run([os.environ["PYEXECD"], "--check-config", path], capture_output=True, text=True, timeout=60)
    assert result.returncode == 78 and f"{path}:" in result.stderr and complaint in result.stderr, result.stderr
