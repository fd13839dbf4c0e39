"""Pictures that scripts leave: what arrives of them, and what hostile ones cost."""

import base64
import json
import os
import subprocess

import pytest
from client import REVISIONS, Server
from pictures import BLUE, INTERLACED_GIF, RED, RED_JPEG, Pixels, halves

# In front of a script: leaves FILES as they are.
WRITE = "import base64\nfor name, data in {files!r}.items():\n    open(name, 'wb').write(base64.b64decode(data))\n"


def leaving(files, code=""):
    """A script that leaves FILES, by name, and then runs CODE."""
    return WRITE.format(files={name: base64.b64encode(data).decode() for name, data in files.items()}) + code


def text_of(result):
    assert result["content"][0]["type"] == "text"
    return result["content"][0]["text"]


def images_of(result):
    """(MIME type, bytes) of each image."""
    assert all(set(block) == {"type", "data", "mimeType"} for block in result["content"] if block["type"] == "image")
    return [(block["mimeType"], base64.b64decode(block["data"], validate=True))
            for block in result["content"] if block["type"] == "image"]


def call(server, code, **more):
    return server.call_tool("run_python", {"code": code, **more})


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_picture_arrives_with_its_pixels(transport, revision):
    with Server(transport=transport) as server:
        server.initialize(revision)
        result = call(server, leaving({"plot.png": halves(64, 32)}, "print(1)"))
        [(kind, data)] = images_of(result)
        assert kind == "image/png"
        pixels = Pixels(data)
        assert (pixels.width, pixels.height, pixels[5, 5], pixels[5, 30]) == (64, 32, RED, BLUE)
        assert "Pictures shown below: plot.png" in text_of(result)
        assert not result.get("isError")


def test_in_a_venv_too():
    with Server(config={"environments": {"own": {"type": "venv"}}}) as server:
        server.initialize()
        assert images_of(call(server, leaving({"plot.png": halves(64, 32)}))) == [("image/png", halves(64, 32))]


def test_structured_results_have_them_too():
    with Server(config={"results": "structured"}) as server:
        server.initialize()
        result = call(server, leaving({"plot.png": halves(8, 8)}))
        assert images_of(result) == [("image/png", halves(8, 8))]
        assert [file["mimeType"] for file in result["structuredContent"]["files"]] == ["image/png"]


def test_the_content_decides_what_it_is():
    with Server() as server:
        server.initialize()
        result = call(server, leaving({"a.png": RED_JPEG, "b.jpg": halves(8, 8), "c.png": b"hello", "d.gif":
                                       INTERLACED_GIF, "e.txt": halves(8, 8)}))
        assert [kind for kind, _ in images_of(result)] == ["image/jpeg", "image/png", "image/png"]
        assert "Pictures shown below: a.png, b.jpg, d.gif\n" in text_of(result)
        assert "Pictures not shown: c.png (broken" in text_of(result)


def test_a_large_picture_is_scaled_and_the_file_stays():
    with Server() as server:
        server.initialize()
        result = call(server, leaving({"plot.png": halves(3136, 1000)}))
        [(_, data)] = images_of(result)
        pixels = Pixels(data)
        assert (pixels.width, pixels.height, pixels[1, 1], pixels[1567, 499]) == (1568, 500, RED, BLUE)
        assert "plot.png (scaled to 1568x500; the file has 3136x1000 pixels)" in text_of(result)
        result = call(server, "print(len(open('plot.png', 'rb').read()))")
        assert str(len(halves(3136, 1000))) in text_of(result)
        assert images_of(result) == []  # nothing has changed


def test_only_what_a_run_has_changed_is_shown():
    with Server() as server:
        server.initialize()
        call(server, leaving({"old.png": halves(8, 8)}))
        result = call(server, leaving({"new.png": halves(16, 8)}))
        assert images_of(result) == [("image/png", halves(16, 8))]
        assert "old.png" not in text_of(result)


