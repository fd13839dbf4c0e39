"""Packages that take what their zygote is sent, and speak for the supervisors of its copies (control.h)."""

import pathlib
import time

import pytest
from leftovers import descendants, parent_and_state, read, until
from test_zygote import SYSTEM, call, serving, with_module

# A child of the server's, as a supervisor is, in namespaces of its own like that, answers the orders; what it says is in the
# place of %s.
TAKES_ORDERS = """
import array, ctypes, os, signal, socket, struct, time

ORDERS, CLONE, CLONE_PARENT, CLONE_NEWUSER, CLONE_NEWPID = 102, 56, 0x8000, 0x10000000, 0x20000000
NO_CALL = 38
SUPERVISOR, REFUSED = 6, 8
ROOT, FILES = 2, 5

def say(kind, payload=b""):
    channel.send(struct.pack("II", kind, len(payload)) + payload)

def take_over():
    global channel
    orders = socket.socket(fileno=ORDERS)
    while True:
        taken = array.array("i", orders.recvmsg(1, 1024)[1][0][2])
        channel = socket.socket(fileno=taken[0])
        channel.send(b"pyexecd wire 1\\n")
%s
        for each in taken:
            os.close(each)

if os.path.exists(f"/proc/self/fd/{ORDERS}"):
    if ctypes.CDLL(None).syscall(CLONE, CLONE_PARENT | CLONE_NEWUSER | CLONE_NEWPID | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        try:
            take_over()
        finally:
            os._exit(0)
"""
SAYS = {
    "the machine has no sandbox": """
        for need in (FILES, ROOT):
            say(REFUSED, struct.pack("IIi", need, NO_CALL, 0))
""",
    "the kernel lacks file rules": """
        say(REFUSED, struct.pack("IiI", FILES, NO_CALL, 0))
""",
    "the kernel lacks own roots": """
        say(REFUSED, struct.pack("IiI", ROOT, NO_CALL, 0))
""",
}


@pytest.mark.parametrize("what", SAYS)
def test_package_cannot_speak_for_the_machine(tmp_path, what):
    environment = {**with_module(tmp_path, TAKES_ORDERS % SAYS[what]), "isolation": "auto"}
    with serving(environment) as server:
        first = call(server, "print(1)")
        for _ in range(6):
            result = call(server, "print(1)")
            assert result["isolation"] == "sandbox" and result["containment"] == first["containment"]
            assert result["stdout"] == "1\n", result
            time.sleep(0.1)


IS_ANOTHER = """
        with open(os.path.join(os.path.dirname(__file__), "victim")) as file:
            victim = int(file.read())
        say(SUPERVISOR, struct.pack("ii", victim, 0))
"""


def test_package_cannot_have_another_call_killed(tmp_path):
    environments = {"system": SYSTEM, "hostile": with_module(tmp_path, TAKES_ORDERS % IS_ANOTHER)}
    with serving(environments=environments) as server:
        sleeping = "import time\nopen('begun', 'w').close()\ntime.sleep(4)\nprint('end')"
        running = server.start_tool("run_python", {"code": sleeping, "environment": "system"})
        assert until(lambda: list(server.home.rglob("begun")))
        mine = [pid for pid in descendants(server.process.pid) if b"script.py" in read(f"/proc/{pid}/cmdline")]
        pathlib.Path(*tmp_path.rglob("early.py")).with_name("victim").write_text(f"{parent_and_state(mine[0])[0]}")
        for _ in range(6):
            assert call(server, "print(1)", environment="hostile")["stdout"] == "1\n"
            time.sleep(0.1)
        assert server.wait(running)["result"]["structuredContent"]["stdout"] == "end\n"
