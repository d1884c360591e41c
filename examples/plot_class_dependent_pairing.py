"""
When one class is easier to pair
================================

Half of the similar pairs are of the minority class, where random pairing would give 16 %. A test
detects it, ``pairing_`` becomes "free" (class-dependent pairing), and the prior is right again.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import likewise as lw

warnings.simplefilter("ignore")  # a warning tells of the test; here it is printed below
rng = np.random.default_rng(0)
hidden = np.where(rng.random(6000) < 0.7, 1, -1)
points = rng.normal(size=(6000, 2)) + np.outer(hidden, [1.2, 0.6])
rows = {label: np.flatnonzero(hidden == label) for label in (-1, 1)}
kinds = np.where(rng.random(600) < 0.5, 1, -1)  # half of the pairs, instead of 84 %
pairs = np.array([rng.choice(rows[kind], 2, replace=False) for kind in kinds])
unlabeled = points[rng.permutation(6000)[:600]]
X, y = lw.pack(unlabeled, similar=(points[pairs[:, 0]], points[pairs[:, 1]]))

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
for place, pairing in enumerate(["random", "auto"]):
    clf = lw.PairClassifier(features="linear", pairing=pairing, random_state=0).fit(X, y)
    low, high = clf.prior_interval_
    ax.plot([low, high], [place, place], lw=3)
    ax.plot(clf.prior_, place, "o", color="black")
    print(f"pairing={pairing!r}: taken as {clf.pairing_!r}, class prior {clf.prior_:.3f}")
ax.axvline(0.7, color="gray", ls="--")
ax.set(xlabel="class prior (dashed: the truth)", yticks=[0, 1], ylim=(-0.5, 1.5))
ax.set_yticklabels(["random", "auto"])
