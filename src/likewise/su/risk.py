"""Classification risk without labels: from pairs and unlabeled rows.

From a loss, a class prior and what was sampled to the paper's SU risk, its forms with dissimilar
pairs, its variance and its error bound. Everything here works on arrays of decision values or on
shares of decisions; nothing knows of rows, models or solvers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise._types import FloatArray
from likewise.engines.base import PAIR_PARTS, Part
from likewise.su.losses import Loss, get_loss
from likewise.su.rewrites import (
    Rewrite,
    Spreads,
    Weights,
    check_prior,
    choose_rewrite,
    similar_pair_share,
)

__all__ = [
    "RiskEstimate",
    "check_prior",
    "error_bound",
    "psd_risk",
    "similar_loss",
    "similar_pair_share",
    "similar_term_variance",
    "su_risk_of_decisions",
    "unlabeled_loss",
    "zero_one_risk_of_shares",
]


@dataclass(frozen=True)
class RiskEstimate:
    """An unbiased estimate of a classification risk.

    Unbiased means that it may be negative on a small sample; it is never clipped.

    Attributes
    ----------
    value : float
    standard_error : float
        Pairs count as units: the two members of a pair are not independent.

    Examples
    --------
    >>> import likewise as lw
    >>> float(lw.RiskEstimate(0.12, 0.02))
    0.12
    """

    value: float
    standard_error: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} (standard error {self.standard_error:.4f})"


def similar_loss(loss: str | Loss, z: ArrayLike, prior: float) -> FloatArray:
    """Return the paper's ``L_S(z) = (l(z, +1) - l(z, -1)) / (2 prior - 1)``.

    Examples
    --------
    >>> from likewise.su.risk import similar_loss
    >>> similar_loss("squared", [1.0, -1.0], 0.75).tolist()
    [-2.0, 2.0]
    """
    return get_loss(loss).odd(z) / (2.0 * check_prior(prior) - 1.0)


def unlabeled_loss(loss: str | Loss, z: ArrayLike, prior: float) -> FloatArray:
    """Return the paper's ``L_U(z) = (prior l(z, -1) - (1 - prior) l(z, +1)) / (2 prior - 1)``.

    Examples
    --------
    >>> from likewise.su.risk import unlabeled_loss
    >>> unlabeled_loss("squared", [1.0, -1.0], 0.75).tolist()
    [1.5, -0.5]
    """
    loss = get_loss(loss)
    weighted = prior * loss.value(z, -1) - (1.0 - prior) * loss.value(z, +1)
    return np.asarray(weighted / (2.0 * check_prior(prior) - 1.0))


def su_risk_of_decisions(
    left: ArrayLike,
    right: ArrayLike,
    unlabeled: ArrayLike,
    *,
    prior: float,
    loss: str | Loss = "zero_one",
    weight: float = 0.5,
    dissimilar: tuple[ArrayLike, ArrayLike] | None = None,
    rewrite: str | Rewrite = "auto",
) -> RiskEstimate:
    """Estimate the classification risk from decision values alone.

    With similar pairs and unlabeled rows this is the paper's SU risk; dissimilar pairs may stand
    in the place of similar ones, or beside them.

    Parameters
    ----------
    left, right : arrays of shape (n_similar,)
        Decision values of the two members of each similar pair.
    unlabeled : array of shape (n_unlabeled,)
        Decision values of the unlabeled rows.
    prior : float
        Share of class +1, not 0.5.
    loss : str or loss object, default "zero_one"
    weight : float, default 0.5
        Weight of the left member of a pair. Every weight gives an unbiased estimate; 1/2 has the
        least variance (see `similar_term_variance`) and is the paper's estimator.
    dissimilar : two arrays of shape (n_dissimilar,), optional
        Decision values of the two members of each dissimilar pair.
    rewrite : {"auto", "su", "du", "sd", "sdu"} or Rewrite, default "auto"
        Which kinds of rows the estimate is made of; "auto" takes all pairs, similar and dissimilar
        ones together with the weights of least variance.

    Returns
    -------
    RiskEstimate

    Examples
    --------
    >>> from likewise.su.risk import su_risk_of_decisions
    >>> print(su_risk_of_decisions([1, 1, -1], [1, 1, -1], [1, 1, 1, -1], prior=0.7))
    0.6417 (standard error 1.1511)
    """
    check_prior(prior)
    loss = get_loss(loss)
    given: dict[Part, tuple[ArrayLike, ArrayLike]] = {"similar": (left, right)}
    if dissimilar is not None:
        given["dissimilar"] = dissimilar
    passed = {part: pairs for part, pairs in given.items() if max(map(np.size, pairs))}
    chosen = choose_rewrite(rewrite, passed, "The risk")
    values = {part: _pair_values(*passed[part]) for part in chosen.parts}
    (unlabeled,) = _decision_values(unlabeled)
    odd = {
        part: weight * loss.odd(first) + (1.0 - weight) * loss.odd(second)
        for part, (first, second) in values.items()
    }
    spreads = Spreads(
        *(_variance_of_mean(terms) for terms in (loss.odd(unlabeled), *map(odd.get, PAIR_PARTS)))
    )
    weights = chosen.weights(prior, spreads)._asdict()
    rows = loss.even(unlabeled) + weights["unlabeled"] * loss.odd(unlabeled)
    return _estimate([rows, *(weights[part] * terms for part, terms in odd.items())])


def similar_term_variance(
    left: ArrayLike,
    right: ArrayLike,
    *,
    prior: float,
    loss: str | Loss = "zero_one",
    weight: ArrayLike = 0.5,
) -> FloatArray:
    """Estimate the variance of the similar term of the SU risk for each weight of the left member.

    With ``v`` the variance of one member's loss and ``k`` the covariance of the two, it is
    ``pi_s^2 / n * ((w^2 + (1 - w)^2) v + 2 w (1 - w) k)``: least at w = 1/2, since ``k <= v``.
    (The paper's proof takes the members of a pair for independent, ``k = 0``; they are independent
    only given their class. Its conclusion stands.)

    Parameters
    ----------
    left, right : arrays of shape (n_similar,)
    prior : float
    loss : str or loss object
    weight : float or array of weights

    Returns
    -------
    array of the shape of `weight`

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.su.risk import similar_term_variance
    >>> left, right = np.random.default_rng(0).normal(size=(2, 500))
    >>> at = similar_term_variance(left, right, prior=0.7, loss="squared", weight=[0.0, 0.5, 1.0])
    >>> int(at.argmin())
    1
    """
    left, right = _pair_values(left, right)
    first, second = (similar_loss(loss, z, prior) for z in (left, right))
    center = np.mean([first, second])
    # Members are exchangeable, so both columns estimate the one variance.
    variance = np.mean((np.concatenate([first, second]) - center) ** 2)
    covariance = np.mean((first - center) * (second - center))
    weight = np.asarray(weight, dtype=np.float64)
    mixed = (weight**2 + (1 - weight) ** 2) * variance + 2 * weight * (1 - weight) * covariance
    return np.asarray(similar_pair_share(prior) ** 2 * mixed / left.size)


def psd_risk(
    positive: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    dissimilar_left: ArrayLike,
    dissimilar_right: ArrayLike,
    *,
    prior: float,
    loss: str | Loss = "zero_one",
) -> RiskEstimate:
    """Estimate the risk from positive rows, similar pairs and dissimilar pairs (paper, appendix).

    It exists for every prior in (0, 1), one half included.

    Parameters
    ----------
    positive : array of shape (n_positive,)
        Decision values of rows known to be of class +1.
    left, right : arrays of shape (n_similar,)
    dissimilar_left, dissimilar_right : arrays of shape (n_dissimilar,)
    prior : float
    loss : str or loss object

    Returns
    -------
    RiskEstimate

    Examples
    --------
    >>> from likewise.su.risk import psd_risk
    >>> psd_risk([1.0, 2.0], [1.0, -1.0], [2.0, -1.0], [1.0], [-1.0], prior=0.5).value
    0.0
    """
    if not 0.0 < prior < 1.0:
        raise ValueError(f"prior must lie strictly between 0 and 1; got {prior!r}.")
    loss = get_loss(loss)
    (positive,) = _decision_values(positive)
    left, right = _pair_values(left, right)
    first, second = _pair_values(dissimilar_left, dissimilar_right)
    odds = prior / (2.0 * (1.0 - prior))
    plus = (loss.value(left, +1) + loss.value(right, +1)) / 2
    minus = (loss.value(left, -1) + loss.value(right, -1)) / 2
    # In a dissimilar pair either member may be the positive one: average both readings.
    mixed = (loss.even(first) + loss.even(second)) / 2
    similar = similar_pair_share(prior) * ((odds + 1.0) * minus - odds * plus)
    return _estimate([odds * loss.odd(positive), similar, 2 * prior * (1.0 - prior) * mixed])


def error_bound(
    n_similar: int,
    n_unlabeled: int,
    *,
    prior: float,
    lipschitz: float,
    complexity: float,
    loss_bound: float,
    delta: float = 0.05,
) -> float:
    """Return the paper's bound on the excess risk of the SU risk minimizer.

    With probability at least ``1 - delta``, the risk of the minimizer exceeds the best risk in the
    model class by at most ``C * (2 pi_s / sqrt(2 n_similar) + 1 / sqrt(n_unlabeled))`` with
    ``C = (4 lipschitz complexity + sqrt(2 loss_bound^2 log(4 / delta))) / |2 prior - 1|``.

    Parameters
    ----------
    n_similar, n_unlabeled : int
        Numbers of pairs and of unlabeled rows.
    prior : float
    lipschitz : float
        Lipschitz constant rho of the loss.
    complexity : float
        ``C_F``: the Rademacher complexity of the model class on n rows is at most ``C_F/sqrt(n)``.
    loss_bound : float
        ``C_l``: the largest loss at the largest decision value.
    delta : float

    Returns
    -------
    float

    Notes
    -----
    This is the theorem as printed. Its proof applies a two-sided deviation bound to two terms on
    each of two samples; a union bound over the four gives ``log(8 / delta)``.

    Examples
    --------
    >>> from likewise.su.risk import error_bound
    >>> known = dict(prior=0.7, lipschitz=1.0, complexity=1.0, loss_bound=1.0)
    >>> error_bound(400, 400, **known) / error_bound(100, 100, **known)
    0.5
    """
    if min(n_similar, n_unlabeled) < 1:
        raise ValueError("n_similar and n_unlabeled must be at least 1.")
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must lie strictly between 0 and 1; got {delta!r}.")
    constant = (4 * lipschitz * complexity + loss_bound * np.sqrt(2 * np.log(4 / delta))) / abs(
        2 * check_prior(prior) - 1
    )
    rate = 2 * similar_pair_share(prior) / np.sqrt(2 * n_similar) + 1 / np.sqrt(n_unlabeled)
    return float(constant * rate)


def zero_one_risk_of_shares(shares: Mapping[Part, ArrayLike], weights: Weights) -> FloatArray:
    """Return the zero-one risk from the shares of rows decided for class +1.

    It is ``1/2 - E[y sgn f] / 2``, and the expectation is a weighted sum of means.

    Parameters
    ----------
    shares : dict from part to array, all of one shape
        Share of unlabeled rows, and of members of each kind of pairs, with a decision value above
        zero.
    weights : Weights
        Of these means, as a rewrite gives them.

    Returns
    -------
    array of that shape
        Unbiased, so possibly negative: average before you read it.

    Examples
    --------
    >>> from likewise.su.rewrites import REWRITES
    >>> from likewise.su.risk import zero_one_risk_of_shares
    >>> weights = REWRITES["su"].weights(0.7)
    >>> round(float(zero_one_risk_of_shares({"similar": 0.8, "unlabeled": 0.7}, weights)), 3)
    0.13
    """
    signs = {part: 2.0 * np.asarray(share) - 1.0 for part, share in shares.items()}
    return 0.5 - weights.combine(signs["unlabeled"], signs.get("similar"), signs.get("dissimilar"))


def _variance_of_mean(terms: FloatArray | None) -> float:
    """Return the variance of a mean of independent terms; zero where there are none."""
    return 0.0 if terms is None else float(np.var(terms)) / terms.size


def _pair_values(left: ArrayLike, right: ArrayLike) -> list[FloatArray]:
    values = _decision_values(left, right)
    if values[0].size != values[1].size:
        raise ValueError(
            f"There are {values[0].size} left members but {values[1].size} right members of pairs."
        )
    return values


def _decision_values(*arrays: ArrayLike) -> list[FloatArray]:
    values = [np.asarray(array, dtype=np.float64) for array in arrays]
    for array in values:
        if array.ndim != 1 or array.size == 0:
            raise ValueError(
                f"Decision values must be non-empty vectors; got an array of shape {array.shape}."
            )
        if not np.isfinite(array).all():
            raise ValueError("Decision values must be finite; there is a NaN or an infinity.")
    return values


def _estimate(terms: list[NDArray[np.float64]]) -> RiskEstimate:
    """Sum the means of independent samples, with the standard error of the sum."""
    variance = sum(
        float(np.var(term, ddof=1)) / term.size if term.size > 1 else np.inf for term in terms
    )
    return RiskEstimate(float(sum(term.mean() for term in terms)), float(np.sqrt(variance)))
