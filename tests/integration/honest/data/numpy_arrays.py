"""numpy: arithmetic on arrays, seeded random numbers, sorting, files of arrays, memory maps."""
import numpy

generator = numpy.random.default_rng(0)
square = generator.random((100, 100))
print(square.sum().round(6), square.argmax(), numpy.sort(square[0])[:3], numpy.histogram(square, 4)[0])
numpy.save("square.npy", square)
print(numpy.load("square.npy", mmap_mode="r")[3, 4] == square[3, 4])
mapped = numpy.memmap("mapped.bin", numpy.int32, "w+", shape=(1000,))
mapped[:] = numpy.arange(1000)
mapped.flush()
print(numpy.fromfile("mapped.bin", numpy.int32).sum())
numpy.savetxt("text.csv", square[:3, :3], delimiter=",", fmt="%.4f")
print(numpy.loadtxt("text.csv", delimiter=",").shape, numpy.fft.fft(numpy.ones(8)).real)
