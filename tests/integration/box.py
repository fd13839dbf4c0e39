"""A server with one environment under test, called `box`.

    with Box({"type": "venv", "pip_packages": ["gadget"]}) as server:
        server.initialize()
        assert server.run("print(1)")["stdout"] == "1\\n"
"""

import leftovers

PREPARE_TIMEOUT = 180


class Box(leftovers.Watched):
    """DEFINITION is that of `box`, to which the mark of a watched server is added; CONFIG is
    everything else."""

    def __init__(self, definition, config=None, **more):
        self.definition = definition
        super().__init__(config=config, **more)

    def marked(self, config):
        variables = {**self.definition.get("environment", {}), leftovers.VARIABLE: self.mark}
        box = {**self.definition, "environment": variables}
        config["environments"] = {**config.get("environments", {}), "box": box}
        config.setdefault("default_environment", "box")
        return config

    def run(self, code, timeout=PREPARE_TIMEOUT, arguments=None):
        """The structured content of a call, whatever came of it. TIMEOUT is the test's patience,
        that of the call is one of its ARGUMENTS."""
        return self.call_tool("run_python", {"code": code, **(arguments or {})},
                              timeout=timeout)["structuredContent"]

    def begin(self, code, **arguments):
        """A call that is not waited for, whose script has begun and has printed `on`; its id."""
        call = self.start(f"print('on', flush=True)\n{code}", progress_token="begun", **arguments)
        while not any(note.get("message") == "on" for note in self.progress("begun")):
            message = self.receive()
            assert "method" in message, message
            self.notifications.append(message)
        return call

    def start(self, code, progress_token=None, **arguments):
        """A call that is not waited for; its id."""
        return self.start_tool("run_python", {"code": code, **arguments}, progress_token)
