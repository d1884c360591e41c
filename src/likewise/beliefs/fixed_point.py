"""Fixed points by Anderson's acceleration: a few evaluations where plain iteration would swing."""

from collections.abc import Callable

import numpy as np

from likewise._types import FloatArray

__all__ = ["settle"]

_MEMORY = 5
_MOST_STEPS = 100
_TOL = 1e-9


def settle(step: Callable[[FloatArray], FloatArray], start: FloatArray) -> FloatArray:
    """Return x with ``step(x) = x``, as far as a hundred evaluations lead to it.

    Parameters
    ----------
    step : callable
        From a vector to the next one; must bear vectors a little outside of its range.
    start : array of shape (n,)

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.beliefs.fixed_point import settle
    >>> settle(lambda x: 3.0 - 2.0 * x, np.zeros(1)).round(6)  # plain iteration runs away
    array([1.])
    """
    points: list[FloatArray] = []
    gaps: list[FloatArray] = []
    here, best, smallest = start, start, np.inf
    for _ in range(_MOST_STEPS):
        gap = step(here) - here
        size = float(np.abs(gap).max())
        if size < smallest:
            best, smallest = here, size
        if size < _TOL:
            break
        points, gaps = [*points, here][-_MEMORY:], [*gaps, gap][-_MEMORY:]
        here = _mixed(points, gaps)
    return best


def _mixed(points: list[FloatArray], gaps: list[FloatArray]) -> FloatArray:
    """Return the next point: where the gaps would cancel, were they linear."""
    here, gap = points[-1], gaps[-1]
    if len(points) == 1:
        return here + 0.3 * gap
    moves = np.diff(np.array(points), axis=0).T
    changes = np.diff(np.array(gaps), axis=0).T
    weights = np.linalg.lstsq(changes, gap, rcond=1e-10)[0]
    return np.asarray(here + gap - (moves + changes) @ weights)
