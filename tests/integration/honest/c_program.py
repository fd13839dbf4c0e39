"""gcc: a program of two files, a library that ctypes loads, an error of the compiler, make-like steps."""
import ctypes
import os
import pathlib
import subprocess

pathlib.Path("main.c").write_text("""
#include <math.h>
#include <stdio.h>
int twice(int);
int main(int count, char **words) { printf("%d %s %.3f\\n", twice(21), words[1], sqrt(2)); return count; }
""")
pathlib.Path("twice.c").write_text("int twice(int number) { return 2 * number; }\n")
pathlib.Path("bad.c").write_text("int main( { }\n")
subprocess.run("gcc -O2 -Wall -pipe -c main.c && gcc -O1 -c twice.c && gcc main.o twice.o -lm -o program", shell=True, check=True)
print(subprocess.run(["./program", "word"], stdout=subprocess.PIPE))
subprocess.run(["gcc", "-shared", "-fPIC", "-g", "twice.c", "-o", "libtwice.so"], check=True)
print(ctypes.CDLL("./libtwice.so").twice(4))
failed = subprocess.run(["gcc", "bad.c"], stderr=subprocess.PIPE, text=True)
print(failed.returncode, failed.stderr.splitlines()[0])
for name in ("main.o", "twice.o", "program", "libtwice.so"):
    os.remove(name)
