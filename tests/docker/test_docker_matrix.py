"""The matrix of tests/integration/test_matrix.py in containers, those that are kept between calls too."""

import matrix
import matrix_trial
import matrix_users
import pytest
from docker_server import DockerServer
from test_docker_ahead import all_wait

KINDS = ("docker", "kept")
CELLS = matrix.cells(KINDS)
SAMPLE = matrix.pairwise(CELLS)
REFUSED = matrix.tried(KINDS)


class ContainerServer(matrix_trial.AsUser, DockerServer):
    """One of any user, who may use the engine."""

    def __init__(self, engine, user, place, definition, **more):
        self.user = user
        super().__init__(engine, definition, command=matrix_trial.command(user, place), **more)

    def until_one_waits(self):
        """Waits until a container with a Python waits for the next call, or several after a call that none waited for;
        one that is kept is there, and has none."""
        return self.definition["keep_container_running"] or all_wait(self.engine, 2)


@pytest.fixture(scope="module")
def place():
    place = matrix_users.Place()
    yield place
    place.remove()


@pytest.fixture
def start(engine, place):
    """Makes the server of a cell."""
    engine.folder.chmod(0o711)
    engine.socket.chmod(0o666)

    def make(cell, definition=None, environment=None):
        fresh = {"start": "cold" if cell.way == "cold" else "warm", "environment": {"GENERATION": "old"},
                 "keep_container_running": cell.kind == "kept"}
        return ContainerServer(engine, cell.user, place, definition or fresh, config=matrix_trial.CONFIG,
                               environment=environment)

    return make


@pytest.mark.heavy
@pytest.mark.parametrize("cell", REFUSED, ids=matrix.name)
def test_what_cannot_be_is_refused_by_name(start, cell):
    matrix_trial.Trial(cell, start).is_refused(matrix.hole_of(cell).told)


@pytest.mark.heavy
@pytest.mark.parametrize("cell", SAMPLE, ids=matrix.name)
def test_cell_of_the_sample_holds(start, cell):
    matrix_trial.Trial(cell, start).run()


@pytest.mark.heavy
@pytest.mark.release
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell not in SAMPLE], ids=matrix.name)
def test_cell_holds(start, cell):
    matrix_trial.Trial(cell, start).run()
