'''
shows = "a line of a megabyte"
reads = ['^exitcode: 0 ']
next = 'is in output\.txt'
'''
print(list(range(150000)))
