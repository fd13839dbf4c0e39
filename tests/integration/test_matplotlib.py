"""Figures of matplotlib that a script shows or leaves open become files in its working directory, whether it imports that
itself or is lent what has been imported ahead (base/starter/preload.py)."""

import contextlib
import pathlib
import struct

import pytest
from leftovers import Watched, until_one_waits

PACKAGES = pathlib.Path(__file__).parents[2] / ".deps" / "data"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\n"
CLEAR = """
import os, shutil
for name in os.listdir():
    if os.path.isdir(name):
        shutil.rmtree(name)
    elif name != "script.py":
        os.remove(name)
"""
SECONDS = 120  # what the first import may take on a busy machine


WAYS = {"itself": "none", "ahead": ["matplotlib.pyplot"]}


@pytest.fixture(scope="module", params=WAYS)
def way(request):
    return request.param


@contextlib.contextmanager
def serving(way, **more):
    """A server with one environment, so that a Python that was started ahead is of that one."""
    environment = {"type": "venv", "venv_path": str(PACKAGES), "preload": WAYS[way], **more}
    with Watched(config={"environments": {"it": environment}}) as server:
        server.initialize()
        yield server


@pytest.fixture(scope="module")
def shared_server(way):
    if not (PACKAGES / "installed").exists():
        pytest.skip("no .deps/data: ./dev deps installs it")
    with serving(way) as server:
        yield server


@pytest.fixture
def run(shared_server, way):
    """Runs code in a directory that is empty at first; returns the result, with the paths of its files. Over stdio the directory
    is that of the tests before, and the home of their scripts: settings that one leaves would be those of the next."""
    directory = {}

    def run_in_directory(code, **arguments):
        given = {"code": code, "timeout": SECONDS, **directory, **arguments}
        result = shared_server.call_tool("run_python", given, timeout=SECONDS + 30)["structuredContent"]
        directory["working_directory"] = result["working_directory"]
        result["names"] = sorted(file["path"] for file in result["files"])
        if way == "ahead" and not arguments:
            again = {"code": "pass", **directory}
            assert until_one_waits(shared_server, lambda: shared_server.call_tool("run_python", again), SECONDS)
        return result

    run_in_directory(CLEAR)
    return run_in_directory


def test_it_is_imported_ahead(run, way):
    code = ("import glob, os, matplotlib.pyplot\nprint(any(glob.glob(os.path.expanduser('~/.cache/matplotlib/fontlist*'))))")
    result = run(code)
    assert result["stdout"] == f"{way == 'itself'}\n", "who imports it itself looks for fonts"
    if way == "ahead":
        assert result["timings"]["warm"]


def test_figures_are_saved_when_another_module_brings_it():
    if not (PACKAGES / "installed").exists():
        pytest.skip("no .deps/data: ./dev deps installs it")
    environment = {"type": "venv", "venv_path": str(PACKAGES), "preload": ["pandas.plotting._matplotlib"]}
    with Watched(config={"environments": {"it": environment}}) as server:
        server.initialize()
        code = "import pandas\npandas.Series([1, 2, 4]).plot()"
        for is_warm in (False, True):
            result = server.call_tool("run_python", {"code": code, "timeout": SECONDS}, timeout=SECONDS)["structuredContent"]
            assert result["timings"]["warm"] is is_warm, result
            assert [file["path"] for file in result["files"]] == [f"figure-{1 + is_warm}.png"]
            assert until_one_waits(server, lambda: server.call_tool("run_python", {"code": "pass"}), SECONDS)


def test_its_places_are_in_the_home_of_the_script(run):
    code = ("import os, matplotlib.pyplot as plt, matplotlib as m\n"
            "print(*[os.path.relpath(path, os.environ['HOME']) for path in (m.get_configdir(), m.get_cachedir())])")
    assert run(code)["stdout"] == ".config/matplotlib .cache/matplotlib\n"


@pytest.mark.parametrize("place", ["matplotlibrc", ".config/matplotlib/matplotlibrc"])
def test_a_script_has_settings_of_its_own(run, place):
    run(f"import os\nos.makedirs(os.path.dirname({place!r}) or '.', exist_ok=True)\n"
        f"open({place!r}, 'w').write('lines.linewidth: 7')")
    assert run("import matplotlib.pyplot as plt\nprint(plt.rcParams['lines.linewidth'])")["stdout"] == "7.0\n"


def test_so_it_does_by_a_variable(run):
    run("open('mine', 'w').write('lines.linewidth: 7')")
    code = "import os\nos.environ['MATPLOTLIBRC'] = 'mine'\nimport matplotlib\nprint(matplotlib.rcParams['lines.linewidth'])"
    assert run(code)["stdout"] == "7.0\n"


