"""
A curved boundary from must-links and cannot-links
==================================================

Two moons and 150 answers. RBF features are tried beside linear ones, and held-out pairs choose.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

import likewise as lw

points, hidden = make_moons(300, noise=0.15, random_state=0)
pairs = np.random.default_rng(0).choice(300, size=(150, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
X, y = lw.pack(points, similar=pairs[same], dissimilar=pairs[~same])
clf = lw.PairClassifier(random_state=0).fit(X, y)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
DecisionBoundaryDisplay.from_estimator(clf, points, ax=ax, alpha=0.3, cmap="PuOr")
for kind, color, style in ((same, "tab:blue", "-"), (~same, "tab:red", ":")):
    ax.plot(*points[pairs[kind][:40]].transpose(2, 1, 0), color=color, ls=style, lw=0.8)
ax.scatter(*points.T, s=9, color="black")
ax.set(title="blue: must-link, red: cannot-link (40 of each)", xticks=[], yticks=[])
print(clf.features_)
