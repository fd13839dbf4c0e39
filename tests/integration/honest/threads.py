"""threading: a hundred threads, locks, conditions, a barrier, values of a thread, timers, queues."""
import queue
import threading

lock, seen = threading.Lock(), []


def note(number):
    with lock:
        seen.append(number)


workers = [threading.Thread(target=note, args=(number,)) for number in range(100)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(sum(seen), len(seen))

barrier = threading.Barrier(3)
ranks = []
waiting = [threading.Thread(target=lambda: ranks.append(barrier.wait(60))) for _ in range(3)]
for worker in waiting:
    worker.start()
for worker in waiting:
    worker.join()
print(sorted(ranks))

own = threading.local()
own.value = "main"
other = threading.Thread(target=lambda: print(hasattr(own, "value")))
other.start()
other.join()

jobs, results = queue.Queue(2), queue.PriorityQueue()
consumer = threading.Thread(target=lambda: [results.put(-job) for job in iter(jobs.get, None)])
consumer.start()
for job in [3, 1, 2, None]:
    jobs.put(job)
consumer.join()
print([results.get() for _ in range(3)])

timer = threading.Timer(0.01, print, ["timer"])
timer.start()
timer.join()
threading.stack_size(1 << 20)
small = threading.Thread(target=print, args=("small stack",))
small.start()
small.join()
