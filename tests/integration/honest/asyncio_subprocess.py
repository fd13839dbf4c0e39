"""asyncio: programs and shells, their pipes and exit codes, one that is ended."""
import asyncio
import sys
from asyncio.subprocess import PIPE


async def main():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(input()[::-1])", stdin=PIPE, stdout=PIPE)
    print((await child.communicate(b"abc\n"))[0], child.returncode)
    shell = await asyncio.create_subprocess_shell("echo out; echo err >&2; exit 4", stdout=PIPE, stderr=PIPE)
    print(await shell.communicate(), shell.returncode)
    children = [await asyncio.create_subprocess_exec("sleep", "0.01") for _ in range(5)]
    print(await asyncio.gather(*(child.wait() for child in children)))
    sleeper = await asyncio.create_subprocess_exec("sleep", "60")
    sleeper.terminate()
    print(await sleeper.wait())


asyncio.run(main())
