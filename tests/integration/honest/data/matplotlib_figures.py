"""matplotlib: figures as PNG, SVG and PDF, with several axes, text with symbols and fonts, and one that is shown."""
import matplotlib
import matplotlib.font_manager
import matplotlib.pyplot as plt
import numpy

matplotlib.rcParams["svg.hashsalt"] = "same"
x = numpy.linspace(0, 10, 200)
figure, axes = plt.subplots(2, 2, figsize=(6, 4))
axes[0, 0].plot(x, numpy.sin(x), label="$\\sin x$")
axes[0, 0].legend()
axes[0, 1].hist(numpy.random.default_rng(0).normal(size=500), 20)
axes[1, 0].imshow(numpy.outer(x, x), cmap="viridis")
axes[1, 1].scatter(x, x ** 2, c=x)
figure.suptitle("größe ∑")
figure.savefig("figure.png", metadata={"Software": None})
figure.savefig("figure.svg", metadata={"Date": None})
figure.savefig("figure.pdf", metadata={"CreationDate": None})
print(matplotlib.get_backend().lower(), len(matplotlib.font_manager.fontManager.ttflist) > 0)
plt.close(figure)
plt.plot([1, 2])
plt.show()
