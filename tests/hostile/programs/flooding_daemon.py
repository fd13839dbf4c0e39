'''
tries = "to have a child write for ever into the streams after the script's own end"
held_by = ["end with the script"]
[outcome]
any = "exit 0.*"
'''
import os

if os.fork() == 0:
    os.setsid()
    while True:
        os.write(1, b"y" * 4096)
os._exit(0)
