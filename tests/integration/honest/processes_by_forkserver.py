"""multiprocessing by a server that forks, reached over a unix socket below the directory for temporary files."""
import multiprocessing


def work(number, lock, queue):
    with lock:
        queue.put(number + 10)


if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    lock, queue = context.Lock(), context.Queue()
    workers = [context.Process(target=work, args=(number, lock, queue)) for number in range(3)]
    for worker in workers:
        worker.start()
    print(sorted(queue.get(timeout=60) for _ in workers))
    for worker in workers:
        worker.join()
    print([worker.exitcode for worker in workers])
    with context.Pool(1) as pool:
        print(pool.map(abs, [-1, -2]))
