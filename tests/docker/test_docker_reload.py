"""Containers while the configuration is read again, and the trace that their scripts are part of."""

import itertools
import json
import signal

import leftovers
import pytest

KEEP = {"keep_container_running": True}
NUMBERS = itertools.count()
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def reload(server, **changes):
    """The environment is what it was, but for CHANGES; there is another one beside it."""
    environments = server.config["environments"]
    path = server.folder / "config.yaml"
    name = f"other{next(NUMBERS)}"
    path.write_text(json.dumps({**server.config, "environments": {
        **environments, "box": {**environments["box"], **changes}, name: {"type": "system"}}}))
    server.process.send_signal(signal.SIGHUP)
    # Tools change, too, when a Python has been asked.
    assert leftovers.until(lambda: name in json.dumps(server.list_tools()))


def containers(engine):
    return [container["Id"] for container in engine.api.get("/containers/json", all=1)]


def test_what_is_kept_stays_while_its_environment_is_the_same(docker_server, engine):
    with docker_server(KEEP) as server:
        server.initialize()
        assert server.run("open('/opt/there', 'w')")["success"]
        kept = containers(engine)
        reload(server)
        assert server.run("import os; print(os.path.exists('/opt/there'))")["stdout"] == "True\n"
        assert containers(engine) == kept
        running = server.start("import time; time.sleep(1); print('still here')")
        reload(server, timeout=55)
        assert server.run("import os; print(os.path.exists('/opt/there'))")["stdout"] == "False\n"
        assert server.wait(running)["result"]["structuredContent"]["stdout"] == "still here\n"
        assert leftovers.until(lambda: not set(kept) & set(containers(engine)))


@pytest.mark.parametrize("definition", [{}, KEEP], ids=["fresh", "kept"])
def test_a_script_is_part_of_the_trace_of_its_call(docker_server, definition):
    with docker_server(definition) as server:
        server.initialize()
        for parent, told in ((PARENT, PARENT[:36]), (None, "None")):
            meta = {"_meta": {"traceparent": parent, "tracestate": "a=1"}} if parent else {}
            result = server.request("tools/call", {
                "name": "run_python", **meta, "arguments": {
                    "code": "import os; print(os.environ.get('TRACEPARENT'), os.environ.get('TRACESTATE'))"}},
                timeout=180)
            assert result["structuredContent"]["stdout"].startswith(told)
            assert result["structuredContent"]["stdout"].endswith(" a=1\n" if parent else " None\n")
