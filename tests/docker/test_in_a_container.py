"""The server itself in a container: what Docker's default profile leaves of a sandbox, what the receipt and `doctor` say
of it, and that the options which `doctor` names give the rest."""

import json
import os
import pathlib
import platform
import re
import subprocess

import pytest

import client
import leftovers

PROGRAM = "/opt/pyexecd/pyexecd"
PROFILE = pathlib.Path(os.environ["PYEXECD"]).resolve().with_name("pyexecd-server-seccomp.json")
HOME = "/tmp/home"
OUTSIDE = "/tmp/outside.txt"
LOADED = re.compile(r"(/\S+) \(0x")
ROOT, NETWORK = "own root directory", "own network"
USERS = {"root": "0:0", "user": "1000:1000"}
# What an operator may take from the container, too.
HARDENED = {"default": [], "hardened": ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only",
                                        "--tmpfs", "/tmp:exec"]}
# LeakSanitizer traces the process whose memory it looks through, which the profile refuses.
NO_TRACING = ["--env", "ASAN_OPTIONS=detect_leaks=0"]
CONFIG = {"default_environment": "auto", "environments": {
    "auto": {"type": "system"},
    "sandbox": {"type": "system", "isolation": "sandbox"},
    "required": {"type": "system", "isolation": "sandbox", "require": "sandbox"}}}
LOOK = f"""
import os, socket, time

def answer(attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError as error:
        return type(error).__name__

print(answer(open, {OUTSIDE!r}), answer(socket.socket))
print([line for line in open("/proc/self/status") if line.startswith("Cap") and int(line.split()[1], 16)
       and not line.startswith("CapBnd")])
""" + leftovers.DAEMON

pytestmark = pytest.mark.skipif(tuple(map(int, platform.release().split(".")[:2])) < (6, 12),
                                reason="without namespaces nothing but Landlock of Linux 6.12 holds a run there")


def programs():
    """pyexecd, what belongs to it, and the libraries that these load: name -> contents."""
    files = {}
    for program in pathlib.Path(os.environ["PYEXECD"]).resolve().parent.glob("pyexecd*"):
        if not program.is_file() or not os.access(program, os.X_OK):
            continue
        files[f"opt/pyexecd/{program.name}"] = program.read_bytes()
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        for library in map(pathlib.Path, LOADED.findall(loaded)):
            files[str(library.parent.resolve() / library.name)[1:]] = library.read_bytes()
    return files


@pytest.fixture(scope="module")
def image(engine, images):
    image = images.derived("pyexecd-inside", images.layer("pyexecd-inside", programs()))
    yield images.load(engine, image)
    engine.api.delete(f"/images/{image.name}", force=1)


class Container:
    """One that does nothing by itself, in which USER starts servers."""

    def __init__(self, engine, image, user, options):
        self.environment = {**os.environ, **engine.environment}
        self.name = self._docker("run", "--detach", "--user", user, "--env", f"HOME={HOME}", *options, image,
                                 "sleep", "infinity").strip()
        self.execute("sh", "-c", f"umask 077; mkdir -p {HOME}; cat >{HOME}/config.yaml", given=json.dumps(CONFIG))
        self.execute("sh", "-c", f"echo secret >{OUTSIDE}")

    def _docker(self, *arguments, given="", codes=(0,)):
        done = subprocess.run(["docker", *arguments], input=given, capture_output=True, text=True, env=self.environment)
        assert done.returncode in codes, done
        return done.stdout

    def execute(self, *command, **more):
        return self._docker("exec", "--interactive", self.name, *command, **more)

    def serve(self):
        command = ["docker", "exec", "--interactive", self.name, PROGRAM, "--config", f"{HOME}/config.yaml"]
        return client.Server(command=command, environment=self.environment)

    def remedy(self):
        """The command that `doctor` names, as words; none where it names none."""
        refused = 1  # by what one environment requires
        lines = self.execute(PROGRAM, "doctor", "--config", f"{HOME}/config.yaml", codes=(0, refused)).splitlines()
        words = [word for line in lines if "gives more" in line for word in line.split()[2:]]
        return [word.replace(PROFILE.name, str(PROFILE)) for word in words]

    def holds(self):
        """Its living processes but the one that looks, and its files outside of the server's own."""
        look = """for stat in /proc/[0-9]*/stat; do
                      read -r pid name state parent rest <$stat && [ $state != Z ] && [ $pid != $$ ] &&
                          [ $parent != $$ ] && echo "$pid $name"
                  done 2>/dev/null
                  find / /tmp /dev/shm -xdev -not -path '%s/*' 2>/dev/null""" % HOME
        unreadable = 1  # for a user
        return set(self.execute("sh", "-c", look, codes=(0, unreadable)).splitlines())

    def remove(self):
        self._docker("rm", "--force", "--volumes", self.name)