@pytest.mark.parametrize("has_settings", [False, True])
def test_a_place_for_settings_and_caches_can_be_named(way, tmp_path, has_settings):
    """One that has no settings changes nothing, and the home stays empty."""
    if not (PACKAGES / "installed").exists():
        pytest.skip("no .deps/data: ./dev deps installs it")
    if has_settings:
        (tmp_path / "matplotlibrc").write_text("lines.linewidth: 7")
    place = str(tmp_path) if has_settings else "/tmp/place"
    code = ("import glob, os, matplotlib.pyplot as plt\nprint(plt.rcParams['lines.linewidth'], os.listdir())\n"
            "print(any(glob.glob(os.getenv('MPLCONFIGDIR') + '/fontlist*')))")
    with serving(way, write=[str(tmp_path)], environment={"MPLCONFIGDIR": place, "XDG_CACHE_HOME": "/tmp"}) as server:
        directory = {}
        for is_ahead in (False, way == "ahead" and not has_settings):
            given = {"code": code, "timeout": SECONDS, **directory}
            result = server.call_tool("run_python", given, timeout=SECONDS + 30)["structuredContent"]
            directory["working_directory"] = result["working_directory"]
            assert result["stdout"] == f"{7.0 if has_settings else 1.5} ['script.py']\n{not is_ahead}\n", result
            again = {"code": "pass", **directory}
            assert until_one_waits(server, lambda: server.call_tool("run_python", again), SECONDS)


def folder(result):
    return pathlib.Path(result["script"]).parent


def size(picture):
    """Width and height of a PNG file."""
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")
    return struct.unpack(">II", data[16:24])


def test_each_figure_that_is_shown_is_a_file(run):
    result = run(PLOT + "plt.show()\nplt.plot([3])\nplt.show()\nprint(plt.get_fignums())")
    assert result["success"] and result["names"] == ["figure-1.png", "figure-2.png"]
    assert (result["stdout"], result["stderr"]) == ("[]\n", "")
    width, height = size(folder(result) / "figure-1.png")
    assert 400 < width < 1000 and 300 < height < 1000


def test_a_figure_that_is_left_open_is_a_file(run):
    assert run(PLOT)["names"] == ["figure-1.png"]


def test_so_it_is_after_an_exception(run):
    result = run(PLOT + "1 / 0")
    assert result["returncode"] == 1 and result["names"] == ["figure-1.png"]
    assert result["stderr"].count("File ") == 1


def test_so_it_is_at_a_timeout(run):
    """In one of several tries: it takes a part of the half second that a script has then. So that this is
    a small part on a busy machine, too, nothing is drawn."""
    hangs = ("import os\nif os.path.exists('figure-1.png'): os.remove('figure-1.png')\n" + PLOT +
             "plt.gcf().savefig = lambda picture, **_: picture.write(b'drawn')\nimport time; time.sleep(100)")
    for seconds in (4, 10, 20, 40, 60):
        result = run(hangs, timeout=seconds)
        assert result["timed_out"]
        if result["names"] == ["figure-1.png"]:
            return
    raise AssertionError(result)


def test_no_file_that_is_there_is_written_over(run):
    run("open('figure-1.png', 'w').write('mine')")
    result = run(PLOT)
    assert result["names"] == ["figure-2.png"] and (folder(result) / "figure-1.png").read_text() == "mine"


def test_a_figure_that_the_script_has_saved_is_not_saved_again(run):
    assert run(PLOT + "plt.savefig('mine.png')\nplt.show()")["names"] == ["mine.png"]


def test_a_figure_that_is_saved_as_no_picture_is_a_file_too(run):
    assert run(PLOT + "plt.savefig('mine.pdf')\nplt.show()")["names"] == ["figure-1.png", "mine.pdf"]


def test_an_empty_figure_is_none(run):
    assert run("import matplotlib.pyplot as plt\nplt.figure()\nplt.show()")["names"] == []


def test_an_animation_is_one_file(run):
    code = "import matplotlib.pyplot as plt\nplt.ion()\nfor i in range(3):\n    plt.plot([i, 2]); plt.pause(0.01)"
    assert run(code)["names"] == ["figure-1.png"]


def test_the_directory_is_the_one_where_the_script_began(run):
    assert run("import os\nos.makedirs('d', exist_ok=True)\nos.chdir('d')\n" + PLOT)["names"] == ["figure-1.png"]


def test_a_child_of_the_script_saves_nothing(run):
    assert run(PLOT + "import os, sys\nif os.fork() == 0: sys.exit()\nos.wait()")["names"] == ["figure-1.png"]


def test_no_warning_says_that_nothing_can_be_shown(run):
    result = run("import os\nos.environ['DISPLAY'] = ':99'\n" + PLOT + "plt.gcf().show()\nplt.show()")
    assert result["stderr"] == "" and result["names"] == ["figure-1.png"]


@pytest.mark.parametrize("choice", ["import os\nos.environ['MPLBACKEND'] = 'svg'\n",
                                    "import matplotlib\nmatplotlib.use('svg')\n"])
def test_a_script_can_choose_the_backend(run, choice):
    assert run(choice + PLOT + "print(plt.get_backend())")["stdout"] == "svg\n"


def test_an_import_that_fails_looks_as_it_would_without_it(run):
    result = run("import sys\nsys.modules['numpy'] = None\nimport matplotlib.pyplot")
    assert "figures.py" not in result["stderr"] and "importlib" not in result["stderr"]
    assert result["stderr"].endswith("ModuleNotFoundError: import of numpy halted; None in sys.modules\n")


def test_figures_are_left_to_the_script_where_the_operator_says_so(way):
    if not (PACKAGES / "installed").exists():
        pytest.skip("no .deps/data: ./dev deps installs it")
    code = PLOT + "plt.show()\nimport os; print('PYEXECD_FIGURES' in os.environ)"
    with serving(way, images="off") as server:
        result = server.call_tool("run_python", {"code": code, "timeout": SECONDS},
                                  timeout=SECONDS + 30)["structuredContent"]
    assert result["success"] and result["stdout"] == "False\n", result
    assert result["files"] == []
