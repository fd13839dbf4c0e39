"""multiprocessing by fork: Process, Queue, Pipe, Lock, Value, Event."""
import multiprocessing


def work(number, lock, total, queue):
    with lock:
        total.value += number
    queue.put(number * number)


def answer(pipe, event):
    event.wait(60)
    pipe.send(pipe.recv().upper())


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    lock, total, queue = context.Lock(), context.Value("i", 0), context.Queue()
    workers = [context.Process(target=work, args=(number, lock, total, queue)) for number in range(4)]
    for worker in workers:
        worker.start()
    print(sorted(queue.get(timeout=60) for _ in workers))
    for worker in workers:
        worker.join()
    print(total.value, [worker.exitcode for worker in workers])
    mine, other = context.Pipe()
    event = context.Event()
    child = context.Process(target=answer, args=(other, event))
    child.start()
    mine.send("hello")
    event.set()
    print(mine.recv())
    child.join()
