"""sys.executable with options that scripts use, a child's standard streams, sys.path, -m with modules of the library."""
import subprocess
import sys


def python(*arguments, **more):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **more)
    print(done.returncode, done.stdout, done.stderr)


python("-I", "-c", "import sys; print(sys.flags.isolated)")
python("-c", "print(input() + '!')", input="typed\n")
python("-c", "import sys; sys.exit('wrong')")
python("-m", "calendar", "2024", "2")
python("-m", "base64", "-t")
python("-O", "-c", "assert False; print('not checked')")
python("-u", "-X", "utf8", "-c", "print('ä')")
python("-", input="print('from a pipe')")
python("-c", "raise SystemExit(7)")
python("-S", "-E", "-c", "import sys; print('site' in sys.modules)")
print(sys.argv[1:], sys.stdin.read(), sys.stdin.isatty(), sys.path[0] != "")
