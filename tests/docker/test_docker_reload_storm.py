"""The storm of tests/integration/test_reload_storm.py where there are containers, too, and some are kept between calls."""

import pytest
from reload_storm import StormServer, pass_over


@pytest.mark.heavy
def test_a_storm_of_reloads(engine, tmp_path):
    with StormServer(tmp_path, has_engine=True, environment=engine.environment) as server:
        pass_over(server, tmp_path, has_engine=True)
