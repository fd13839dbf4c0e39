"""Makes the system call profile of a container in which pyexecd itself runs, from that of the containers it starts.

    server_seccomp.py seccomp.json RESULT

The server gives each run its own sandbox, so the container must allow it what that is made of. With
`docker run --security-opt seccomp=RESULT` nothing else is allowed that scripts of a container are refused.
"""

import json
import pathlib
import sys

# A process in a user namespace of its own has rights over that namespace's mounts, names and networks, and over no other's.
NAMESPACES = ["clone", "clone3", "setns", "sethostname", "unshare"]
MOUNTS = ["fsconfig", "fsmount", "fsopen", "mount", "mount_setattr", "move_mount", "open_tree", "pivot_root", "umount2"]
SUPERVISORS = ["kcmp", "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "openat2", "pidfd_open",
               "pidfd_send_signal", "prctl", "seccomp"]
NEEDED = {"New namespaces for each run": NAMESPACES, "The root of a run": MOUNTS,
          "How a run is held and ended": SUPERVISORS}


def without(rule, names):
    return {**rule, "names": [name for name in rule["names"] if name not in names]}


def profile(scripts):
    """The profile of the server, of the one for SCRIPTS."""
    names = {name for needed in NEEDED.values() for name in needed}
    kept = [without(rule, names) for rule in scripts["syscalls"]]
    added = [{"comment": comment, "names": needed, "action": "SCMP_ACT_ALLOW"} for comment, needed in NEEDED.items()]
    return {**scripts, "syscalls": [rule for rule in kept if rule["names"]] + added}


if __name__ == "__main__":
    made = profile(json.loads(pathlib.Path(sys.argv[1]).read_text()))
    pathlib.Path(sys.argv[2]).write_text(json.dumps(made, indent=1) + "\n")
