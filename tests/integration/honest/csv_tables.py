"""csv: dialects, dictionaries, quotes, a sniffer; a table read and summed."""
import collections
import csv
import io

rows = [{"city": "Bonn", "day": day, "note": 'said "hi", left'} for day in range(100)]
with open("table.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, ["city", "day", "note"])
    writer.writeheader()
    writer.writerows(rows)
with open("table.csv", newline="") as file:
    total = collections.Counter()
    for row in csv.DictReader(file):
        total[row["city"]] += int(row["day"])
print(total, row)
print(csv.Sniffer().sniff("a;b;c\n1;2;3\n").delimiter, next(csv.reader(io.StringIO("1\t'a b'"), "excel-tab")))
