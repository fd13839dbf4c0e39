"""Nodes by ssh and by Slurm, as people have them: what a call gets there, what it says while it waits, and what is left of
it when something on the way is lost."""

import functools
import os
import signal

import pytest

import leftovers
import machines
import sessions
import test_nodes

RUNS = {"ssh": 6, "slurm": 2}  # there are two GPUs


class Away(test_nodes.Far):
    """A server whose nodes are no descendants of it, and have a state directory that tells them from others."""

    def __init__(self, launcher, **more):
        super().__init__([*launcher, "env", "STATE", *test_nodes.node()], **more)

    def marked(self, config):
        launcher = config["nodes"]["far"]["launcher"]
        launcher[launcher.index("STATE")] = f"XDG_STATE_HOME={self.home}"
        return super().marked(config)

    def nodes(self):
        name = os.fsencode(os.environ["PYEXECD"]) + b"\0node\0"
        place = b"XDG_STATE_HOME=" + os.fsencode(self.home) + b"\0"
        return [pid for pid in leftovers.processes() if leftovers.read(f"/proc/{pid}/cmdline") == name
                and place in leftovers.read(f"/proc/{pid}/environ")]

    def processes(self):
        """The launchers have its folder among their words."""
        variable = f"{leftovers.VARIABLE}={self.mark}".encode()
        return [pid for pid in leftovers.processes() if variable in leftovers.read(f"/proc/{pid}/environ")
                and not leftovers.runs_no_script(pid)]

    def trees(self):
        """Everything that is there because of its nodes."""
        own = leftovers.descendants(self.process.pid)
        return [*self.launchers(), *(pid for node in self.nodes() for pid in [node, *leftovers.descendants(node)]),
                *(pid for pid in self.processes() if pid not in own)]


