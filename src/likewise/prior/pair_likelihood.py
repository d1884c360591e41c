"""The class prior from the pair likelihood: the most accurate of the estimators here.

Class scores are learned from pairs, every row is scored by a model that did not see it, and a
scale and an offset are fitted to those scores by the same likelihood. The prior is the mean
probability of the majority class over rows; how well every value explains the pairs gives the
interval.
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from likewise._sklearn import Interval, StrOptions
from likewise.beliefs.fresh import FreshLikelihood
from likewise.engines.rows import count_positions
from likewise.prior.base import PriorEstimate
from likewise.prior.scores import HeldOut, ScoredPrior
from likewise.search.calibration import calibrate, of_majority
from likewise.search.fitted import Calibrated, calibrated
from likewise.search.learn import Learned
from likewise.search.settings import Settings, check_pairing
from likewise.statements.statements import Statements

__all__ = ["PairLikelihoodPrior"]


class PairLikelihoodPrior(ScoredPrior):
    """Share of the majority class from pairs and unlabeled rows, by the pair likelihood.

    Parameters
    ----------
    n_classes : int, default 2
    pairing : {"auto", "asked", "random", "free"}, default "auto"
        How statements came about, as in `likewise.PairClassifier`; "auto" does not test for free
        pair shares.
    error_rate : "auto" or float, default 0.0
        Probability that a statement about one table is wrong.
    level : float in (0, 1), default 0.95
        Level of the interval.
    verbose : bool or int, default 0
        Whether to print a line on every step.
    random_state : int, RandomState instance or None, default None
        Deals out folds and picks landmarks and starting points.

    Attributes
    ----------
    estimate_ : PriorEstimate
        Of the majority class. Its value is the posterior mean under a flat prior, its interval the
        narrowest that holds `level` of the posterior; near 1/2 it starts at 1/2. For more than two
        classes both are arrays, classes by size. ``diagnostics``:
        ``information`` (nats per held-out pair), ``features``, ``alpha`` (None if the score is a
        sum over several kinds of features), ``n_pairs``, ``n_rows``, and ``notes``.
    prior_ : float, or array of shape (n_classes,)
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoredPrior._parameter_constraints,
        "n_classes": [Interval(Integral, 2, None, closed="left")],
        "pairing": [StrOptions({"auto", "asked", "random", "free"})],
        "error_rate": [StrOptions({"auto"}), Interval(Real, 0.0, 0.5, closed="left")],
    }

    def __init__(
        self,
        n_classes: int = 2,
        *,
        pairing: str = "auto",
        error_rate: float | str = 0.0,
        level: float = 0.95,
        verbose: bool | int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(level=level, verbose=verbose, random_state=random_state)
        self.n_classes = n_classes
        self.pairing = pairing
        self.error_rate = error_rate

    def _settings(self, statements: Statements | None) -> Settings:
        is_fresh = statements is None or statements.is_fresh
        check_pairing(self.pairing, self.error_rate, is_fresh=is_fresh)
        settings = super()._settings(statements)
        return replace(
            settings,
            n_classes=self.n_classes,
            pairing=settings.pairing if self.pairing == "auto" else self.pairing,
            error_rate=None if self.error_rate == "auto" else float(self.error_rate),
        )

    def read_off(self, learned: Learned, others: HeldOut | None) -> PriorEstimate:
        """Return the class prior that given scores imply; see `ScoredPrior`."""
        value: Any
        interval: Any
        if others is not None and self.n_classes == 2:
            pairing = "free" if self.pairing == "free" else "random"
            likelihood: Any = FreshLikelihood(others.sample.statements, 2, pairing)
            found = calibrate(others.scores(learned), likelihood)
            value, interval = found.share, of_majority(*found.interval(self.level))
            if not learned.has_signal:
                interval = (0.5, 1.0)
        else:
            likelihood = learned.likelihood
            shares = calibrated(learned, self.level)
            value, interval = _read(shares)
        return PriorEstimate(
            value=value,
            interval=interval,
            level=self.level,
            method="pair_likelihood",
            diagnostics={
                "information": learned.candidate.information,
                "features": learned.features.name,
                "alpha": learned.candidate.alpha,
                "n_pairs": likelihood.statements.count,
                "n_rows": count_positions(likelihood.population),
                "notes": _notes(learned, interval),
            },
        )


def _read(found: Calibrated) -> tuple[Any, Any]:
    """Return the share of the majority class; of more than two, those of all, by size."""
    if found.shares.size == 2:
        low, high = map(float, found.intervals[1])
        return float(found.shares[1]), of_majority(low, high)
    order = np.argsort(-found.shares, kind="stable")
    return found.shares[order], found.intervals[order]


def _notes(learned: Learned, interval: Any) -> list[str]:
    notes = []
    if not learned.has_signal:
        notes.append("the pairs show no signal: their members are not alike in these features")
    if np.ndim(interval) == 1 and interval[0] <= 0.5:
        notes.append("the interval reaches one half")
    return notes
