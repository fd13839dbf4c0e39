"""ctypes: functions of the C library and of others, structures, callbacks, errno."""
import ctypes
import ctypes.util
import os

libc = ctypes.CDLL(None, use_errno=True)
print(libc.getpid() == os.getpid(), libc.abs(-7), libc.strlen(b"four"))
libm = ctypes.CDLL("libm.so.6")
libm.cos.restype, libm.cos.argtypes = ctypes.c_double, [ctypes.c_double]
print(libm.cos(0.0))
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
numbers = (ctypes.c_int * 5)(5, 1, 4, 2, 3)
libc.qsort(numbers, 5, ctypes.sizeof(ctypes.c_int), COMPARE(lambda a, b: a[0] - b[0]))
print(list(numbers))


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


now = Time()
print(libc.clock_gettime(1, ctypes.byref(now)), now.seconds > 0)
print(libc.open(b"/nonexistent", 0), os.strerror(ctypes.get_errno()))
print(ctypes.util.find_library("c"), ctypes.util.find_library("m"), ctypes.util.find_library("z"))
