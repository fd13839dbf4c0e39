'''
shows = "scikit-learn"
reads = ['^exitcode: 0 ']
next = '^Code output: slope 2.0'
environment = "data"
timeout = 200
'''
import numpy as np
from sklearn.linear_model import LinearRegression

x = np.arange(20).reshape(-1, 1)
model = LinearRegression().fit(x, 2 * x.ravel() + 1)
print("slope", round(float(model.coef_[0]), 3))
