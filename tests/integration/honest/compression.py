"""zlib, gzip, bz2, lzma: streams, levels, files, checksums."""
import binascii
import bz2
import gzip
import lzma
import zlib

data = b"".join(b"%d," % number for number in range(50000))
for module in (zlib, bz2, lzma):
    packed = module.compress(data)
    print(module.__name__, len(packed), module.decompress(packed) == data)
print(zlib.crc32(data), zlib.adler32(data), binascii.hexlify(data[:4]))
with gzip.GzipFile("data.gz", "wb", mtime=0) as file:
    file.write(data)
with gzip.open("data.gz", "rt") as file:
    print(len(file.read()))
with lzma.open("data.xz", "wb") as file:
    file.write(data)
with bz2.open("data.bz2", "wb") as file:
    file.write(data)
print(lzma.open("data.xz").read() == bz2.open("data.bz2").read())
