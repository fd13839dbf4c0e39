'''
tries = "to leave POSIX message queues behind, which are memory of the kernel"
held_by = ["no message queues", "engine: an IPC namespace"]
[outcome]
any = "exit 0: 0"
docker = "exit 0: [0-9]+"  # in an IPC namespace of its own
'''
import ctypes
import os

librt = ctypes.CDLL("librt.so.1", use_errno=True)
mark = os.environ["PYEXECD_TEST_MARK"]
opened = 0
for number in range(10):
    queue = librt.mq_open(f"/{mark}-{number}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    opened += queue >= 0
print(opened)
