"""Ports of loopback for servers of tests."""

import random
import socket

# Below those that the kernel gives to connections, in an order of this process's own.
PORTS = iter(random.sample(range(20000, 32000), 12000))


def free_port():
    """A port that nobody listens at; never the same twice."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is left")
