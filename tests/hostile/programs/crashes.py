'''
tries = "to take others along when its interpreter crashes"
held_by = ["by design: the status comes from the kernel"]
[outcome]
any = "SIGSEGV: here"
'''
import ctypes

print("here", flush=True)
ctypes.string_at(0)
