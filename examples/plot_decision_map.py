"""
A classifier from pairs alone
=============================

No row has a label. Only 60 similar pairs are known, beside 200 unlabeled rows. The background shows
the score that `likewise.PairClassifier` learned from them.
"""

import likewise as lw

points, hidden = lw.datasets.make_gaussians(4000, separation=3, random_state=0)
sample = lw.datasets.sample_su(points, hidden, 60, 200, n_test=1000, prior=0.7, random_state=0)
X, y = sample.pack()
clf = lw.PairClassifier(random_state=0).fit(X, y)

print(f"accuracy on new rows: {clf.score(sample.X_test, sample.y_test):.3f}")
lw.plots.plot_decision_map(clf, X, y)
