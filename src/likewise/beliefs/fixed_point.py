"""Fixed points by Anderson's acceleration: a few evaluations where plain iteration would swing."""

from collections.abc import Callable

import numpy as np

from likewise._types import FloatArray

__all__ = ["Trace", "settle", "settle_number"]

_MEMORY = 5
_MOST_STEPS = 100
_TOL = 1e-8
_NEARLY, _PATIENCE = 1e-4, 5
"""Below this gap, so many steps without progress mean that the digits of `step` are spent."""

Trace = tuple[FloatArray, FloatArray]
"""Moves of a search and how the gaps changed with them, one in each column."""


def settle(
    step: Callable[[FloatArray], FloatArray], start: FloatArray, trace: Trace | None = None
) -> tuple[FloatArray, Trace | None]:
    """Return x with ``step(x) = x``, as far as a hundred evaluations lead to it.

    Parameters
    ----------
    step : callable
        From a vector to the next one; must bear vectors a little outside of its range.
    start : array of shape (n,)
    trace : Trace, optional
        Of an earlier search for a nearby step: the first moves are then as good as the last ones.

    Returns
    -------
    x : array of shape (n,)
    trace : Trace or None

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.beliefs.fixed_point import settle
    >>> settle(lambda x: 3.0 - 2.0 * x, np.zeros(1))[0].round(6)  # plain iteration runs away
    array([1.])
    """
    moves, changes = trace if trace is not None else (np.zeros((start.size, 0)),) * 2
    here, gap = start, step(start) - start
    best, smallest, found_at = here, float(np.abs(gap).max()), 0
    for number in range(_MOST_STEPS):
        if smallest < _TOL or (smallest < _NEARLY and number - found_at >= _PATIENCE):
            break
        there = here + _move(gap, moves, changes)
        new = step(there) - there
        moves = np.concatenate([moves[:, 1 - _MEMORY :], (there - here)[:, None]], axis=1)
        changes = np.concatenate([changes[:, 1 - _MEMORY :], (new - gap)[:, None]], axis=1)
        here, gap = there, new
        size = float(np.abs(gap).max())
        if size < 0.5 * smallest:
            found_at = number
        if size < smallest:
            best, smallest = here, size
    return best, (moves, changes) if moves.size else None


def _move(gap: FloatArray, moves: FloatArray, changes: FloatArray) -> FloatArray:
    """Return the move after which the gaps would cancel, were they linear."""
    if not moves.size:
        return 0.3 * gap
    weights = np.linalg.lstsq(changes, gap, rcond=1e-10)[0]
    return np.asarray(gap - (moves + changes) @ weights)


def settle_number(step: Callable[[float], float], start: float) -> float:
    """Return what `settle` returns, for one number.

    Parameters
    ----------
    step : callable
        From a number to the next one.
    start : float

    Examples
    --------
    >>> from likewise.beliefs.fixed_point import settle_number
    >>> round(settle_number(lambda x: 3.0 - 2.0 * x, 0.0), 6)
    1.0
    """
    moves: list[float] = []
    changes: list[float] = []
    here, gap = start, step(start) - start
    best, smallest, found_at = here, abs(gap), 0
    for number in range(_MOST_STEPS):
        if smallest < _TOL or (smallest < _NEARLY and number - found_at >= _PATIENCE):
            break
        there = here + _move_number(gap, moves, changes)
        new = step(there) - there
        moves = [*moves[1 - _MEMORY :], there - here]
        changes = [*changes[1 - _MEMORY :], new - gap]
        here, gap = there, new
        size = abs(gap)
        if size < 0.5 * smallest:
            found_at = number
        if size < smallest:
            best, smallest = here, size
    return best


def _move_number(gap: float, moves: list[float], changes: list[float]) -> float:
    """Return the move of least weights on earlier ones after which the gap would be closed."""
    square = sum(change * change for change in changes)
    if not square:
        return gap if moves else 0.3 * gap
    slope = sum((move + c) * c for move, c in zip(moves, changes, strict=True)) / square
    return gap - slope * gap
