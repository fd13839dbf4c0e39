'''
shows = "text and a number added"
reads = ['^exitcode: 1 ']
next = 'TypeError: can only concatenate str'
'''
count = 3
print("count: " + count)
