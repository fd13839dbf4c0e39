"""tar, gzip, xz and bzip2 as programs, and what Python makes of their archives."""
import gzip
import os
import pathlib
import subprocess
import tarfile

os.makedirs("data/more")
pathlib.Path("data/one").write_text("1\n" * 1000)
pathlib.Path("data/more/two").write_text("2\n")
os.symlink("one", "data/link")
subprocess.run("tar czf data.tar.gz data && mkdir out && tar xzf data.tar.gz -C out && diff -r data out/data && "
               "gzip -k data/one && gzip -l data/one.gz >/dev/null && bzip2 -k data/one && xz -k -T2 data/one",
               shell=True, check=True)
print(sorted(os.listdir("out/data")), os.readlink("out/data/link"))
print(len(gzip.open("data/one.gz").read()))
with tarfile.open("data.tar.gz") as archive:
    print(sorted(archive.getnames()))
print(subprocess.run("bzip2 -dc data/one.bz2 | wc -c; xz -dc data/one.xz | wc -l", shell=True,
                     stdout=subprocess.PIPE).stdout)
os.remove("data.tar.gz")  # has the time of its files in it
os.remove("data/one.gz")
