"""os: modes, links, times, renames, fifos, descriptors of directories, access; the mask for new files."""
import os
import pathlib
import stat
import subprocess

path = pathlib.Path("file")
path.write_text("text")
print(oct(path.stat().st_mode), oct(os.umask(0o22)))
path.chmod(0o600)
os.link("file", "hard")
os.symlink("file", "soft")
print(path.stat().st_nlink, oct(stat.S_IMODE(os.stat("soft").st_mode)), os.readlink("soft"))
os.utime("file", (1e9, 1e9))
print(path.stat().st_mtime, os.stat("hard").st_mtime)
os.replace("hard", "renamed")
os.mkfifo("fifo")
reader = subprocess.Popen(["cat", "fifo"], stdout=subprocess.PIPE)
pathlib.Path("fifo").write_text("through a fifo")
print(reader.communicate()[0], stat.S_ISFIFO(os.stat("fifo").st_mode))
os.remove("fifo")
folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
os.mkdir("below", dir_fd=folder)
print(sorted(os.listdir(folder)), os.access("file", os.R_OK, dir_fd=folder))
os.truncate("file", 2)
with open("file", "r+") as file:
    os.posix_fallocate(file.fileno(), 0, 100)
    os.fsync(file.fileno())
    print(os.fstat(file.fileno()).st_size)
for missing in ("nothing", "file/below", "x" * 300):
    try:
        open(missing)
    except OSError as error:
        print(type(error).__name__)
with open("/dev/null", "w") as null, open("/dev/zero", "rb") as zero, open("/dev/urandom", "rb") as noise:
    print(null.write("x"), zero.read(3), len(noise.read(3)))
try:
    with open("/dev/full", "w") as full:
        full.write("x")
except OSError as error:
    print(error.strerror)