@pytest.fixture(scope="module")
def by_ssh(tmp_path_factory):
    if lack := machines.lack(machines.SSHD, "ssh"):
        pytest.skip(lack)
    with machines.ssh(tmp_path_factory.mktemp("ssh")) as launcher:
        yield launcher


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if lack := machines.lack(machines.MUNGED, "slurmctld", "slurmd", "srun"):
        pytest.skip(lack)
    with machines.slurm(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(params=["ssh", "slurm"])
def away(request):
    """What makes a server whose nodes are there."""
    launcher = request.getfixturevalue("by_ssh" if request.param == "ssh" else "cluster")
    words = launcher if request.param == "ssh" else launcher.launcher
    make = functools.partial(Away, words)
    make.words = words
    make.runs = RUNS[request.param]
    make.queue = (lambda: []) if request.param == "ssh" else launcher.queue
    return make


class Copying(Away):
    """The same; they have no file of the server's."""

    def marked(self, config):
        config = super().marked(config)
        config["nodes"]["far"]["files"] = "copied"
        launcher = config["nodes"]["far"]["launcher"]
        launcher[launcher.index(f"XDG_STATE_HOME={self.home}")] += "/there"
        return config


# What a call gets


def test_a_run_is_what_it_is_here(away):
    with away() as server:
        result = server.result("import os, sys\nprint(os.getcwd())\nprint('aside', file=sys.stderr)\nopen('made', 'w').write('x')")
        assert result["success"] and result["stderr"] == "aside\n" and result["working_directory"] in result["stdout"], result
        assert [file["path"] for file in result["files"]] == ["made"]
        assert result["isolation"] == "sandbox" and result["containment"]["node"].startswith("far (")
        assert server.result("raise SystemExit(3)")["returncode"] == 3
        assert server.result("import time; time.sleep(60)", timeout=1)["timed_out"]
        assert len(server.nodes()) == 1


def test_a_session_keeps_its_variables(away):
    with away() as server:
        session = sessions.Session(server, "x = 6")
        assert session.shown("print(x * 7)") == "42"
        assert session.run("import time; time.sleep(60)", timeout=1)["timed_out"]
        assert session.shown("print(x)") == "6"


def test_a_venv_and_code_blocks_are_had_there(away):
    with away(environment={"type": "venv"}) as server:
        assert "venv" in server.result("import sys; print(sys.prefix)")["stdout"]


def test_output_comes_whole(away):
    with away() as server:
        result = server.result(f"import os, sys\nfor _ in range(4):\n    sys.stdout.buffer.write(os.urandom({test_nodes.WHOLE}))")
        assert result["stdout_bytes"] == 4 * test_nodes.WHOLE


def test_random_bytes_go_each_way_as_they_were(away, tmp_path):
    with test_nodes.Wire(tmp_path, [*away.words, "env", f"XDG_STATE_HOME={tmp_path}"]) as wire:
        test_nodes.assert_bytes_come_back(wire, 64 << 20)
        wire.process.stdin.close()
        assert wire.process.wait(test_nodes.LOST) == 0


def test_files_go_each_way_as_they_were(away):
    with Copying(away.words) as server:
        made = server.result("import hashlib, os\ndata = os.urandom(64 << 20)\nopen('data', 'wb').write(data)\n"
                             "print(hashlib.sha256(data).hexdigest())\nprint(os.getcwd())", timeout=500)
        digest, place = made["stdout"].split()
        assert place.startswith(f"{server.home}/there/") and [file["size"] for file in made["files"]] == [64 << 20]
        back = server.result("import hashlib\nprint(hashlib.sha256(open('data', 'rb').read()).hexdigest())",
                             working_directory=made["working_directory"], timeout=500)
        assert back["stdout"].split() == [digest]


def test_a_cancelled_run_is_ended_and_its_node_is_used_again(away):
    with away() as server:
        began = server.start_tool("run_python", {"code": "NAME = 'run0'\n" + test_nodes.DAEMON})
        assert leftovers.until(lambda: test_nodes.begun(server)), server.stderr()
        nodes = server.nodes()
        server.cancel(began)
        assert not server.survivors()
        assert server.result("print('next')")["stdout"] == "next\n" and server.nodes() == nodes


# What is lost


@pytest.fixture
def victim(away):
    server = away(most=away.runs)
    try:
        server.ids = [server.start_tool("run_python", {"code": f"NAME = 'run{i}'\n" + test_nodes.DAEMON, "timeout": 500})
                      for i in range(away.runs)]
        assert leftovers.until(lambda: len(test_nodes.begun(server)) == away.runs), server.stderr()
        yield server
    finally:
        server.kill()


@pytest.mark.once
@pytest.mark.parametrize("number, name", [(signal.SIGKILL, "launchers"), (signal.SIGKILL, "nodes"), (signal.SIGSTOP, "launchers")])
def test_runs_whose_way_is_lost_are_answered_by_name(away, victim, number, name):
    pids = victim.trees()
    for pid in getattr(victim, name)():
        os.kill(pid, number)
    test_nodes.assert_all_are_answered_by_name(victim)
    test_nodes.assert_nothing_is_left(pids)
    assert leftovers.until(lambda: not away.queue(), test_nodes.LOST), away.queue()


@pytest.mark.once
def test_runs_whose_server_is_killed_are_ended(away, victim):
    pids = victim.trees()
    victim.process.kill()
    victim.process.wait()
    test_nodes.assert_nothing_is_left(pids)
    test_nodes.assert_ran_once(victim)
    assert leftovers.until(lambda: not away.queue(), test_nodes.LOST), away.queue()


# The queue of Slurm


@pytest.fixture
def crowd(cluster):
    """A server that wants three nodes where there are two."""
    with Away(cluster.launcher, most=3) as server:
        ids = [server.start_tool("run_python", {"code": "import time; time.sleep(500)", "timeout": 600}) for _ in range(2)]
        assert leftovers.until(lambda: cluster.queue() == ["RUNNING", "RUNNING"]), server.stderr()
        ids.append(server.start_tool("run_python", {"code": "print('late')"}, progress_token="p"))
        assert leftovers.until(lambda: "PENDING" in cluster.queue()), server.stderr()
        server.ids = ids
        yield server
        for began in ids[:2]:
            server.cancel(began)


def test_waiting_in_the_queue_is_progress_and_a_cancel_leaves_nothing_there(cluster, crowd):
    assert leftovers.until(lambda: "queued and waiting for resources" in str(test_nodes.news_of(crowd)))
    crowd.cancel(crowd.ids[2])
    assert leftovers.until(lambda: "PENDING" not in cluster.queue(), test_nodes.LOST)


def test_who_waits_gets_what_another_leaves(crowd):
    crowd.cancel(crowd.ids[0])
    assert crowd.wait(crowd.ids[2])["result"]["structuredContent"]["stdout"] == "late\n"


def test_a_job_that_the_scheduler_ends_is_told(cluster):
    with Away(cluster.launcher) as server:
        server.ids = [server.start_tool("run_python", {"code": "NAME = 'run0'\n" + test_nodes.DAEMON, "timeout": 500})]
        assert leftovers.until(lambda: test_nodes.begun(server)), server.stderr()
        cluster.call("scancel", "-u", "root")
        answer, = test_nodes.answers(server, server.ids)
        if "was killed by SIGTERM" in sessions.text_of(answer):  # its node has heard of it much later
            assert answer["isError"]
        else:
            test_nodes.assert_was_lost(answer)
        test_nodes.assert_ran_once(server)
        assert leftovers.until(lambda: not cluster.queue())  # a node that has not heard of its end yet could get the next call
        assert server.result("print('anew')")["stdout"] == "anew\n"


def test_the_gpu_of_its_job_is_told(cluster):
    with Away(cluster.launcher) as server:
        assert server.result("import os; print(os.environ['CUDA_VISIBLE_DEVICES'])")["stdout"] == "0\n"


def test_no_job_is_left_of_a_server_that_ends(cluster):
    with Away(cluster.launcher) as server:
        server.result("pass")
    assert leftovers.until(lambda: not cluster.queue())


def test_no_job_is_left_of_a_server_that_is_killed(cluster):
    server = Away(cluster.launcher, most=3)
    try:
        for _ in range(3):
            server.start_tool("run_python", {"code": "import time; time.sleep(500)"})
        assert leftovers.until(lambda: sorted(cluster.queue()) == ["PENDING", "RUNNING", "RUNNING"]), server.stderr()
        server.process.kill()
        server.process.wait()
        assert leftovers.until(lambda: not cluster.queue(), 2 * test_nodes.LOST), cluster.queue()
    finally:
        server.kill()
