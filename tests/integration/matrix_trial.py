"""One cell of the matrix, tried: a script is brought to work in the way of the cell, tells what holds it, and is ended as
the cell says. Then the answer is compared with what the kernel says, another call is made, and what is left is looked for.

    Trial(cell, start).run()       START(cell, **more) makes the server

The script locks a file, so that the kernel tells its process id as this process sees it, be it in a container.
"""

import contextlib
import fcntl
import itertools
import json
import os
import re
import select
import signal
import struct
import time

import box
import client
import leftovers
import matrix_users
from leftovers import until

MEMORY, DISK, PROCESSES = 256 << 20, 64 << 20, 60
CONFIG = {"keep_for": 0, "sessions": {}, "code_blocks": {},
          "limits": {"memory": MEMORY, "disk": DISK, "processes": PROCESSES}}
NEVER = 300  # seconds: the timeout of a script that ends in another way
SECONDS = (2, 6, 18)  # the timeout of one that runs into it; a busy machine may not have begun it by then
SPARE_PROCESSES = 8  # that a limit counts, and no script has started
TICKS = os.sysconf("SC_CLK_TCK")
NAMES = itertools.count()
# In the state of a server that has ended: an empty directory of a principal is swept later.
STAYS = re.compile(r"pyexecd(/identity|/servers|/work(/trash|/p-[\w-]+)?|/packages(/trash)?|/tools|/answers(/\w+\.json)?"
                   r"|/docker(/python(/\w+)?)?)?")
SCRIPT = """
import fcntl, json, os, resource, time
def first_of(*paths):
    for path in paths:
        try:
            return open(path).read().strip()
        except OSError:
            pass
facts = {{
    "name": "{name}", "generation": os.environ.get("GENERATION"), "root": list(os.stat("/")[1:3]),
    "limits": {{each: resource.getrlimit(getattr(resource, "RLIMIT_" + each))[0] for each in ("DATA", "FSIZE", "NPROC")}},
    "memory": first_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    "processes": first_of("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"),
}}
print(json.dumps(facts), flush=True)
held = open("{name}.new", "w")
fcntl.lockf(held, fcntl.LOCK_EX)
os.rename("{name}.new", "{name}.begun")
while not os.path.exists("{name}.go"):
    time.sleep(0.02)
print("the end of {name}")
"""


def command(user, place):
    """What starts a server as USER that tells when it has read its configuration again."""
    return [*matrix_users.command(user, place), "--log-level", "info"]


class AsUser:
    """A server of `user`, whose files are his."""

    def _write_config(self):
        super()._write_config()
        for folder in (self.home, self.folder):
            matrix_users.give(self.user, folder)


class LocalServer(AsUser, box.Box):
    def __init__(self, user, place, definition, **more):
        self.user = user
        super().__init__(definition, command=command(user, place), **more)

    def until_one_waits(self):
        """Waits until a Python waits for the next call."""
        return leftovers.until_one_waits(self, lambda: self.run("pass"))


def lock_holder(path):
    """The process that has locked the file PATH, as this process sees it."""
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with open(path, "rb") as file:
        return struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))[4]


def tasks_of(uid):
    """How many tasks the user UID has, those of other tests too."""
    counts = 0
    for pid in leftovers.processes():
        with contextlib.suppress(OSError):
            counts += len(os.listdir(f"/proc/{pid}/task")) if os.stat(f"/proc/{pid}").st_uid == uid else 0
    return counts


class Outside:
    """What the kernel says of the process PID, a script of SERVER."""

    def __init__(self, server, pid):
        self.pid = pid
        self.began = leftovers.began(pid)
        self.status = dict(line.split(":\t", 1) for line in leftovers.read(f"/proc/{pid}/status").decode().splitlines())
        self.uid = int(self.status["Uid"].split()[0])
        self.supervisor = leftovers.parent_and_state(pid)[0]
        self.is_filtered = self.status["Seccomp"] == "2" and self.status["NoNewPrivs"] == "1"
        self.cgroups = self._cgroups(server)
        self.memory = self._limit("memory.limit_in_bytes", "memory.max")
        self.processes = self._limit("pids.max")
        self.is_apart = {kind: self._is_apart(kind) for kind in ("pid", "net")}
        self.others = 0 if self.is_apart["pid"] else tasks_of(self.uid)

    def _cgroups(self, server):
        """The cgroups of SERVER that it is in."""
        names = {line.rpartition("/")[2] for line in leftovers.read(f"/proc/{self.pid}/cgroup").decode().splitlines()}
        return [path for path in server.cgroups() if os.path.basename(path) in names]

    def _is_apart(self, kind):
        """Whether it is in another namespace of KIND than this process."""
        return os.readlink(f"/proc/{self.pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")

    def _limit(self, *files):
        """What is in the first of FILES in these cgroups."""
        found = [leftovers.read(f"{path}/{file}").strip() for path in self.cgroups for file in files]
        return next((int(text) for text in found if text.isdigit()), None)


