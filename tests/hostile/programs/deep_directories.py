'''
tries = "to make its directory impossible to remove: deeper than a path may be long"
held_by = ["by design: directories are removed by descriptors, not by paths"]
[outcome]
any = "exit 0: deep"
'''
import os

for _ in range(120):
    os.mkdir("d" * 50)
    os.chdir("d" * 50)
print("deep")
