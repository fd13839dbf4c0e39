"""Three servers behind Debian's HAProxy, of which one is killed and started again all the time.

BALANCED_CALLS in the environment is how many calls are made. A call is answered once, or fails and names who was
killed; none runs twice. Each script leaves its number in a file. Whoever is killed is so when a share of the calls has
been answered, and comes back when others were answered without it.
"""

import collections
import concurrent.futures
import contextlib
import itertools
import os
import re
import shutil
import subprocess
import time

import pytest

import client
import http_peer
import leftovers
import machines
import ports
from test_http_stateless import modern
from test_replicas import BALANCER, NAMES, TOKENS, Replicas, kill, stdout
from test_tasks import ENDS, EVERYTHING

HAPROXY = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")
CALLS = int(os.environ.get("BALANCED_CALLS", "300"))
CALLS_A_KILL = 100
USERS = 6
ANSWERED_BY_OTHERS = 10
PAUSE = 0.02  # seconds between two looks at a task
NOTHING = {}
TASKS = {client.PREFIX + "clientCapabilities": EVERYTHING}
PATIENCE = 10 * leftovers.PATIENCE  # for a share of the calls, on any machine

pytestmark = [pytest.mark.skipif(not HAPROXY, reason="no haproxy"), pytest.mark.once]

# A request is given to another server only where no connection was made: what was sent is never sent again.
CONFIG = """
defaults
    mode http
    timeout connect 10s
    timeout client 10m
    timeout server 10m
    timeout check 10s
    retries 3
    option redispatch 1
listen replicas
    bind 127.0.0.1:{port}
    balance roundrobin
    http-after-response set-header Served-By %s
    default-server check inter 100ms fall 1 rise 1
"""


@contextlib.contextmanager
def balanced(replicas):
    """A port of the balancer of REPLICAS."""
    port = ports.free_port()
    servers = "".join(f"    server {name} 127.0.0.1:{own}\n" for name, own in replicas.ports.items())
    config = replicas.write("haproxy.cfg", CONFIG.format(port=port) + servers)
    with open(replicas.folder / "haproxy.log", "wb") as log, subprocess.Popen(
            [HAPROXY, "-db", "-f", config], stdin=subprocess.DEVNULL, stdout=log, stderr=log) as balancer:
        try:
            assert leftovers.until(lambda: machines.answers(port)), (replicas.folder / "haproxy.log").read_text()
            yield port
        finally:
            balancer.kill()


class Lost(Exception):
    """A call has no answer, and it was said who was killed."""


class Watch:
    """What becomes of calls. How often a server was killed or came back (`lives`) is odd while it is not there."""

    def __init__(self):
        self.lives = collections.Counter()
        self.served = collections.Counter()
        self.answered, self.lost, self.errors = [], [], []
        self.is_over = False

    def lose(self, name, why, lives):
        """WHY names a server, which has to have been killed since LIVES."""
        assert self.lives[name] != lives[name] or self.lives[name] % 2 == 1, f"{name}: {why}"
        raise Lost

    def until(self, condition):
        assert leftovers.until(lambda: self.errors or condition(), PATIENCE)
        assert not self.errors, self.errors

    def until_answered(self, more):
        enough = len(self.answered) + more
        self.until(lambda: len(self.answered) >= enough)


