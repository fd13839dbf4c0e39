'''
tries = "to reach the kernel by its 32-bit entry, which filters may have forgotten"
held_by = ["no capabilities"]
[outcome]
any = "exit 0: refused|SIG.*"
'''
import ctypes
import mmap

# mov eax, 21 (mount of the 32-bit table); int 0x80; ret
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\xb8\x15\x00\x00\x00\x31\xdb\x31\xc9\x31\xd2\x31\xf6\x31\xff\xcd\x80\xc3")
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("refused" if call() < 0 else "mounted", flush=True)
