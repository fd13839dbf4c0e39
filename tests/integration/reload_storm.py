"""Reloads at random, of fifteen kinds, under clients of nine kinds.

    with StormServer(folder) as server:
        pass_over(server, folder)

Each script prints a word of its own. An answer has that word and nobody else's, or it is a refusal that says why:
REFUSALS has all of them. The server is one over HTTP that listens at `unix_address(folder)`, too, where most clients are.
"""

import collections
import contextlib
import json
import os
import random
import re
import signal
import socket
import threading
import time
import traceback

import client
import leftovers
import wire
from client import RpcError

SECONDS = float(os.environ.get("STORM_SECONDS", "10"))
PATIENCE = 300  # seconds, for an answer behind all others
TOKENS = ("a" * 43, "b" * 43)
WORD = re.compile(r"word-\d+-\d+-[0-9a-f]{12}")
NAMES = ("box", "other", "renamed", "shifting", "made")

# What an answer may be that has no word: it says what the operator has changed, or what its client wanted.
REFUSALS = re.compile("|".join((
    r"^arguments do not fit: (environment must be one of .*; )?(session|fork|environment_definition): unknown key",
    r"^arguments do not fit: environment must be one of",
    r"^Unknown tool: (run_code_blocks|manage_sessions)$",
    r"^a person has to be asked, but this client does not declare",
    r"^The user declined to run this code\.$",
    r"the session was closed: the server has none any more",
    r'^there is no (session|environment) "',
    r'^session "[0-9a-f]{32}" stays open, but executes nothing; .* The reason: ',
    r"the session cannot be copied: (a cell is about to begin; try again|it is in a container)$",
    r"has no sessions: its calls share a container",
    r"a session is open in this working directory, and a call in environment .* needs the directory to itself",
)))


def unix_address(folder):
    return str(folder / "socket")


def configured(folder, knobs):
    """The configuration that KNOBS stand for."""
    def definition(kind, **more):
        only = {"system": {"executable": "/usr/bin/python3"}, "venv": {"python_path": "/usr/bin/python3"}}.get(kind, {})
        held = {} if kind == "docker" else {key: knobs[key] for key in ("isolation", "write", "network") if knobs[key]}
        return {"type": kind, "start": knobs["start"], "environment": {"PYEXECD_TEST_MARK": knobs["mark"]}, **only, **held, **more}

    environments = {
        "box": definition("system"), "renamed" if knobs["renamed"] else "other": definition("system"),
        "shifting": definition(knobs["shifting"]),
        "made": definition("venv", system_site_packages=knobs["made"]),
    }
    if knobs["removed"]:
        del environments["made"]
    if knobs["kept"]:
        environments["kept"] = definition("docker", keep_container_running=True)
    config = {
        "environments": environments, "default_environment": "box", "approval": knobs["approval"],
        "callers": {"define_environments": knobs["define"]}, "results": knobs["results"], "keep_for": 0,
        "limits": {"memory": knobs["memory"], "concurrent_runs": knobs["runs"], "connections_per_client": 100},
        "listen": [f"unix:{unix_address(folder)}"], "token_file": str(folder / "tokens"),
        "max_timeout": knobs["most"],
    }
    if knobs["sessions"]:
        config["sessions"] = {"number": 40, "number_per_client": 40}
    if knobs["blocks"]:
        config["code_blocks"] = {}
    return config


def values_of(folder, has_engine):
    """What each of the fifteen kinds of change chooses from; the first of each is what a server begins with."""
    return {
        "define": (True, False),
        "memory": ("512MiB", "600MiB", "1GiB"),
        "approval": ("never", "never", "never", "never", "never", "always"),
        "renamed": (False, True),
        "removed": (False, True),
        "sessions": (True, True, True, False),
        "shifting": ("system", "venv", *(["docker"] if has_engine else [])),
        "made": (False, True),
        "token": (0, 1),
        "start": ("warm", "warm", "cold", "fresh"),
        "isolation": (None, "sandbox", "none"),
        "write": (None, [str(folder / "one")], [str(folder / "one"), str(folder / "two")]),
        "network": (None, ["127.0.0.1:9"], True),
        "runs": (4, 1, 8),
        "blocks": (True, True, True, False),
        # Beside these, and not counted: what costs nothing.
        "results": ("text", "structured"),
        "most": (600, 500),
        "kept": (has_engine, has_engine, False),
    }


