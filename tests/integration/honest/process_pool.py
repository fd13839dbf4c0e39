"""multiprocessing.Pool: map, starmap, imap, apply_async, an error that comes back."""
import multiprocessing


def square(number):
    return number * number


def fail(number):
    raise ValueError(f"not {number}")


if __name__ == "__main__":
    with multiprocessing.Pool(3) as pool:
        print(pool.map(square, range(10)))
        print(pool.starmap(pow, [(2, 3), (3, 2)]))
        print(list(pool.imap(square, [7, 8], chunksize=1)), sum(pool.imap_unordered(square, range(100))))
        print(pool.apply_async(square, (12,)).get(60))
        try:
            pool.apply(fail, (3,))
        except ValueError as error:
            print(error)
    with multiprocessing.pool.ThreadPool(2) as threads:
        print(threads.map(square, [1, 2]))
