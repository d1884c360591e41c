"""The arguments that generators and samplers share: counts, class priors, random states.

Every check raises an error that names the argument. This module must not know of any table.
"""

from numbers import Integral, Real
from typing import Any

import numpy as np

RandomState = int | np.random.RandomState | np.random.Generator | None

__all__ = ["RandomState", "as_count", "as_error_rate", "as_generator", "as_prior"]


def as_count(value: Any, name: str, *, minimum: int = 0) -> int:
    """Return `value` as an int, or say why it is not a number of things."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}.")
    return int(value)


def as_prior(value: Any, name: str = "prior") -> float:
    """Return `value` as a float strictly between 0 and 1, or say why it is none."""
    share = _as_share(value, name)
    # Written so that NaN fails too.
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}.")
    return share


def as_error_rate(value: Any, name: str = "error_rate") -> float:
    """Return `value` as a float from 0 to below 1, or say why it is none."""
    share = _as_share(value, name)
    if not 0.0 <= share < 1.0:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value}.")
    return share


def _as_share(value: Any, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}.")
    return float(value)


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn any accepted `random_state` into a Generator, leaving numpy's global state alone.

    A Generator is used as it is, and a RandomState is advanced, so that two calls with the same
    object give different draws; ``None`` takes fresh entropy from the system.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if random_state is not None:
        return np.random.default_rng(as_count(random_state, "random_state"))
    return np.random.default_rng()
