"""
Three classes
=============

Three kinds of waves and 600 answers about pairs of them. The table's own rows are classified from
their features and the answers together.
"""

import matplotlib.pyplot as plt
from sklearn.decomposition import PCA

import likewise as lw

waves, hidden = lw.datasets.make_waveform(3000, n_classes=3, random_state=0)
sample = lw.datasets.sample_statements(waves, hidden, 400, 600, random_state=0)
X, y = sample.pack()
clf = lw.PairClassifier(n_classes=3, features="linear", random_state=0).fit(X, y)
print("class prior:", clf.prior_.round(3))

plane = PCA(2).fit_transform(X)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
for ax, classes, title in zip(
    axes, (sample.y_table, clf.labels_), ("true classes", "classes found"), strict=True
):
    ax.scatter(*plane.T, c=classes, s=10, cmap="viridis")
    ax.set(title=title, xlabel="first component", xticks=[], yticks=[])
