"""Each thing of the kernel that a run is held by, denied alone, as old kernels and the profiles of containers do it: the
run is held by less and its receipt says so, or it is refused and the answer names what is missing. What a receipt says
is compared with what the script could do."""

import json
import os
import pathlib
import platform
import re
import shutil
import socket
import subprocess
import sys

import leftovers
import limited
import pytest

LIMITED = pathlib.Path(__file__).with_name("limited.py")
ROOT, NETWORK, FILES, CALLS = "own root directory", "own network", "file rules", "system calls"
NOTHING, NO_ROOT, NO_FILES, NO_NETWORK = set(), {ROOT}, {FILES}, {NETWORK}
NO_NAMESPACES = {ROOT, NETWORK}

# What a sandbox lacks then.
WEAKER = {
    "": NOTHING,
    "clone3=ENOSYS": NOTHING,
    "clone3=EPERM": NOTHING,
    "close_range=ENOSYS": NOTHING,
    "close_range=EPERM": NOTHING,
    "execveat=ENOSYS": NOTHING,
    "execveat=EPERM": NOTHING,
    "setns=ENOSYS": NOTHING,
    "setns=EPERM": NOTHING,
    "cgroup.kill": NOTHING,
    "openat2=ENOSYS": NOTHING,
    "openat2=EPERM": NOTHING,
    "pivot_root=ENOSYS": NO_ROOT,
    "pivot_root=EPERM": NO_ROOT,
    "fsopen=ENOSYS": NO_ROOT,
    "fsopen=EPERM": NO_ROOT,
    "sethostname=EPERM": NO_ROOT,
    "CLONE_NEWUTS=EPERM": NO_ROOT,
    "CLONE_NEWCGROUP=EINVAL": NO_ROOT,
    "CLONE_NEWNET=EPERM": NO_NETWORK,
    "CLONE_NEWNET=EINVAL": NO_NETWORK,
    "landlock_create_ruleset=ENOSYS": NO_FILES,
    "landlock_create_ruleset=EOPNOTSUPP": NO_FILES,
    "landlock_create_ruleset=EPERM": NO_FILES,
    "landlock_add_rule=ENOSYS": NO_FILES,
    "landlock_add_rule=EPERM": NO_FILES,
    "landlock_add_rule=EINVAL": NO_FILES,
    "landlock_restrict_self=ENOSYS": NO_FILES,
    "landlock_restrict_self=EPERM": NO_FILES,
    "landlock_restrict_self=E2BIG": NO_FILES,
    "CLONE_NEWUSER=EPERM": NO_NAMESPACES,
    "CLONE_NEWUSER=EINVAL": NO_NAMESPACES,
    "CLONE_NEWUSER=ENOSYS": NO_NAMESPACES,
    "CLONE_NEWPID=EPERM": NO_NAMESPACES,
    "unshare=ENOSYS": NO_NAMESPACES,
    "unshare=EPERM": NO_NAMESPACES,
    "mount=EPERM": NO_NAMESPACES,
    "mount=EACCES": NO_NAMESPACES,
    "umount2=EPERM": NO_NAMESPACES,
    "open_tree=ENOSYS": NO_NAMESPACES,
    "open_tree=EPERM": NO_NAMESPACES,
    "move_mount=ENOSYS": NO_NAMESPACES,
    "move_mount=EPERM": NO_NAMESPACES,
    "mount_setattr=ENOSYS": NO_NAMESPACES,
    "mount_setattr=EPERM": NO_NAMESPACES,
    "namespaces": NO_NAMESPACES,
    "namespaces cgroup.kill": NO_NAMESPACES,
    "proc": NO_NAMESPACES,
    "docker": NO_NAMESPACES,
}

# Then nothing runs, and the answer has this word.
REFUSED = {
    "pidfd_open=ENOSYS": "pidfd_open",
    "pidfd_open=EPERM": "pidfd_open",
    "pidfd_send_signal=ENOSYS": "pidfd_send_signal",
    "pidfd_send_signal=EPERM": "pidfd_send_signal",
    "waitid=EINVAL": "waitid",
    "seccomp=EPERM": "cannot filter system calls by seccomp",
    "memfd_create=ENOSYS": "keep the script in memory",
    "memfd_create=EPERM": "keep the script in memory",
    "CLONE_NEWUSER=ENOSPC": "No space left on device",  # a quota that is used up, not what the machine is like
    "namespaces landlock cgroup.kill": "best-effort",
}

