"""A server whose environment `box` runs in a test engine."""

import box
import leftovers


class DockerServer(box.Box):
    """DEFINITION may leave out `type` and name another `host` than ENGINE's. The only containers are
    those of calls, unless it says `start: warm`."""

    def __init__(self, engine, definition=None, environment=None, **more):
        self.engine = engine
        super().__init__({"type": "docker", "start": "cold", **(definition or {})},
                         environment={**engine.environment, **(environment or {})}, **more)

    def prepare(self):
        """A first call, whose container is gone."""
        before = self.containers()
        self.run("pass")
        assert leftovers.until(lambda: self.containers() <= before)

    def containers(self):
        return {each["Id"] for each in self.engine.api.get("/containers/json", all=1)}
