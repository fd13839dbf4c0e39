import pytest


@pytest.fixture(scope="session", autouse=True)
def own_places(tmp_path_factory):
    """No test reads the configuration or fills the state directory of whoever runs it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        for name in ("PYEXECD_CONFIG", "STATE_DIRECTORY"):
            patch.delenv(name, raising=False)
        yield
