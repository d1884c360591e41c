"""Minimizers of ``mean phi(w.x) - c.w + (alpha / 2) |w|^2``; they know nothing of pairs."""

from likewise.su.solvers.base import Solution, penalty_diagonal
from likewise.su.solvers.closed_form import RidgePath, minimise_squared, ridge_weights
from likewise.su.solvers.interior_point import minimise_double_hinge
from likewise.su.solvers.newton import minimise_smooth
from likewise.su.solvers.smoothed_hinge import minimise_smoothed_hinge

__all__ = [
    "RidgePath",
    "Solution",
    "minimise_double_hinge",
    "minimise_smooth",
    "minimise_smoothed_hinge",
    "minimise_squared",
    "penalty_diagonal",
    "ridge_weights",
]
