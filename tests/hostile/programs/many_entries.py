'''
tries = "to stall the server by a directory with thousands of entries"
held_by = ["by design: directories are looked at and removed in small steps"]
limit = 60
[outcome]
any = "exit 0: 2000"
'''
import os

for outer in range(40):
    os.mkdir(str(outer))
    for inner in range(50):
        os.mkdir(f"{outer}/{inner}")
print(2000)
