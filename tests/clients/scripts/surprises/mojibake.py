'''
shows = "text that was decoded wrongly"
reads = ['it\\x92s', 'itâ€™s', 'a\\x85b']
next = 'it\\x92s'
agents = true
'''
print("it’s".encode("cp1252").decode("latin-1"))
print("it’s".encode().decode("cp1252"))
print("a\x85b")
