"""
Against k-means and constrained clustering
==========================================

Two long, parallel classes. k-means cuts across them; PCKMeans and MPCKMeans use the same must-links
and cannot-links as `likewise.PairClassifier`.
"""

import matplotlib.pyplot as plt
import numpy as np

import likewise as lw
from likewise.baselines import KMeansBaseline, MPCKMeans, PCKMeans

rng = np.random.default_rng(0)
hidden = rng.choice([-1, 1], size=400, p=[0.4, 0.6])
points = rng.normal(size=(400, 2)) * [4, 0.6] + np.outer(hidden, [0.0, 1.2])
sample = lw.datasets.sample_statements(points, hidden, 300, 120, n_test=100, random_state=0)
X, y = sample.pack()
methods = [KMeansBaseline(), PCKMeans(), MPCKMeans(), lw.PairClassifier(random_state=0)]
fig, axes = plt.subplots(2, 2, figsize=(7, 4.6), sharex=True, sharey=True, layout="constrained")
for method, ax in zip(methods, axes.flat, strict=True):
    if "random_state" in method.get_params():
        method.set_params(random_state=0)
    found = method.fit(X, y).predict(X)
    right = np.mean(found == sample.y_table)
    ax.scatter(*X.T, c=found, s=8, cmap="coolwarm")
    ax.set_title(f"{type(method).__name__}: {max(right, 1 - right):.0%} correct", fontsize=10)
