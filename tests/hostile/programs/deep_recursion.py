'''
tries = "to crash the interpreter by its stack"
held_by = ["by design: the status comes from the kernel"]
[outcome]
any = "SIGSEGV: deep"
'''
import ctypes
import sys

print("deep", flush=True)
callback = ctypes.CFUNCTYPE(None)
sys.setrecursionlimit(1 << 30)
again = callback(lambda: again())
again()
