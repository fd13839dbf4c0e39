"""Where the kernel gives less: what holds a run is weaker, the result says so, or it is refused."""

import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import time

import leftovers
import pytest
from leftovers import Watched

LIMITED = pathlib.Path(__file__).with_name("limited.py")
NAMESPACE = ["unshare", "--map-root-user"]

DAEMON = f'{leftovers.DAEMON}print("left behind")'


def without(*denied):
    """The command of a server that lacks what is DENIED."""
    return [sys.executable, str(LIMITED), *denied, "--", os.environ["PYEXECD"]]


def without_user_namespaces():
    """The same by the kernel's own switch, which holds inside a user namespace."""
    limits = "for kind in user pid; do echo 0 >/proc/sys/user/max_${kind}_namespaces; done"
    return [*NAMESPACE, "sh", "-c", f'{limits}; exec "$0" "$@"', os.environ["PYEXECD"]]


needs_namespaces = pytest.mark.skipif(
    subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0,
    reason="no user namespaces for this user",
)
needs_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64",
                                  reason="the system call filter knows x86-64 alone")


def run_daemon(command, config=None):
    """The answer to a script that leaves a daemon behind, which has to be gone."""
    with Watched(command=command, config=config) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": DAEMON})
        assert not server.survivors(0)
        return result, server.stderr()


@needs_x86_64
def test_all_there_is_by_default():
    result, _ = run_daemon(without())
    assert result["structuredContent"]["containment"]["process_tree"] == "pid namespace"


@needs_x86_64
def test_nothing_depends_on_the_quota_of_epoll():
    """Scripts share the user of the server, and its quota."""
    result, _ = run_daemon(without("epoll"))
    assert result["structuredContent"]["stdout"] == "left behind\n"


@needs_namespaces
@needs_x86_64
@pytest.mark.parametrize("command, weaker", [
    (without_user_namespaces(), ["cgroup", "landlock"]),
    (without("namespaces"), ["cgroup", "landlock"]),
    (without("namespaces", "cgroups"), ["landlock"]),
], ids=["switched off", "denied", "denied, no cgroups"])
def test_weaker_containment_is_named(command, weaker):
    result, stderr = run_daemon(command)
    content = result["structuredContent"]
    assert content["success"], content
    assert content["stdout"] == "left behind\n"
    assert content["containment"]["process_tree"] in weaker
    assert content["containment"]["missing"]
    assert content["containment"]["missing"][0].split(":")[0] in stderr


@needs_namespaces
@needs_x86_64
def test_a_limit_that_holds_without_a_cgroup_is_no_warning():
    """It would stand before each result of an ordinary user."""
    ran = subprocess.run([*without("cgroups"), "run", "--json", "-w", "temporary", "-c", "pass"], capture_output=True,
                         text=True, check=True)
    assert "memory limit: no writable cgroup" in str(json.loads(ran.stdout)["containment"]["missing"])
    assert "memory limit" not in ran.stderr
    doctor = subprocess.run([*without("cgroups"), "doctor"], capture_output=True, text=True)
    assert "\nready, but\n" in doctor.stdout and "no memory cgroup: " in doctor.stdout


