"""scikit-learn and joblib in several processes and threads, with memory that they share in a file."""
import tempfile

import joblib
import numpy
from sklearn import datasets, ensemble, model_selection


def total(array, number):
    return float(array.sum()) + number


if __name__ == "__main__":
    array = numpy.ones(1 << 18)
    print(joblib.Parallel(n_jobs=2)(joblib.delayed(total)(array, number) for number in range(4)))
    print(joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(total)(array, number) for number in range(2)))
    x, y = datasets.make_classification(200, random_state=0)
    forest = ensemble.RandomForestClassifier(10, random_state=0)  # its threads race for the filters of warnings
    print(model_selection.cross_val_score(forest, x, y, cv=3, n_jobs=2).round(3))
    with tempfile.TemporaryDirectory() as folder:
        memory = joblib.Memory(folder, verbose=0)
        print(memory.cache(total)(array, 1), memory.cache(total)(array, 1))
