'''
shows = "bytes that are not UTF-8"
reads = ['^exitcode: 1 ']
next = 'UnicodeDecodeError: .*0xe9'
'''
with open("names.txt", "wb") as file:
    file.write("José\n".encode("latin-1"))
print(open("names.txt", encoding="utf-8").read())
