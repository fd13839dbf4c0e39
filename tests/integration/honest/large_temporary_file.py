"""A hundred megabytes in /tmp and in the working directory, sparse files, holes, copies within the kernel."""
import os
import shutil

BLOCK = os.urandom(1 << 20)
for place in ("/tmp/large.bin", "large.bin"):
    with open(place, "wb") as file:
        for _ in range(100):
            file.write(BLOCK)
    print(os.path.getsize(place))
with open("/tmp/large.bin", "rb") as one, open("large.bin", "rb") as other:
    print(all(a == b for a, b in zip(iter(lambda: one.read(1 << 20), b""), iter(lambda: other.read(1 << 20), b""))))
shutil.copyfile("large.bin", "copied.bin")
print(os.path.getsize("copied.bin"))
with open("/tmp/sparse.bin", "wb") as file:
    file.truncate(1 << 30)
print(os.stat("/tmp/sparse.bin").st_blocks < 1000)
for name in ("large.bin", "copied.bin", "/tmp/large.bin", "/tmp/sparse.bin"):
    os.remove(name)
