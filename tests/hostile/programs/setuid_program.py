'''
tries = "to gain rights by a program that belongs to root and is setuid"
held_by = ["kernel: nobody becomes who has no id in a user namespace"]
[outcome]
any = "exit 0: none"
root = "-"  # it has nothing to gain
docker = "-"  # the image has none
'''
import os
import subprocess

su = subprocess.Popen(["su", "--command", "true"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL)
# It waits for a password, unless it is root that asks.
lines = dict(line.split(":", 1) for line in open(f"/proc/{su.pid}/status"))
print("none" if lines["Uid"].split()[1] == str(os.getuid()) else lines["Uid"])
su.kill()
