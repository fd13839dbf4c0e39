"""The objects in packaging/kubernetes/ on a real Kubernetes of one machine: it takes them without a warning, the pod becomes
ready by its probes and holds runs by all four layers, a client pod reaches it by the Service, and `kubectl exec` is a launcher."""

import json
import os
import pathlib
import platform
import re
import subprocess

import pytest
import test_nodes

import images as images_module
import kubernetes
import leftovers

ROOT = pathlib.Path(__file__).resolve().parents[2]
OBJECTS = ROOT / "packaging/kubernetes"
SERVER, NODE = OBJECTS / "pyexecd.yaml", OBJECTS / "pyexecd-node.yaml"
PROFILE = "pyexecd-server-seccomp.json"
LAUNCHER = ["kubectl", "exec", "-i", "deploy/pyexecd-node", "--", "pyexecd", "node"]  # as in docs/more-than-one-machine.md
WAIT = "--timeout=280s"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "run_python", "arguments": {"code": "print(6 * 7)"},
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "pyexecd/results": "structured",
              "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
              "io.modelcontextprotocol/clientCapabilities": {}}}}
ASK = f"""
import sys, urllib.error, urllib.request
request = urllib.request.Request("http://pyexecd:8080/mcp", {json.dumps(CALL).encode()!r}, {{
    "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Method": "tools/call",
    "Mcp-Name": "run_python", "MCP-Protocol-Version": "2026-07-28", "Authorization": "Bearer " + sys.argv[1]}})
try:
    print(urllib.request.urlopen(request, timeout=60).read().decode())
except urllib.error.HTTPError as error:
    print(error.code)
"""
CLIENT = """
apiVersion: v1
kind: Pod
metadata:
  name: client
  labels: {pyexecd-client: "true"}
spec:
  hostAliases: [{ip: ADDRESS, hostnames: [pyexecd]}] # the cluster has no names
  terminationGracePeriodSeconds: 0
  containers:
    - {name: plain, image: "pyexecd:0.1.0", command: [sleep, infinity]}
    - name: confined
      image: pyexecd:0.1.0
      command: [sleep, infinity]
      securityContext: {seccompProfile: {type: RuntimeDefault}}
"""

pytestmark = [pytest.mark.heavy, pytest.mark.release,
              pytest.mark.skipif(tuple(map(int, platform.release().split(".")[:2])) < (6, 3),
                                 reason="pods with users of their own take Linux 6.3")]


def pause(folder):
    """The image of what keeps the namespaces of a pod; the path of its archive."""
    program = folder / "pause"
    subprocess.run(["gcc", "-static", "-O", "-x", "c", "-", "-o", program], input=kubernetes.PAUSE, text=True, check=True)
    layer = images_module.layer(folder / "layer.tar", {"pause": program.read_bytes()})
    images_module.Image("pause:latest", [layer], Cmd=["/pause"]).archive(folder / "pause.tar")
    return folder / "pause.tar"


@pytest.fixture(scope="module")
def cluster(docker, released_image, tmp_path_factory):
    """A cluster whose machine has the image and the profile."""
    folder = tmp_path_factory.mktemp("kubernetes")
    docker("save", "--output", str(folder / "pyexecd.tar"), released_image)
    profile = docker("run", "--rm", "--entrypoint", "cat", released_image, f"/opt/pyexecd/{PROFILE}")
    try:
        with kubernetes.Cluster(kubernetes.programs()) as cluster:
            for archive in (pause(folder), folder / "pyexecd.tar"):
                cluster.load(archive)
            profiles = cluster.root / "var/lib/kubelet/seccomp"
            profiles.mkdir()
            (profiles / PROFILE).write_text(profile)
            yield cluster
        assert not cluster.remains()
    except kubernetes.NoCluster as reason:
        pytest.skip(f"no cluster: {reason}")


