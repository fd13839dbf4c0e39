"""sqlite3: tables, indexes, transactions, functions of Python, a file and its journal."""
import sqlite3

base = sqlite3.connect("shop.db")
base.execute("create table sale (day integer, city text, price real)")
base.executemany("insert into sale values (?, ?, ?)",
                 [(day, city, day * 1.5) for day in range(200) for city in ("Bonn", "Ulm")])
base.execute("create index by_city on sale (city)")
base.commit()
base.create_function("half", 1, lambda price: price / 2)
for row in base.execute("select city, count(*), sum(half(price)) from sale group by city order by city"):
    print(row)
try:
    with base:
        base.execute("delete from sale")
        raise KeyError("changed my mind")
except KeyError as error:
    print(error, base.execute("select count(*) from sale").fetchone())
base.execute("vacuum")
with sqlite3.connect(":memory:") as copy:
    base.backup(copy)
    print(copy.execute("select max(price) from sale").fetchone())
base.close()
