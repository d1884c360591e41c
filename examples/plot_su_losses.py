"""
What a pair member and an unlabeled row cost
============================================

The SU risk replaces the loss of a labeled row by one loss of the members of similar pairs and one
of the unlabeled rows. The first is a straight line, so the objective stays convex.
"""

import likewise as lw

axes = lw.plots.plot_su_losses(prior=0.75)
