"""concurrent.futures with processes: map, as_completed, a broken pool."""
import concurrent.futures
import os


def divide(number):
    return 12 / number


def leave():
    os._exit(3)


if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        print(list(executor.map(divide, [1, 2, 3])))
        futures = [executor.submit(divide, number) for number in (4, 6, 0)]
        done = list(concurrent.futures.as_completed(futures, timeout=60))
        print(len(done), sorted(future.result() for future in done if not future.exception()))
        print(repr(futures[2].exception()))
    with concurrent.futures.ProcessPoolExecutor(1) as executor:
        print(type(executor.submit(leave).exception(60)).__name__)