class Trial:
    def __init__(self, cell, start):
        self.cell = cell
        self.start = start
        self.server = start(cell)
        self.servers = [self.server]
        self.place = None  # of its files
        self.session = None  # the one that the call is for
        self.sessions = []
        self.is_session = cell.way in ("session", "copy")

    # What is called

    def initialize(self):
        self.server.initialize()

    def call(self, code, **arguments):
        """The structured result of a call that is no cell's own."""
        return self.server.run(code, arguments=arguments)

    def prepare(self, timeout):
        """What has to be there before the call of the cell, which has TIMEOUT: a container that waits is for no other one."""
        if self.cell.way == "warm":
            self.call("pass", timeout=timeout)
            assert self.server.until_one_waits()
        if self.is_session and not self.session:
            self.session = self.call("kept = 'kept'", session="new")["session"]["name"]
            self.sessions.append(self.session)

    def is_container(self):
        return self.cell.kind in ("docker", "kept")

    def begin(self, name, timeout):
        """Calls the script NAME in the way of the cell; the id of the request that gets the answer."""
        code = SCRIPT.format(name=name)
        more = {"session": {"session": self.session}, "copy": {"fork": self.session}}.get(self.cell.way, {})
        if self.cell.way == "block":
            return self.server.start_tool("run_code_blocks", {
                "blocks": [{"language": "python", "code": code}], "timeout": timeout})
        if self.cell.way == "task":
            self.task = self.server.request("tools/call", {
                "name": "run_python", "arguments": {"code": code, "timeout": timeout}, "task": {}})["task"]["taskId"]
            return self.server.start_request("tasks/result", {"taskId": self.task})
        return self.server.start_tool("run_python", {"code": code, "timeout": timeout, **more})

    def file_of(self, name, suffix="begun"):
        return next(self.server.home.rglob(f"{name}.{suffix}"), None)

    def is_answered(self):
        """Whether the call has its answer, which is kept."""
        server = self.server
        while b"\n" in server.buffer or select.select([server.read_fd], [], [], 0)[0]:
            message = server.receive_any()
            if "method" in message:
                server.notifications.append(message)
            else:
                server.responses[json.dumps(message["id"])] = message
        return json.dumps(self.request) in server.responses

    def bring_to_work(self):
        """The script is at work: it has told its facts."""
        timeouts = SECONDS if self.cell.end == "timeout" else (NEVER,) * len(SECONDS)
        for timeout in timeouts:
            self.prepare(timeout)
            self.name = f"{'-'.join(self.cell)}-{next(NAMES)}"
            self.called = int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)
            self.request = self.begin(self.name, timeout)
            until(lambda: self.file_of(self.name) or self.is_answered(), box.PREPARE_TIMEOUT)
            if self.has_begun() and self.is_as_wanted():
                return
        raise AssertionError((self.server.stderr()[-1000:], str(self.server.responses)[:2000]))

    def has_begun(self):
        """Whether its script has; then what the kernel knows of it is kept."""
        place = self.file_of(self.name)
        if not place:
            return False
        try:
            self.outside = Outside(self.server, lock_holder(place))
        except (KeyError, OSError):  # its time was over meanwhile
            return False
        self.place = place.parent
        return True

    def is_as_wanted(self):
        """A Python that waited may have been ended, on a busy machine: then a call is no warm one, and another one is made."""
        if self.cell.way != "warm" or self.cell.kind == "kept" or self.outside.began < self.called:
            return True
        self.let_go()
        self.answer()
        return False

    def answer(self):
        """The structured result of the call."""
        response = self.server.wait(self.request, NEVER)
        assert "result" in response, response
        whole = response["result"]["structuredContent"]
        if self.cell.way != "block":
            return whole
        (block,) = whole["blocks"]
        assert (whole["exit_code"] == 0) == (block["exit_code"] == 0) == block["result"]["success"], whole
        return block["result"]

    # The ends. Each returns the answer, or None where there is none.

    def let_go(self):
        (self.place / f"{self.name}.go").touch()

    def end_plain(self):
        self.let_go()
        return self.answer()

    def end_timeout(self):
        return self.answer()

    def end_cancel(self):
        if self.cell.way == "task":
            self.server.request("tasks/cancel", {"taskId": self.task})
            assert self.server.request("tasks/get", {"taskId": self.task})["status"] == "cancelled"
        else:
            self.server.cancel(self.request)
        if not self.is_session:
            assert until(lambda: not leftovers.exists(self.outside.pid)), "it goes on"

    def end_reload(self):
        write_again(self.server)
        self.let_go()
        return self.answer()

    def end_kill_worker(self):
        os.kill(self.outside.pid, signal.SIGKILL)
        return self.answer()

    def end_kill_supervisor(self):
        os.kill(self.outside.supervisor, signal.SIGKILL)
        return self.answer()

    def end_kill_server(self):
        below = leftovers.descendants(self.server.process.pid)
        self.server.process.kill()
        self.server.process.wait()
        assert until(lambda: not leftovers.alive(below)), "supervisors and prepared runners too"
        if not self.is_left_to_the_next_server():
            self.look_for_its_end()
        self.sessions.clear()
        self.server = self.start(self.cell, definition=self.server.definition, environment=self.server.private)
        self.servers.append(self.server)
        self.initialize()
        self.look_for_its_end()

    def is_left_to_the_next_server(self):
        """Whether it goes on until its deadline when its server is killed: a container without standard input has no other
        way to tell."""
        return self.cell.kind == "docker" and not self.is_session

    def look_for_its_end(self):
        assert until(lambda: not leftovers.exists(self.outside.pid)), "its script goes on"
        survivors = self.servers[0].survivors()
        assert not survivors, survivors

    # What is compared

    def facts(self, result):
        facts = json.loads(result["stdout"].partition("\n")[0])
        return facts

    def look_at(self, result):
        """RESULT says truly how the call ended, what held it, and what limited it."""
        assert ENDED[self.cell.end](result, self.name), result
        assert not result["out_of_memory"] and result["environment"] == "box", result
        facts = self.facts(result)
        assert (facts["name"], facts["generation"]) == (self.name, "old"), result
        self.look_at_limits(result, facts)
        self.look_at_isolation(result, facts)
        if not self.is_session and self.cell.kind != "kept":
            assert result["timings"]["warm"] == (self.outside.began < self.called), result
        if self.cell.way in ("cold", "warm") and not self.is_container():
            assert result["timings"]["warm"] == (self.cell.way == "warm"), result

    def look_at_limits(self, result, facts):
        """Those that the script has read, or the kernel has for it, are those of the configuration."""
        outside, by = self.outside, result["containment"]["limits"]
        assert facts["limits"]["FSIZE"] == DISK, facts
        if by.startswith("cgroup"):
            memory, processes = outside.memory, outside.processes
        elif by == "container":
            memory, processes = int(facts["memory"]), int(facts["processes"])
        else:
            assert not outside.cgroups, outside.cgroups
            memory, processes = facts["limits"]["DATA"], facts["limits"]["NPROC"]
        assert memory == MEMORY, (by, memory, facts)
        spare = SPARE_PROCESSES + (outside.others if by == "rlimits" else 0)  # the kernel counts all of the user
        assert PROCESSES <= processes <= PROCESSES + spare, (by, processes)

    def look_at_isolation(self, result, facts):
        outside, layers = self.outside, result["containment"].get("layers", {})
        tree, isolation = result["containment"]["process_tree"], result["isolation"]
        has = {name for name, state in layers.items() if state == "enforced"}
        assert (isolation == "docker") == self.is_container() == (tree == "container"), result
        assert outside.is_apart["pid"] == (tree in ("pid namespace", "container")), result
        if self.is_container():
            return
        assert isolation == ("sandbox" if has & {"own root directory", "file rules"} else "none"), result
        assert outside.is_apart["net"] == ("own network" in has), result
        assert (facts["root"] != list(os.stat("/")[1:3])) == ("own root directory" in has), facts
        assert outside.is_filtered or "system calls" not in has, outside.status
        assert bool(outside.cgroups) == (result["containment"]["limits"] != "rlimits"), result
        if matrix_users.has_uid_for_scripts(self.cell.user):
            assert outside.uid != os.geteuid(), outside.uid
            assert not [what for what in result["containment"]["missing"] if what.startswith("a uid of its own")], result

    # What comes next

    def call_again(self):
        """The next call is right, in every way as the first."""
        name = f"next-{next(NAMES)}"
        result = self.call(f"open('{name}.go', 'w').close()\n" + SCRIPT.format(name=name))
        assert ENDED["plain"](result, name), result
        facts = self.facts(result)
        assert (facts["name"], facts["generation"]) == (name, "new" if self.cell.end == "reload" else "old"), result
        assert facts["limits"]["FSIZE"] == DISK, facts

    def go_on(self, result):
        """The session that the call was a cell of goes on, if its result says so."""
        of_cell = result["session"]
        self.sessions.append(of_cell["name"])
        assert (of_cell["name"] == self.session) == (self.cell.way == "session"), result
        answer = self.server.call_tool("run_python", {"code": "print(kept)", "session": of_cell["name"]}, timeout=NEVER)
        goes_on = not answer["isError"] and answer["structuredContent"]["stdout"] == "kept\n"
        assert goes_on == of_cell["alive"], (answer, result)

    def close_sessions(self):
        for name in self.sessions:
            self.server.call_tool("manage_sessions", {"action": "close", "session": name})

    def look_for_survivors(self):
        survivors = self.server.survivors()
        assert not survivors, survivors

    def look_for_what_is_left(self):
        self.close_sessions()
        if not self.is_container():  # where those that wait, or are kept, go with their server
            self.look_for_survivors()
        assert until(lambda: not leftovers.zombies(self.server.process.pid)), "zombies"
        below = leftovers.descendants(self.server.process.pid)
        assert self.server.stop() == 0, self.server.stderr()
        self.look_for_survivors()
        assert until(lambda: not leftovers.alive(below)), [leftovers.read(f"/proc/{pid}/cmdline") for pid in leftovers.alive(below)]
        mounts = leftovers.read("/proc/self/mountinfo").decode()
        for server in self.servers:
            assert not server.cgroups(), server.cgroups()
            assert server.mark not in mounts, mounts
        assert not self.files(), self.files()

    def files(self):
        """What is left of runs in the state of the servers."""
        return [file for file in self.servers[0].files() if not STAYS.fullmatch(file)]

    def is_refused(self, told):
        """Sessions and copies that cannot be: the call says so, and nothing is left of it."""
        try:
            self.initialize()
            answer = self.server.call_tool("run_python", {"code": "kept = 'kept'", "session": "new"}, timeout=NEVER)
            if self.cell.way == "copy" and "session" in answer.get("structuredContent", {}):
                copied = answer["structuredContent"]["session"]
                if copied["alive"]:
                    self.sessions.append(copied["name"])
                    answer = self.server.call_tool("run_python", {"code": "pass", "fork": copied["name"]}, timeout=NEVER)
            assert answer["isError"] and told in json.dumps(answer), answer
            self.call_again()
            self.look_for_what_is_left()
        finally:
            self.kill()

    def kill(self):
        for server in reversed(self.servers):
            server.kill()

    def run(self):
        try:
            self.initialize()
            self.bring_to_work()
            result = getattr(self, f"end_{self.cell.end.replace('-', '_')}")()
            if result:
                self.look_at(result)
            if result and self.is_session:
                self.go_on(result)
            self.call_again()
            self.look_for_what_is_left()
        finally:
            self.kill()


def write_again(server):
    """The configuration is read again; scripts can tell."""
    path = server.folder / "config.yaml"
    changed = json.loads(path.read_text())
    changed["environments"]["box"]["environment"]["GENERATION"] = "new"
    path.write_text(json.dumps(changed))
    server.process.send_signal(signal.SIGHUP)
    assert until(lambda: "the configuration was read again" in server.stderr(), client.TIMEOUT), server.stderr()


def has_ended(result, name):
    return result["success"] and (result["returncode"], result["signal"], result["timed_out"]) == (0, None, False) and \
        result["stdout"].endswith(f"\nthe end of {name}\n")


def was_killed(result):
    return not result["success"] and not result["timed_out"] and (result["returncode"], result["signal"]) == (-9, "SIGKILL")


# Whether a result says how its script ended, by the end of the cell.
ENDED = {
    "plain": has_ended,
    "reload": has_ended,
    "timeout": lambda result, _: result["timed_out"] and not result["success"],
    "kill-worker": lambda result, _: was_killed(result),
    "kill-supervisor": lambda result, _: was_killed(result) or (result["error"] and not result["success"]),
}
