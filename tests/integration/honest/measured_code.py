"""cProfile, timeit, trace, tracemalloc, faulthandler, gc, warnings: what measures and watches code."""
import cProfile
import faulthandler
import gc
import io
import pstats
import subprocess
import sys
import tempfile
import timeit
import tracemalloc
import warnings


def fibonacci(number):
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


profile = cProfile.Profile()
print(profile.runcall(fibonacci, 15))
text = io.StringIO()
pstats.Stats(profile, stream=text).print_stats("fibonacci")
print("1973/1" in text.getvalue(), timeit.timeit("1 + 1", number=1000) > 0)
tracemalloc.start()
data = [bytes(1000) for _ in range(1000)]
print(tracemalloc.get_traced_memory()[0] > 1000000, gc.collect() >= 0)
with tempfile.TemporaryFile() as file:
    faulthandler.dump_traceback(file)
    file.seek(0)
    print(len(file.read()) > 0)
crash = subprocess.run([sys.executable, "-X", "faulthandler", "-c", "import os; os.abort()"], stderr=subprocess.PIPE)
print(crash.returncode, crash.stderr.splitlines()[0])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("careful")
print(caught[0].message)
print(subprocess.run([sys.executable, "-W", "error", "-c", "import warnings; warnings.warn('x')"],
                     stderr=subprocess.PIPE).returncode)
