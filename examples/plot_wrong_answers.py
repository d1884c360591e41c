"""
Which answers are wrong?
========================

One answer in eight is wrong. ``error_rate="auto"`` estimates how many there are, and
``wrong_proba_`` says which: the two histograms hardly overlap.
"""

import matplotlib.pyplot as plt
import numpy as np

import likewise as lw

points, hidden = lw.datasets.make_gaussians(4000, separation=4, random_state=0)
sample = lw.datasets.sample_statements(
    points, hidden, 300, 900, prior=0.6, error_rate=0.125, random_state=0
)
clf = lw.PairClassifier(features="linear", error_rate="auto", random_state=0).fit(*sample.pack())
low, high = clf.error_rate_interval_
print(f"error rate {clf.error_rate_:.3f} (95 % interval {low:.3f} to {high:.3f})")
print(f"of the first 50 suspects, {sample.wrong[clf.suspects_[:50]].sum()} are wrong")

fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
bins = np.linspace(0, 1, 21)
ax.hist(clf.wrong_proba_[~sample.wrong], bins, alpha=0.7, label="right answers")
ax.hist(clf.wrong_proba_[sample.wrong], bins, alpha=0.7, label="wrong answers")
ax.set(xlabel="probability of being wrong", ylabel="answers", yscale="log")
ax.legend(frameon=False)
