"""sqlite3 with a write-ahead log, whose index is memory that several processes share."""
import multiprocessing
import os
import sqlite3


def add(number):
    base = sqlite3.connect("log.db", timeout=60)
    with base:
        base.execute("insert into entry values (?)", (number,))
    base.close()


if __name__ == "__main__":
    base = sqlite3.connect("log.db")
    print(base.execute("pragma journal_mode=wal").fetchone())
    base.execute("create table entry (number integer)")
    base.commit()
    workers = [multiprocessing.Process(target=add, args=(number,)) for number in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(base.execute("select count(*), sum(number) from entry").fetchone())
    print(base.execute("pragma journal_mode=delete").fetchone())
    base.close()
    os.remove("log.db")  # in which the entries are in the order in which they came
