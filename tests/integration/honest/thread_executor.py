"""concurrent.futures with threads: map, wait, callbacks, a cancelled future."""
import concurrent.futures
import threading

gate = threading.Event()
with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="worker") as executor:
    print(list(executor.map(lambda word: word.upper(), ["a", "b", "c"])))
    print(executor.submit(lambda: threading.current_thread().name.startswith("worker")).result())
    futures = [executor.submit(gate.wait, 60) for _ in range(3)]
    print(futures[2].cancel())
    gate.set()
    done, waiting = concurrent.futures.wait(futures)
    print(len(done), len(waiting), sorted(future.result() for future in futures[:2]))
    future = executor.submit(sum, [1, 2])
    future.add_done_callback(lambda ended: print("sum", ended.result()))
