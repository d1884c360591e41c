"""
Calibrated probabilities without labels
=======================================

Held-out pairs calibrate ``predict_proba``. Of the rows that are given 80 %, about 80 % are of that
class: a check with labels that the classifier never saw.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay

import likewise as lw

points, hidden = lw.datasets.make_waveform(12_000, random_state=0)
sample = lw.datasets.sample_statements(
    points, hidden, 600, 800, n_test=5000, prior=0.6, random_state=0
)
clf = lw.PairClassifier(random_state=0).fit(*sample.pack())

fig, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
CalibrationDisplay.from_estimator(clf, sample.X_test, sample.y_test, n_bins=10, ax=ax)
