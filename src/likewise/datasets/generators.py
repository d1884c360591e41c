"""Labeled tables drawn from known distributions, for examples and tests of known truth.

This module must not know of files, of pairs or of weak labels.
"""

from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likewise.datasets.arguments import RandomState, as_count, as_generator, as_prior

__all__ = ["make_gaussians", "make_waveform"]

_N_WAVE_FEATURES = 21
_WAVE_PEAKS = (7, 15, 11)
"""Where the base waves h1, h2, h3 are highest, counting features from 1."""
_WAVES_OF_CLASS = np.array([[0, 1], [0, 2], [1, 2]])
"""Which two base waves each class mixes."""


def make_waveform(
    n_samples: int = 5000,
    *,
    n_classes: Literal[2, 3] = 2,
    prior: float | None = None,
    random_state: RandomState = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""Draw rows from the waveform generator of Breiman et al. (1984).

    With triangular base waves :math:`h_k(i) = \max(6 - |i - c_k|, 0)`, :math:`i = 1, \dots, 21`,
    peaking at :math:`c = (7, 15, 11)`, a row is

    .. math:: x = u \, h_a + (1 - u) \, h_b + \varepsilon,
              \qquad u \sim U(0, 1), \quad \varepsilon \sim N(0, I),

    where class 0 mixes :math:`(h_1, h_2)`, class 1 :math:`(h_1, h_3)` and class 2
    :math:`(h_2, h_3)`. The benchmark of the SU paper is class 0 against the rest.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows.
    n_classes : {2, 3}, default=2
        2: labels are +1 for class 0 and -1 for classes 1 and 2. 3: labels are 0, 1, 2.
    prior : float, optional
        Probability of class 0, the positive class; classes 1 and 2 share the rest equally. By
        default the three classes are equally likely, so the share of positives is 1/3.
    random_state : int, RandomState or Generator, optional
        Source of randomness; by default every call gives another draw.

    Returns
    -------
    X : float64 array of shape (n_samples, 21)
    y : int64 array of shape (n_samples,)

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone, *Classification and Regression Trees*, 1984.

    Examples
    --------
    >>> from likewise.datasets import make_waveform
    >>> X, y = make_waveform(6, random_state=0)
    >>> X.shape, y
    ((6, 21), array([-1,  1,  1,  1, -1, -1]))
    """
    n_samples = as_count(n_samples, "n_samples", minimum=1)
    if n_classes not in (2, 3):
        raise ValueError(f"n_classes must be 2 or 3, got {n_classes!r}.")
    share = 1 / 3 if prior is None else as_prior(prior)
    rng = as_generator(random_state)

    classes = rng.choice(3, size=n_samples, p=[share, (1 - share) / 2, (1 - share) / 2])
    waves = _base_waves()
    first, second = _WAVES_OF_CLASS[classes].T
    mix = rng.random((n_samples, 1))
    X = mix * waves[first] + (1 - mix) * waves[second]
    X += rng.standard_normal(X.shape)
    if n_classes == 3:
        return X, classes.astype(np.int64)
    return X, np.where(classes == 0, 1, -1).astype(np.int64)


def _base_waves() -> NDArray[np.float64]:
    """Return h1, h2, h3 as an array of shape (3, 21)."""
    position = np.arange(1, _N_WAVE_FEATURES + 1)
    peaks = np.array(_WAVE_PEAKS)[:, np.newaxis]
    waves: NDArray[np.float64] = np.maximum(6.0 - np.abs(position - peaks), 0.0)
    return waves


def make_gaussians(
    n_samples: int = 1000,
    *,
    n_features: int = 2,
    separation: float = 2.0,
    prior: float = 0.7,
    random_state: RandomState = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    r"""Draw rows from two Gaussians with unit covariance.

    Class +1 has mean :math:`+\delta/2` and class -1 has mean :math:`-\delta/2` along the first
    feature, :math:`\delta` being `separation`; the other features are noise.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=2
        Number of features, of which only the first tells the classes apart.
    separation : float, default=2.0
        Distance of the two means, in standard deviations.
    prior : float, default=0.7
        Probability of class +1.
    random_state : int, RandomState or Generator, optional
        Source of randomness; by default every call gives another draw.

    Returns
    -------
    X : float64 array of shape (n_samples, n_features)
    y : int64 array of shape (n_samples,)
        Classes -1 and +1.

    Notes
    -----
    The best classifier predicts +1 where the first feature exceeds
    :math:`t = \log((1 - \pi) / \pi) / \delta`, with :math:`\pi` the prior. Its error, the Bayes
    error, is

    .. math:: \pi \, \Phi(t - \delta/2) + (1 - \pi) \, \Phi(-t - \delta/2),

    which is :math:`\Phi(-\delta/2)` for equal priors: 15.9% for the default separation. With
    the default prior of 0.7 it is 13.9%.

    Examples
    --------
    >>> from likewise.datasets import make_gaussians
    >>> X, y = make_gaussians(1000, random_state=0)
    >>> X.shape, float((y == 1).mean())
    ((1000, 2), 0.678)
    """
    n_samples = as_count(n_samples, "n_samples", minimum=1)
    n_features = as_count(n_features, "n_features", minimum=1)
    prior = as_prior(prior)
    if not (isfinite(separation) and separation >= 0):
        raise ValueError(f"separation must be finite and not negative, got {separation}.")
    rng = as_generator(random_state)

    y = np.where(rng.random(n_samples) < prior, 1, -1).astype(np.int64)
    X = rng.standard_normal((n_samples, n_features))
    X[:, 0] += y * (separation / 2)
    return X, y