@pytest.fixture(scope="module")
def token(cluster, tmp_path_factory):
    """A client's, of which the cluster has the secret."""
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    made = subprocess.run([os.environ["PYEXECD"], "token", "ada", "--add", tokens], check=True, capture_output=True, text=True).stdout
    cluster.kubectl("create", "secret", "generic", "pyexecd", f"--from-file={tokens}")
    return re.search(r"\b[0-9a-f]{64}\b", made).group()


@pytest.fixture(scope="module")
def applied(cluster, token):
    """What `kubectl apply` says, as the head of the file has it."""
    return cluster.run("apply", "--namespace", kubernetes.NAMESPACE, "--filename", SERVER)


@pytest.fixture(scope="module")
def served(cluster, applied):
    """The server has become ready."""
    cluster.kubectl("wait", "--for=condition=Available", WAIT, "deploy/pyexecd")


@pytest.fixture(scope="module")
def inside(cluster, served):
    """Executes a command in a container of a pod that has nothing of what those of ours have; what it printed."""
    address = cluster.kubectl("get", "service", "pyexecd", "--output", "jsonpath={.spec.clusterIP}")
    cluster.kubectl("apply", "--filename", "-", given=CLIENT.replace("ADDRESS", address))
    cluster.kubectl("wait", "--for=condition=Ready", WAIT, "pod/client")
    return lambda container, *command: cluster.kubectl("exec", "client", f"--container={container}", "--", *command).strip()


# The server


def test_the_apiserver_takes_every_object_without_a_warning(applied):
    assert (applied.returncode, applied.stderr) == (0, ""), applied
    assert sorted(applied.stdout.splitlines()) == [
        "configmap/pyexecd created", "deployment.apps/pyexecd created", "networkpolicy.networking.k8s.io/pyexecd created",
        "service/pyexecd created"]


def test_the_apiserver_refuses_a_field_that_there_is_not(cluster):
    wrong = SERVER.read_text().replace("hostUsers:", "hostUser:")
    refused = cluster.run("apply", "--dry-run=server", "--filename", "-", given=wrong)
    assert refused.returncode and 'unknown field "spec.template.spec.hostUser"' in refused.stderr, refused


def test_a_client_pod_has_a_run_by_the_service_that_all_layers_hold(inside, token):
    content = json.loads(inside("plain", "python3", "-c", ASK, token))["result"]["structuredContent"]
    assert content["stdout"] == "42\n", content
    assert content["isolation"] == "sandbox" and set(content["containment"]["layers"].values()) == {"enforced"}, content
    assert content["containment"]["process_tree"] == "pid namespace"
    assert inside("plain", "python3", "-c", ASK, "another-token-of-nobody") == "401"


@pytest.mark.parametrize("container, tree, lacks", [("plain", "pid namespace", {"own root directory"}),
                                                    ("confined", "landlock", {"own root directory", "own network"})])
def test_a_pod_without_its_fields_has_less(inside, container, tree, lacks):
    held = json.loads(inside(container, "pyexecd", "run", "--json", "-w", "temporary", "-c", "pass"))["containment"]
    assert held["process_tree"] == tree and {layer for layer, state in held["layers"].items() if state == "absent"} == lacks, held
    assert "in the pod: hostUsers: false;" in inside(container, "pyexecd", "doctor")


def test_its_root_is_nobody_on_the_node(cluster, served):
    """As hostUsers says: no id in the pod is one of the machine's own."""
    inside, outside, count = map(int, cluster.kubectl("exec", "deploy/pyexecd", "--", "cat", "/proc/self/uid_map").split())
    assert inside == 0 and outside >= 65536 and count == 65536


def test_the_length_of_the_queue_can_be_read(cluster, served):
    look = "import urllib.request as web; print(web.urlopen('http://127.0.0.1:9090/metrics').read().decode())"
    assert "\npyexecd_run_queue_length 0\n" in cluster.kubectl("exec", "deploy/pyexecd", "--", "python3", "-c", look)


# A node


