"""A server whose environment `box` runs in a test engine.

    with DockerServer(engine, {"pip_packages": ["gadget"]}) as server:
        server.initialize()
        assert server.run("print(1)")["stdout"] == "1\\n"
"""

import leftovers

PREPARE_TIMEOUT = 60


class DockerServer(leftovers.Watched):
    """DEFINITION is that of `box`, CONFIG everything else. `type`, the mark and DOCKER_HOST are
    added; DEFINITION may name another `host`."""

    def __init__(self, engine, definition=None, config=None, environment=None, **more):
        self.definition = definition or {}
        super().__init__(config=config, environment={**engine.environment, **(environment or {})},
                         **more)

    def marked(self, config):
        variables = {**self.definition.get("environment", {}), leftovers.VARIABLE: self.mark}
        box = {"type": "docker", **self.definition, "environment": variables}
        config["environments"] = {**config.get("environments", {}), "box": box}
        config.setdefault("default_environment", "box")
        return config

    def run(self, code, timeout=PREPARE_TIMEOUT, **arguments):
        """The structured content of a call, whatever came of it."""
        return self.call_tool("run_python", {"code": code, **arguments},
                              timeout=timeout)["structuredContent"]
