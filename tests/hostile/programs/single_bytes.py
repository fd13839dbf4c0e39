'''
tries = "to keep the server busy by writing single bytes on both streams"
held_by = ["deadline"]
[outcome]
any = "timeout: .*"
'''
import os

while True:
    os.write(1, b"1")
    os.write(2, b"2")
