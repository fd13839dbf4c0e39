'''
tries = "to fill the disk by many files, each below the limit of one"
held_by = ["limit on disk"]
limit = 20
[outcome]
any = "disk.*"
'''
import time

for number in range(6):
    with open(f"part{number}", "wb") as file:
        file.write(b"x" * (8 << 20))
print("written", flush=True)
time.sleep(1000)
