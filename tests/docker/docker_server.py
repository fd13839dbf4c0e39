"""A server whose environment `box` runs in a test engine."""

import contextlib
import pathlib

import box
import client
import leftovers

ANSWERS = "pyexecd/docker/python"  # below XDG_STATE_HOME: what images have answered about their Python, by their ids
KNOWN = {}  # such answers: their names and contents
# Seconds that a script may take, try by try: on a busy machine it takes longer until one has begun.
TIMEOUTS = (2, 8, 32)


def timed_out(run, has_begun):
    """The result of RUN(timeout), a call whose script never ends, once it shows that the script HAS_BEGUN."""
    result = client.with_more_time(run, has_begun, TIMEOUTS)
    assert result["timed_out"] and has_begun(result), result
    return result


class DockerServer(box.Box):
    """DEFINITION may leave out `type` and name another `host` than ENGINE's. The only containers are
    those of calls, unless it says `start: warm`; one that asks an image for its Python is only there if
    no earlier server has asked that image."""

    def __init__(self, engine, definition=None, environment=None, **more):
        self.engine = engine
        super().__init__({"type": "docker", "start": "cold", **(definition or {})},
                         environment={**engine.environment, **(environment or {})}, **more)

    def _start(self):
        for folder in (*reversed(pathlib.Path(ANSWERS).parents), ANSWERS):
            (self.home / folder).mkdir(0o700, exist_ok=True)
        for name, answer in KNOWN.items():
            (self.home / ANSWERS / name).write_bytes(answer)
        super()._start()

    def kill(self):
        with contextlib.suppress(FileNotFoundError):
            for answer in (self.home / ANSWERS).iterdir():
                if not answer.suffix:  # it is whole
                    KNOWN[answer.name] = answer.read_bytes()
        super().kill()

    def prepare(self):
        """A first call, whose container is gone."""
        before = self.containers()
        self.run("pass")
        assert leftovers.until(lambda: self.containers() <= before)

    def containers(self):
        return {each["Id"] for each in self.engine.api.get("/containers/json", all=1)}