class Refused(Exception):
    """A call was answered by a refusal that says why."""


class Lost(Exception):
    """A connection whose token is no longer one."""


class Wrong(Exception):
    """An answer that is none of what it may be."""


class Client(threading.Thread):
    """One of the nine kinds; `once` is what it does again and again, until the storm is over."""

    def __init__(self, storm, number):
        super().__init__(name=f"{type(self).__name__}-{number}", daemon=True)
        self.storm = storm
        self.number = number
        self.random = random.Random(f"{storm.seed}-{number}")
        self.counts = collections.Counter()
        self.words = 0
        self.connection = None

    def run(self):
        try:
            while not self.storm.is_over():
                self.live()
        except Exception:
            self.storm.failures.append(f"{self.name}: {traceback.format_exc()[-4000:]}")

    def live(self):
        """A connection, and a few calls on it."""
        self.connection = self.connect()
        try:
            for _ in range(self.random.randint(1, 20)):
                if self.storm.is_over():
                    break
                try:
                    self.once()
                    self.counts["right"] += 1
                except Refused:
                    self.counts["refused"] += 1
                    time.sleep(0.2)  # until it may be different
        finally:
            self.connection.close()

    def connect(self, capabilities=None):
        connection = self.storm.connect()
        connection.initialize(capabilities=capabilities)
        return connection

    # Answers

    def word(self):
        self.words += 1
        return f"word-{self.number}-{self.words}-{self.random.getrandbits(48):012x}"

    def environment(self):
        """An environment that there may be; or that of calls that name none."""
        name = self.random.choice((None, None, *self.storm.names()))
        return {"environment": name} if name else {}

    def wait(self, request):
        """The answer to REQUEST, which is the result of a tool."""
        return self.result(self.connection.wait(request, PATIENCE))

    def result(self, response):
        if "error" in response:
            self.refuse(response["error"]["message"], response)
        return response["result"]

    def refuse(self, told, answer):
        """Why there is no word in ANSWER."""
        if not REFUSALS.search(told):
            raise Wrong(json.dumps(answer)[:3000])
        raise Refused(told)

    def look(self, result, *words):
        """RESULT has WORDS, and none of anybody else."""
        text = "".join(block.get("text", "") for block in result["content"])
        if strange := {word for word in WORD.findall(json.dumps(result)) if int(word.split("-")[1]) != self.number}:
            raise Wrong(f"of another: {strange}")
        if result.get("isError"):
            self.refuse(text, result)
        if missing := [word for word in words if word not in text]:
            raise Wrong(f"without {missing}: {json.dumps(result)[:3000]}")

    def call(self, code, tool="run_python", **arguments):
        return self.wait(self.connection.start_tool(tool, {"code": code, "timeout": 300, **arguments}))


class Plain(Client):
    def once(self):
        word = self.word()
        more = {"environment_definition": {"type": "system"}} \
            if self.random.random() < 0.2 else self.environment()
        self.look(self.call(f"print('{word}')", **more), word)


class Warm(Client):
    """Calls of one environment, with something to import, one soon after the other."""

    def once(self):
        for _ in range(3):
            word = self.word()
            self.look(self.call(f"import json, decimal\nprint(json.dumps('{word}'))"), word)


class Sessions(Client):
    def once(self):
        kept, word = self.word(), self.word()
        result = self.call(f"kept = '{kept}'\nprint('{word}')", session="new", **self.environment())
        self.look(result, word)
        name = re.search(r'session: "([0-9a-f]{32})"', json.dumps(result["content"]).replace('\\"', '"')).group(1)
        try:
            for _ in range(self.random.randint(0, 4)):
                word = self.word()
                self.look(self.call(f"print(kept, '{word}')", session=name), kept, word)
            self.go_on(name, kept)
        finally:
            with contextlib.suppress(Refused):
                closing = self.connection.start_tool("manage_sessions", {"action": "close", "session": name})
                self.look(self.wait(closing))

    def go_on(self, name, kept):
        pass


class Copies(Sessions):
    def go_on(self, name, kept):
        words = [self.word() for _ in range(2)]
        calls = [self.connection.start_tool("run_python", {"code": f"print(kept, '{word}')", "fork": name, "timeout": 300})
                 for word in words]
        refused = None
        for word, call in zip(words, calls):
            try:
                self.look(self.wait(call), kept, word)
            except Refused as reason:
                refused = reason
        if refused:
            raise refused


