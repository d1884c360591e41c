"""How uncertain a cross-validated zero-one risk is, from decisions of some rows and pairs.

The spread over a few folds is too rough a standard error; how much decisions vary among rows, and
among pairs, is known much better.
"""

import numpy as np
from numpy.typing import ArrayLike

from likewise.su.losses import get_loss
from likewise.su.rewrites import Rewrite

__all__ = ["zero_one_standard_error"]


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
    >>> from likewise.su.uncertainty import zero_one_standard_error
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
