"""signal: alarms, timers, handlers, masks, waiting for one, what a child died of."""
import os
import signal
import subprocess
import time

signal.signal(signal.SIGALRM, lambda number, _: print("got", signal.Signals(number).name))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
signal.alarm(600)
print(signal.alarm(0) > 0)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigtimedwait([signal.SIGUSR1], 60).si_pid == os.getpid())
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
signal.signal(signal.SIGUSR2, lambda *_: None)
signal.raise_signal(signal.SIGUSR2)
print(os.read(reader, 1) == bytes([signal.SIGUSR2]))
try:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
for name in ("TERM", "KILL", "SEGV", "ABRT"):
    print(name, subprocess.run(["sh", "-c", f"ulimit -c 0; kill -{name} $$"]).returncode)
signal.signal(signal.SIGVTALRM, lambda *_: print("used some CPU"))
signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
while signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
    pass
