'''
shows = "a bracket that is not closed"
reads = ['^exitcode: 1 ']
next = 'SyntaxError: .\(. was never closed'
'''
print(sum([1, 2, 3])
print("done")
