"""The newest Pythons (newest.py) are copied as others are: with what was imported ahead, as sessions and their copies, with
stacks at a timeout. Whether a script sees what it would see without that, test_as_plain.py shows."""

import pytest
import test_session_forks
from leftovers import Watched, is_zygote, until
from newest import newest
from test_stacks import SLEEP, asked, own, stands_at
from test_zygote import call, copy, ours

AHEAD = "import sys\nfound = sys.meta_path[0].find_spec('json')\nimport json\nprint(sys.version_info[1], found is not None)"


@pytest.fixture(scope="module", params=newest())
def version(request):
    return request.param


@pytest.fixture(scope="module")
def server(version):
    python = {"type": "system", "executable": newest()[version], "isolation": "sandbox"}
    with Watched(config={"environments": {"python": python}, **test_session_forks.CONFIG}) as server:
        server.initialize()
        # If the first copy of a zygote is late, there is no other one for a second or more.
        assert until(lambda: copy(server) and ours(server, is_zygote), 100)
        yield server


def test_calls_are_copies_with_what_was_imported_ahead(server, version):
    (zygote,) = ours(server, is_zygote)
    minor = version.partition(".")[2]
    assert until(lambda: copy(server, AHEAD)["stdout"] == f"{minor} True\n")
    assert ours(server, is_zygote) == [zygote]


def test_an_unusual_end_takes_apart_what_was_imported_ahead(server):
    """Python takes all modules apart itself when a script has put something into an earlier one."""
    code = "import json, os\nclass Thing:\n    def __del__(self): print('gone', flush=True)\n    def use(self): pass\nthing = Thing()\nos.mine = thing.use"
    assert copy(server, code)["stdout"] == "gone\n"


def test_a_session_and_its_copy_go_on_apart(server):
    test_session_forks.needs_copies(server)
    origin = test_session_forks.Session(server, "import json\nx = [1]")
    copied = origin.fork("x.append(2)\nx")
    assert "[1, 2]" in copied.result["stdout"]
    assert (origin.shown("x"), copied.shown("json.dumps(x)")) == ("[1]", "'[1, 2]'")
    copied.close()
    origin.close()


def test_a_timeout_shows_where_the_script_was(server):
    structured, _ = asked(server, SLEEP + "fetch()", stands_at(3))
    assert own(structured["stacks"][0]) == [(3, "fetch"), (4, "<module>")]
