"""What an engine holds, to be compared before and after a test."""

import contextlib

import engine
import leftovers

DEFAULT_NETWORKS = {"bridge", "host", "none", "podman"}
SETTLE_SECONDS = 60


def images(api):
    """Every image by its id, those without a name too: its names."""
    return {image["Id"]: sorted(image["RepoTags"] or []) for image in api.get("/images/json")}


def is_cached(api, image):
    """True for an image that is meant to stay: pulled from a registry of a test, or made by pyexecd
    to be found again, with a name and its labels."""
    details = api.get(f"/images/{image}/json")
    names, labels = details["RepoTags"], details["Config"].get("Labels") or {}
    if names and all(name.startswith("127.0.0.1:") for name in names):
        return True
    return bool(names) and any(name.startswith("pyexecd.") for name in labels)


def take(subject):
    """All that SUBJECT, an engine, holds: sets by what is in them."""
    api = subject.api
    return {
        "containers": {f"{container['Names'][0]} {container['Status']}"
                       for container in api.get("/containers/json", all=1)},
        "images": {f"{image} {names}" for image, names in images(api).items()
                   if not is_cached(api, image)},
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
