"""The pair likelihood: how well scores explain that the members of similar pairs agree.

With ``eta = sigmoid(z)`` the chance of class +1, the density of a similar pair against that of two
independent rows is ``(eta eta' + (1 - eta)(1 - eta')) / (q^2 + (1 - q)^2)``, ``q`` the mean of eta
over unlabeled rows. Its mean logarithm is zero for a constant eta and, at its best, the nats of
information that a pair carries. Everything here works on scores; models are not known.
"""

import numpy as np
from scipy.special import expit

from likewise.losses import FloatArray


def negative_log_likelihood(left: FloatArray, right: FloatArray, unlabeled: FloatArray) -> float:
    """Return the mean negative log-likelihood of similar pairs, in nats per pair.

    Parameters
    ----------
    left, right : arrays of shape (n_similar,)
        Scores (log-odds of class +1) of the members of the pairs.
    unlabeled : array of shape (n_unlabeled,)

    Returns
    -------
    float
        Below zero if the scores know something of the classes.
    """
    return float(_pair_terms(left, right).mean() + np.log(_agreement(expit(unlabeled).mean())))


def expand(
    left: FloatArray, right: FloatArray, unlabeled: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Return the mean negative log-likelihood and its derivatives in the three kinds of scores."""
    share = expit(unlabeled)
    q = float(share.mean())
    value = float(_pair_terms(left, right).mean() + np.log(_agreement(q)))
    both_positive = expit(left + right)
    of_left = (expit(left) - both_positive) / left.size
    of_right = (expit(right) - both_positive) / left.size
    of_unlabeled = (4 * q - 2) / _agreement(q) * share * expit(-unlabeled) / unlabeled.size
    return value, of_left, of_right, of_unlabeled


def _agreement(q: float) -> float:
    return q**2 + (1.0 - q) ** 2


def _pair_terms(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``-log(eta eta' + (1 - eta)(1 - eta'))``, in log space."""
    # The bracket is (1 + exp(z + z')) / ((1 + exp z)(1 + exp z')).
    return np.asarray(
        np.logaddexp(0.0, left) + np.logaddexp(0.0, right) - np.logaddexp(0.0, left + right)
    )
