"""Memory that processes share by its name: shared_memory, ShareableList, Array, semaphores."""
import multiprocessing
from multiprocessing import shared_memory


def write(name, array, semaphore):
    memory = shared_memory.SharedMemory(name)
    memory.buf[:5] = b"hello"
    memory.close()
    array[1] = 2.5
    semaphore.release()


if __name__ == "__main__":
    memory = shared_memory.SharedMemory(create=True, size=1 << 20)
    array, semaphore = multiprocessing.Array("d", 3), multiprocessing.Semaphore(0)
    worker = multiprocessing.Process(target=write, args=(memory.name, array, semaphore))
    worker.start()
    print(semaphore.acquire(timeout=60))
    worker.join()
    print(bytes(memory.buf[:5]), list(array), worker.exitcode)
    memory.close()
    memory.unlink()
    words = shared_memory.ShareableList(["a", 1, None, 2.5])
    print(list(words))
    words.shm.close()
    words.shm.unlink()
