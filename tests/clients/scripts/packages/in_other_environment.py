'''
shows = "NumPy where there is none"
reads = ['ModuleNotFoundError: No module named .numpy.']
next = 'environment.*data'
agents = true
'''
import numpy as np

print(np.arange(3).sum())
