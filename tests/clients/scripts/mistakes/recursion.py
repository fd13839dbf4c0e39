'''
shows = "a recursion without end"
reads = ['^exitcode: 1 ', 'repeated \d+ more times']
next = '^RecursionError: maximum recursion depth exceeded'
'''
def depth(n):
    return depth(n + 1)


print(depth(0))
