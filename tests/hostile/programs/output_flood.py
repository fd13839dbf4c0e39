'''
tries = "to fill the server's memory by what it prints"
held_by = ["bound on output"]
limit = 60
[outcome]
any = "exit 0: .*"
'''
import os

block = b"x" * 65535 + b"\n"
for _ in range(1000):
    os.write(1, block)
    os.write(2, block)
