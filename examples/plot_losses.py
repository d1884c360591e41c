"""
The losses of SU learning
=========================

Squared, logistic and double-hinge loss as functions of the margin. All three satisfy the linear-odd
condition that makes the SU risk convex.
"""

import likewise as lw

ax = lw.plots.plot_losses()
