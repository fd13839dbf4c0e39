'''
tries = "to keep the kernel busy by thousands of timers that signal"
held_by = ["deadline"]
[outcome]
any = "timeout: ticking"
'''
import ctypes
import signal

TIMER_CREATE, TIMER_SETTIME = 222, 223
MICROSECONDS = 100
libc = ctypes.CDLL(None)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
timer = ctypes.c_int()
every = (ctypes.c_long * 4)(0, MICROSECONDS * 1000, 0, MICROSECONDS * 1000)
for _ in range(2000):
    if libc.syscall(TIMER_CREATE, 1, None, ctypes.byref(timer)) == 0:
        libc.syscall(TIMER_SETTIME, timer, 0, every, None)
print("ticking", flush=True)
while True:
    pass
