"""Clients over HTTP that do everything at once, in any order, and leave whenever they like. What they
get is looked at elsewhere: here the server, which is best built with sanitizers, has to survive it."""

import os
import random
import time

import pytest

import client
from test_http_sessions import FIXTURE, PING, call, opened
from test_http_stateless import modern

SECONDS = float(os.environ.get("STORM_SECONDS", "5"))
PEERS = 6
EXCHANGES = 12
ASK = {"rounds": [{"k": {"method": "elicitation/create", "params": {
    "message": "?", "requestedSchema": {"type": "object", "properties": {}}}}}]}
LISTEN = {"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen",
          "params": {"notifications": {"toolsListChanged": True}}}


class Storm:
    def __init__(self, server, seed):
        self.server = server
        self.random = random.Random(seed)
        self.peers = []
        self.exchanges = []  # with the peer of each
        self.events = []  # ids that have come

    def one_of(self, *choices):
        return self.random.choice(choices)

    def post(self, peer, message):
        return peer.post(message, self.one_of({}, {}, {"Accept": "application/json"}))

    def hold(self, peer, number):
        return self.post(peer, call(number, "hold", token=self.one_of(None, 1),
                                    name=self.one_of("a", "b"), release_client=self.one_of(True, False)))

    def release(self, peer, number):
        return self.post(peer, call(number, "release", name=self.one_of("a", "b")))

    def count(self, peer, number):
        return self.post(peer, call(number, "progress", token=number, steps=list(range(1, 30)),
                                    message="m" * self.one_of(1, 5000)))

    def ask(self, peer, number):
        return self.post(peer, call(number, "ask", **ASK))

    def answer(self, peer, _):
        return peer.post({"jsonrpc": "2.0", "id": self.random.randint(1, 9),
                          "result": {"action": "accept", "content": {}}})

    def cancel(self, peer, number):
        return peer.post({"jsonrpc": "2.0", "method": "notifications/cancelled",
                          "params": {"requestId": self.random.randint(1, number)}})

    def batch(self, peer, number):
        return peer.post([PING, call(number, "hold", name="a")])

    def stand_alone(self, peer, number):
        return self.post(peer, modern(self.one_of(call(number, "hold", name="a"), LISTEN,
                                                  call(number, "progress", token=1, steps=[1]))))

    def change(self, peer, number):
        return peer.post(call(number, "change", kind="tool", key="new"))

    def get(self, peer, _):
        return peer.get()

    def resume(self, peer, _):
        return peer.get(last_event_id=self.one_of("1:0", *self.events))

    def end(self, peer, _):
        """Waits for it: a session whose end was not read stays, and there is a limit on sessions."""
        self.peers.remove(peer)
        exchange = peer.start("DELETE", peer.session_fields())
        exchange.wait(lambda: exchange.status)
        return exchange

    def nonsense(self, peer, _):
        return peer.post(self.random.randbytes(self.random.randint(0, 50)))

    def step(self, number):
        if len(self.peers) < PEERS:
            self.peers.append(opened(self.server, self.one_of(*client.REVISIONS[:-1])))
        act = self.one_of(self.hold, self.hold, self.release, self.count, self.ask, self.answer,
                          self.cancel, self.batch, self.stand_alone, self.change, self.get,
                          self.resume, self.resume, self.end, self.nonsense)
        exchange = act(self.one_of(*self.peers), number)
        self.exchanges.append(exchange)
        if self.one_of(True, False):
            try:
                exchange.wait(lambda: exchange.status, 0.02)
            except TimeoutError:
                pass
        self.read()
        while len(self.exchanges) > EXCHANGES or self.exchanges and self.random.random() < 0.3:
            self.exchanges.pop(self.random.randrange(len(self.exchanges))).close()

    def read(self):
        for exchange in self.exchanges:
            exchange.read_some()
            self.events += [event.id for event in exchange.events if event.id]
        self.events = self.events[-50:]


@pytest.mark.serial
@pytest.mark.once
@pytest.mark.skipif(not os.path.exists(FIXTURE), reason="the fixture is not built here")
def test_a_storm():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    with client.Server(transport="http", command=[FIXTURE]) as server:
        storm = Storm(server, seed)
        deadline = time.monotonic() + SECONDS
        number = 0
        while time.monotonic() < deadline:
            number += 1
            storm.step(number)
            assert server.process.poll() is None, server.stderr()
        for exchange in storm.exchanges:
            exchange.close()
        assert opened(server).post(PING).wait().status == 200