class Blocks(Client):
    def once(self):
        words = [self.word() for _ in range(3)]
        blocks = [{"language": "python", "code": f"print('{words[0]}')"}, {"language": "sh", "code": f"echo {words[1]}"},
                  {"language": "python", "code": f"import time; time.sleep(0.05); print('{words[2]}')"}]
        call = self.connection.start_tool("run_code_blocks", {"blocks": blocks, "timeout": 300, **self.environment()})
        self.look(self.wait(call), *words)


class Tasks(Client):
    def once(self):
        word = self.word()
        arguments = {"code": f"import time; time.sleep(0.1); print('{word}')", "timeout": 300, **self.environment()}
        request = self.connection.start_request("tools/call", {"name": "run_python", "arguments": arguments, "task": {"ttl": 1000}})
        task = self.wait(request)["task"]["taskId"]
        if self.random.random() < 0.3:
            try:
                self.connection.request("tasks/cancel", {"taskId": task}, PATIENCE)
            except RpcError as error:
                assert "is over" in str(error) or "completed" in str(error) or "failed" in str(error), error
            return
        self.look(self.wait(self.connection.start_request("tasks/result", {"taskId": task})), word)


class Approvals(Client):
    """It is asked where the operator wants that, and thinks for a while before it answers."""

    def connect(self, capabilities=None):
        return super().connect({"elicitation": {}})

    def once(self):
        word = self.word()
        call = self.connection.start_tool("run_python", {"code": f"print('{word}')", "timeout": 300, **self.environment()})
        while json.dumps(call) not in self.connection.responses:
            message = self.connection.receive(PATIENCE)
            if "method" not in message:
                self.connection.responses[json.dumps(message["id"])] = message
            elif "id" in message:
                self.answer(message)
        self.look(self.wait(call), word)

    def answer(self, question):
        if WORD.search(json.dumps(question)).group().split("-")[1] != str(self.number):
            raise Wrong(f"asked for the code of another: {question}")
        time.sleep(self.random.choice((0, 0.05, 0.5)))
        answer = {"action": "accept", "content": {"approve": "yes"}} if self.random.random() < 0.8 else {"action": "decline"}
        self.connection.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})


class Resuming(Client):
    """Over HTTP; it loses its connection in the middle of a call, and comes back."""

    def connect(self, capabilities=None):
        """A session, once the token is one."""
        while not self.storm.is_over():
            connection = self.storm.server.connect()
            connection.http.token = self.random.choice(TOKENS)
            answer = connection.http.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": wire.NEWEST_LEGACY, "capabilities": {}, "clientInfo": client.CLIENT_INFO}}).wait()
            if answer.status == 200:
                connection.http._note_session(answer)
                connection.http.version = wire.NEWEST_LEGACY
                connection.http.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).wait()
                return connection
            assert answer.status == 401, answer.body
            connection.close()
            time.sleep(0.05)
        raise Refused("the storm is over")

    def is_unauthorized(self, exchange):
        """Waits for the first event; whether there is none, as the token is no longer one."""
        exchange.wait(lambda: exchange.events, PATIENCE)
        return exchange.status == 401

    def live(self):
        with contextlib.suppress(Refused, Lost):
            super().live()

    def once(self):
        word, http = self.word(), self.connection.http
        arguments = {"code": f"import time\nprint('on', flush=True)\ntime.sleep(0.1)\nprint('{word}')", "timeout": 300}
        params = {"name": "run_python", "arguments": arguments, "_meta": {"progressToken": word}}
        exchange = http.post({"jsonrpc": "2.0", "id": word, "method": "tools/call", "params": params})
        if self.is_unauthorized(exchange):
            raise Lost
        messages, last = exchange.messages(), None
        while not any(message.get("id") == word for message in messages):
            last = [event.id for event in exchange.events if event.id][-1] if exchange.events else last
            exchange.close()
            exchange = http.get(last_event_id=last)
            if self.is_unauthorized(exchange):
                raise Lost
            messages += exchange.messages()
        exchange.close()
        (response,) = [message for message in messages if message.get("id") == word]
        self.look(self.result(response), word)


class Cancelling(Client):
    def once(self):
        word = self.word()
        calls = [self.connection.start_tool("run_python", {"code": "import time; time.sleep(100)", "timeout": 300,
                                                           **self.environment()}) for _ in range(2)]
        time.sleep(self.random.choice((0, 0.01, 0.1, 0.5)))
        for call in calls:
            self.connection.cancel(call)
        self.look(self.call(f"print('{word}')"), word)


