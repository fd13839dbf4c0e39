'''
tries = "to leave keys in the keyring of its user, which others of that user share"
held_by = ["no keys", "profile of system calls"]
[outcome]
any = "exit 0: 0"
'''
import ctypes
import os

ADD_KEY, KEYCTL, REQUEST_KEY = 248, 250, 249
USER_KEYRING = -4
libc = ctypes.CDLL(None)
mark = os.environ["PYEXECD_TEST_MARK"].encode()
added = 0
for number in range(100):
    name = b"hostile-%s-%d" % (mark, number)
    added += libc.syscall(ADD_KEY, b"user", name, b"x" * 100, 100, USER_KEYRING) >= 0
added += libc.syscall(KEYCTL, 1, None) >= 0
print(added)
