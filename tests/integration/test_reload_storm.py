"""The configuration is read again and again, in every way, while clients of every kind are at work. STORM_SECONDS in the
environment is how long.
"""

import pytest
from reload_storm import StormServer, pass_over


@pytest.mark.heavy
def test_a_storm_of_reloads(tmp_path):
    with StormServer(tmp_path) as server:
        pass_over(server, tmp_path)
