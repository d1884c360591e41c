"""
Members of similar pairs lean to the majority class
===================================================

Two rows drawn at random agree more often in the majority class. Among the members of similar pairs
its share is therefore larger than among unlabeled rows: this shift is all that SU learning uses.
"""

import likewise as lw

points, hidden = lw.datasets.make_waveform(8000, random_state=0)
sample = lw.datasets.sample_su(points, hidden, 800, 800, n_test=1000, prior=0.7, random_state=0)
X, y = sample.pack()
clf = lw.SUClassifierCV(loss="squared", prior=0.7).fit(X, y)

print(f"accuracy on new rows: {clf.score(sample.X_test, sample.y_test):.3f}")
ax = lw.plots.plot_score_histograms(clf, X, y)
