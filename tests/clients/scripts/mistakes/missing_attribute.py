'''
shows = "a method of another language"
reads = ['^exitcode: 1 ']
next = 'AttributeError: .list. object has no attribute .push.'
'''
items = []
items.push(3)
print(items)
