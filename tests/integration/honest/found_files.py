"""glob, fnmatch, pathlib and os.walk over a tree of the script's, and over the library of Python."""
import fnmatch
import glob
import os
import pathlib
import sysconfig

for name in ("a.txt", "b.txt", "c.csv", ".hidden", "x/d.txt", "x/y/e.txt"):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text(name)
print(sorted(glob.glob("*.txt")), sorted(glob.glob("**/*.txt", recursive=True)), glob.glob("[!a-b].csv"))
print(sorted(map(str, pathlib.Path().rglob("*.txt"))), fnmatch.filter(["a.py", "b.c"], "*.py"))
for folder, folders, files in sorted(os.walk("x")):
    print(folder, folders, files)
library = pathlib.Path(sysconfig.get_path("stdlib"))
print(len(list(library.glob("json/*.py"))), (library / "os.py").stat().st_size > 1000)
print(pathlib.Path("a.txt").resolve() == pathlib.Path.cwd() / "a.txt", os.path.samefile("x/..", "."))
print(os.path.realpath("x/../a.txt") == os.path.abspath("a.txt"))
