"""How many classes there are: held-out statements by models with more of them, or fewer.

All models see the same features and the same folds. Their evidence is the log-probability of what
was said about each fold, given all else, by a model that did not see the fold. Unlike that of
`likewise.search.crossfit` it is not relative to a model without features, which is another one for
every number of classes.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import FeatureUnion
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise._verbose import step
from likewise.beliefs.base import HeldOut, Likelihood, log_probabilities
from likewise.scores.design import Design
from likewise.scores.maps import FeatureMap
from likewise.search.climb import Climbed, climb, climb_path
from likewise.search.learn import Learned
from likewise.search.rows import Some
from likewise.search.sample import Sample
from likewise.search.settings import Settings

__all__ = ["ClassCount", "compare_counts", "is_one_more_likely", "look_for_more"]

_MOST_ROWS = 4000
"""Rows and statements that numbers of classes are compared on at most, where there are twice as
many."""
_FEW_PAIRS = 500
"""With fewer, models of folds begin on their own: from the model of all rows they would inherit
classes that noise made of the fold."""
_PATIENCE = 2
"""Numbers of classes to go on for after the evidence began to fall."""
_STEPS = (3.0, 1.0, 0.3)
"""Penalties to try, in units of the one that was chosen."""
_SLIGHT = 1.0
"""Nats, of all statements together, that never speak for one more class: odds of e to 1."""
_SURE = 3.0
"""Standard errors by which one more class must explain held-out statements better. They come from
five folds as a rule: a t-value of three turns up in one of fifty samples."""
_ODDS = 20.0
"""Odds against noise, too, that speak for one more class."""
_WORTH = 0.1
"""Share of what a statement can tell of two classes (log 2) that one more class must add to it. A
small gain may only show that the boundary is not quite what the model takes it for."""


@dataclass(frozen=True, eq=False)
class ClassCount:
    """Held-out evidence for numbers of classes.

    Attributes
    ----------
    counts : tuple of int
        Numbers of classes, increasing.
    evidence : array of shape (n_counts, n_folds)
        Log-probability of what was said about each fold, in nats.
    n_judged : float
        Statements that it is of, all folds together.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.search.class_count import ClassCount
    >>> evidence = np.array([[-9.0, -8.0], [-4.0, -5.0], [-4.1, -4.7]])
    >>> found = ClassCount((2, 3, 4), evidence, 20.0)
    >>> found.best, found.chosen
    (4, 3)
    >>> print(found)
    classes  held-out nats     s.e.
          2        -0.4000   0.0800
          3         0.0000   0.0200  <- chosen
          4         0.0100   0.0000
    (per statement, less 3 classes; s.e. of the difference to the best)
    """

    counts: tuple[int, ...]
    evidence: FloatArray
    n_judged: float

    @property
    def best(self) -> int:
        """The number with the most evidence."""
        return self.counts[int(np.argmax(self.evidence.sum(axis=1)))]

    @property
    def chosen(self) -> int:
        """The smallest number whose evidence is within one standard error of the best, or one nat.

        The standard error is that of the difference, fold by fold: folds that differ by next to
        nothing can agree on it.
        """
        totals, errors = self.evidence.sum(axis=1), self._errors()
        near = totals + np.maximum(errors, _SLIGHT) >= totals.max()
        return self.counts[int(np.argmax(near))]

    def gain(self, more: int, fewer: int) -> tuple[float, float]:
        """Return by how many nats one number explains all statements better, and its error."""
        first, second = (self.counts.index(count) for count in (more, fewer))
        apart = self.evidence[first] - self.evidence[second]
        return float(apart.sum()), _error(apart)

    def _errors(self) -> FloatArray:
        best = self.evidence[int(np.argmax(self.evidence.sum(axis=1)))]
        return np.array([_error(one - best) for one in self.evidence])

    def __str__(self) -> str:
        means = self.evidence.sum(axis=1) / self.n_judged
        means = means - means[self.counts.index(self.chosen)]
        lines = [f"{'classes':>7}{'held-out nats':>15}{'s.e.':>9}"]
        for count, mean, error in zip(self.counts, means, self._errors(), strict=True):
            mark = "  <- chosen" if count == self.chosen else ""
            lines.append(f"{count:>7}{mean:>15.4f}{error / self.n_judged:>9.4f}{mark}")
        foot = f"(per statement, less {self.chosen} classes; s.e. of the difference to the best)"
        return "\n".join([*lines, foot])

    def to_dict(self) -> dict[str, Any]:
        """Return the table, ready for JSON."""
        return {
            "counts": list(self.counts),
            "evidence": (self.evidence.sum(axis=1) / self.n_judged).tolist(),
            "chosen": self.chosen,
        }


def _error(apart: FloatArray) -> float:
    """Return the standard error of a sum over folds."""
    return float(apart.std(ddof=1) * math.sqrt(apart.size)) if apart.size > 1 else math.inf


def compare_counts(
    learned: Learned,
    settings: Settings,
    counts: Iterable[int],
    random_state: np.random.RandomState,
    known: NDArray[np.intp] | None = None,
) -> ClassCount:
    """Compare numbers of classes, until the evidence falls.

    Parameters
    ----------
    learned : Learned
        Its features, penalty and folds are used for all numbers; of a sum, those of its best part.
    settings : Settings
        How statements came about.
    counts : iterable of int
        Numbers of classes to try, increasing.
    random_state : RandomState
    known : integer array of shape (n_rows,), optional
        Classes of the rows of ``learned.some``.

    Returns
    -------
    ClassCount
    """
    compared = _Compared.read(learned, settings, random_state, known)
    tried: list[int] = []
    evidence: list[FloatArray] = []
    n_judged = 1.0
    with threadpool_limits(1, user_api="blas"):
        for count in counts:
            found, n_judged = compared.evidence(count)
            tried.append(count)
            evidence.append(found)
            totals = [float(one.sum()) for one in evidence]
            step(f"{count} classes tried: {totals[-1] / max(n_judged, 1.0):.4f} nats per statement")
            if int(np.argmax(totals)) < len(totals) - _PATIENCE:
                break
    return ClassCount(tuple(tried), np.array(evidence), max(n_judged, 1.0))


def look_for_more(
    learned: Learned, settings: Settings, random_state: np.random.RandomState
) -> ClassCount | None:
    """Compare the number of classes with one more, if that explains the statements better at all.

    Parameters
    ----------
    learned, settings, random_state
        As in `compare_counts`.

    Returns
    -------
    ClassCount or None
        None where statements say nothing of two classes, let alone more; and where one more class
        gains too little even on the statements that it is learned from: then held-out ones, which
        take five times as long, need not be asked.
    """
    if not learned.has_signal:
        return None
    compared, count = _Compared.read(learned, settings, random_state), settings.n_classes
    with threadpool_limits(1, user_api="blas"):
        fewer, more = (compared.objective(one) for one in (count, count + 1))
    if more - fewer < _least_gain(compared.likelihood(count).size):
        return None
    return compare_counts(learned, settings, (count, count + 1), random_state)


def is_one_more_likely(found: ClassCount, n_classes: int) -> bool:
    """Tell whether held-out statements clearly speak for one class more than there are.

    Parameters
    ----------
    found : ClassCount
        Of this number of classes and the next.
    n_classes : int
    """
    gain, error = found.gain(n_classes + 1, n_classes)
    return gain > max(_SURE * error, _least_gain(found.n_judged))


def _least_gain(n_statements: float) -> float:
    """Return the nats that one more class must gain, whatever their standard error."""
    return max(math.log(_ODDS), _WORTH * math.log(2.0) * n_statements)


def _one_map(learned: Learned, rows: Any) -> tuple[Design, float]:
    """Return the design of one kind of features, and the penalty that was best for it."""
    if learned.candidate.alpha is not None:
        return learned.features.design(rows), learned.candidate.alpha
    singles = [row for row in learned.selection.rows if row.alpha is not None]
    best = max(singles, key=lambda row: row.information)
    assert isinstance(learned.features.transformer, FeatureUnion)  # noqa: S101 - it is a sum
    parts = dict(learned.features.transformer.transformer_list)
    best = (
        best
        if best.features in parts
        else max((row for row in singles if row.features in parts), key=lambda row: row.information)
    )
    transformer = parts[best.features]
    transformer = None if isinstance(transformer, str) else transformer
    assert best.alpha is not None  # noqa: S101 - of a single kind
    return FeatureMap.fit(best.features, transformer, rows)[1], best.alpha


@dataclass(frozen=True)
class _Compared:
    """Rows, folds and features that numbers of classes are compared by."""

    some: Some
    folds: NDArray[np.intp]
    design: Design
    alpha: float
    settings: Settings
    random_state: np.random.RandomState
    known: NDArray[np.intp] | None

    @classmethod
    def read(
        cls,
        learned: Learned,
        settings: Settings,
        random_state: np.random.RandomState,
        known: NDArray[np.intp] | None = None,
    ) -> "_Compared":
        """Take what a model was judged on, or part of it."""
        some, folds = learned.some, learned.folds
        some = Some(some.rows, some.statements, None, some.is_whole)
        some = some.thinned(_MOST_ROWS, keeps_rows=settings.pairing == "asked")
        if some.numbers is not None:
            folds = folds[some.numbers]
            known = None if known is None else known[some.numbers]
        design, alpha = _one_map(learned, some.rows)
        return cls(some, folds, design, alpha, settings, random_state, known)

    def likelihood(self, count: int) -> Likelihood:
        """Return the likelihood of the statements by so many classes."""
        return replace(self.settings, n_classes=count).likelihood(self.some.statements, self.known)

    def objective(self, count: int) -> float:
        """Return the penalized log-likelihood that so many classes reach, in nats."""
        likelihood = self.likelihood(count)
        found = list(self._path(Sample(self.design, likelihood), self._alphas(count)[:2]))
        return -found[-1].objective * likelihood.size

    def evidence(self, count: int) -> tuple[FloatArray, float]:
        """Return the log-probability of each fold's statements, and of how many these are.

        Of several penalties, those of the best: every number of classes wants its own.
        """
        likelihood, alphas = self.likelihood(count), self._alphas(count)
        starts: Sequence[FloatArray | None] = [None] * len(alphas)
        if likelihood.size >= _FEW_PAIRS:
            path = self._path(Sample(self.design, likelihood), alphas)
            starts = [found.weights for found in path]
        parts = [likelihood.leave_out(self.folds == fold) for fold in np.unique(self.folds)]
        usable = [part for part in parts if part.likelihood.links.left.size]
        found = np.array([self._of_fold(likelihood, part, alphas, starts) for part in usable])
        if not usable:
            return np.zeros(1), 0.0
        best = int(np.argmax(found.sum(axis=0)))
        return found[:, best], sum(part.n_judged for part in usable)

    def _alphas(self, count: int) -> list[float]:
        """Return falling penalties, the second of them as strong as the one that was chosen.

        Two classes have one score and more have one each: the same odds cost half as much then.
        """
        is_two = self.settings.n_classes == 2
        factor = 1.0 if (count == 2) == is_two else 2.0 if is_two else 0.5
        return [step * factor * self.alpha for step in _STEPS]

    def _of_fold(
        self,
        likelihood: Likelihood,
        part: HeldOut,
        alphas: Sequence[float],
        starts: Sequence[FloatArray | None],
    ) -> list[float]:
        """Return the log-probability of a fold's statements at each penalty."""
        train = Sample(self.design.take(part.train), part.likelihood)
        path = (
            self._path(train, alphas)
            if starts[0] is None
            else (climb(train, a, w) for a, w in zip(alphas, starts, strict=True) if w is not None)
        )
        found = []
        for own in path:
            log_p = log_probabilities(self.design.decide(own.weights))
            whole = likelihood.held(own.beliefs).evaluate(log_p)
            seen = part.likelihood.held(own.beliefs).evaluate(log_p[part.train])
            is_settled = whole.converged and seen.converged
            found.append(whole.value - seen.value if is_settled else -np.inf)
        return found

    def _path(self, sample: Sample, alphas: Sequence[float]) -> Iterator[Climbed]:
        return climb_path(sample, alphas, self.random_state)
