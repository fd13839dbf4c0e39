'''
shows = "a script that ends with an assignment"
reads = ['^exitcode: 0 ']
next = 'print.. what you want to see'
agents = true
'''
values = [3, 1, 2]
total = sum(values)
