"""Looks at pictures with Pillow, which is in one of the environments of ./dev deps.

    looked_at([data, ...])  ->  [{"format": "PNG", "size": [64, 48], "left": [255, 0, 0], ...}, ...]

`left` and `right` are the mean colours of the two halves, without their borders.
"""

import base64
import json
import subprocess

import installed

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
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
