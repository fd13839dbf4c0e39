"""A GPU that the operator has opened can be used in a sandbox, and no other device.

No machine of ours has one. What the kernel does with its files it does with any device, so here /dev/dri/renderD128
is a device of zeros, in a /dev and a /sys that only the server of the test sees.
"""

import json
import os
import pathlib
import subprocess
import sys

import client
import pytest

RENDER = "/dev/dri/renderD128"
PLACE = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
DENIED = pathlib.Path(__file__).with_name("limited.py")

# Where nobody but root makes devices, one that is there gets another place.
MACHINE = """
set -e
new=/mnt  # both in a namespace that ends with the server
old=/media
mount -t tmpfs none "$new"
mount -t tmpfs none "$old"
show() { : >"$new/$1"; mount --bind "/dev/$2" "$new/$1"; }
for name in null zero full random urandom; do show $name $name; done
mkdir "$new/dri" "$new/pts" "$new/shm"
chmod 1777 "$new/shm"
show other tty
show nvidia-modeset tty
show dri/card0 tty
if [ "$KIND" = made ]; then
    mknod -m 660 "$new/dri/renderD128" c 1 5
    chown 0:44 "$new/dri/renderD128"
    mkdir "$new/nvidia-caps"
    mknod -m 400 "$new/nvidia-caps/nvidia-cap1" c 1 3  # for administrators
elif [ "$KIND" = shown ]; then
    show dri/renderD128 zero
fi
cd "$old"
mkdir -p fs/cgroup class/drm class/net bus/pci/devices dev/char module/amdgpu
mount --rbind /sys/fs/cgroup fs/cgroup
gpu=devices/pci0000:00/0000:00:01.0/0000:01:00.0
mkdir -p $gpu/drm/renderD128 devices/pci0000:00/0000:00:02.0 devices/virtual/net/lo
echo 0x030200 >$gpu/class
echo 0x10de >$gpu/vendor
echo 0x020000 >devices/pci0000:00/0000:00:02.0/class
ln -s ../.. $gpu/drm/renderD128/device
ln -s ../../../$gpu bus/pci/devices/0000:01:00.0
ln -s ../../../devices/pci0000:00/0000:00:02.0 bus/pci/devices/0000:00:02.0
ln -s ../../$gpu/drm/renderD128 class/drm/renderD128
ln -s ../../devices/virtual/net/lo class/net/lo
ln -s ../../$gpu/drm/renderD128 dev/char/1:5
echo live >module/amdgpu/initstate
cd /
mount --rbind "$old" /sys
mount --rbind "$new" /dev
exec "$@"
"""

USES = f"""
import errno, fcntl, json, mmap, os
def tried(what):
    try:
        return what()
    except OSError as e:
        return errno.errorcode[e.errno]
def asked(path):
    with open(path, "r+b", buffering=0) as device:
        return fcntl.ioctl(device, 0x6400)
def mapped():
    with open({RENDER!r}, "r+b", buffering=0) as device, mmap.mmap(device.fileno(), 4096, mmap.MAP_PRIVATE) as memory:
        memory[:5] = b"ready"
        return memory[:5].decode()
print(json.dumps({{
    "mapped": tried(mapped),
    "asked": tried(lambda: asked({RENDER!r})),
    "asked null": tried(lambda: asked("/dev/null")),
    "changed": tried(lambda: os.chmod({RENDER!r}, 0o777)),
    "dev": tried(lambda: sorted(os.listdir("/dev"))),
    "dri": tried(lambda: os.listdir("/dev/dri")),
    "card": tried(lambda: open("/dev/dri/card0").close()),
    "other": tried(lambda: open("/dev/other").close()),
    "sys": tried(lambda: sorted(os.listdir("/sys"))),
    "drm": tried(lambda: os.listdir("/sys/class/drm")),
    "vendors": [tried(lambda: open(path + "/vendor").read().strip()) for path in
                ({PLACE!r}, "/sys/bus/pci/devices/0000:01:00.0", "/sys/dev/char/1:5/device", "/sys/class/drm/renderD128/device")],
    "class of another": tried(lambda: open("/sys/bus/pci/devices/0000:00:02.0/class").read()),
    "driver": tried(lambda: open("/sys/module/amdgpu/initstate").read().strip()),
    "written": tried(lambda: open({PLACE!r} + "/vendor", "w").close()),
    "made": tried(lambda: os.mkdir("/sys/made")),
}}))
"""

