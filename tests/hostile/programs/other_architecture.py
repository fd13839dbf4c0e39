'''
tries = "to reach the kernel by its 32-bit entry, which filters may have forgotten"
held_by = ["no calls of another architecture", "profile of system calls"]
[outcome]
any = "exit 0: refused|SIG.*"
'''
import ctypes
import mmap

# mov eax, 288 (keyctl of the 32-bit table); xor ebx, ebx (a keyring's id); mov ecx, -4 (its user's);
# mov edx, 1 (made where there is none); int 0x80; ret. It changes rbx, which belongs to the caller.
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\x53\xb8\x20\x01\x00\x00\x31\xdb\xb9\xfc\xff\xff\xff\xba\x01\x00\x00\x00\xcd\x80\x5b\xc3")
call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("refused" if call() < 0 else "reached", flush=True)
