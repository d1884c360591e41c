"""What cross-validation of the SU risk needs: folds that all hold pairs, and its standard error.

The spread over a few folds is too rough a standard error; how much decisions vary among rows, and
among pairs, is known much better.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise.statements.folds import PairKFold
from likewise.statements.labels import WeakLabels, read_labels
from likewise.su.losses import get_loss
from likewise.su.rewrites import REWRITES, Rewrite

__all__ = ["usable_folds", "zero_one_standard_error"]


def usable_folds(
    y: WeakLabels, *, most: int = 5, rewrite: str = "auto", random_state: Any = None
) -> PairKFold | None:
    """Return as many folds as all hold a whole pair of every kind that is used.

    Parameters
    ----------
    y : weak labels
    most : int, default 5
        The largest number of folds.
    rewrite : {"auto", "su", "du", "sd", "sdu"}, default "auto"
        Which kinds of pairs are used.
    random_state : int, RandomState instance or None
        Deals out the folds.

    Returns
    -------
    PairKFold or None
        None if there are not even two such folds.

    Examples
    --------
    >>> from likewise.su.validation import usable_folds
    >>> usable_folds([1, 1, 2, 2, 3, 3, 0, 0, 0], random_state=0).n_splits
    3
    """
    statements = read_labels(y)
    links = statements.links
    kinds = {"similar": links.is_similar, "dissimilar": ~links.is_similar}
    parts = [part for part, chosen in kinds.items() if chosen.any()]
    used = [kinds[part] for part in (parts if rewrite == "auto" else REWRITES[rewrite].parts)]
    alone = statements.n_rows - int(statements.stated.sum())
    most = min(most, alone if statements.is_fresh else statements.n_rows)
    for n_folds in range(min(most, *(int(kind.sum()) for kind in used)), 1, -1):
        folds = PairKFold(n_folds, shuffle=True, random_state=random_state)
        of_row = folds.deal(statements)
        fold = np.where(of_row[links.left] == of_row[links.right], of_row[links.left], n_folds)
        if all(np.bincount(fold[kind], minlength=n_folds)[:n_folds].min() for kind in used):
            return folds
    return None


def zero_one_standard_error(
    unlabeled: ArrayLike,
    similar: tuple[ArrayLike, ArrayLike],
    dissimilar: tuple[ArrayLike, ArrayLike],
    *,
    counts: tuple[int, int, int],
    prior: float,
    su_share: float,
) -> float | None:
    """Return the standard error of a zero-one risk.

    Parameters
    ----------
    unlabeled : array of shape (n_rows,)
        Decision values.
    similar, dissimilar : two arrays of shape (n_pairs,) each
        Decision values of the members of pairs.
    counts : three ints
        How many rows, similar and dissimilar pairs the risk was estimated from, if the decisions
        are those of some of them.
    prior, su_share : float
        As in the classifier that decided.

    Returns
    -------
    float or None
        None where there are fewer than two pairs of a kind that the risk is made of.

    Examples
    --------
    >>> from likewise.su.validation import zero_one_standard_error
    >>> pairs = [1, 1, -1], [1, 1, -1]
    >>> found = zero_one_standard_error(
    ...     [1, 1, 1, -1], pairs, ([], []), counts=(4, 3, 0), prior=0.7, su_share=1.0
    ... )
    >>> round(found, 4)
    1.1511
    """
    loss = get_loss("zero_one")
    rewrite = Rewrite.at(su_share)
    weights = rewrite.weights(prior)._asdict()
    rows = np.asarray(unlabeled, dtype=np.float64)
    terms = [(loss.even(rows) + weights["unlabeled"] * loss.odd(rows), counts[0])]
    for part, sides, count in (
        ("similar", similar, counts[1]),
        ("dissimilar", dissimilar, counts[2]),
    ):
        if part in rewrite.parts:
            odd = [loss.odd(np.asarray(side, dtype=np.float64)) for side in sides]
            terms.append((weights[part] * (odd[0] + odd[1]) / 2.0, count))
    if min(values.size for values, _ in terms) < 2:
        return None
    variance = sum(float(np.var(values, ddof=1)) / count for values, count in terms)
    return float(np.sqrt(variance))
