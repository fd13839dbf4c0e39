"""resource: limits are read and lowered, and hold; what a child has used."""
import os
import resource
import subprocess
import sys

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
print(soft > 100, hard >= soft)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
files = []
try:
    while True:
        files.append(open(os.devnull))
except OSError as error:
    print(error.strerror, len(files) < 64)
files.clear()
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); " \
    "open('big', 'wb', 0).write(b'x' * 1000); open('big', 'ab', 0).write(b'x')"
print(subprocess.run([sys.executable, "-c", limited], stderr=subprocess.PIPE).stderr.splitlines()[-1])
memory = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28,) * 2)\n" \
    "try: bytearray(1 << 29)\nexcept MemoryError: print('no memory')"
print(subprocess.run([sys.executable, "-c", memory], stdout=subprocess.PIPE).stdout)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss > 0, used.ru_utime + used.ru_stime > 0)
print(resource.prlimit(os.getpid(), resource.RLIMIT_CORE)[0] >= -1)
