'''
shows = "an assertion of the model's own test"
reads = ['^exitcode: 1 ', '^Code output: checking']
next = '^AssertionError: .*not 9'
'''
def square(n):
    return n + n


print("checking")
assert square(3) == 9, f"square(3) is {square(3)}, not 9"
