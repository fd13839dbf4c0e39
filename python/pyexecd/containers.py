"""What AutoGen's programs say of containers in the words of Docker's own library, as keys of an environment."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Union

Directory = Union[pathlib.Path, str, None]

# Of docker.containers.create(), and what each is here.
KEYS = {"environment": "environment", "network": "network", "network_mode": "network", "user": "user",
        "runtime": "runtime"}


def check_end(stop_container: bool) -> None:
    """Raises ValueError if a container is to outlive who has made it."""
    if not stop_container:
        raise ValueError("stop_container=False: a container ends with its executor")


def check_directory(bind_dir: Directory, work_dir: Directory) -> None:
    """Raises ValueError if the container is to see another directory than the program."""
    if bind_dir is not None and (work_dir is None or pathlib.Path(bind_dir) != pathlib.Path(work_dir)):
        raise ValueError("bind_dir: the directory of the container is work_dir; give the path that the Docker "
                         "engine's machine has for it")


def volumes(wanted: Mapping[str, Mapping[str, str]]) -> Dict[str, Dict[str, str]]:
    """Docker's `volumes`, a mapping, as the key of that name."""
    return {path: {"path": volume["bind"], "mode": volume.get("mode", "rw")} for path, volume in wanted.items()}


def hosts(wanted: Mapping[str, str]) -> List[str]:
    """Docker's `extra_hosts`, a mapping, as the key of that name."""
    return [f"{name}:{address}" for name, address in wanted.items()]


def gpus(requests: Iterable[Any]) -> Any:
    """Docker's DeviceRequests as the key `gpus`. Raises ValueError for other devices."""
    wanted: List[Any] = []
    for request in requests:
        request = {key.lower(): value for key, value in dict(request).items()}
        ids = request.get("device_ids", request.get("deviceids"))
        kinds = [kind for group in request.get("capabilities") or [["gpu"]] for kind in group]
        if "gpu" not in kinds:
            raise ValueError(f"device_requests: only GPUs can be asked for, not {kinds}")
        wanted += ids or ["all" if request.get("count", -1) == -1 else request["count"]]
    return wanted[0] if len(wanted) == 1 and not isinstance(wanted[0], str) or wanted == ["all"] else wanted


TRANSLATED: Dict[str, Callable[[Any], Any]] = {"volumes": volumes, "extra_hosts": hosts}


def options(wanted: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The keys for WANTED, arguments of docker.containers.create(). Raises ValueError for those that have none."""
    keys: Dict[str, Any] = {}
    for name, value in (wanted or {}).items():
        if name == "device_requests":
            keys["gpus"] = gpus(value)
        elif name in TRANSLATED:
            keys[name] = TRANSLATED[name](value)
        elif name in KEYS:
            keys[KEYS[name]] = value
        else:
            raise ValueError(f"{name}: no environment of pyexecd has that; settings= has its own keys")
    return keys
