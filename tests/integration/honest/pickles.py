"""pickle, copy, marshal and shelve: objects to files and back, in every protocol."""
import copy
import dataclasses
import datetime
import marshal
import pickle
import shelve
import tempfile


@dataclasses.dataclass
class Point:
    x: int
    y: float
    when: datetime.date


point = Point(1, 2.5, datetime.date(2024, 2, 29))
for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
    print(protocol, pickle.loads(pickle.dumps(point, protocol)) == point)
with open("point.pickle", "wb") as file:
    pickle.dump([point, {1, 2}, print, 1 << 100], file)
with open("point.pickle", "rb") as file:
    print(pickle.load(file))
print(copy.deepcopy(point) == point, marshal.loads(marshal.dumps([1, "a"])))
with tempfile.TemporaryDirectory() as folder:
    with shelve.open(f"{folder}/shelf") as shelf:
        shelf["a"] = [1, 2]
        shelf["b"] = point
    with shelve.open(f"{folder}/shelf") as shelf:
        print(sorted(shelf), shelf["b"].x)
