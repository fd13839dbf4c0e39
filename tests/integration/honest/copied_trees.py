"""shutil: copies, moves and removes trees; archives; disk_usage; which."""
import os
import pathlib
import shutil
import tempfile

os.makedirs("tree/branch")
pathlib.Path("tree/leaf").write_text("green")
pathlib.Path("tree/branch/fruit").write_text("red")
os.symlink("leaf", "tree/link")
shutil.copytree("tree", "copy", symlinks=True, ignore=shutil.ignore_patterns("fruit"))
print(sorted(os.listdir("copy")), os.listdir("copy/branch"), os.path.islink("copy/link"))
shutil.move("copy", "moved")
shutil.copy2("tree/leaf", "moved/leaf2")
print(os.stat("moved/leaf2").st_mtime == os.stat("tree/leaf").st_mtime)
for kind in ("tar", "gztar", "bztar", "xztar", "zip"):
    name = shutil.make_archive("packed", kind, "tree")
    shutil.unpack_archive(name, f"from-{kind}")
    print(kind, sorted(os.listdir(f"from-{kind}")))
    os.remove(name)  # has the time in it
with tempfile.TemporaryDirectory() as folder:
    shutil.move("tree/branch", folder)  # to another file system
    print(os.listdir("tree"), pathlib.Path(folder, "branch/fruit").read_text())
print(shutil.disk_usage(".").free > 0, shutil.disk_usage("/tmp").total > 0, bool(shutil.which("sh")))
