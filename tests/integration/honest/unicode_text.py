"""unicodedata, codecs, names of files in other scripts, what Python prints of them."""
import codecs
import os
import unicodedata

for character in "é漢😀":
    print(character, unicodedata.name(character), unicodedata.category(character), character.encode())
print(unicodedata.normalize("NFD", "é").encode(), "ǅ".casefold(), "ß".upper())
for name in ("größe.txt", "日本.txt", "emoji 😀.txt"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(name)
print(sorted(os.listdir()))
for encoding in ("latin-1", "cp1252", "utf-16", "shift_jis", "gb18030", "koi8-r", "idna", "punycode"):
    print(encoding, "abc".encode(encoding), codecs.lookup(encoding).name)
print("日本".encode("euc_jp").decode("euc_jp"), b"\xff".decode(errors="replace"))
os.mkdir(b"bytes \xff")
print(os.listdir(b"bytes \xff"), os.fsdecode(b"\xff").encode("utf-8", "surrogateescape"))
os.rmdir(b"bytes \xff")
