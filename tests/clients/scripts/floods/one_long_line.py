'''
shows = "a line of a megabyte"
reads = ['^exitcode: 0 ']
next = '(characters|bytes|is in|left out)'
'''
print(list(range(150000)))
