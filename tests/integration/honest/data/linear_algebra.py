"""numpy.linalg and scipy.linalg: what threads of BLAS compute, equations, eigenvalues, factors."""
import numpy
import scipy.linalg

square = numpy.random.default_rng(1).random((400, 400))
symmetric = square @ square.T
print(numpy.allclose(square @ numpy.linalg.inv(square), numpy.eye(400), atol=1e-6))
print(numpy.linalg.eigvalsh(symmetric)[-1].round(3), scipy.linalg.svdvals(square)[0].round(3))
print(numpy.allclose(scipy.linalg.cholesky(symmetric + numpy.eye(400)).T[0, 0] ** 2, symmetric[0, 0] + 1))
print(numpy.linalg.solve(symmetric[:3, :3], [1, 2, 3]).round(3))
