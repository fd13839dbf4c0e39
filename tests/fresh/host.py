"""What this machine gets packages with, for another root: sources, proxies, certificates."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docker"))

import debian  # noqa: E402

FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/npmrc", "/etc/apt/auth.conf",
         "/etc/apt/auth.conf.d", "/usr/local/share/ca-certificates"]
UNSTABLE = "sid"  # Debian's; its Pythons are the newest
HOME_FILES = [".npmrc", ".config/pip", ".pip", ".config/uv"]
VARIABLES = re.compile(r"(https?|ftp|all|no)_proxy|pip_.*|uv_.*|npm_config_.*|node_extra_ca_certs|"
                       r"ssl_cert_(file|dir)|requests_ca_bundle|curl_ca_bundle|git_ssl_cainfo|ci",
                       re.IGNORECASE)


def environment():
    """The variables that say where packages come from, and whether this is CI."""
    return {name: value for name, value in os.environ.items() if VARIABLES.fullmatch(name)}


def sources(suite):
    """The lines of sources.list that are for SUITE what this machine has for its own release. Nothing is added to
    Debian's unstable after its release, so it is one line."""
    own = debian.release()
    for name, component, site in debian.sources():
        base, dash, pocket = name.partition("-")
        if base == own and not (pocket and suite == UNSTABLE):
            yield f"deb {site} {suite}{dash}{pocket} {component}\n"


def acquire_options():
    """How apt gets packages, in the form of its configuration."""
    done = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True)
    return "".join(line for line in done.stdout.splitlines(keepends=True)
                   if not line.startswith("Acquire::IndexTargets"))


def copy(source, place):
    if source.is_dir():
        shutil.copytree(source, place, dirs_exist_ok=True)
    elif source.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        shutil.copy(source, place)


def carry(suite, root):
    """Makes the Debian SUITE in ROOT get its packages as this machine does."""
    for name in FILES:
        copy(pathlib.Path(name), root / name.lstrip("/"))
    for name in HOME_FILES:
        copy(pathlib.Path.home() / name, root / "root" / name)
    (root / "etc/apt/sources.list").write_text("".join(sources(suite)))
    (root / "etc/apt/apt.conf.d/90host").write_text(acquire_options())
