'''
shows = "matrices that do not fit"
reads = ['^exitcode: 1 ']
next = 'ValueError: .*\(2,3\)|mismatch'
environment = "data"
timeout = 200
'''
import numpy as np

print(np.ones((2, 3)) @ np.ones((2, 3)))
