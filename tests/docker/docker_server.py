"""A server whose environment `box` runs in a test engine."""

import box


class DockerServer(box.Box):
    """DEFINITION may leave out `type` and name another `host` than ENGINE's."""

    def __init__(self, engine, definition=None, environment=None, **more):
        super().__init__({"type": "docker", **(definition or {})},
                         environment={**engine.environment, **(environment or {})}, **more)
