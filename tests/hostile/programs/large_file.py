'''
tries = "to claim a terabyte with one file"
held_by = ["limit on a file"]
[outcome]
any = "exit 0: refused"
'''
import os

with open("large", "wb") as file:
    try:
        file.truncate(1 << 40)
        print("claimed", os.fstat(file.fileno()).st_size)
    except OSError:
        print("refused")
