'''
tries = "to break whoever lists its files by their names"
held_by = ["names are data"]
files = 8
[outcome]
any = "exit 0: named"
'''
import os

for name in (b"\xff\xfe", b"new\nline", b"\x1b[2J", b"-rf", b"x" * 255, "\u202e".encode(), b"\\", b'"'):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
print("named")
