"""What cells of a session display: pictures and pages become files, all else is text."""

import base64

import pytest

import client
import sessions
from pictures import BLUE, RED, Pixels, halves
from sessions import Session, given_in

PICTURE = halves(64, 32)
CLEAR = ("import os, shutil\nfor file in os.scandir():\n    if file.is_dir(): shutil.rmtree(file)\n"
         "    elif file.name != 'script.py': os.remove(file)\n")
PNG = f"import base64\nPNG = base64.b64decode({base64.b64encode(PICTURE).decode()!r})\n"
SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"


@pytest.fixture(scope="module")
def server():
    with client.Server(config={"sessions": {}}) as server:
        server.initialize()
        yield server


@pytest.fixture
def session(server):
    session = Session(server, CLEAR + PNG + """
class Shown:
    def __init__(self, **forms): self.forms = forms
def add(form):
    def get(self):
        if form not in self.forms: return None
        data = self.forms[form]
        if isinstance(data, BaseException): raise data
        return data
    setattr(Shown, f"_repr_{form}_", get)
for form in "png", "jpeg", "svg", "html", "markdown", "latex": add(form)
""")
    yield session
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


def content(session, name):
    """The bytes of a file. It takes a cell of its own."""
    return bytes.fromhex(session.shown(f"print(open({name!r}, 'rb').read().hex())"))


def test_a_picture_becomes_a_file_and_is_seen(session):
    assert session.shown("display(Shown(png=PNG))") == "[display-1.png]"
    assert session.files() == ["display-1.png"]
    pixels = Pixels(base64.b64decode(session.images[0]["data"]))
    assert (pixels[5, 5], pixels[5, 30]) == (RED, BLUE)
    assert content(session, "display-1.png") == PICTURE
    assert session.shown("Shown(png=base64.b64encode(PNG).decode(), html='<p>')") == "[display-2.png]"
    assert len(session.images) == 1
    assert content(session, "display-2.png") == PICTURE


def test_each_cell_shows_pictures_of_its_own(session):
    for number in range(1, 8):
        assert session.shown("Shown(png=PNG)") == f"[display-{number}.png]"
        assert len(session.images) == 1, session.text


def test_one_picture_is_enough(session):
    assert session.shown(f"Shown(png=PNG, svg={SVG!r}, html='<p>')") == "[display-1.png]"
    assert session.files() == ["display-1.png"]


@pytest.mark.parametrize("form, data, extension", [("svg", SVG, "svg"), ("html", "<p>\u20ac</p>", "html")])
def test_other_forms_become_files(session, form, data, extension):
    assert session.shown(f"Shown({form}={data!r})") == f"[display-1.{extension}]"
    assert f"display-1.{extension}" in session.text
    assert content(session, f"display-1.{extension}").decode() == data


@pytest.mark.parametrize("code, shown", [
    ("display(1, 'two', None)", "1\n'two'\nNone"),
    ("Shown(markdown='# Title\\n- item')", "# Title\n- item"),
    ("Shown(latex='$x$')", "$x$"),
    ("display({'text/plain': 'plain', 'text/html': '<p>'}, raw=True)", "plain"),
    ("Shown.__repr__ = lambda self: 'a text of its own'\nShown(html='<p>')", "a text of its own"),
    ("Shown", "<class '__main__.Shown'>"),
    ("from unittest.mock import MagicMock\nMagicMock(name='m').x.y is not None", "True"),
    ("Shown(png=PNG);", ""),
    ("_ = Shown(markdown='kept')\ndisplay(_)\n1\n", "kept\n1"),
])
def test_all_else_is_text(session, code, shown):
    assert session.shown(code) == shown
    assert session.files() == []


def test_a_bundle_of_forms(session):
    session.run("class Bundle:\n    def _repr_mimebundle_(self, include, exclude):\n"
                "        return {'image/png': base64.b64encode(PNG).decode(), 'text/plain': 'words'}, {}")
    assert session.shown("Bundle()") == "[display-1.png]\nwords"
    assert session.files() == ["display-1.png"]


def test_the_value_that_is_shown_is_kept(session):
    session.run("Shown(markdown='first')")
    assert session.shown("_.forms") == "{'markdown': 'first'}"


def test_what_fails_is_reported_and_loses_nothing(session):
    result = session.run("x = 1\nShown(png=ValueError('no ink'), markdown='the words')")
    assert result["success"] and result["stdout"] == "the words\n"
    assert result["stderr"] == "_repr_png_ of Shown failed: ValueError: no ink\n"
    result = session.run("display(Shown(png=5, html='<p>'), Shown(png='a'))\nx")
    assert result["stdout"].startswith("[display-1.html]\n") and result["stdout"].endswith("\n1\n")
    assert "image/png of Shown is neither text nor bytes: int" in result["stderr"]
    assert "image/png of Shown is neither bytes nor base64" in result["stderr"]


