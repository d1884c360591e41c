"""What the certificate of a solution is worth: nothing said, a warning, or an error that tells why.

A gap that is not small means that the weights are not those of the method. Where columns of a huge
scale are the reason, they are named.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from likewise._types import FloatArray
from likewise.io.wording import shown
from likewise.su.objective import Summary
from likewise.su.solvers import Solution

__all__ = ["certified"]

_USELESS = 1e-3
"""A relative gap beyond which weights are no solution."""
_HUGE = 1e6
"""Root mean square of a column from which on squares of rows may drown everything else."""


_DROWNED = 1e-12
"""Variance of a column, as a share of its mean square, that rounding of sums leaves nothing of."""


def certified(
    solution: Solution,
    alpha: float,
    summary: Summary,
    names: Sequence[str] | None,
    *,
    is_free: bool = False,
) -> Solution:
    """Return a solution; warn of one that did not converge, refuse one that is useless.

    Parameters
    ----------
    solution : Solution
    alpha : float
    summary : Summary
        Of the rows that were learned from.
    names : sequence of str, optional
        Of the columns.
    is_free : bool
        Whether the intercept has no penalty: then the gap is an estimate, which columns that vary
        by less than rounding can deceive.
    """
    if is_free and _are_drowned(summary):
        raise ValueError(_refusal(summary, names))
    if solution.converged:
        return solution
    if not np.isfinite(solution.gap) or not np.all(np.isfinite(solution.weights)):
        raise ValueError(_refusal(summary, names))
    if solution.gap > _USELESS and _scales(summary).max(initial=0.0) > _HUGE:
        raise ValueError(_refusal(summary, names))
    warnings.warn(
        f"The solver stopped after {solution.n_iter} iterations at a gap of {solution.gap:.1e} "
        f"(alpha={alpha:g}); raise max_iter, alpha or tol, or scale the features.",
        ConvergenceWarning,
        stacklevel=6,
    )
    return solution


def _refusal(summary: Summary, names: Sequence[str] | None) -> str:
    scales = _scales(summary)
    worst = int(np.argmax(scales))
    column = f"column {worst}" if names is None else f"column {shown(names[worst])!r}"
    return (
        f"The values of {column} of X are around {scales[worst]:.2g}, which is too large for the "
        "solver beside the other columns: scale the features, for instance with "
        "sklearn.preprocessing.StandardScaler."
    )


def _are_drowned(summary: Summary) -> bool:
    """Tell whether a huge column varies by no more than rounding leaves of it."""
    squares, means = summary.squares[:-1], summary.means.unlabeled[:-1]
    return bool(np.any((squares - means**2 < _DROWNED * squares) & (squares > _HUGE**2)))


def _scales(summary: Summary) -> FloatArray:
    """Return the root mean squares of the columns."""
    return np.asarray(np.sqrt(np.maximum(summary.squares[:-1], 0.0)))