# What a driver does to its threads, which is pthread_setname_np(3) of another thread; and what can be written in /proc.
NAMES = """
import ctypes, errno, json, os, threading
rename = ctypes.CDLL(None).pthread_setname_np
rename.argtypes = [ctypes.c_ulong, ctypes.c_char_p]
end = threading.Event()
thread = threading.Thread(target=end.wait)
thread.start()
number = rename(thread.ident, b"cuda-handler")
with open(f"/proc/self/task/{thread.native_id}/comm") as file:
    name = file.read().strip()
end.set()
def is_open(path):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True
def is_remounted(path):
    return ctypes.CDLL(None).mount(None, path.encode(), None, 0x20 | 0x1000, None) == 0  # MS_REMOUNT | MS_BIND
kernels = [entry.path for entry in os.scandir("/proc") if not entry.name.isdigit() and not entry.is_symlink()]
written = [path for path in kernels if is_open(path) or is_remounted(path)]
for top in [*kernels, "/proc/self/net"]:
    for folder, _, names in os.walk(top):
        written += filter(is_open, (os.path.join(folder, name) for name in names))
print(json.dumps({"refused": errno.errorcode.get(number), "name": name, "written": written, "seen": len(kernels),
                  "made": [is_open(f"/proc/1/{name}") for name in ("mem", "oom_score_adj")]}))
"""


def machine(kind, *denied):
    """The command of a server on a machine with a GPU of this KIND."""
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *rights, "env", f"KIND={kind}", "sh", "-c", MACHINE, "sh"]
    if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        pytest.skip("nobody may make a /dev here")
    return [*command, *([sys.executable, DENIED, *denied, "--"] if denied else []), os.environ["PYEXECD"]]


def kind():
    return "made" if os.geteuid() == 0 else "shown"


def config(**more):
    return {"environments": {"held": {"type": "system", "isolation": "sandbox", **more}}, "default_environment": "held"}


def used(command, **more):
    """What a script finds, and what its result says held it."""
    with client.Server(config=config(**more), command=command) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": USES})["structuredContent"]
        assert result["success"], result
        return json.loads(result["stdout"]), result["containment"]


def names(definition, command=None, calls=3, **arguments):
    """What a script can write in /proc, and the result."""
    environments = {"default_environment": "held", "environments": {"held": {"type": "system", **definition}}}
    with client.Server(config={**environments, "sessions": {"number": 1}}, command=command) as server:
        server.initialize()
        for _ in range(calls):  # cold at first, then in a worker if the definition allows one
            result = server.call_tool("run_python", {"code": NAMES, "timeout": 50, **arguments})["structuredContent"]
            assert result["success"], result
        return json.loads(result["stdout"]), result


def needs_own_root(containment):
    if containment["layers"]["own root directory"] != "enforced":
        pytest.skip("this machine gives a run no root of its own")


def test_an_opened_gpu_can_be_used_and_nothing_else_of_dev():
    found, containment = used(machine(kind()), devices=["gpu"])
    needs_own_root(containment)
    assert found["mapped"] == "ready"
    assert found["asked"] == "ENOTTY"  # the device itself does not know the question
    assert found["changed"] in ("EROFS", "EPERM")
    assert found["dri"] == ["renderD128"]
    assert found["card"] == found["other"] == "ENOENT"
    assert "nvidia-modeset" not in found["dev"]
    assert containment["devices"] == [RENDER]
    if containment["layers"]["file rules"] == "enforced":
        assert found["asked null"] in ("EACCES", "ENOTTY")  # the former where Landlock knows of it


def test_what_the_kernel_says_of_an_opened_gpu_is_read_and_nothing_else_of_sys():
    found, containment = used(machine(kind()), devices=["gpu"])
    needs_own_root(containment)
    assert found["vendors"] == ["0x10de"] * 4
    assert found["drm"] == ["renderD128"]
    assert found["driver"] == "live"
    assert found["class of another"] == "ENOENT"
    assert found["sys"] == ["bus", "class", "dev", "devices", "fs", "module", "sys"]
    assert found["written"] == found["made"] == "EROFS"


@pytest.mark.parametrize("way", [{"start": "cold"}, {"start": "warm"}], ids=["cold", "warm"])
def test_with_an_opened_gpu_threads_get_names_and_nothing_of_the_kernel_is_written(way):
    found, result = names({"isolation": "sandbox", "devices": ["gpu"], **way}, machine(kind()))
    needs_own_root(result["containment"])
    assert found["refused"] is None and found["name"] == "cuda-handler", found
    assert found["seen"] > 10 and found["written"] == []
    assert found["made"] == [False, False]  # of its supervisor


def test_with_an_opened_gpu_threads_of_a_session_get_names():
    found, result = names({"isolation": "sandbox", "devices": ["gpu"]}, machine(kind()), calls=1, session="new")
    needs_own_root(result["containment"])
    assert found["refused"] is None and found["name"] == "cuda-handler", found
    assert found["written"] == []


def test_without_a_sandbox_threads_get_names_and_nothing_of_the_kernel_is_written():
    found, result = names({"isolation": "none"})
    assert found["written"] == []
    if os.geteuid() == 0:
        assert found["refused"] == "EROFS"  # uid 0 owns what the kernel shows among the files of processes
    elif result["containment"]["process_tree"] == "pid namespace":
        assert found["refused"] is None and found["name"] == "cuda-handler", found


