'''
shows = "NumPy"
reads = ['^exitcode: 0 ']
next = '^Code output: mean 2.5'
environment = "data"
timeout = 200
'''
import numpy as np

values = np.array([1.0, 2.0, 3.0, 4.0])
print("mean", values.mean(), "deviation", round(values.std(), 3))