def test_a_repr_that_fails_shows_the_lines_of_the_cell_only(session):
    result = session.run("class Bad:\n    def _repr_html_(self): return '<p>'\n    def __repr__(self): return 1 / 0\nBad()")
    assert result["returncode"] == 1 and "ZeroDivisionError" in result["stderr"]
    assert result["stderr"].count("File ") == 2, result["stderr"]


def test_an_interrupt_ends_what_is_being_shown(server):
    slow = "class Slow:\n    def _repr_png_(self):\n        import time; time.sleep(600)"
    session = given_in(lambda: Session(server, slow), "x = 1\nSlow()", lambda result: "_repr_png_" in result["stderr"])
    assert "KeyboardInterrupt" in session.result["stderr"]
    assert session.shown("x") == "1"
    server.call_tool("manage_sessions", {"action": "close", "session": session.name})


def test_sizes_and_numbers_are_bounded(session):
    result = session.run("display(Shown(html=' ' * (20 << 20)))")
    assert result["success"] and session.files() == []
    assert "are not saved: at most 16777216 are" in result["stderr"]
    result = session.run("for _ in range(200): display(Shown(svg='<svg/>'))")
    assert len(session.files()) == 32 and result["stderr"].count("at most 32") == 1
    assert session.shown("Shown(svg='<svg/>')") == "[display-33.svg]"


def test_files_that_are_there_are_kept_and_those_of_another_directory_are_not_used(session):
    session.run("import os\nopen('display-1.svg', 'w').write('mine')\nos.mkdir('below')\nos.chdir('below')")
    assert session.shown("Shown(svg='<svg/>')") == "[display-2.svg]"
    assert session.files() == ["display-2.svg"] and content(session, "../display-1.svg") == b"mine"


def test_where_nothing_can_be_written_the_cell_goes_on(session):
    result = session.run("import os\nos.mkdir('display-1.svg')\nos.chmod('.', 0o500)\ndisplay(Shown(svg='<svg/>'))\n"
                         "os.chmod('.', 0o700)\n'on'")
    assert result["success"] and result["stdout"].endswith("'on'\n")


def test_display_can_be_another_name(session):
    assert session.shown("def display(x): return 'mine'\ndisplay(1)") == "'mine'"
    assert session.shown("del display\ndisplay(2)") == "2"


# With packages


@pytest.fixture(scope="module")
def data_server():
    with client.Server(config={"sessions": {}, "environments": {"data": sessions.venv("data")}}) as server:
        server.initialize()
        yield server


@pytest.fixture
def data(data_server):
    session = Session(data_server, CLEAR + "import pandas, matplotlib.pyplot as plt", timeout=sessions.SECONDS)
    yield session
    data_server.call_tool("manage_sessions", {"action": "close", "session": session.name})


def test_a_table_is_compact_text(data):
    shown = data.shown("frame = pandas.DataFrame({f'column {i}': range(1000) for i in range(40)})\nframe")
    assert "[1000 rows x 40 columns]" in shown and data.files() == []
    assert len(shown.splitlines()) < 20 and len(shown) < 4000 and "column 39" in shown
    assert data.shown("display(frame)") == shown
    assert data.shown("frame.iloc[:3, :2]") == "column 0  column 1\n0         0         0\n1         1         1\n2         2         2"


def test_options_of_a_table_that_somebody_has_set_hold(data):
    data.run("pandas.set_option('display.max_rows', 500)")
    assert len(data.shown("pandas.DataFrame({'a': range(400)})").splitlines()) == 401


def test_a_figure_is_seen_once(data):
    assert data.shown("figure, axes = plt.subplots()\naxes.plot([1, 2])\nfigure") == "[display-1.png]"
    assert data.files() == ["display-1.png"] and len(data.images) == 1
    assert data.shown("plt.plot([1, 3]);") == ""
    assert data.files() == ["figure-1.png"] and len(data.images) == 1
    assert data.shown("figure, axes = plt.subplots()\nplt.close(figure)\nfigure.set_size_inches(40, 4)\ndisplay(figure)") == \
        "[display-2.png]"


def test_a_figure_that_cannot_be_drawn_is_reported(data):
    result = data.run("figure = plt.figure()\nfigure.text(0, 0, '$\\\\nosuch$')\ndisplay(figure)\nplt.close('all')\n'on'")
    assert "the figure cannot be drawn: ValueError" in result["stderr"] and result["stdout"] == "'on'\n"


def test_a_picture_of_pillow(data):
    assert data.shown("from PIL import Image\nImage.new('RGB', (64, 32), 'red')") == "[display-1.png]"
    assert Pixels(base64.b64decode(data.images[0]["data"]))[5, 5] == RED
