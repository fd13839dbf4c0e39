'''
shows = "a script that ends with an assignment"
reads = ['^exitcode: 0 ']
next = 'printed nothing'
agents = true
'''
values = [3, 1, 2]
total = sum(values)
