"""dbm and its kinds, array, struct: small data bases and binary files."""
import array
import dbm.dumb
import struct

with dbm.dumb.open("base", "c") as base:
    for number in range(20):
        base[f"key {number}"] = str(number)
    del base["key 3"]
with dbm.dumb.open("base", "r") as base:
    print(len(base), base["key 4"], b"key 3" in base)
numbers = array.array("d", [1.5, 2.5])
with open("numbers.bin", "wb") as file:
    numbers.tofile(file)
    file.write(struct.pack("<IhQ", 1, -2, 1 << 40))
with open("numbers.bin", "rb") as file:
    again = array.array("d")
    again.fromfile(file, 2)
    print(again, struct.unpack("<IhQ", file.read()))
