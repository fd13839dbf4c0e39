'''
shows = "a loop without an end, that says where it is"
reads = ['timed out after 2 seconds', 'tick 3']
next = '`timeout` may be up to'
timeout = 2
agents = true
varies = true
'''
import time

for number in range(10**9):
    print("tick", number)
    time.sleep(0.1)
