'''
tries = "to stall the server by a directory with thousands of entries"
held_by = ["by design: directories are looked at and removed in small steps"]
limit = 60
[outcome]
any = "exit 0: 6000"
'''
import os

for outer in range(60):
    os.mkdir(str(outer))
    for inner in range(100):
        os.mkdir(f"{outer}/{inner}")
print(6000)
