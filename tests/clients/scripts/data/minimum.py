'''
shows = "SciPy"
reads = ['^exitcode: 0 ']
next = '^Code output: minimum at 3.0'
environment = "data"
timeout = 200
'''
from scipy.optimize import minimize

found = minimize(lambda x: (x[0] - 3) ** 2, [0.0])
print("minimum at", round(float(found.x[0]), 3))
