"""tempfile: files, directories, names, files in memory that spill; where they are can be written."""
import os
import pathlib
import subprocess
import sys
import tempfile

with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("text")
    file.flush()
    print(pathlib.Path(file.name).read_text(), os.stat(file.name).st_mode & 0o777)
    print(subprocess.run(["cat", file.name], stdout=subprocess.PIPE).stdout)
print(os.path.exists(file.name))
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "a").mkdir()
    pathlib.Path(folder, "a", "b").write_text("b")
    print(os.listdir(folder))
    script = pathlib.Path(folder, "program")
    script.write_text(f"#!{sys.executable}\nprint('from a file for a while')\n")
    script.chmod(0o700)
    print(subprocess.run([script], stdout=subprocess.PIPE).stdout)
print(os.path.exists(folder))
with tempfile.SpooledTemporaryFile(max_size=10) as file:
    file.write(b"x" * 100)
    file.seek(0)
    print(len(file.read()))
with tempfile.TemporaryFile(dir=".") as file:
    print(file.write(b"here"))
for place in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):
    descriptor, name = tempfile.mkstemp(dir=place)
    os.close(descriptor)
    os.remove(name)
print(os.stat("/tmp").st_mode & 0o7777)
