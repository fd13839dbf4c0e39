"""scikit-learn: regression, classes, clusters, components, a pipeline that is kept."""
import tempfile

import joblib
import numpy
from sklearn import cluster, datasets, decomposition, ensemble, linear_model, metrics, model_selection, pipeline, preprocessing

x, y = datasets.load_iris(return_X_y=True)
train_x, test_x, train_y, test_y = model_selection.train_test_split(x, y, random_state=0)
model = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()).fit(train_x, train_y)
print(metrics.accuracy_score(test_y, model.predict(test_x)))
print(ensemble.RandomForestClassifier(20, random_state=0).fit(train_x, train_y).score(test_x, test_y))
print(numpy.bincount(cluster.KMeans(3, n_init=3, random_state=0).fit(x).labels_))
print(decomposition.PCA(2).fit(x).explained_variance_ratio_.round(4))
with tempfile.TemporaryDirectory() as folder:
    joblib.dump(model, f"{folder}/model.joblib")
    print((joblib.load(f"{folder}/model.joblib").predict(x) == model.predict(x)).all())
