'''
shows = "a loop without an end, that says where it is"
reads = ['timed out|timeout', 'tick 9']
next = 'timeout.*\d+|at most'
timeout = 1
agents = true
'''
import time

for number in range(10**9):
    print("tick", number)
    time.sleep(0.1)