# Then no sandbox runs.
REFUSED_SANDBOX = {
    "namespaces landlock": "file rules: need Landlock",
    "unshare=EPERM landlock_create_ruleset=ENOSYS": "file rules: need Landlock",
    "unshare=EPERM landlock_add_rule=EINVAL": "file rules: cannot make Landlock rules",
    "landlock_add_rule=ENOMEM": "cannot make Landlock rules",  # may pass
    "landlock_restrict_self=ENOMEM": "cannot apply Landlock rules",
    "CLONE_NEWNET=ENOSPC": "No space left on device",  # likewise
}

LOOK = """
import ctypes, errno, json, os, socket, stat, time

def answer(attempt, *arguments):
    try:
        attempt(*arguments)
        return None
    except OSError as error:
        return errno.errorcode[error.errno]

def call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), '')

print(json.dumps({{
    "exists": os.path.exists({outside!r}),
    "reads": answer(open, {outside!r}),
    "writes": answer(open, {outside!r}, "a"),
    "connects": answer(lambda: socket.create_connection(("127.0.0.1", {port}), 5).close()),
    "network": os.readlink("/proc/self/ns/net"),
    "device": answer(os.mknod, "device", stat.S_IFCHR | 0o600, os.makedev(1, 3)),
    "call": answer(call, 303, -1, None, None, None, 0),  # name_to_handle_at
    "signals": answer(os.kill, {server}, 0),
}}))
""" + leftovers.DAEMON

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="limited.py knows x86-64 alone")


class Denied(leftovers.Watched):
    """A server that lacks what DENIED, words for limited.py, says."""

    def __init__(self, denied):
        self.denied = denied
        super().__init__(command=[sys.executable, str(LIMITED), *denied.split(), "--", os.environ["PYEXECD"]])

    def marked(self, config):
        variables = {leftovers.VARIABLE: self.mark}
        config["environments"] = {
            "none": {"type": "system", "isolation": "none", "environment": variables},
            "sandbox": {"type": "system", "isolation": "sandbox", "environment": variables},
            "required": {"type": "system", "isolation": "sandbox", "require": "sandbox", "environment": variables},
        }
        config["default_environment"] = "none"
        return config


def can_hide():
    """Whether limited.py can deny what takes a namespace."""
    return subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    path = tmp_path_factory.mktemp("outside") / "secret.txt"
    path.write_text("secret")
    return str(path)


@pytest.fixture(scope="module")
def everything():
    """Skips where this machine does not give a run everything to begin with."""
    with Denied("") as server:
        server.initialize()
        content = server.call_tool("run_python", {"code": "pass", "environment": "sandbox"})["structuredContent"]
    containment = content.get("containment", {})
    if set(containment.get("layers", {"": 0}).values()) != {"enforced"} or \
            containment["process_tree"] != "pid namespace":
        pytest.skip(f"this machine has not everything that is denied here: {containment}")


@pytest.fixture(scope="module")
def denied(request, everything):
    if any(word in ("cgroup.kill", "proc") for word in request.param.split()) and not can_hide():
        pytest.skip("no namespaces for this user")
    with Denied(request.param) as server:
        server.initialize()
        yield server


def run(server, environment, code):
    """The result of CODE, of which nothing is left."""
    result = server.call_tool("run_python", {"code": code, "environment": environment})
    assert not server.survivors(0)
    return result


@pytest.fixture
def look(denied, outside, listener):
    """LOOK(environment): the result, what it was held by, and what the script has seen."""
    def look(environment):
        code = LOOK.format(outside=outside, port=listener, server=denied.process.pid)
        result = run(denied, environment, code)
        content = result["structuredContent"]
        assert content["success"], content
        return content["containment"], json.loads(content["stdout"])
    return look


def assert_told(containment, absent):
    """What is absent is named as missing, with a reason, and nothing else of a sandbox is."""
    told = {layer for layer in (ROOT, NETWORK, FILES, CALLS)
            for text in containment["missing"] if text.startswith(f"{layer}: ") and text != f"{layer}: "}
    assert told == absent, containment


def assert_true(containment, seen):
    """CONTAINMENT says what the script has SEEN."""
    held = {layer for layer, state in containment["layers"].items() if state == "enforced"}
    asked = "not asked for" not in containment["layers"].values()
    assert (seen["reads"] is not None) == (seen["writes"] is not None) == bool(held & {ROOT, FILES}), seen
    assert seen["exists"] == (ROOT not in held), seen
    assert (seen["network"] != os.readlink("/proc/self/ns/net")) == (NETWORK in held), seen
    assert (seen["connects"] is not None) == asked, "without an own network there is none"
    assert (seen["device"] == "EACCES") == (FILES in held), seen
    assert (seen["call"] == "EPERM") == (CALLS in held), seen
    assert seen["signals"] is not None or containment["process_tree"] not in ("pid namespace", "landlock"), seen
    if containment["process_tree"] == "pid namespace":
        assert seen["signals"] == "ESRCH"


