"""What operators get to run the server in a container: its system call profile, and the objects for Kubernetes."""

import json
import runpy

import pytest
import tree
import yaml

MADE = "environments/docker/server_seccomp.py"
OBJECTS = "packaging/kubernetes"
PROFILE = "pyexecd-server-seccomp.json"
NEVER = {"add_key", "bpf", "init_module", "io_uring_setup", "kexec_load", "keyctl", "open_by_handle_at", "perf_event_open",
         "process_vm_writev", "ptrace", "reboot", "swapon", "userfaultfd"}


def allowed(rules):
    return {name for rule in rules["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")
            for name in rule["names"]}


def refused(rules):
    return {name for rule in rules["syscalls"] if rule["action"] != "SCMP_ACT_ALLOW" for name in rule["names"]}


def test_the_profile_adds_what_runs_are_made_of_and_nothing_else():
    maker = runpy.run_path(str(tree.ROOT / MADE))
    scripts = json.loads(tree.text("environments/docker/seccomp.json"))
    ours = maker["profile"](scripts)
    needed = {name for names in maker["NEEDED"].values() for name in names}
    assert allowed(ours) == allowed(scripts) | needed
    assert refused(ours) == refused(scripts) - needed
    assert not NEVER & allowed(ours)


@pytest.fixture(params=["pyexecd", "pyexecd-node"])
def objects(request):
    return {one["kind"]: one for one in yaml.safe_load_all(tree.text(f"{OBJECTS}/{request.param}.yaml"))}


def test_the_objects_for_kubernetes_belong_together(objects):
    pod = objects["Deployment"]["spec"]["template"]
    labels = pod["metadata"]["labels"]
    service = objects.get("Service", {"spec": {"selector": labels, "ports": []}})["spec"]
    assert objects["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert service["selector"] == labels
    assert objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels
    container, = pod["spec"]["containers"]
    assert {port["name"] for port in container.get("ports", [])} == {port["targetPort"] for port in service["ports"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_a_pod_gives_runs_all_layers(objects):
    spec = objects["Deployment"]["spec"]["template"]["spec"]
    held = spec["containers"][0]["securityContext"]
    assert spec["hostUsers"] is False
    assert held["procMount"] == "Unmasked"
    assert held["seccompProfile"] == {"type": "Localhost", "localhostProfile": PROFILE}
    assert "ConfigMap" not in objects or "require: sandbox" in objects["ConfigMap"]["data"]["config.yaml"]
