'''
tries = "to have any socket by the 32-bit call for all that sockets do, whose arguments no filter sees"
held_by = ["no calls of another architecture", "profile of system calls"]
[outcome]
any = "-"  # nothing but a sandbox or a container keeps it from that
sandbox = "exit 0: refused|SIG.*"
"sandbox landlock" = "exit 0: refused|SIG.*"
docker = "exit 0: refused|SIG.*"
'''
import ctypes
import mmap
import struct

WANTED = struct.pack("3i", 2, 1, 262)  # AF_INET, SOCK_STREAM, IPPROTO_MPTCP
BELOW_4_GIB = 0x40  # MAP_32BIT

flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | BELOW_4_GIB
memory = mmap.mmap(-1, 4096, flags, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
memory[1024 : 1024 + len(WANTED)] = WANTED
# push rbx; mov eax, 102 (socketcall); mov ebx, 1 (socket); mov ecx, its arguments; int 0x80; pop rbx; ret
code = b"\x53\xb8\x66\x00\x00\x00\xbb\x01\x00\x00\x00\xb9" + struct.pack("<I", address + 1024) + b"\xcd\x80\x5b\xc3"
memory[: len(code)] = code
print("refused" if ctypes.CFUNCTYPE(ctypes.c_int)(address)() < 0 else "reached", flush=True)
