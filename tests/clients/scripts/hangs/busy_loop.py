'''
shows = "a loop that computes for ever"
reads = ['timed out after 3 seconds']
next = '`timeout` may be up to'
timeout = 3
varies = true
'''
number = 27
steps = 0
while number != 0:
    number = number // 2 if number % 2 == 0 else 3 * number + 1
    steps += 1
print(steps)
