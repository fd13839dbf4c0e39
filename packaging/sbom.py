"""The bill of materials of a wheel, or of what was made from it, as CycloneDX JSON: what is linked into its programs.

    sbom.py WHEEL ARTEFACT

Prints that of ARTEFACT, which may be WHEEL itself. The licences in the wheel name the Debian packages; this
machine, which has built it, knows their versions. The same artefact has the same bill.
"""

import datetime
import hashlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import uuid
import zipfile

FORM = "${Version}\t${source:Package}\t${source:Version}\t${Architecture}"


def linked(wheel):
    """The Debian packages whose libraries are in WHEEL."""
    with zipfile.ZipFile(wheel) as archive:
        return sorted(pathlib.PurePath(name).stem for name in archive.namelist()
                      if "/pyexecd/licenses/" in name and name.endswith(".txt"))


def component(package):
    """One entry of the bill. The library is called as its source package is."""
    version, source, source_version, architecture = subprocess.run(
        ["dpkg-query", "--show", f"--showformat={FORM}", package],
        capture_output=True, text=True, check=True).stdout.split("\t")
    distro = f"debian-{platform.freedesktop_os_release()['VERSION_ID']}"
    return {
        "type": "library",
        "bom-ref": package,
        "name": source,
        "version": source_version,
        "purl": f"pkg:deb/debian/{package}@{version.replace(':', '%3A').replace('+', '%2B')}"
                f"?arch={architecture}&distro={distro}",
        "properties": [{"name": "pyexecd:licence", "value": f"pyexecd/licenses/{package}.txt"}],
    }


def bill(wheel, artefact):
    name, version = wheel.name.split("-")[:2]
    digest = hashlib.sha256(artefact.read_bytes()).hexdigest()
    built = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]),
                                            datetime.timezone.utc)
    components = [component(package) for package in linked(wheel)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'sha256:{digest}')}",
        "version": 1,
        "metadata": {
            "timestamp": built.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": name,
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": [each["bom-ref"] for each in components]}],
    }


if __name__ == "__main__":
    print(json.dumps(bill(*map(pathlib.Path, sys.argv[1:])), indent=2))
