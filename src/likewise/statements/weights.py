"""Weights of rows: how many rows of a population each row of a sample stands for.

Survey weights, for instance. Weights count relative to each other, among unlabeled rows and among
pairs of a kind; together they are worth as many rows as they tell of (Kish, 1965): the effective
number ``(sum w)^2 / sum w^2``. So no scale of them makes an estimate look surer than it is.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from likewise._types import FloatArray
from likewise.engines.rows import kish_scaled
from likewise.statements.statements import Statements

__all__ = ["read_weights", "refuse_weights", "weigh", "weighted"]


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Check weights of rows.

    Parameters
    ----------
    sample_weight : None, number, or array of shape (n_rows,)
    n_rows : int

    Returns
    -------
    array of shape (n_rows,), or None
        None where all rows weigh the same.
    """
    if sample_weight is None:
        return None
    try:
        found = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold one number for each row.") from None
    if found.ndim > 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {found.ndim}D array.")
    if found.ndim and found.size != n_rows:
        raise ValueError(
            f"sample_weight.shape == {found.shape}, expected {(n_rows,)}: one weight for each row."
        )
    if not np.isfinite(found).all():
        raise ValueError("Input sample_weight contains NaN or infinity: weights must be finite.")
    if np.any(found < 0):
        raise ValueError("sample_weight holds negative weights; a row cannot count less than none.")
    if not np.any(found > 0):
        raise ValueError("sample_weight is zero for all rows; at least one must count.")
    return None if found.ndim == 0 or np.all(found == found[0]) else found


def weighted(statements: Statements, weights: FloatArray | None) -> Statements:
    """Attach weights of rows to statements about them.

    Parameters
    ----------
    statements : Statements
    weights : array of shape (n_rows,), or None

    Returns
    -------
    Statements
        Weights of fresh pairs and of unlabeled rows are scaled to the effective number of each
        kind; those of one table, to that of its rows.
    """
    if weights is None:
        return statements
    if not statements.is_fresh:
        return replace(statements, weights=kish_scaled(weights))
    links = statements.links
    differ = np.flatnonzero(weights[links.left] != weights[links.right])
    if differ.size:
        left, right = int(links.left[differ[0]]), int(links.right[differ[0]])
        raise ValueError(
            f"Rows {left} and {right} are a pair with weights {weights[left]:g} and "
            f"{weights[right]:g}: a fresh pair is one sample, so both of its rows carry the weight "
            "of the pair (of members that were drawn independently, the product of theirs)."
        )
    found = np.empty_like(weights)
    alone = ~statements.stated
    found[alone] = kish_scaled(weights[alone])
    for kind in (links.is_similar, ~links.is_similar):
        of_pairs = kish_scaled(weights[links.left[kind]])
        found[links.left[kind]] = found[links.right[kind]] = of_pairs
    return replace(statements, weights=found)


def weigh(statements: Statements, sample_weight: Any, name: str) -> Statements:
    """Attach what was passed as ``sample_weight``, checked.

    Parameters
    ----------
    statements : Statements
    sample_weight : None, number, or array of shape (n_rows,)
    name : str
        Who asks, for the messages.

    Returns
    -------
    Statements
    """
    weights = read_weights(sample_weight, statements.n_rows)
    found = weighted(statements, weights)
    if weights is None or not found.is_fresh:
        return found
    for what, here in (("pair", found.stated), ("unlabeled row", ~found.stated)):
        if not np.any(weights[here] > 0):
            raise ValueError(
                f"{name} needs at least one {what}, but sample_weight is zero for all of them."
            )
    return found


def refuse_weights(sample_weight: Any) -> None:
    """Raise if there are weights of rows that are not in memory."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight is for tables in memory; the rows of a PairSource all count the same."
        )
