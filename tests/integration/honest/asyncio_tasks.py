"""asyncio: tasks, timeouts, locks, queues, and functions in threads."""
import asyncio
import time


async def work(number, lock, log):
    async with lock:
        await asyncio.sleep(0.001)
        log.append(number)
    return number * 2


async def main():
    lock, log = asyncio.Lock(), []
    print(await asyncio.gather(*(work(number, lock, log) for number in range(5))), log)
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.01)
    except asyncio.TimeoutError:
        print("timeout")
    queue = asyncio.Queue()
    task = asyncio.create_task(queue.get())
    await queue.put("item")
    print(await task)
    loop = asyncio.get_running_loop()
    print(await loop.run_in_executor(None, lambda: time.sleep(0.01) or "thread"))
    task = asyncio.create_task(asyncio.sleep(60))
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))


asyncio.run(main())
