"""Each kind of environment, way of a call, user of the server and end of a script with each other one: limits are in force,
the result says what holds, the next call is right, and nothing is left. For containers see tests/docker.
"""

import matrix
import matrix_trial
import matrix_users
import pytest

KINDS = ("system", "venv")
CELLS = [cell for cell in matrix.cells(KINDS) if cell.user in matrix_users.here()]
SAMPLE = matrix.pairwise(CELLS)
REFUSED = matrix.tried(KINDS)


def test_every_pair_of_values_that_can_meet_is_in_the_sample():
    for kinds in (KINDS, ("docker", "kept")):
        every = matrix.cells(kinds)
        sample = matrix.pairwise(every)
        assert set().union(*map(matrix.pairs, every)) == set().union(*map(matrix.pairs, sample))
        assert sample == matrix.pairwise(every) and len(sample) < len(every) / 4


@pytest.fixture(scope="module")
def start():
    """Makes the server of a cell."""
    place = matrix_users.Place()

    def make(cell, definition=None, environment=None):
        python = {"executable": "/usr/bin/python3"} if cell.kind == "system" else {"venv_path": place.venv(cell.user)}
        fresh = {"type": cell.kind, "start": "cold" if cell.way == "cold" else "warm", "environment": {"GENERATION": "old"}, **python}
        return matrix_trial.LocalServer(cell.user, place, definition or fresh, config=matrix_trial.CONFIG,
                                        environment=environment)

    yield make
    place.remove()


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
