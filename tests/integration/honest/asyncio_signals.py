"""asyncio: handlers of signals that the script and a child of it send."""
import asyncio
import os
import signal


async def main():
    loop, got = asyncio.get_running_loop(), asyncio.Queue()
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
        loop.add_signal_handler(number, got.put_nowait, number.name)
    os.kill(os.getpid(), signal.SIGUSR1)
    print(await got.get())
    child = await asyncio.create_subprocess_exec("sh", "-c", f"kill -USR2 {os.getpid()}")
    print(await got.get(), await child.wait())
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    print(await got.get())
    loop.remove_signal_handler(signal.SIGUSR1)


asyncio.run(main())
