'''
tries = "to be taken for a zombie: the first thread ends, another one goes on"
held_by = ["deadline"]
[outcome]
any = "timeout: threaded"
'''
import ctypes
import threading
import time

threading.Thread(target=lambda: time.sleep(1000)).start()
print("threaded", flush=True)
ctypes.CDLL(None).pthread_exit(None)