@pytest.mark.parametrize("denied", WEAKER, indirect=True)
def test_a_run_without_sandbox_runs_and_says_what_held_it(denied, look):
    containment, seen = look("none")
    assert set(containment["layers"].values()) == {"not asked for"}
    assert_true(containment, seen)
    assert_told(containment, set())
    lacks_namespaces = WEAKER[denied.denied] == NO_NAMESPACES
    assert (containment["process_tree"] != "pid namespace") == lacks_namespaces, containment


@pytest.mark.parametrize("denied", WEAKER, indirect=True)
def test_a_sandbox_says_which_layers_it_had(denied, look):
    containment, seen = look("sandbox")
    absent = {layer for layer, state in containment["layers"].items() if state == "absent"}
    assert absent == WEAKER[denied.denied], containment
    assert_true(containment, seen)
    assert_told(containment, absent)


@pytest.mark.parametrize("denied", WEAKER, indirect=True)
def test_a_sandbox_that_must_be_whole_is_whole_or_refused(denied, look):
    if not WEAKER[denied.denied]:
        containment, seen = look("required")
        assert_true(containment, seen)
        assert not set(containment["layers"].values()) - {"enforced"}
        return
    for _ in range(2):
        result = run(denied, "required", "print('never')")
        assert result["isError"]
        text = result["content"][0]["text"]
        assert "never" not in text
        assert all(f"{layer}: " in text for layer in WEAKER[denied.denied]), text


def assert_refused(server, environment, word):
    for _ in range(2):
        result = run(server, environment, "print('never')")
        text = result["content"][0]["text"]
        assert result["isError"] and "never" not in text, result
        assert word in text, text
    server.request("ping")


@pytest.mark.parametrize("environment", ["none", "sandbox", "required"])
@pytest.mark.parametrize("denied", REFUSED, indirect=True)
def test_what_cannot_be_followed_is_refused(denied, environment):
    assert_refused(denied, environment, REFUSED[denied.denied])


@pytest.mark.parametrize("denied", REFUSED_SANDBOX, indirect=True)
def test_a_sandbox_that_would_not_keep_files_is_refused(denied):
    """One that is required is refused at the first layer that is known to be absent, and so it names the others
    only when a run has failed with them before."""
    for environment in ("sandbox", "required"):
        assert_refused(denied, environment, REFUSED_SANDBOX[denied.denied])


def test_without_seccomp_nothing_else_is_said_to_be_missing(everything):
    doctor = subprocess.run([sys.executable, LIMITED, "seccomp=EPERM", "--", os.environ["PYEXECD"], "doctor"],
                            capture_output=True, text=True)
    assert "no script can be run: cannot filter system calls by seccomp: Operation not permitted" in doctor.stdout
    for layer in (ROOT, NETWORK, FILES, CALLS):
        assert f"{layer}: " not in doctor.stdout, doctor.stdout
    assert "needs user namespaces" not in doctor.stdout


UNIT = pathlib.Path(__file__).resolve().parents[2] / "systemd" / "pyexecd.service.in"
KINDS = {"user": "USER", "mnt": "NS", "pid": "PID", "ipc": "IPC", "net": "NET", "uts": "UTS", "cgroup": "CGROUP"}


def expand(names):
    """The system calls that NAMES are, words of SystemCallFilter=."""
    calls, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if not name.startswith("@"):
            calls.add(name)
            continue
        shown = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True,
                               text=True, check=True).stdout
        waiting += [line.strip() for line in shown.splitlines()[1:] if line.strip() and "#" not in line]
    return calls


def values(option):
    return [word for line in re.findall(rf"^{option}=(.*)", UNIT.read_text(), re.MULTILINE) for word in line.split()]


def is_here(call):
    try:
        return limited.call_number(call) >= 0
    except LookupError:
        return False


def denied_by_the_unit():
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze")
    # LeakSanitizer traces the server at its end.
    calls = filter(is_here, expand(["@known"]) - expand(values("SystemCallFilter")) - {"ptrace"})
    kinds = [f"CLONE_NEW{name}=EPERM" for kind, name in KINDS.items() if kind not in values("RestrictNamespaces")]
    # DynamicUser= implies RestrictSUIDSGID=, which takes openat2 away, because its flags cannot be filtered.
    return " ".join([",".join(sorted(calls)) + "=EPERM", "openat2=ENOSYS", *kinds])


def test_a_sandbox_is_whole_in_the_systemd_unit(everything):
    """Its list of system calls and of namespaces."""
    with Denied(denied_by_the_unit()) as server:
        server.initialize()
        content = run(server, "required", "print(42)")["structuredContent"]
        assert content["stdout"] == "42\n", content
        assert content["containment"]["process_tree"] == "pid namespace"