KINDS = (Plain, Warm, Sessions, Copies, Blocks, Tasks, Approvals, Resuming, Cancelling)


class Storm:
    def __init__(self, server, folder, seed, has_engine=False):
        self.server = server
        self.folder = folder
        self.seed = seed
        self.random = random.Random(seed)
        self.values = values_of(folder, has_engine)
        self.knobs = {"mark": server.mark, **{name: values[0] for name, values in self.values.items()}}
        self.has_engine = has_engine
        self.failures = []
        self.reloads = 0
        self.end = 0

    def is_over(self):
        return time.monotonic() > self.end or self.failures or self.server.process.poll() is not None

    def names(self):
        return (*NAMES, *(["kept"] if self.has_engine else []))

    def connect(self):
        """A client at the unix socket."""
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(unix_address(self.folder))
        stream.setblocking(False)
        return client._socket_connection(stream)

    # Reloads

    def change(self):
        """A few of the knobs are turned, and the server is told; now and then several times, or with a file that is wrong."""
        for name in self.random.sample(sorted(self.values), self.random.randint(1, 4)):
            self.knobs[name] = self.random.choice(self.values[name])
        self.write()
        for _ in range(self.random.choice((1, 1, 1, 2, 5))):
            self.server.process.send_signal(signal.SIGHUP)
            time.sleep(self.random.choice((0, 0, 0.002)))
        self.reloads += 1

    def write(self, wrong=False):
        replace(self.folder / "tokens", f"{TOKENS[self.knobs['token']]}\n")
        config = configured(self.folder, self.knobs)
        config["listen"] = self.server.config["listen"]
        text = json.dumps(config) if not wrong else "environments: ["
        replace(self.server.folder / "config.yaml", text)

    def blow(self, seconds):
        self.end = time.monotonic() + seconds
        clients = [kind(self, number) for number, kind in enumerate(KINDS)]
        for each in clients:
            each.start()
        while not self.is_over():
            self.change()
            time.sleep(self.random.choice((0.01, 0.05, 0.2, 0.5, 1)))
        for each in clients:
            each.join(2 * PATIENCE)
            assert not each.is_alive(), f"{each.name} has no answer"
        self.told = {each.name: dict(each.counts) for each in clients}
        assert self.server.process.poll() is None, f"the server has ended: {self.server.stderr()[-6000:]}"
        assert not self.failures, "\n".join(self.failures[:3])

    def calm(self):
        """The configuration of the beginning; a call is right, and nothing runs any more."""
        for name, values in self.values.items():
            self.knobs[name] = values[0]
        self.write()
        self.server.process.send_signal(signal.SIGHUP)
        last = Plain(self, len(KINDS))
        last.connection = last.connect()
        word = last.word()
        last.look(last.call(f"print('{word}')"), word)
        last.connection.close()
        if not self.has_engine:  # where what is kept goes with its server
            assert not self.server.survivors()
        assert leftovers.until(lambda: not leftovers.zombies(self.server.process.pid))


def pass_over(server, folder, has_engine=False):
    """A storm of SECONDS over SERVER, which is started; it ends then, and nothing is left."""
    seed = int(os.environ.get("STORM_SEED", random.randrange(1 << 32)))
    print(f"STORM_SEED={seed}")
    storm = Storm(server, folder, seed, has_engine)
    storm.blow(SECONDS)
    storm.calm()
    below = leftovers.descendants(server.process.pid)
    print(storm.reloads, "reloads", storm.told)
    assert server.stop() == 0, server.stderr()[-6000:]
    assert leftovers.until(lambda: not leftovers.alive(below))
    assert not server.survivors()
    assert not server.cgroups()


def replace(path, text):
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.chmod(0o600)
    os.replace(fresh, path)


class StormServer(leftovers.Watched):
    """The server of a storm in FOLDER; MORE is as for any server."""

    def __init__(self, folder, has_engine=False, **more):
        self.place = folder
        self.has_engine = has_engine
        for name in ("one", "two"):
            (folder / name).mkdir()
        replace(folder / "tokens", f"{TOKENS[0]}\n")
        super().__init__("--log-level", "info", transport="http", config={}, **more)

    def marked(self, config):
        knobs = {name: values[0] for name, values in values_of(self.place, self.has_engine).items()}
        return configured(self.place, {"mark": self.mark, **knobs})
