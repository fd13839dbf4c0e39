"""pyexecd-picture, which decodes what scripts leave: what it shows and what it refuses."""

import os
import pathlib
import random
import struct
import subprocess
import time
import zlib

import pytest
from pictures import (BLUE, GREEN_WEBP, INTERLACED_GIF, RED, RED_JPEG, STRIPED_GIF, WHITE, Pixels, bomb, chunk,
                      halves, png_of)

HELPER = str(pathlib.Path(os.environ["PYEXECD"]).parent / "pyexecd-picture")
ANSWER = struct.Struct("=7I")
UNREADABLE, TOO_LARGE, SHOWN = range(3)
PNG, JPEG, WEBP = range(3)
SIDE, BYTES = 1568, 750 * 1024


class Answer:
    def __init__(self, output):
        (self.verdict, self.format, self.width, self.height, length, *size) = ANSWER.unpack(output[:ANSWER.size])
        self.size, self.bytes = tuple(size), output[ANSWER.size:]
        assert length == len(self.bytes)


def ask(picture):
    done = subprocess.run([HELPER], input=picture, capture_output=True, timeout=180)
    assert (done.returncode, done.stderr) == (0, b"")
    return Answer(done.stdout)


def noise(width, height):
    random.seed(1)
    return png_of(width, height, (random.randbytes(4 * width) for _ in range(height)))


@pytest.mark.parametrize("picture, kind", [(halves(16, 8), PNG), (RED_JPEG, JPEG), (GREEN_WEBP, WEBP)],
                         ids=["png", "jpeg", "webp"])
def test_a_small_picture_goes_as_it_is(picture, kind):
    answer = ask(picture)
    assert (answer.verdict, answer.format, answer.width, answer.height) == (SHOWN, kind, 16, 8)
    assert answer.bytes == picture


@pytest.mark.parametrize("picture", [STRIPED_GIF, INTERLACED_GIF], ids=["plain", "interlaced"])
def test_gif_becomes_png(picture):
    answer = ask(picture)
    assert (answer.verdict, answer.format) == (SHOWN, PNG)
    pixels = Pixels(answer.bytes)
    assert [pixels[3, y] for y in range(8)] == [BLUE, WHITE] * 4


def test_a_large_picture_is_scaled():
    answer = ask(halves(3136, 1000))
    assert (answer.verdict, answer.format, answer.size) == (SHOWN, PNG, (3136, 1000))
    pixels = Pixels(answer.bytes)
    assert (pixels.width, pixels.height) == (answer.width, answer.height) == (SIDE, 500)
    assert (pixels[10, 10], pixels[1500, 490]) == (RED, BLUE)


def test_a_line_keeps_a_row():
    answer = ask(png_of(30000, 1, [bytes(RED) * 30000]))
    assert (answer.width, answer.height) == (SIDE, 1)


def test_transparency_survives_scaling():
    answer = ask(png_of(SIDE * 2, 8, [bytes((255, 0, 0, 0)) * SIDE + bytes(BLUE) * SIDE] * 8))
    pixels = Pixels(answer.bytes)
    assert pixels[10, 1][3] == 0
    assert pixels[1500, 1] == BLUE


def test_many_bytes_become_jpeg_within_the_limit():
    answer = ask(noise(SIDE, SIDE))
    assert (answer.verdict, answer.format, answer.size) == (SHOWN, JPEG, (SIDE, SIDE))
    assert len(answer.bytes) <= BYTES
    assert ask(answer.bytes).bytes == answer.bytes  # a real one


@pytest.mark.parametrize("picture", [
    b"", b"x", b"\x89PNG\r\n\x1a\n", b"hello " * 100, b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    halves(200, 100)[:-60], RED_JPEG[:-20], GREEN_WEBP[:-8], STRIPED_GIF[:-12],
    halves(20, 10)[:60] + b"\0" + halves(20, 10)[61:], bomb(100, 100), bomb(0, 0),
    b"\xff\xd8\xff\xe0" + bytes(1000), b"GIF89a\x10\0\x10\0" + b"\xff" * 500, b"RIFF\xff\xff\xff\xffWEBPVP8X" + bytes(200),
], ids=range(15))
def test_what_is_broken_is_refused(picture):
    answer = ask(picture)
    assert (answer.verdict, answer.bytes) == (UNREADABLE, b"")


@pytest.mark.parametrize("picture, size", [
    (bomb(100000, 100000), (100000, 100000)),
    (b"GIF89a\xff\xff\xff\xff\x00\x00\x00" + bytes(100), (65535, 65535)),
    (bytes(33 << 20), (0, 0)),
], ids=["png", "gif", "file"])
def test_a_bomb_is_refused_by_its_size(picture, size):
    began = time.monotonic()
    answer = ask(picture)
    assert (answer.verdict, answer.bytes, answer.size) == (TOO_LARGE, b"", size)
    assert time.monotonic() - began < 60


def test_a_profile_that_unpacks_without_end_costs_little():
    profile = chunk(b"iCCP", b"bomb\0\0" + zlib.compress(bytes(200 << 20), 9))
    picture = halves(16, 8)
    began = time.monotonic()
    ask(picture[:33] + profile + picture[33:])  # shown or not
    assert time.monotonic() - began < 60


def test_damaged_pictures_of_all_kinds_are_answered():
    random.seed(2)
    for whole in (halves(64, 64), RED_JPEG, GREEN_WEBP, STRIPED_GIF, INTERLACED_GIF):
        for _ in range(60):
            picture = bytearray(whole)
            for _ in range(random.randint(1, 8)):
                picture[random.randrange(len(picture))] = random.randrange(256)
            assert ask(bytes(picture)).verdict in (UNREADABLE, TOO_LARGE, SHOWN)


def test_it_is_confined_before_it_reads():
    with subprocess.Popen([HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        status = pathlib.Path(f"/proc/{process.pid}/status")
        until = time.monotonic() + 60
        while "Seccomp:\t2" not in status.read_text() and time.monotonic() < until:
            time.sleep(0.01)
        assert "Seccomp:\t2" in status.read_text()
        process.kill()
