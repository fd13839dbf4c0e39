'''
shows = "a traceback through two functions"
reads = ['^exitcode: 1 ', 'line 2, in mean', 'File "script.py"']
next = '^ZeroDivisionError: division by zero'
agents = true
'''
def mean(values):
    return sum(values) / len(values)


def report(rows):
    print("mean:", mean([row for row in rows if row > 10]))


report([1, 2, 3])
