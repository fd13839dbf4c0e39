"""The program of a session in a Jupyter kernel, piece by piece, without a kernel: what it starts, reads and shows."""

import base64
import hashlib
import hmac
import importlib.util
import json
import os
import pathlib
import socket
import sys
import types
from random import Random

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "environments" / "notebook"
KEY = "0123456789abcdef0123456789abcdef"


def loaded(name, **given):
    spec = importlib.util.spec_from_file_location(name, NOTEBOOK / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    vars(module).update(given)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def program(tmp_path, monkeypatch):
    for name in ("JUPYTER_PATH", "JUPYTER_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    program = loaded("kernel")
    program.NAME, program.PREFIX, program.MACHINE = "k", str(tmp_path / "venv"), [str(tmp_path / "machine")]

    def fail(why):
        raise SystemExit(why)

    program.fail = fail
    return program


@pytest.fixture
def relay(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zmq", types.ModuleType("zmq"))
    return loaded("kernel_relay", rich=loaded("rich", directory=str(tmp_path)), new_name=lambda: os.urandom(16).hex(),
                  say=lambda text: print(text, file=sys.stderr))


# Which kernel, and how it is started


def install(place, text, name="k"):
    folder = place / "kernels" / name
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(text if isinstance(text, str) else json.dumps({"argv": text}))
    return folder


def test_the_places_are_searched_in_their_order(program, tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", f"/nowhere::{tmp_path}/listed")
    for place in ("machine", "home/.local/share/jupyter", "venv", "listed"):
        folder = install(tmp_path / place, [place])
        assert program.find_spec() == ({"argv": [place]}, str(folder))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    assert f"{tmp_path}/home/.local/share/jupyter/kernels" not in program.places()
    assert f"{tmp_path}/data/kernels" in program.places()


def test_one_that_is_not_there_is_told_with_those_that_are(program, tmp_path):
    with pytest.raises(SystemExit, match='no Jupyter kernel "k" .* there is none'):
        program.find_spec()
    install(tmp_path / "venv", ["x"], "other")
    with pytest.raises(SystemExit, match="there is other"):
        program.find_spec()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"argv": []}', '{"argv": [1]}', '{"argv": "x"}', "[" * 100000, "\xff"])
def test_a_file_that_makes_no_sense_is_an_error(program, tmp_path, text):
    install(tmp_path / "venv", text)
    with pytest.raises(SystemExit, match='kernel.json has no list of strings "argv"'):
        program.find_spec()


@pytest.mark.parametrize("name, started", [("python", sys.executable), ("python3.11", sys.executable), ("R", "R"),
                                           ("/usr/bin/python3", "/usr/bin/python3"), ("pythonic", "pythonic")])
def test_only_a_python_without_a_path_is_that_of_the_environment(program, name, started):
    argv = [name, "-f", "{connection_file}", "a{resource_dir}/x", "{prefix}", "{other}"]
    assert program.command_of({"argv": argv}, "/d", "/c.json") == [started, "-f", "/c.json", "a/d/x", sys.prefix, "{other}"]


def test_variables_are_those_of_the_session_and_of_the_kernel(program, monkeypatch):
    monkeypatch.setenv("MINE", "1")
    variables = program.variables_of({"env": {"A": "b", "C": 1}})
    assert variables["MINE"] == "1" and variables["A"] == "b" and "C" not in variables
    assert program.variables_of({"env": []})["JPY_PARENT_PID"] == str(os.getpid())


def test_only_its_user_can_reach_the_sockets(program, tmp_path):
    program.PARENT = str(tmp_path)
    connection = program.Connection()
    facts = json.loads(pathlib.Path(connection.path).read_text())
    assert os.stat(connection.directory).st_mode & 0o777 == 0o700
    assert connection.address("shell") == f"ipc://{facts['ip']}-{facts['shell_port']}"
    assert facts["transport"] == "ipc" and facts["key"] == connection.key and len(connection.key) == 32


# Messages


@pytest.fixture
def wire(relay):
    wire = object.__new__(relay.Wire)
    wire.key, wire.session = KEY.encode(), "the session"
    return wire


def test_what_is_sent_can_be_read(wire):
    request, parts = wire.parts_of("execute_request", {"code": "1"})
    assert len(request) == 32 and parts[0] == b"<IDS|MSG>"
    assert wire.read(parts) == ("execute_request", None, {"code": "1"})
    assert wire.read([b"topic", *parts, b"a buffer"]) == ("execute_request", None, {"code": "1"})


def test_the_signature_is_that_of_other_programs(wire):
    signed = [b'{"msg_type":"x"}', b'{"msg_id":"y"}', b"{}", b"{}"]
    signature = hmac.new(KEY.encode(), b"".join(signed), hashlib.sha256).hexdigest().encode()
    assert wire.read([b"<IDS|MSG>", signature, *signed]) == ("x", "y", {})


def test_one_changed_byte_is_refused(wire):
    _, parts = wire.parts_of("status", {"execution_state": "idle"})
    for i in range(1, len(parts)):
        changed = [*parts]
        changed[i] = bytes([parts[i][0] ^ 1]) + parts[i][1:]
        with pytest.raises(ValueError):
            wire.read(changed)


def test_another_key_or_none_is_refused(wire):
    _, parts = wire.parts_of("status", {})
    for signature in (b"", parts[1][:-1], parts[1].upper(), b"\xff" * 64):
        with pytest.raises(ValueError):
            wire.read([parts[0], signature, *parts[2:]])
    wire.key = b"another"
    with pytest.raises(ValueError):
        wire.read(parts)


def test_parts_must_be_there_and_be_objects(wire):
    _, parts = wire.parts_of("status", {})
    for some in (*(parts[:count] for count in range(6)), [b"", b"x"], [b""] * 100):
        with pytest.raises(ValueError):
            wire.read(some)
    for text in (b"[]", b"1", b'"text"', b"null", b"{", b"\xff", b"[" * 100000, b'{"a":' * 100000):
        for i in (0, 1, 3):
            signed = [b"{}"] * 4
            signed[i] = text
            with pytest.raises(ValueError):
                wire.read([b"<IDS|MSG>", wire.signature(signed), *signed])


SCRAPS = [b"{", b"}", b"[", b"]", b'"', b",", b"null", b"-1e999", b"NaN", b"9" * 5000, b"\\ud800", b"\\u0000", b"\xff", b"\0",
          *(f'"{kind}"'.encode() for kind in ("msg_type", "msg_id", "stream", "data", "text/html", "image/svg+xml", "page"))]
VALUES = [None, True, -1, 1e300, "", "\ud800", [], [[]], {}, {"x": {}}]
SAMPLES = [{"name": "stdout", "text": "x"}, {"ename": "E", "evalue": "why", "traceback": ["one"]}, {"execution_state": "idle"},
           {"data": {"image/png": "aGk=", "image/svg+xml": "<svg/>", "text/html": "<b>", "text/plain": "<x>"}},
           {"status": "ok", "payload": [{"source": "page", "data": {"text/plain": "x"}}]}]


def spoilt(random, value):
    """The JSON text of VALUE, parts of which have other types now, and then perhaps with a few bytes changed."""
    text = json.dumps(of_other_types(random, value)).encode()
    for _ in range(random.choice((0, 0, 0, 0, 1, 2))):
        at, scrap = random.randrange(len(text) + 1), random.choice([random.randbytes(2), *SCRAPS])
        text = text[:at] + scrap + text[at + random.randrange(4):]
    return text


def of_other_types(random, value):
    if random.random() < 0.05:
        return random.choice(VALUES)
    if isinstance(value, dict):
        return {key: of_other_types(random, each) for key, each in value.items()}
    return [of_other_types(random, each) for each in value] if isinstance(value, list) else value


def test_any_signed_bytes_are_shown_or_refused(relay, wire, capsys):
    """The kernel is the enemy, and has the key."""
    random = Random(1)
    shown = object.__new__(relay.Relay)
    shown.request, shown.state, shown.status = "r", relay.WORKING, 1
    refused = 0
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # as the program does
    for _ in range(5000):
        kind = random.choice([*relay.SHOWN, "status"])
        parts = [spoilt(random, each) for each in ({"msg_type": kind}, {"msg_id": "r"}, {}, random.choice(SAMPLES))]
        try:
            message = wire.read([b"<IDS|MSG>", wire.signature(parts), *parts])
        except ValueError:
            refused += 1
            continue
        shown.take_news(*message)
        shown.take_reply(*message)
        assert shown.status in (0, 1)
    assert 1000 < refused < 4000, refused


# Interrupts


class Resting:
    """A relay between two cells, and the ends of it that a test has: the socket of its cells, its clock, and how often its
    kernel is interrupted."""

    def __init__(self, program, monkeypatch):
        self.now = self.told = 0
        self.cells, theirs = socket.socketpair()
        self.theirs = theirs  # kept open
        for name, value in {"cells": theirs.fileno(), "time": types.SimpleNamespace(monotonic=lambda: self.now),
                            "kernel": types.SimpleNamespace(takes_messages=False, interrupt=self.tell)}.items():
            monkeypatch.setattr(program, name, value, raising=False)
        self.relay = object.__new__(program.Relay)
        vars(self.relay).update(state=program.RESTING, ask=self.ask, request=None, has_reply=False, is_idle=False, bad=0,
                                is_interrupted=False, was_interrupted=False, at_work=0)

    def tell(self):
        self.told += 1

    def ask(self, _kind, _content):
        self.relay.request = "r"

    def begin(self, sent=b"1\nx", interrupts=1):
        """A cell is SENT, and INTERRUPTS come before it is read."""
        self.cells.send(sent)
        for _ in range(interrupts):
            self.relay.interrupt()
        self.relay.begin_cell()

    def step(self, seconds=0, was_quiet=False):
        self.now += seconds
        self.relay.step(was_quiet)


@pytest.fixture
def resting(relay, monkeypatch):
    resting = Resting(relay, monkeypatch)
    with resting.cells, resting.theirs:
        yield resting


def test_an_interrupt_waits_until_its_cell_is_at_work(relay, resting):
    resting.begin()
    resting.relay.take_news("status", "r", {"execution_state": "busy"})
    resting.step(relay.UNTOLD - 0.01)
    resting.relay.take_news("execute_input", "r", {})
    resting.step(relay.BEGIN - 0.01)
    assert resting.told == 0
    resting.step(0.02)
    resting.step(1)
    assert resting.told == 1


def test_a_kernel_that_does_not_tell_of_its_cell_is_interrupted(relay, resting):
    resting.begin(interrupts=0)
    resting.step(relay.UNTOLD)
    resting.relay.interrupt()
    resting.step()
    assert resting.told == 1


def test_an_interrupt_between_two_cells_is_for_none(resting):
    resting.relay.interrupt()
    resting.begin(interrupts=0)
    resting.step(9)
    assert resting.told == 0


@pytest.mark.parametrize("earlier, told", [(0, 0), (1, 1)])
def test_an_interrupt_beside_a_cell_can_be_that_of_the_last_one(resting, earlier, told):
    for _ in range(earlier):
        resting.relay.interrupt()
    resting.begin(b"interrupted\n1\nx")
    resting.step(9)
    assert resting.told == told


def test_a_kernel_that_is_idle_after_an_interrupt_has_ended_the_cell(resting):
    resting.begin()
    resting.step(9)
    resting.relay.take_news("status", "r", {"execution_state": "idle"})
    resting.step()
    resting.cells.setblocking(False)
    with pytest.raises(BlockingIOError):  # the answer may be on its way
        resting.cells.recv(1)
    resting.step(was_quiet=True)
    assert resting.cells.recv(1) == b"\1"


# What is shown


def shown(relay, capsys, data):
    relay.show(data)
    return tuple(capsys.readouterr())


@pytest.mark.parametrize("data, out", [
    ({"text/plain": "6"}, "6\n"),
    ({"text/plain": "x", "text/markdown": "# m"}, "# m\n"),
    ({"text/html": "<b>", "text/plain": "a frame"}, "a frame\n"),
    ({"text/html": "<b>", "text/plain": "<x.y object>"}, "[display-1.html]\n"),
    ({"text/html": "<b>"}, "[display-1.html]\n"),
    ({"text/html": "<b>", "text/plain": "x" * 4001}, "[display-1.html]\n"),
    ({"text/latex": "$x$", "text/plain": "<x at 0x1>"}, "$x$\n"),
    ({"text/plain": "<x at 0x1>"}, "<x at 0x1>\n"),
    ({"image/svg+xml": "<svg/>", "text/plain": "a drawing"}, "[display-1.svg]\na drawing\n"),
    ({"image/svg+xml": "<svg/>", "text/plain": "<Figure size 1x1>"}, "[display-1.svg]\n"),
    *((nothing, "") for nothing in (None, [1], {}, {"text/plain": 1, "text/html": {}, "image/png": []})),
])
def test_a_value_is_a_line_or_a_file(relay, capsys, data, out):
    assert shown(relay, capsys, data) == (out, "")


def test_a_picture_is_a_file_and_its_name_is_printed(relay, capsys, tmp_path):
    lines = base64.encodebytes(b"hello" * 100).decode()
    assert shown(relay, capsys, {"image/png": lines, "text/plain": "<Figure>"}) == ("[display-1.png]\n", "")
    assert (tmp_path / "display-1.png").read_bytes() == b"hello" * 100
    assert shown(relay, capsys, {"image/png": "no base64!"}) == ("", "image/png is not base64\n")


def test_a_file_that_is_there_is_left_alone(relay, capsys, tmp_path):
    (tmp_path / "display-1.svg").write_text("mine")
    (tmp_path / "display-2.svg").symlink_to(tmp_path / "elsewhere")
    assert shown(relay, capsys, {"image/svg+xml": "<svg/>"}) == ("[display-3.svg]\n", "")
    assert (tmp_path / "display-1.svg").read_text() == "mine" and not (tmp_path / "elsewhere").exists()


def test_a_cell_makes_so_many_files_and_no_more(relay, capsys):
    for i in range(1, 33):
        assert shown(relay, capsys, {"image/svg+xml": "<svg/>"}) == (f"[display-{i}.svg]\n", "")
    assert "at most 32" in shown(relay, capsys, {"image/svg+xml": "<svg/>"})[1]
    assert shown(relay, capsys, {"image/svg+xml": "<svg/>"}) == ("", "")
    relay.rich.begin_cell()
    assert shown(relay, capsys, {"image/svg+xml": "<svg/>"}) == ("[display-33.svg]\n", "")


@pytest.mark.parametrize("content, err", [
    ({"ename": "E", "evalue": "why", "traceback": ["one", 2, "three"]}, "one\nthree\n"),
    ({"ename": "E", "evalue": "why", "traceback": []}, "E: why\n"),
    ({"evalue": "why", "traceback": 1}, "why\n"),
    ({"traceback": [1, None]}, ""),
    ({"ename": "E", "evalue": {}}, "E: \n"),
    ({"ename": [[]], "evalue": 1}, ""),
    ({}, ""),
])
def test_an_error_is_its_traceback_or_its_words(relay, capsys, content, err):
    relay.show_error(content)
    assert tuple(capsys.readouterr()) == ("", err)
