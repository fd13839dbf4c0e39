"""mmap: files and memory without a file, shared with a child, private copies, code that can be run."""
import mmap
import os

with open("mapped.bin", "w+b") as file:
    file.truncate(1 << 20)
    with mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:5] = b"start"
        mapped[-3:] = b"end"
        mapped.flush()
        print(mapped.find(b"end"), mapped.size())
        mapped.resize(1 << 21)
        print(len(mapped))
    file.seek(0)
    print(file.read(5))
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as private:
        private[:5] = b"other"
        print(private[:5])
    print(os.pread(file.fileno(), 5, 0))
shared = mmap.mmap(-1, mmap.PAGESIZE)
if os.fork() == 0:
    shared[:5] = b"child"
    os._exit(0)
os.wait()
print(shared[:5])
shared.madvise(mmap.MADV_DONTNEED)
with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as code:
    print(code.write(b"\xc3"))
