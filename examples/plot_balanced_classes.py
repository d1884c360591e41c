"""
Classes of equal size
=====================

The SU risk divides by 2π - 1 and does not exist at a class prior of one half. The pair likelihood
uses which row was paired with which, so a balanced problem is no special case.
"""

import matplotlib.pyplot as plt

import likewise as lw

points, hidden = lw.datasets.make_waveform(12_000, random_state=0)
priors, accuracy = [0.51, 0.55, 0.6, 0.7, 0.8], {"SU learning": [], "PairClassifier": []}
for prior in priors:
    sample = lw.datasets.sample_su(
        points, hidden, 400, 400, n_test=2000, prior=prior, random_state=0
    )
    pair = lw.PairClassifier(features="linear", pairing="random", random_state=0)
    for values, clf in zip(accuracy.values(), (lw.SUClassifierCV(prior=prior), pair), strict=True):
        clf.fit(*sample.pack())
        values.append(clf.score(sample.X_test, sample.y_test))

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, values in accuracy.items():
    ax.plot(priors, values, "o-", label=name)
ax.plot(priors, priors, color="gray", ls=":", label="majority class")
ax.set(xlabel="class prior", ylabel="accuracy on new rows")
ax.legend(frameon=False)
