"""subprocess: groups and sessions, descriptors, timeouts, other directories and variables, posix_spawn, exec."""
import os
import signal
import subprocess
import sys

print(subprocess.run(["pwd"], cwd="/usr", stdout=subprocess.PIPE).stdout)
print(subprocess.run(["env"], env={"ONLY": "this"}, stdout=subprocess.PIPE).stdout)
try:
    subprocess.run(["sleep", "60"], timeout=0.05)
except subprocess.TimeoutExpired as error:
    print(error.cmd)
child = subprocess.Popen("sleep 60 & sleep 60", shell=True, start_new_session=True)
os.killpg(child.pid, signal.SIGTERM)
print(child.wait())
reader, writer = os.pipe()
subprocess.run(["sh", "-c", f"echo passed >&{writer}"], pass_fds=[writer])
print(os.read(reader, 10))
print(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 9"], {}), 0)[1]))
print(os.system("exit 2") >> 8, os.popen("echo popen").read())
for program, error_type in (("/nonexistent", FileNotFoundError), ("/etc/services", PermissionError)):
    try:
        subprocess.run([program])
    except error_type as error:
        print(error.strerror)
with open("script.sh", "w") as file:
    file.write("#!/bin/sh\necho \"$0 $1\"\n")
os.chmod("script.sh", 0o755)
print(subprocess.run(["./script.sh", "word"], stdout=subprocess.PIPE).stdout)
print(subprocess.check_output([sys.executable, "-c", "import sys; print(sys.argv)", "a b"]))
sys.stdout.flush()
os.execlp("echo", "echo", "replaced")
