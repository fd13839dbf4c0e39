"""subprocess: pipes between programs, redirections, here documents, traps, exit codes of shells."""
import subprocess


def shell(command, **more):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, **more)
    print(done.returncode, repr(done.stdout), repr(done.stderr))


shell("seq 10 | grep -v 5 | tail -n 3 | tr '\\n' ' '")
shell("echo one >file; echo two >>file; cat <file; rm file")
shell("cat <<END\n$((6 * 7)) $NAME\nEND", env={"NAME": "name", "PATH": "/usr/bin:/bin"})
shell("trap 'echo trapped' EXIT; false || exit 3")
shell("(sleep 0.01; echo later) & wait; echo done")
shell("set -- a b c; for word; do printf '%s-' \"$word\"; done; echo >/dev/null; : </dev/null")
shell("test -w . && test -d /tmp && test -x /bin/sh && echo fine")
shell("read line; echo got $line", input="text\n")
shell(["bash -c 'set -o pipefail; false | cat; echo $?; echo <(true) | head -c 7'"])
shell("no-such-program 2>/dev/null")
