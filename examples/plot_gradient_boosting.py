"""
Gradient boosting from pairs
============================

Any classifier with ``sample_weight`` learns by expectation maximization. Every round is judged by
the log-probability of held-out answers, and the best round is kept.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

import likewise as lw

points, hidden = lw.datasets.make_waveform(5000, random_state=0)
sample = lw.datasets.sample_statements(
    points, hidden, 400, 500, n_test=2000, prior=0.6, random_state=0
)
trees = HistGradientBoostingClassifier(max_iter=30)
clf = lw.PairClassifier(estimator=trees, random_state=0).fit(*sample.pack())

print(f"accuracy on new rows: {clf.score(sample.X_test, sample.y_test):.3f}")
values, best = clf.history_.information, clf.history_.best
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(range(len(values)), values, "o-")
ax.plot(best, values[best], "s", ms=10, mfc="none", color="black", label="kept")
ax.set(xlabel="round", ylabel="information (nats per held-out answer)")
ax.legend(frameon=False)
