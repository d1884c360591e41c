"""
How many classes are there?
===========================

Fit with two, three and four classes and compare how well held-out answers are explained. The
curve rises to the true number, three, and is flat after it. A small error rate lets two classes
miss some answers; without one they are refused, because the answers contradict each other.
"""

import warnings

import matplotlib.pyplot as plt

import likewise as lw

warnings.simplefilter("ignore")  # with too many classes it warns that one stays empty
waves, hidden = lw.datasets.make_waveform(3000, n_classes=3, random_state=0)
sample = lw.datasets.sample_statements(waves, hidden, 300, 600, random_state=0)
X, y = sample.pack()
counts, information = [2, 3, 4], []
for count in counts:
    clf = lw.PairClassifier(count, features="linear", error_rate=0.05, random_state=0).fit(X, y)
    information.append(clf.pair_information_)

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.errorbar(
    counts,
    [one.value for one in information],
    [one.standard_error for one in information],
    fmt="o-",
    capsize=4,
)
ax.set(xlabel="classes", ylabel="information per held-out answer (nats)", xticks=counts)
