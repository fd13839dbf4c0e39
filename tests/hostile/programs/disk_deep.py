'''
tries = "to fill the disk where nobody looks: deep below its directory"
held_by = ["limit on disk"]
[outcome]
any = "disk.*"
'''
import os
import time

for _ in range(40):
    os.mkdir("d")
    os.chdir("d")
for number in range(6):
    with open(f"part{number}", "wb") as file:
        file.write(b"x" * (8 << 20))
print("written", flush=True)
time.sleep(15)
