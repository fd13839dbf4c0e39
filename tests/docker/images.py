"""Images made for tests, byte by byte: layers as tars, a configuration, nothing run to build them."""

import hashlib
import io
import json
import pathlib
import tarfile

import base_image

PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
# What the official image sets.
CONFIGURATION = {"Env": [f"PATH={PATH}", "LANG=C.UTF-8", "PYTHON_VERSION=3.11.2"],
                 "Cmd": ["python3"]}


class Layer:
    """One layer: the tar at PATH."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.size = self.path.stat().st_size
        digest = hashlib.sha256()
        with open(self.path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        self.digest = f"sha256:{digest.hexdigest()}"


def layer(path, files):
    """The layer PATH with FILES: name -> contents, or None for a file of the layers below to go."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, contents in files.items():
            folder, _, file = name.rpartition("/")
            entry = tarfile.TarInfo(f"{folder}/.wh.{file}" if contents is None else name)
            entry.size = len(contents or b"")
            entry.mode = 0o755
            archive.addfile(entry, io.BytesIO(contents or b""))
    return Layer(path)


class Image:
    """An image of LAYERS called NAME; MORE is added to the configuration that the official one has."""

    def __init__(self, name, layers, architecture="amd64", **more):
        self.name = name
        self.layers = layers
        self.configuration = json.dumps({
            "architecture": architecture, "os": "linux", "created": "2026-01-01T00:00:00Z",
            "config": {**CONFIGURATION, **more},
            "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in layers]},
            "history": [{"created": "2026-01-01T00:00:00Z"} for _ in layers],
        }).encode()
        self.id = f"sha256:{hashlib.sha256(self.configuration).hexdigest()}"

    def archive(self, path, without=()):
        """Writes what `docker load` reads to PATH; an engine needs no layer that it has: WITHOUT."""
        manifest = [{"Config": "config.json", "RepoTags": [self.name],
                     "Layers": [f"{layer.digest[7:]}.tar" for layer in self.layers]}]
        parts = {"config.json": self.configuration, "manifest.json": json.dumps(manifest).encode()}
        with tarfile.open(path, "w") as archive:
            for name, contents in parts.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(contents)
                archive.addfile(entry, io.BytesIO(contents))
            for layer in self.layers:
                if layer not in without:
                    archive.add(layer.path, f"{layer.digest[7:]}.tar")


class Images:
    """Every image that tests need, their layers in the folder FOLDER."""

    def __init__(self, folder):
        self.folder = folder
        self.base_layer = Layer(base_image.base_image())
        self.base = Image(base_image.NAME, [self.base_layer])

    def layer(self, name, files):
        return layer(self.folder / f"{name}.tar", files)

    def derived(self, name, *layers, **more):
        """The base image with LAYERS on top and another configuration."""
        return Image(f"{name}:latest", [self.base_layer, *layers], **more)

    def odd(self):
        """Images that trip who trusts an image, by name."""
        no_python = dict.fromkeys(["usr/bin/python", "usr/bin/python3", "usr/bin/python3.11"])
        only_python = {"usr/bin/python3": None, "usr/bin/python": None,
                       "usr/local/bin/python": b'#!/bin/sh\nexec python3.11 "$@"\n'}
        every_second = 1_000_000_000
        images = [
            self.derived("no-python", self.layer("no-python", no_python)),
            self.derived("only-python3", self.layer("only-python3", {"usr/bin/python": None})),
            self.derived("only-python", self.layer("only-python", only_python)),
            self.derived("entrypoint", Entrypoint=["/bin/echo", "the entry point ran"]),
            self.derived("user", User="nobody"),
            self.derived("no-such-user", User="who"),
            self.derived("volume", Volumes={"/data": {}, "/workspace": {}}),
            self.derived("healthcheck", Healthcheck={
                "Test": ["CMD-SHELL", "echo checked >> /workspace/checked"],
                "Interval": every_second, "StartPeriod": 1_000_000}),
            self.derived("onbuild", OnBuild=["RUN exit 1"]),
            self.derived("workdir", WorkingDir="/var/odd folder"),
            self.derived("variables", Env=[f"PATH={PATH}", "EMPTY=", "ODD=a=b\nc 'd'",
                                           "PYTHONSTARTUP=/nowhere", "HOME=/nowhere",
                                           "PYTHONUNBUFFERED=1"]),
            self.derived("no-path", Env=[]),
            self.derived("no-run", self.layer("no-run", {"run": None})),
            self.derived("arm64", architecture="arm64"),
        ]
        return {image.name.partition(":")[0]: image for image in images}

    def load(self, engine, image):
        """Puts IMAGE into ENGINE, which may have the base image already."""
        path = self.folder / "load.tar"
        has_base = any(self.base.id == found["Id"] for found in engine.api.get("/images/json"))
        image.archive(path, [self.base_layer] if has_base and engine.shares_layers else [])
        with open(path, "rb") as archive:
            engine.api.load(archive)
        path.unlink()
        return image.name
