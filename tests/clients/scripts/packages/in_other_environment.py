'''
shows = "NumPy where there is none"
reads = ['ModuleNotFoundError: No module named .numpy.']
next = 'environment.*(data|pip_packages)'
agents = true
'''
import numpy as np

print(np.arange(3).sum())