class User:
    """A client who calls, goes on with a session and makes a task, one after the other. NUMBERS are those of all users'
    scripts, which write them to RAN."""

    def __init__(self, port, watch, numbers, ran):
        self.peer = http_peer.Peer(http_peer.tcp(("127.0.0.1", port)), BALANCER, token=TOKENS["alice"])
        self.watch, self.numbers, self.ran = watch, numbers, ran
        self.session = None

    def work(self):
        try:
            for act in itertools.cycle([*[self.call, self.cell] * 5, self.task]):
                if self.watch.is_over:
                    return
                self.act(act, next(self.numbers))
        except BaseException as error:
            self.watch.errors.append(error)
            raise

    def act(self, act, number):
        try:
            act(number)
        except Lost:
            self.watch.lost.append(number)
        else:
            self.watch.answered.append(number)

    def ask(self, method, params, meta=NOTHING):
        """The answer to a request."""
        lives = self.watch.lives.copy()
        params = {**params, "_meta": {client.RESULTS: "structured", **meta}}
        exchange = self.peer.post(modern({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).wait()
        exchange.stream.close()
        served = exchange.fields["served-by"]
        if exchange.status == 502 or exchange.closed:
            self.watch.lose(served, "the balancer has lost it", lives)
        (answer,) = exchange.messages()
        assert answer["id"] == 1
        self.watch.served[served] += 1
        if named := re.search(r"replica (\w+), which", answer.get("error", {}).get("message", "")):
            self.watch.lose(named.group(1), answer["error"]["message"], lives)
        return answer

    def run(self, number, code, meta=NOTHING, **more):
        code = f"open({str(self.ran)!r}, 'a').write('{number}\\n')\n{code}"
        answer = self.ask("tools/call", {"name": "run_python", "arguments": {"code": code, **more}}, meta)
        assert "result" in answer, answer
        return answer["result"]

    def call(self, number):
        assert stdout(self.run(number, f"print({number})")) == f"{number}\n"

    def cell(self, number):
        """The session counts its cells. When a call in it is lost, the next one begins another."""
        if not self.session:
            self.cells, self.lives = 0, self.watch.lives.copy()
        name, self.session = self.session, None
        result = self.run(number, "count = globals().get('count', 0) + 1; print(count)", session=name or "new")
        if name and "there is no session" in result["content"][0]["text"]:
            self.watch.lose(name[0], "the session is gone", self.lives)
        self.cells += 1
        assert stdout(result) == f"{self.cells}\n"
        self.session = result["structuredContent"]["session"]["name"]

    def task(self, number):
        """It ends when it is known as a task, which it becomes because it takes long."""
        lives, go = self.watch.lives.copy(), self.ran.with_name(f"go-{number}")
        task = self.run(number, f"import os, time\nwhile not os.path.exists({str(go)!r}):\n    time.sleep(0.01)\n"
                                f"print({number})", TASKS)
        name = task["taskId"]
        go.touch()
        while task["status"] not in ENDS:
            time.sleep(PAUSE)
            task = self.look(name, lives) or task
        assert stdout(task["result"]) == f"{number}\n"

    def look(self, name, lives):
        """The task; None where whoever was asked has been killed, which need not be who has the task."""
        try:
            answer = self.ask("tasks/get", {"taskId": name}, TASKS)
        except Lost:
            return None
        if "error" in answer:
            self.watch.lose(name[0], answer["error"]["message"], lives)
        return answer["result"]


def kill_one_after_the_other(replicas, watch):
    """When a share of the calls was answered, the next server is killed; others are answered without it, it is started
    again, and the next one's turn comes when it has answered."""
    kills = max(len(NAMES), CALLS // CALLS_A_KILL)
    for _, name in zip(range(kills), itertools.cycle(NAMES)):
        watch.until_answered(CALLS // (kills + 1))
        watch.lives[name] += 1
        kill(replicas.servers[name])
        watch.until_answered(ANSWERED_BY_OTHERS)
        replicas.servers[name] = replicas.start(name)
        watch.lives[name] += 1
        served = watch.served[name]
        watch.until(lambda: watch.served[name] > served)


def test_each_call_is_answered_once_or_names_who_was_killed(tmp_path):
    watch, numbers = Watch(), itertools.count()
    ran = tmp_path / "written" / "ran"
    ran.parent.mkdir()
    writes = {"type": "system", "write": [str(ran.parent)]}
    with contextlib.ExitStack() as stack:
        replicas = Replicas(tmp_path, stack, environments={"python": writes}, limits={"calls_per_minute": 1_000_000})
        port = stack.enter_context(balanced(replicas))
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(USERS))
        users = [pool.submit(User(port, watch, numbers, ran).work) for _ in range(USERS)]
        try:
            kill_one_after_the_other(replicas, watch)
            watch.until(lambda: len(watch.answered) >= CALLS)
        finally:
            watch.is_over = True
        for user in users:
            user.result()
    runs = collections.Counter(int(line) for line in ran.read_text().split())
    assert set(runs.values()) == {1}
    assert set(watch.answered) <= set(runs) <= set(watch.answered) | set(watch.lost)
    print(f"{len(watch.answered)} answered, {len(watch.lost)} lost, {sum(watch.lives.values()) // 2} killed")
