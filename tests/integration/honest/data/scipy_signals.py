"""scipy: sparse equations, filters, images, graphs, distances, sound in a file."""
import tempfile

import numpy
from scipy import ndimage, signal, sparse, spatial
from scipy.io import loadmat, savemat, wavfile
from scipy.sparse.csgraph import shortest_path
from scipy.sparse.linalg import spsolve

matrix = sparse.diags([[-1.0] * 99, [2.0] * 100, [-1.0] * 99], [-1, 0, 1], format="csc")
print(spsolve(matrix, numpy.ones(100))[50].round(6))
tone = numpy.sin(numpy.arange(8000) * 0.1)
print(signal.lfilter(*signal.butter(2, 0.1), tone)[-1].round(6), signal.find_peaks(tone)[0][:3])
print(ndimage.label(numpy.eye(4))[1], shortest_path(numpy.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]]))[0, 2])
print(spatial.KDTree(numpy.eye(3)).query([1, 0.1, 0])[1], spatial.ConvexHull([[0, 0], [0, 1], [1, 0], [0.1, 0.1]]).volume)
wavfile.write("tone.wav", 8000, (tone * 10000).astype("int16"))
print(wavfile.read("tone.wav")[1].shape)
with tempfile.TemporaryDirectory() as folder:
    savemat(f"{folder}/saved.mat", {"tone": tone})
    print(loadmat(f"{folder}/saved.mat")["tone"].shape)
