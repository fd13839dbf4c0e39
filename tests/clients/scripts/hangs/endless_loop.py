'''
shows = "a loop without an end, that says where it is"
reads = ['timed out after 5 seconds', 'tick 3']
next = '`timeout` may be up to'
timeout = 5
agents = true
varies = true
'''
import time

for number in range(10**9):
    print("tick", number)
    time.sleep(0.1)
