"""The class prior from the pair likelihood: the most accurate of the estimators here.

Class scores are learned from pairs, every row is scored by a model that did not see it, and a
scale and an offset are fitted to those scores by the same likelihood. The prior is the mean chance
of the larger class over rows; how well every value explains the pairs gives the interval.
"""

from typing import Any

from likewise.engines.rows import RowSets
from likewise.prior.base import PriorEstimate
from likewise.prior.scores import HeldOut, ScoredPrior
from likewise.search.calibration import CROSS_FITTED, calibrate
from likewise.search.learn import Learned
from likewise.statements.labels import locate_pairs

__all__ = ["PairLikelihoodPrior"]


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
        ``information`` (nats per held-out pair), ``features``, ``alpha`` (None if the score is a
        sum over several kinds of features), ``n_pairs``, ``n_rows``, and ``notes``.
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

    def _locate(self, y: Any, n_rows: int) -> RowSets:
        return locate_pairs(y, n_rows, type(self).__name__)

    def read_off(self, learned: Learned, others: HeldOut | None) -> PriorEstimate:
        """Return the prior that scores tell; see `ScoredPrior`."""
        if others is None:
            scores, counts = learned.candidate.scores[:, 0], learned.counts
            power = CROSS_FITTED * learned.freshness
        else:
            scores, counts, power = others.scores(learned), others.sample.counts, 1.0
        found = calibrate(scores, counts, power=power)
        # Without a signal, what chance made of the scores says nothing of the classes.
        interval = found.interval(self.level) if learned.has_signal else (0.5, 1.0)
        return PriorEstimate(
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


def _notes(learned: Learned, interval: tuple[float, float]) -> list[str]:
    notes = []
    if not learned.has_signal:
        notes.append("the pairs show no signal: their members are not alike in these features")
    if interval[0] <= 0.5:
        notes.append("the interval reaches one half")
    return notes
