"""What an engine holds, to be compared before and after a test."""

import contextlib

import engine
import leftovers

DEFAULT_NETWORKS = {"bridge", "host", "none", "podman"}
SETTLE_SECONDS = 60


def images(api):
    """Every image by its id, those without a name too: its names."""
    return {image["Id"]: sorted(image["RepoTags"] or []) for image in api.get("/images/json")}


LABELS = {}  # of images, by their ids


def labels_of(api, image):
    if image not in LABELS:
        LABELS[image] = api.get(f"/images/{image}/json")["Config"].get("Labels") or {}
    return LABELS[image]


def is_cached(api, image, names):
    """True for an image that is meant to stay: pulled from a registry of a test, or made by pyexecd
    to be found again, with a name and its labels."""
    if names and all(name.startswith("127.0.0.1:") for name in names):
        return True
    return bool(names) and any(name.startswith("pyexecd.") for name in labels_of(api, image))


def containers(api):
    return {f"{container['Names'][0]} {container['Status']}" for container in api.get("/containers/json", all=1)}


def take(subject):
    """All that SUBJECT, an engine, holds: sets by what is in them."""
    api = subject.api
    return {
        "containers": containers(api),
        "images": {f"{image} {names}" for image, names in images(api).items()
                   if not is_cached(api, image, names)},
        "volumes": {volume["Name"] for volume in api.get("/volumes")["Volumes"] or []},
        "networks": {network["Name"] for network in api.get("/networks")},
        "shims": set(subject.shims()),
        "cgroups": set(map(str, subject.cgroups())),
    }


def added(subject, before, seconds=SETTLE_SECONDS):
    """What SUBJECT holds beyond BEFORE, after it had time to finish: empty when nothing was left."""
    def difference():
        now = take(subject)
        return {kind: sorted(now[kind] - before[kind]) for kind in now if now[kind] - before[kind]}

    # Containers are the last to go, and many questions would keep an engine from it.
    leftovers.until(lambda: containers(subject.api) <= before["containers"], seconds)
    leftovers.until(lambda: not difference(), seconds)
    return difference()


def clear(subject, before_images):
    """Removes everything but the images BEFORE_IMAGES (ids), so that the next test starts afresh."""
    api = subject.api
    for container in api.get("/containers/json", all=1):
        with contextlib.suppress(engine.ApiError):
            api.delete(f"/containers/{container['Id']}", force=1, v=1)
    for image in set(images(api)) - set(before_images):
        with contextlib.suppress(engine.ApiError):
            api.delete(f"/images/{image}", force=1)
    for volume in api.get("/volumes")["Volumes"] or []:
        api.delete(f"/volumes/{volume['Name']}", force=1)
    for network in api.get("/networks"):
        if network["Name"] not in DEFAULT_NETWORKS:
            api.delete(f"/networks/{network['Id']}")
