"""What pairs can say about the assumptions behind them, without labels.

Given the classes, the members of a pair are taken to be independent draws. That has consequences
which can be tested: random pairing fixes the classes' shares among pairs (see
`likewise.search.pairing`), every function of the rows must tell the same prior, and once the
difference between the classes is taken out, the members of a pair must not be alike any more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from likewise._types import FloatArray
from likewise.engines.rows import Positions
from likewise.search.information import exchange_within

__all__ = ["Check", "check_independence", "check_moment_ratios"]

IntArray = NDArray[np.intp]

_LEVEL = 0.05
_N_RESAMPLES = 200
_MOST_DIRECTIONS = 20
_QUANTILES = (0.15, 0.3, 0.5, 0.7)


@dataclass(frozen=True)
class Check:
    """One assumption, tested.

    Attributes
    ----------
    name : str
    passed : bool or None
        None where the data do not allow the test.
    text : str
        The finding in plain words.
    p_value : float or None

    Examples
    --------
    >>> import likewise as lw
    >>> lw.Check("pairs formed at random", True, "no test rejects it.", 0.4).passed
    True
    """

    name: str
    passed: bool | None
    text: str
    p_value: float | None = None


def check_moment_ratios(
    scores: FloatArray,
    alone: Positions,
    left: IntArray,
    right: IntArray,
    random_state: np.random.RandomState,
) -> Check:
    """Test whether different functions of a score tell the same class prior.

    For every function g, ``(mean_S g - mean_U g) / sqrt(cov_S(g, g'))`` is ``2 prior - 1`` up to
    its sign. The functions are indicators of the score lying above some of its quantiles.

    Parameters
    ----------
    scores : array of shape (n_rows,)
        Cross-fitted scores.
    alone : row positions
        The unlabeled rows.
    left, right : integer arrays of shape (n_similar,)
        The members of similar pairs.
    random_state : RandomState
        Draws the bootstrap samples.

    Returns
    -------
    Check
    """
    name = "one prior for all scores"
    if left.size < 2 * len(_QUANTILES):
        return Check(name, None, "there are too few similar pairs to tell.")
    limits = np.quantile(scores[alone], _QUANTILES)
    parts = [(scores[part][:, None] > limits).astype(np.float64) for part in (alone, left, right)]
    found = _ratios(*parts)
    draws = np.array([_ratios(*_resampled(parts, random_state)) for _ in range(_N_RESAMPLES)])
    usable = np.isfinite(found) & (np.isfinite(draws).mean(axis=0) > 0.95)
    if usable.sum() < 2:
        return Check(name, None, "the pairs show too little to compare scores.")
    kept = draws[:, usable]
    covariance = np.cov(kept[np.isfinite(kept).all(axis=1)], rowvar=False)
    contrasts = np.eye(int(usable.sum()))[1:] - np.eye(int(usable.sum()))[0]
    gaps = contrasts @ found[usable]
    statistic = float(gaps @ np.linalg.pinv(contrasts @ covariance @ contrasts.T) @ gaps)
    p_value = float(chi2.sf(statistic, df=gaps.size))
    priors = ", ".join(f"{(1 + abs(ratio)) / 2:.2f}" for ratio in found[usable])
    if p_value >= _LEVEL:
        text = f"{usable.sum()} cuts of the score give the same class prior ({priors})."
    else:
        text = (
            f"{usable.sum()} cuts of the score give different class priors ({priors}; p = "
            f"{p_value:.2g}): pairs or unlabeled rows may not be drawn as assumed."
        )
    return Check(name, p_value >= _LEVEL, text, p_value)


def _ratios(alone: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    mean = (left.mean(axis=0) + right.mean(axis=0)) / 2
    covariance = np.mean(left * right, axis=0) - mean**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((mean - alone.mean(axis=0)) / np.sqrt(covariance))


def _resampled(
    parts: list[FloatArray], random_state: np.random.RandomState
) -> tuple[FloatArray, FloatArray, FloatArray]:
    alone, left, right = parts
    pairs = random_state.randint(left.shape[0], size=left.shape[0])
    return (
        alone[random_state.randint(alone.shape[0], size=alone.shape[0])],
        left[pairs],
        right[pairs],
    )


def check_independence(
    rows: FloatArray,
    probabilities: FloatArray,
    left: IntArray,
    right: IntArray,
    folds: IntArray,
    random_state: np.random.RandomState,
) -> Check:
    """Test whether pair members are alike beyond their class.

    The difference between the classes is taken out of the rows by regressing their leading
    directions on the probability of the class; partners are then exchanged at random within folds.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
        Standardized rows.
    probabilities : array of shape (n_rows,)
        Of one of two classes, cross-fitted.
    left, right : integer arrays of shape (n_similar,)
        The members of similar pairs.
    folds : integer array of shape (n_rows,)
    random_state : RandomState
        Exchanges the partners.

    Returns
    -------
    Check
    """
    name = "members independent given the class"
    if left.size < 20:
        return Check(name, None, "there are too few similar pairs to tell.")
    residuals = _without_class(_leading(rows), probabilities)
    groups = folds[left]
    observed = _alikeness(residuals[left], residuals[right])
    null = np.empty(_N_RESAMPLES)
    for k in range(_N_RESAMPLES):
        other = right[exchange_within(groups, random_state)]
        null[k] = _alikeness(residuals[left], residuals[other])
    p_value = float((1 + np.sum(null >= observed)) / (1 + _N_RESAMPLES))
    if p_value >= _LEVEL:
        text = (
            "beyond their class, the members of a pair are no more alike than two rows of it are."
        )
    else:
        text = (
            f"the members of a pair are alike beyond their class (p = {p_value:.2g}): there may be "
            "more classes, or pairs of relatives, neighbors or duplicates."
        )
    return Check(name, p_value >= _LEVEL, text, p_value)


def _leading(rows: FloatArray) -> FloatArray:
    """Return the leading principal components, each of unit deviation."""
    centered = rows - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / rows.shape[0])
    kept = np.flatnonzero(values > 1e-8 * max(values[-1], 1e-300))[-_MOST_DIRECTIONS:]
    return np.asarray(centered @ vectors[:, kept] / np.sqrt(values[kept]))


def _without_class(components: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return what the probability of the class, with a bend, does not explain."""
    p = probabilities
    basis = np.column_stack([np.ones_like(p), p, p**2, np.sqrt(p + 1e-12)])
    coefficients = np.linalg.lstsq(basis, components, rcond=None)[0]
    return np.asarray(components - basis @ coefficients)


def _alikeness(left: FloatArray, right: FloatArray) -> float:
    """Return the largest variance that members share in any direction, in their own units."""
    product = left.T @ right / left.shape[0]
    return float(np.linalg.eigvalsh((product + product.T) / 2)[-1])
