'''
shows = "a value on the last line, as in a notebook"
reads = ['^exitcode: 0 ']
next = 'bare expression'
agents = true
'''
values = [3, 1, 2]
sorted(values)
