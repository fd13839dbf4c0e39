'''
tries = "to hold its place and all processors for ever"
held_by = ["deadline"]
[outcome]
any = "timeout: burning"
'''
import os

print("burning", flush=True)
for _ in range(3):
    os.fork()
while True:
    pass
