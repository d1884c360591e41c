"""
The class prior from similar pairs
==================================

Only similar pairs and unlabeled rows are known. `likewise.estimate_prior` gives the share of the
majority class with a 95 % interval; the dashed line is the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

import likewise as lw

points, hidden = lw.datasets.make_gaussians(20_000, separation=3, random_state=0)
truth = [0.5, 0.65, 0.8, 0.9]
found = []
for prior in truth:
    sample = lw.datasets.sample_su(points, hidden, 300, 300, prior=prior, random_state=1)
    found.append(lw.estimate_prior(*sample.pack(), random_state=0))
values = np.array([one.value for one in found])
ends = np.array([one.interval for one in found])

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot([0.48, 0.92], [0.48, 0.92], color="black", lw=1, ls="--")
ax.errorbar(truth, values, np.abs(ends - values[:, None]).T, fmt="o", capsize=4)
ax.set(xlabel="true class prior", ylabel="estimate")
