"""Every request to the engine between a call and its answer fails once: it is refused, its answer is lost,
or it takes long. The call is answered rightly or with an error, the next one is, and nothing is left."""

import engine_proxy
import leftovers
import pytest

SECONDS = 180
CALLS = 20  # of which one at least is as most are
CODE = "import time; time.sleep(0.3); print(6 * 7)"  # the engine is asked for its end before that has come
# The requests of a call. The last one comes about when its answer does.
REQUESTS = {
    "fresh": ["POST /containers/create", "POST /containers/ID/attach", "POST /containers/ID/start",
              "POST /containers/ID/wait", "DELETE /containers/ID"],
    "kept": ["POST /containers/ID/exec", "POST /exec/ID/start", "GET /containers/ID/json"],
}


@pytest.fixture
def proxy(engine, tmp_path):
    with engine_proxy.EngineProxy(engine.socket, tmp_path) as proxy:
        yield proxy


def outcome(server):
    result = server.run(CODE, timeout=SECONDS)
    if result["success"]:
        return "right" if result["stdout"] == "42\n" else f"wrong: {result}"
    return "error" if result["error"] else f"no error: {result}"


def unharmed(server, proxy, requests, settle):
    """Calls, which are answered rightly, until one begins and ends with its REQUESTS: no earlier one has any left."""
    for _ in range(CALLS):
        settle()
        proxy.harm(None, None)
        if (ended := outcome(server)) != "right":
            return ended
        leftovers.until(lambda: requests[-1] in proxy.requests, SECONDS)
        if proxy.requests[0] == requests[0] and proxy.requests[-1] == requests[-1]:
            return "right"
    return f"requests: {proxy.requests}"


def harmed(server, proxy, request, way, last, settle):
    """What comes of a call whose REQUEST is harmed. One that is answered early makes not all of them, but its LAST."""
    for _ in range(CALLS):
        settle()
        proxy.harm(request, way)
        ended = outcome(server)
        leftovers.until(lambda: {request, last} & set(proxy.requests), SECONDS)
        if request in proxy.requests:
            return ended
    return f"not harmed: {proxy.requests}"


def containers(engine):
    return engine.api.get("/containers/json", all=1)


@pytest.mark.once
@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize("way", engine_proxy.WAYS)
def test_each_request_fails_once(docker_server, engine, proxy, way, kind):
    requests, most = REQUESTS[kind], 1 if kind == "kept" else 0

    def settle():
        """Waits for what a call does after its answer: its container is removed a little later."""
        assert leftovers.until(lambda: len(containers(engine)) <= most, SECONDS), "what was made is removed"

    with docker_server({"host": proxy.address, "keep_container_running": kind == "kept"}) as server:
        server.initialize()
        assert unharmed(server, proxy, requests, settle) == "right"
        harm = []
        for request in requests:
            ended = harmed(server, proxy, request, way, requests[-1], settle)
            if ended not in ("right", "error") or (way == "delay" and ended != "right"):
                harm.append((request, ended))
            if (after := unharmed(server, proxy, requests, settle)) != "right":
                harm.append((request, ended, "then", after))
            settle()
        assert not harm