class ToPod(test_nodes.Far):
    """A server whose nodes are in a pod, by the launcher of the documents."""

    def __init__(self, cluster, **more):
        variables = {"PATH": f"{cluster.folder}/bin:{os.environ['PATH']}"}
        super().__init__(LAUNCHER, variables=variables, **more)

    def marked(self, config):
        config["nodes"]["far"]["files"] = "copied"
        return super().marked(config)


@pytest.fixture(scope="module")
def pod(cluster, served):
    """What waits until the pod for nodes is there, also after another one has gone; its name."""
    applied = cluster.run("apply", "--namespace", kubernetes.NAMESPACE, "--filename", NODE)
    assert (applied.returncode, applied.stderr) == (0, ""), applied

    def wait():
        cluster.kubectl("rollout", "status", WAIT, "deploy/pyexecd-node")
        return cluster.kubectl("get", "pods", "--selector", "app=pyexecd-node", "--output", "name").strip()

    wait()
    return wait


def processes_of(cluster, pod):
    """Those in POD, as the machine sees them."""
    uid = cluster.kubectl("get", pod, "--output", "jsonpath={.metadata.uid}").encode()
    return [pid for pid in leftovers.processes() if uid in leftovers.read(f"/proc/{pid}/cgroup")]


def names_in(cluster, pod):
    return sorted(leftovers.read(f"/proc/{pid}/comm") for pid in processes_of(cluster, pod))


def test_a_run_on_a_node_is_held_there_and_its_files_come_back(cluster, pod):
    with ToPod(cluster) as server:
        result = server.result("import os, sys\nprint(os.getcwd())\nprint('aside', file=sys.stderr)\nopen('made', 'w').write('x')")
        assert result["success"] and result["stderr"] == "aside\n", result
        assert result["stdout"].startswith("/tmp/home/") and [file["path"] for file in result["files"]] == ["made"]
        assert [path.read_text() for path in server.home.rglob("made")] == ["x"]
        assert set(result["containment"]["layers"].values()) == {"enforced"}, result
        assert result["containment"]["node"] == f"far ({pod().removeprefix('pod/')})"


def test_megabytes_go_each_way_as_they_were(cluster, pod):
    with ToPod(cluster) as server:
        made = server.result("import hashlib, os\ndata = os.urandom(16 << 20)\nopen('data', 'wb').write(data)\n"
                             "print(hashlib.sha256(data).hexdigest())", timeout=500)
        again = server.result("import hashlib\nprint(hashlib.sha256(open('data', 'rb').read()).hexdigest())",
                              working_directory=made["working_directory"], timeout=500)
        assert again["stdout"] == made["stdout"] and len(made["stdout"]) == 65


@pytest.fixture
def victim(cluster, pod):
    """A server with a run under way in the pod."""
    pod()
    server = ToPod(cluster)
    try:
        server.ids = [server.start_tool("run_python", {"code": "NAME = 'run0'\n" + test_nodes.DAEMON, "timeout": 500}, progress_token="p")]
        assert leftovers.until(lambda: "here" in str(test_nodes.news_of(server))), server.stderr()
        yield server
    finally:
        server.kill()


def test_a_run_whose_pod_is_deleted_is_answered_by_name_and_the_next_has_another_pod(cluster, pod, victim):
    before = pod()
    cluster.kubectl("delete", before)
    answer, = test_nodes.answers(victim, victim.ids)
    test_nodes.assert_was_lost(answer)
    assert not victim.survivors()
    assert pod() != before
    assert victim.result("print('anew')")["stdout"] == "anew\n"


def test_nothing_of_a_server_that_is_killed_is_left_in_the_pod(cluster, pod, victim):
    runs = set(victim.processes())
    assert runs and runs <= set(processes_of(cluster, pod()))
    victim.process.kill()
    victim.process.wait()
    assert not victim.survivors(test_nodes.LOST)
    assert leftovers.until(lambda: names_in(cluster, pod()) == [b"pause\n", b"sleep\n"], test_nodes.LOST), names_in(cluster, pod())
