"""A hundred megabytes in a temporary directory and in the working directory, sparse files, copies within the kernel."""
import os
import shutil
import tempfile

BLOCK = os.urandom(1 << 20)


def write(place):
    with open(place, "wb") as file:
        for _ in range(100):
            file.write(BLOCK)
    print(os.path.getsize(place))


with tempfile.TemporaryDirectory() as folder:
    write(f"{folder}/large.bin")
    write("large.bin")
    with open(f"{folder}/large.bin", "rb") as one, open("large.bin", "rb") as other:
        print(all(a == b for a, b in zip(iter(lambda: one.read(1 << 20), b""), iter(lambda: other.read(1 << 20), b""))))
    shutil.copyfile("large.bin", "copied.bin")
    print(os.path.getsize("copied.bin"))
    with open(f"{folder}/sparse.bin", "wb") as file:
        file.truncate(1 << 30)
    print(os.stat(f"{folder}/sparse.bin").st_blocks < 1000)
os.remove("large.bin")  # is made of noise
os.remove("copied.bin")
