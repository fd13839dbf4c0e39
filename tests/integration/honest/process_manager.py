"""multiprocessing.Manager: lists, dictionaries and locks in a process of their own."""
import multiprocessing


def fill(numbers, names, lock, number):
    with lock:
        numbers.append(number)
        names[number] = str(number)


if __name__ == "__main__":
    with multiprocessing.Manager() as manager:
        numbers, names, lock = manager.list(), manager.dict(), manager.Lock()
        workers = [multiprocessing.Process(target=fill, args=(numbers, names, lock, number)) for number in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(sorted(numbers), sorted(names.items()))
        space = manager.Namespace(x=1)
        space.y = 2
        print(space.x + space.y)
