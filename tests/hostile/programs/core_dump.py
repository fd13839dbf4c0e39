'''
tries = "to leave an image of its memory behind by crashing"
held_by = ["no core files"]
[outcome]
any = "SIGSEGV: crashing"
'''
import ctypes

print("crashing", flush=True)
ctypes.string_at(0)
