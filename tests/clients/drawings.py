"""Scripts that draw pictures, red on the left and blue on the right, and a look at what has come of
them, with Pillow, which is in one of the environments of ./dev deps.

    looked_at([data, ...])  ->  [{"format": "PNG", "size": [64, 48], "left": [255, 0, 0], ...}, ...]

`left` and `right` are the mean colours of the two halves, without their borders.
"""

import base64
import json
import subprocess

import installed

PIXELS = """
import os, struct, zlib

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def picture(name, width, height, left, right):
    half = width // 2
    rows = b"".join(b"\\0" + left(half) + right(width - half) for _ in range(height))
    with open(name, "wb") as file:
        file.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(
            ">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 1))
            + chunk(b"IEND", b""))

def noise(mask):  # around a colour
    return lambda count: bytes(map(lambda byte, part: part - byte % 32 if part else byte % 32,
                                   os.urandom(3 * count), mask * count))
"""
SMALL = PIXELS + (
    "picture('small.png', 64, 48, lambda n: b'\\xff\\0\\0' * n, lambda n: b'\\0\\0\\xff' * n)\n")
LARGE = PIXELS + (  # more than 1 MiB
    "picture('large.png', 900, 700, noise(b'\\xff\\0\\0'), noise(b'\\0\\0\\xff'))\n")
OPEN_FIGURE = """
import matplotlib.pyplot as plt

figure = plt.figure(facecolor="white")
plt.axes([0, 0, 0.5, 1], facecolor="red")
plt.axes([0.5, 0, 0.5, 1], facecolor="blue")
"""
FIGURE = OPEN_FIGURE + "plt.show()\n"

LOOK = """
import base64, io, json, sys
from PIL import Image, ImageStat

def mean(picture, left, right):
    width, height = picture.size
    part = picture.crop((int(left * width), height // 8, int(right * width), height * 7 // 8))
    return [round(value) for value in ImageStat.Stat(part).mean]

def look(data):
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    rgb = picture.convert("RGB")
    return {"format": picture.format, "size": picture.size,
            "left": mean(rgb, 0.05, 0.45), "right": mean(rgb, 0.55, 0.95)}

print(json.dumps([look(data) for data in json.load(sys.stdin)]))
"""


def looked_at(pictures):
    data = json.dumps([base64.b64encode(picture).decode() for picture in pictures])
    done = subprocess.run([installed.python("data"), "-c", LOOK], input=data, capture_output=True,
                          text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_red_and_blue(picture, blur):
    """BLUR is how far the mean colours may be from pure ones."""
    red, blue = picture["left"], picture["right"]
    return (red[0] > 255 - blur and max(red[1:]) < blur and
            blue[2] > 255 - blur and max(blue[:2]) < blur)
