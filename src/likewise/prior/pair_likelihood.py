"""The class prior from the pair likelihood: the most accurate of the estimators here.

Class scores are learned from pairs, every row is scored by a model that did not see it, and a
scale and an offset are fitted to those scores by the same likelihood. The prior is the mean chance
of the larger class over rows; how well every value explains the pairs gives the interval.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from likewise.learner.calibration import calibrate
from likewise.learner.learn import Learned
from likewise.pairs import locate_pairs
from likewise.prior.base import PriorEstimate
from likewise.prior.scores import ScoredPrior, learn_scores

__all__ = ["PairLikelihoodPrior"]

_MOST = 20_000
"""Held-out pairs and rows that the prior is read off at most: it is then known to 0.003."""


class PairLikelihoodPrior(ScoredPrior):
    """Share of the larger class from pairs and unlabeled rows, by the pair likelihood.

    Parameters
    ----------
    level : float in (0, 1), default 0.95
        Level of the interval.
    random_state : int, RandomState instance or None, default None
        Deals out folds and picks landmarks and starting points.

    Attributes
    ----------
    estimate_ : PriorEstimate
        Its value is the posterior mean under a flat prior on [1/2, 1], its interval the narrowest
        that holds `level` of the posterior; near 1/2 it touches 1/2. ``diagnostics``:
        ``information`` (nats per held-out pair), ``features``, ``alpha``, ``n_pairs``, ``n_rows``,
        and ``notes``.
    prior_ : float
        The estimate's value.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(6000, separation=3, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, prior=0.8, random_state=0)
    >>> estimate = lw.prior.PairLikelihoodPrior(random_state=0).fit(*sample.pack()).estimate_
    >>> abs(estimate.value - 0.8) < 0.05
    True
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Estimate the prior from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
        y : integer array of shape (n_rows,)
            Weak labels as `likewise.pack` makes them, with at least ten pairs and ten unlabeled
            rows.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        rows = locate_pairs(y, X.shape[0], type(self).__name__)
        learned, others = learn_scores(X, rows, check_random_state(self.random_state))
        if others is None:
            scores, counts = learned.candidate.scores[:, 0], learned.counts
        else:
            some = others.first(_MOST)
            scores, counts = some.scores(learned), some.counts
        found = calibrate(scores, counts)
        # Without a signal, what chance made of the scores says nothing of the classes.
        interval = found.interval(self.level) if learned.has_signal else (0.5, 1.0)
        self.estimate_ = PriorEstimate(
            value=found.share,
            interval=interval,
            level=self.level,
            method="pair_likelihood",
            diagnostics={
                "information": learned.candidate.information,
                "features": learned.features.name,
                "alpha": learned.candidate.alpha,
                "n_pairs": counts.pairs,
                "n_rows": counts.unlabeled,
                "notes": _notes(learned, interval),
            },
        )
        self.prior_ = self.estimate_.value
        return self


def _notes(learned: Learned, interval: tuple[float, float]) -> list[str]:
    notes = []
    if not learned.has_signal:
        notes.append("the pairs show no signal: their members are not alike in these features")
    if interval[0] <= 0.5:
        notes.append("the interval reaches one half")
    return notes