@needs_namespaces
@needs_x86_64
def test_the_first_processes_of_a_server_may_be_scripts(tmp_path):
    """Its venv is known from its files, so nobody has told yet that code cannot be laid over script.py."""
    config = tmp_path / "config.yaml"
    config.write_text("{default_environment: own, environments: {own: {type: venv}}}")
    private = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}

    def run(command):
        ran = subprocess.run([*command, "run", "--config", config, "-"], input="print(6 * 7)", env=private,
                             capture_output=True, text=True)
        assert ran.stdout == "42\n", ran.stderr

    run([os.environ["PYEXECD"]])
    run(without("namespaces"))
    calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call",
              "params": {"name": "run_python", "arguments": {"code": f"print('this is', {number})"}}}
             for number in range(3)]
    hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}
    messages = [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *calls]
    with subprocess.Popen([*without("namespaces"), "--config", config], env=private, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        server.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
        server.stdin.flush()
        answers = {}
        while not answers.keys() >= {0, 1, 2}:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer
        server.stdin.close()
        assert server.wait() == 0
    for number in range(3):
        assert f"this is {number}\n" in answers[number]["result"]["content"][0]["text"], answers[number]


SINCE_ITS_START = '''
import os
ticks = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19])
print(float(open("/proc/uptime").read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK"))
'''


@needs_namespaces
@needs_x86_64
@pytest.mark.parametrize("denied", [["namespaces"], ["namespaces", "cgroups"]], ids=" ".join)
def test_a_python_waits_for_the_next_call_without_namespaces(denied):
    with Watched(command=without(*denied)) as server:
        server.initialize()

        def age(wait):
            time.sleep(wait)
            content = server.call_tool("run_python", {"code": SINCE_ITS_START})["structuredContent"]
            assert content["containment"]["process_tree"] != "pid namespace"
            return float(content["stdout"])

        assert age(0) < 1.5
        assert leftovers.until(lambda: age(2) > 1.5), "the code came to a Python that had waited"


@needs_namespaces
@needs_x86_64
def test_a_python_that_waits_alone_gets_the_newest_code():
    """Without namespaces its script is a file, in which others may have written meanwhile."""
    with Watched(command=without("namespaces")) as server:
        server.initialize()
        for number in range(3):
            written = f"print({number}); open(__file__, 'w').write('print(\"old\")')"
            content = server.call_tool("run_python", {"code": written})["structuredContent"]
            assert content["stdout"] == f"{number}\n", content
            time.sleep(0.5)


@needs_namespaces
@needs_x86_64
def test_a_run_is_refused_where_nothing_holds_it():
    with Watched(command=without("namespaces", "cgroups", "landlock")) as server:
        server.initialize()
        for _ in range(2):
            result = server.call_tool("run_python", {"code": "print('never')"})
            assert result["isError"]
            text = result["content"][0]["text"]
            assert "never" not in text
            assert "best-effort" in text, "it says what the operator can do"
        server.request("ping")


@needs_namespaces
@needs_x86_64
def test_best_effort_runs_where_nothing_holds_it():
    result, _ = run_daemon(without("namespaces", "cgroups", "landlock"),
                           {"containment": "best-effort"})
    content = result["structuredContent"]
    assert content["stdout"] == "left behind\n"
    assert content["containment"]["process_tree"] == "best effort"
    assert content["containment"]["missing"]


@needs_namespaces
@needs_x86_64
@pytest.mark.parametrize("denied", [["namespaces"], ["namespaces", "cgroups"]], ids=" ".join)
def test_nothing_survives_a_killed_server_without_namespaces(denied):
    """Nothing but the supervisor could end what is left."""
    server = Watched(command=without(*denied))
    try:
        server.initialize()
        server.start_tool("run_python", {"code": f"{DAEMON}\ntime.sleep(1000)"})
        assert leftovers.until(lambda: len(server.processes()) >= 2)
        os.kill(server.process.pid, signal.SIGKILL)
        assert not server.survivors()
    finally:
        server.kill()


@needs_namespaces
def test_doctor_names_the_command_that_gives_more():
    doctor = subprocess.run([*without_user_namespaces(), "doctor"], capture_output=True, text=True)
    assert "gives more" in doctor.stdout
    assert "sudo sysctl -w user.max_user_namespaces=" in doctor.stdout
    doctor = subprocess.run([os.environ["PYEXECD"], "doctor"], capture_output=True, text=True)
    assert "max_user_namespaces" not in doctor.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be without capabilities and still be root")
@pytest.mark.parametrize("left, has_root", [("-all", False), ("-all,+setfcap", True)])
def test_root_without_capabilities_needs_one_for_namespaces(left, has_root):
    result, _ = run_daemon(["setpriv", f"--bounding-set={left}", "--inh-caps=-all", os.environ["PYEXECD"]])
    containment = result["structuredContent"]["containment"]
    assert (containment["layers"]["own root directory"] == "enforced") == has_root
    assert any("(root needs CAP_SETFCAP for them)" in text for text in containment["missing"]) == (not has_root)
