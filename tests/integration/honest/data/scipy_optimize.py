"""scipy: minima, roots, integrals, differential equations, interpolation, statistics."""
import numpy
from scipy import integrate, interpolate, optimize, stats

print(optimize.minimize(optimize.rosen, [1.3, 0.7, 0.8]).x.round(3), optimize.brentq(lambda x: x ** 3 - 2, 0, 2))
print(integrate.quad(numpy.sin, 0, numpy.pi)[0], integrate.solve_ivp(lambda t, y: -y, [0, 1], [1], rtol=1e-8).y[0, -1].round(6))
print(interpolate.CubicSpline([0, 1, 2], [0, 1, 4])(1.5), stats.ttest_ind([1, 2, 3, 4], [2, 3, 4, 6]).pvalue.round(6))
print(optimize.linprog([-1, -2], [[1, 1]], [4], method="highs").x)
