"""Wheels with native code: each of their libraries is found and loaded, from its own directory too."""
import importlib.metadata
import pathlib
import sys

import contourpy
import kiwisolver
import numpy
import scipy
import sklearn
import threadpoolctl

x, y = kiwisolver.Variable("x"), kiwisolver.Variable("y")
solver = kiwisolver.Solver()
for constraint in (x + y == 10, x - y == 4):
    solver.addConstraint(constraint)
solver.updateVariables()
print(x.value(), y.value())
print(contourpy.contour_generator(z=[[0, 1], [1, 0]]).lines(0.5))
for module in (numpy, scipy, sklearn):
    print(module.__name__, module.__version__, importlib.metadata.version(module.__name__.replace("sklearn", "scikit-learn")))
loaded = {pathlib.Path(line.split()[-1]).name for line in open("/proc/self/maps") if ".so" in line and sys.prefix in line}
print(len(loaded) > 20, sorted(pool["internal_api"] for pool in threadpoolctl.threadpool_info()))