@pytest.fixture
def container(engine, image):
    made = []

    def make(user, options):
        made.append(Container(engine, image, USERS[user], options))
        return made[-1]

    yield make
    for container in made:
        container.remove()


def absent(containment):
    return {layer for layer, state in containment["layers"].items() if state == "absent"}


@pytest.mark.parametrize("options", HARDENED)
@pytest.mark.parametrize("user", USERS)
def test_the_default_profile_leaves_files_and_calls(container, user, options):
    """A sandbox without own root and own network holds what it has, and says what it has not."""
    here = container(user, HARDENED[options])
    before = here.holds()
    with here.serve() as server:
        server.initialize()
        for environment in ("auto", "sandbox"):
            content = server.call_tool("run_python", {"code": LOOK, "environment": environment})["structuredContent"]
            assert content["success"], content
            assert content["stdout"] == "PermissionError OSError\n[]\n"
            containment = content["containment"]
            assert content["isolation"] == "sandbox" and containment["process_tree"] == "landlock"
            assert absent(containment) == {ROOT, NETWORK}, containment
            for layer in absent(containment):
                assert any(text.startswith(f"{layer}: ") for text in containment["missing"]), containment
        refused = server.call_tool("run_python", {"code": "print('never')", "environment": "required"})
        text = refused["content"][0]["text"]
        assert refused["isError"] and "never" not in text
        assert f"{ROOT}: " in text and f"{NETWORK}: " in text, text
    assert here.holds() == before


@pytest.mark.parametrize("dropped", [[], ["--cap-drop", "ALL"], HARDENED["hardened"]],
                         ids=["default", "no capabilities", "hardened"])
@pytest.mark.parametrize("user", USERS)
def test_the_options_that_doctor_names_give_the_whole_sandbox(container, user, dropped):
    command = container(user, dropped).remedy()
    assert command[:2] == ["docker", "run"] and command[-1] == "...", command
    assert ("SETFCAP" in command) == (user == "root" and dropped != []), command
    assert f"seccomp={PROFILE}" in command, "it keeps a profile"
    here = container(user, [*dropped, *command[2:-1], *NO_TRACING])
    before = here.holds()
    with here.serve() as server:
        server.initialize()
        content = server.call_tool("run_python", {"code": LOOK, "environment": "required"})["structuredContent"]
        assert content["stdout"] == "FileNotFoundError None\n[]\n", content
        assert set(content["containment"]["layers"].values()) == {"enforced"}
        assert content["containment"]["process_tree"] == "pid namespace"
    assert here.holds() == before
    assert not here.remedy()


@pytest.mark.parametrize("user", USERS)
def test_one_option_alone_does_not_silence_doctor(container, user):
    """Without covers over /proc it is the system calls that are refused, and the other way round."""
    for option in ("seccomp=unconfined", "systempaths=unconfined"):
        assert container(user, ["--security-opt", option]).remedy()[:2] == ["docker", "run"]


def test_doctor_names_the_fields_of_a_pod(container):
    """Kubernetes leaves variables in its containers."""
    words = container("user", ["--env", "KUBERNETES_SERVICE_HOST=10.0.0.1"]).remedy()
    assert " ".join(words).startswith("in the pod: hostUsers: false;"), words
    assert f"{PROFILE}}}" in words, words


def test_podman_takes_the_profile(podman, images):
    image = images.derived("pyexecd-inside", images.layer("pyexecd-inside", programs()))
    images.load(podman, image)
    variables = {name: value for name, value in os.environ.items() if name != "DOCKER_CONFIG"}
    options = ["--security-opt", f"seccomp={PROFILE}", "--security-opt", "unmask=ALL", "--env", f"HOME={HOME}", *NO_TRACING]
    done = subprocess.run(["podman", "--remote", "--url", f"unix://{podman.socket}", "run", "--rm", *options, image.name,
                           PROGRAM, "run", "--json", "-w", "temporary", "-c", "pass"], capture_output=True, text=True, env=variables)
    podman.api.delete(f"/images/{image.name}", force=1)
    assert done.returncode == 0, done
    containment = json.loads(done.stdout)["containment"]
    assert set(containment["layers"].values()) == {"enforced"}, containment
    assert containment["process_tree"] == "pid namespace"
