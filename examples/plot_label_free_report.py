"""
Accuracy without labels
=======================

`likewise.label_free_report` estimates the accuracy, the rates and the class prior from the same
pairs that the classifier learned from. The true accuracy is printed for comparison.
"""

import matplotlib.pyplot as plt

import likewise as lw

points, hidden = lw.datasets.make_waveform(12_000, random_state=0)
sample = lw.datasets.sample_statements(
    points, hidden, 500, 400, n_test=3000, prior=0.65, random_state=0
)
X, y = sample.pack()
clf = lw.PairClassifier(random_state=0).fit(X, y)
report = lw.label_free_report(clf, X, y, random_state=0)

print(f"estimated {report.accuracy}, true {clf.score(sample.X_test, sample.y_test):.3f}")
found = report.to_frame().iloc[::-1]  # `report.plot()` draws more, in a figure of its own
sides = [found["value"] - found["low"], found["high"] - found["value"]]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.errorbar(found["value"], found.index.str.replace("_", " "), xerr=sides, fmt="o", capsize=4)
ax.set(xlabel="estimate and 95 % interval", xlim=(0, 1))
