"""multiprocessing by spawn: a new interpreter for each, which imports the script."""
import multiprocessing


def work(number, lock, queue):
    with lock:
        queue.put((number, multiprocessing.current_process().name.startswith("worker")))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    lock, queue = context.Lock(), context.Queue()
    workers = [context.Process(target=work, args=(number, lock, queue), name=f"worker {number}")
               for number in range(2)]
    for worker in workers:
        worker.start()
    print(sorted(queue.get(timeout=60) for _ in workers))
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])
    with context.Pool(1) as pool:
        print(pool.map(abs, [-1, -2]))
