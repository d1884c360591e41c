"""
How many pairs do I need?
=========================

Accuracy on new rows against the number of answers, with the accuracy of a logistic regression that
is given every label.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import likewise as lw

warnings.simplefilter("ignore")  # with few answers it warns that they show no signal
points, hidden = lw.datasets.make_waveform(9000, random_state=0)
sizes, accuracy = [50, 100, 200, 400, 800], []
for size in sizes:
    scores = []
    for seed in range(3):
        sample = lw.datasets.sample_statements(
            points, hidden, 500, size, n_test=2000, prior=0.6, random_state=seed
        )
        clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
        scores.append(clf.score(sample.X_test, sample.y_test))
    accuracy.append(scores)
labeled = LogisticRegression().fit(sample.table, sample.y_table)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogx(sizes, np.mean(accuracy, axis=1), "o-", label="answers about pairs")
ax.fill_between(sizes, np.min(accuracy, axis=1), np.max(accuracy, axis=1), alpha=0.2)
ax.axhline(labeled.score(sample.X_test, sample.y_test), color="black", ls="--", label="all labels")
ax.set(xlabel="answers", ylabel="accuracy on new rows", xticks=sizes, xticklabels=sizes)
ax.minorticks_off()
ax.legend(frameon=False, loc="lower right")
