"""Every request to the engine between a call and its answer fails once: it is refused, its answer is lost,
or it takes long. The call is answered rightly or with an error, the next one is, and nothing is left."""

import engine_proxy
import leftovers
import pytest

SECONDS = 180
FEWEST = 3  # requests that a run takes


@pytest.fixture
def proxy(engine, tmp_path):
    with engine_proxy.EngineProxy(engine.socket, tmp_path) as proxy:
        yield proxy


def outcome(server):
    result = server.run("print(6 * 7)", timeout=SECONDS)
    if result["success"]:
        return "right" if result["stdout"] == "42\n" else f"wrong: {result}"
    return "error" if result["error"] else f"no error: {result}"


def containers(engine):
    return engine.api.get("/containers/json", all=1)


@pytest.mark.once
@pytest.mark.parametrize("kept", [False, True], ids=["fresh", "kept"])
@pytest.mark.parametrize("way", engine_proxy.WAYS)
def test_each_request_fails_once(docker_server, engine, proxy, way, kept):
    with docker_server({"host": proxy.address, "keep_container_running": kept}) as server:
        server.initialize()
        assert outcome(server) == "right"
        harm, number = [], 0
        while number == 0 or len(proxy.requests) >= number:
            number += 1
            proxy.harm(number, way)
            ended = outcome(server)
            harmed = proxy.requests[number - 1:number]
            proxy.harm(0, None)
            if ended not in ("right", "error") or (way == "delay" and ended != "right"):
                harm.append((number, harmed, ended))
            if (after := outcome(server)) != "right":
                harm.append((number, harmed, ended, "then", after))
        assert number > FEWEST, "requests are seen"
        assert not harm
        most = 1 if kept else 0
        leftovers.until(lambda: len(containers(engine)) <= most, SECONDS)
        assert len(containers(engine)) <= most, "each container that was made is removed"