def test_a_failure_shows_no_picture():
    """Some services of models refuse it there."""
    with Server() as server:
        server.initialize()
        result = call(server, leaving({"plot.png": halves(8, 8)}, "raise SystemExit(3)"))
        assert result["isError"]
        assert images_of(result) == []
        assert "plot.png" in text_of(result)


@pytest.mark.parametrize("policy", ["file", "off"])
def test_the_operator_may_have_files_only(policy):
    config = {"images": policy, "environments": {"a": {"type": "system"}, "b": {"type": "system", "images": "inline"}},
              "default_environment": "a"}
    with Server(config=config) as server:
        server.initialize()
        script = leaving({"plot.png": halves(8, 8)})
        result = call(server, script)
        assert [block["type"] for block in result["content"] if block["type"] == "image"] == []
        assert "plot.png" in text_of(result) and "Pictures" not in text_of(result)
        assert len(images_of(call(server, script, environment="b"))) == 1


def test_a_call_may_not_choose():
    with Server(config={"callers": {"define_environments": True}}) as server:
        server.initialize()
        result = call(server, "pass", environment_definition={"type": "venv", "images": "inline"})
        assert result["isError"]
        assert "environment_definition.images: only the operator can set this" in text_of(result)


HOSTILE = leaving({"good.png": halves(8, 8), "target": halves(8, 8)}, r"""
import os, struct, zlib
os.mkfifo("fifo.png")
os.symlink("target", "link.png")
os.symlink("/dev/zero", "zero.png")
os.mkdir("directory.png")
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
with open("bomb.png", "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 6, 0, 0, 0)))
    file.write(chunk(b"IDAT", zlib.compress(bytes(1 << 20))))
with open("huge.png", "wb") as file:
    file.truncate(900 << 20)
with open("odd\nname.png", "wb") as file:
    file.write(b"x")
os.chmod("target", 0)
print("left")
""")


def test_hostile_pictures_are_named():
    with Server() as server:
        server.initialize()
        result = call(server, HOSTILE)
        assert images_of(result) == [("image/png", halves(8, 8))]
        text = text_of(result)
        assert "Pictures shown below: good.png\n" in text
        assert "bomb.png (too large: 60000x60000 pixels)" in text
        assert "huge.png (too large: more than 32 MiB)" in text
        assert "root:" not in text


def test_a_file_that_changes_meanwhile_is_answered():
    """Another run works in the same directory while the pictures of the first are read."""
    with Server() as server:
        server.initialize()
        churn = leaving({"a": halves(300, 300), "b": halves(300, 300)[:500]}, r"""
import itertools, os, shutil, time
end = time.monotonic() + 4
for i in itertools.count():
    for source in "ab":
        shutil.copy(source, "new")
        os.rename("new", "plot.png")
    with open("plot.png", "r+b") as file:
        file.truncate(i % 2000)
    if i % 7 == 0:
        os.remove("plot.png")
        os.symlink("/etc/passwd", "plot.png")
        os.remove("plot.png")
    if time.monotonic() > end:
        break
""")
        churning = server.start_tool("run_python", {"code": churn})
        for _ in range(10):
            result = call(server, "import time; time.sleep(0.1)")
            assert not result.get("isError")
            for kind, data in images_of(result):
                assert kind == "image/png" and Pixels(data)[5, 5] == RED
        server.wait(churning)


def test_the_command_line_names_files_only(tmp_path):
    script = tmp_path / "leave.py"
    script.write_text(leaving({"plot.png": halves(8, 8)}))
    done = subprocess.run([os.environ["PYEXECD"], "run", "--json", script], cwd=tmp_path, capture_output=True, text=True,
                          timeout=180)
    assert done.returncode == 0, done.stderr
    assert [file["path"] for file in json.loads(done.stdout)["files"]] == ["plot.png"]
    assert len(done.stdout) < 5000