def test_without_an_opened_gpu_nothing_is_written_in_proc():
    found, result = names({"isolation": "sandbox"})
    needs_own_root(result["containment"])
    assert found["refused"] in ("EROFS", "EACCES") and found["written"] == []


def test_a_gpu_that_is_not_opened_is_not_there():
    found, containment = used(machine(kind()))
    needs_own_root(containment)
    assert found["mapped"] == found["asked"] == found["dri"] == "ENOENT"
    assert found["vendors"] == ["ENOENT"] * 4
    assert found["sys"] == ["fs", "sys"]  # the limits, and the way of the JVM to them
    assert "devices" not in containment


def test_file_rules_alone_open_a_gpu_and_nothing_else():
    denied = machine(kind(), "pivot_root=EPERM")
    found, containment = used(denied, devices=["gpu"])
    if containment["layers"]["file rules"] != "enforced":
        pytest.skip("this machine has no file rules")
    assert containment["layers"]["own root directory"] == "absent"
    assert found["mapped"] == "ready" and found["asked"] == "ENOTTY"
    assert found["vendors"] == ["0x10de"] * 4
    assert sorted(found["dri"]) == ["card0", "renderD128"]  # the names
    assert found["card"] == found["other"] == found["dev"] == found["class of another"] == "EACCES"
    if kind() == "shown":
        return  # in another place it is still /dev/zero, which every script has
    found, _ = used(denied)
    assert found["mapped"] == found["asked"] == found["dri"] == found["drm"] == "EACCES"
    assert found["vendors"] == ["EACCES"] * 4


def test_a_machine_without_a_gpu_runs_scripts_and_says_so(tmp_path):
    command = machine("none")
    found, containment = used(command, devices=["gpu"])
    assert found["mapped"] == "ENOENT" or containment["layers"]["own root directory"] != "enforced"
    assert containment["devices"] == []
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(config(devices=["gpu"])))
    for arguments in (["doctor", "--config", path], ["--config", path, "--check-config"]):
        said = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr
        assert "no device of a GPU is there" in said.stdout


def test_what_is_opened_is_said_before_a_call_and_by_doctor(tmp_path):
    command = machine(kind())
    said = {}
    for name, more in (("open", {"devices": ["gpu"]}), ("closed", {})):
        with client.Server(config=config(**more), command=command) as server:
            server.initialize()
            said[name] = json.dumps(server.find_tool())
    assert "scripts can use the GPU" in said["open"]
    assert "GPU" not in said["closed"]
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(config(devices=["gpu"])))
    doctor = subprocess.run([*command, "doctor", "--config", path], capture_output=True, text=True, check=False)
    assert any(line.split() == ["devices", RENDER] for line in doctor.stdout.splitlines()), doctor.stdout


@pytest.mark.parametrize("environment, place, words", [
    ("{type: system, devices: [cpu]}", "3:31", "devices.0"),
    ("{type: venv, devices: [gpu, gpu]}", "3:28", "devices"),
    ("{type: system, isolation: none, devices: [gpu]}", "3:47", "is for a sandbox"),
    ("{type: docker, image: python:3, devices: [gpu]}", "3:38", "is a key of type system or venv"),
])
def test_a_wrong_device_is_an_error_with_its_place(tmp_path, environment, place, words):
    path = tmp_path / "config.yaml"
    path.write_text(f"default_environment: a\nenvironments:\n  a: {environment}\n")
    said = subprocess.run([os.environ["PYEXECD"], "--config", path, "--check-config"], capture_output=True, text=True,
                          check=False)
    assert said.returncode == 78
    assert f"{path}:{place}: environments.a.devices" in said.stderr and words in said.stderr, said.stderr


def test_a_call_opens_no_device():
    with client.Server(config={**config(), "callers": {"define_environments": True}}) as server:
        server.initialize()
        result = server.call_tool("run_python", {
            "code": "print(1)", "environment_definition": {"type": "system", "devices": ["gpu"]}})
        assert result["isError"]
        assert "environment_definition.devices: only the operator can" in result["content"][0]["text"]


def test_the_files_of_the_usual_devices_cannot_be_changed():
    """Where a script has no uid of its own they are its user's."""
    devices = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
    code = f"import os\nfor path in {devices}:\n    try: os.chmod(path, 0o666)\n    except OSError: pass\n" \
           "    else: print(path)\nopen('/dev/null', 'w').write('x')\n" \
           "print(sorted({line.split()[5].split(',')[0] for line in open('/proc/self/mountinfo') " \
           f"if line.split()[4] in {devices}}}))"
    with client.Server(config=config()) as server:
        server.initialize()
        result = server.call_tool("run_python", {"code": code})["structuredContent"]
    needs_own_root(result["containment"])
    assert result["stdout"] == "['ro']\n", result
