"""matplotlib: an animation that pillow writes, and colours, contours and a surface."""
import matplotlib
import matplotlib.animation
import matplotlib.pyplot as plt
import numpy

figure, axes = plt.subplots()
(line,) = axes.plot([], [])
axes.set(xlim=(0, 1), ylim=(0, 1))
animation = matplotlib.animation.FuncAnimation(figure, lambda n: line.set_data([0, n / 5], [0, 1]), frames=4)
animation.save("animation.gif", writer="pillow")
plt.close(figure)
figure = plt.figure()
x, y = numpy.mgrid[-2:2:20j, -2:2:20j]
figure.add_subplot(projection="3d").plot_surface(x, y, numpy.exp(-x ** 2 - y ** 2))
figure.savefig("surface.png", metadata={"Software": None})
plt.close(figure)
print("drawn")
