"""Scores for prior estimators: learned on some of the rows where there are many, used on the rest.

Learning needs a few thousand pairs and rows; the others are then held out. With fewer rows, all
are for learning, and their scores are cross-fitted. Rows are in memory or behind an engine.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from likewise._sklearn import Interval, _fit_context
from likewise._types import FloatArray
from likewise._verbose import tells
from likewise.beliefs.expansion import Counts
from likewise.engines import Block, Engine, PairSource, Part, open_engine
from likewise.engines.base import Sums
from likewise.engines.rows import is_sparse
from likewise.engines.source import refuse_labels
from likewise.prior.base import PriorEstimate
from likewise.scores.features import check_magnitude
from likewise.scores.maps import feature_maps
from likewise.search.learn import Learned, learn
from likewise.search.rows import (
    EngineRows,
    MemoryRows,
    Some,
    SourceRows,
    counts_of,
    spacing,
)
from likewise.search.settings import Settings, default_pairing
from likewise.statements.labels import WeakLabels, statements_for
from likewise.statements.statements import Statements
from likewise.statements.weights import refuse_weights, weigh

__all__ = ["HeldOut", "ScoredPrior", "learn_scores"]

_LEARNING_SIZE = 3000
"""Pairs and rows that scores are learned from at most, where there are twice as many."""
_SAMPLE_SIZE = 23_000
"""Pairs and rows that are brought into memory; those not learned from fix the prior to 0.003."""
_N_FOLDS = 5
_QUICK_SIZE = 1000
_QUICK_FOLDS, _QUICK_ALPHAS = 3, (0.2, 0.02, 0.002)
"""How scores are learned where any that tells the classes apart will do."""


class ScoredPrior(BaseEstimator):
    """A prior estimator over learned scores: its parameters, and how it reads rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "level": [Interval(Real, 0.0, 1.0, closed="neither")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    _is_quick: ClassVar[bool] = False
    """Whether, with many rows held out, any score that shows a signal will do."""

    def __init__(
        self, *, level: float = 0.95, verbose: bool | int = 0, random_state: Any = None
    ) -> None:
        self.level = level
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @tells
    def fit(self, X: Any, y: WeakLabels | None = None, *, sample_weight: Any = None) -> Self:
        """Estimate the prior from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), or PairSource
        y : integer array of shape (n_rows,), or CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them, with at least ten statements and ten rows;
            none for a `PairSource`.
        sample_weight : array of shape (n_rows,), optional
            How many rows of the population each row stands for, as in `likewise.PairClassifier`.

        Returns
        -------
        self
        """
        source = self._read(X, y, sample_weight).counted
        random_state = check_random_state(self.random_state)
        statements = source.whole.statements if isinstance(source, MemoryRows) else None
        settings = self._settings(statements)
        learned, others = learn_scores(source, settings, random_state, is_quick=self._is_quick)
        self.estimate_ = self.read_off(learned, others)
        self.prior_ = self.estimate_.value
        return self

    def _read(self, X: Any, y: WeakLabels | None, sample_weight: Any) -> SourceRows:
        if isinstance(X, PairSource):
            refuse_labels(y)
            refuse_weights(sample_weight)
            return EngineRows(open_engine(X))
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        check_magnitude(X)
        statements = self._statements(y, X.shape[0])
        return MemoryRows(X, weigh(statements, sample_weight, type(self).__name__))

    def _statements(self, y: WeakLabels | None, n_rows: int) -> Statements:
        """Check weak labels."""
        return statements_for(y, n_rows, type(self).__name__)

    def _settings(self, statements: Statements | None) -> Settings:
        """Return how scores are learned; of a `PairSource` there are no statements to look at."""
        pairing = "random" if statements is None else default_pairing(statements)
        return Settings(_N_FOLDS, pairing=pairing)

    @abstractmethod
    def read_off(self, learned: Learned, others: "HeldOut | None") -> PriorEstimate:
        """Return the class prior that given scores imply.

        Parameters
        ----------
        learned : Learned
        others : HeldOut or None
            As `learn_scores` returns them.

        Returns
        -------
        PriorEstimate
        """


@dataclass(frozen=True)
class HeldOut:
    """Rows that no score was learned from.

    Attributes
    ----------
    sample : Some
        Some of them, in memory.
    engine : Engine
        All rows; those at multiples of a stride were learned from.
    strides : dict from part to int
    """

    sample: Some
    engine: Engine
    strides: dict[Part, int]

    def sum_over(self, part: Part, kernel: Callable[..., Sums]) -> Sums:
        """Add up a function of tables, one for each member of a pair, over all held-out rows."""
        stride = self.strides[part]

        def over_block(block: Block) -> Sums:
            # Taking off what was learned from spares a copy of all the rest.
            learned_from = slice(-block.start % stride, None, stride)
            some = kernel(*(table[learned_from] for table in block.tables))
            return tuple(a - b for a, b in zip(kernel(*block.tables), some, strict=True))

        return self.engine.map_reduce(part, over_block)

    def scores(self, learned: Learned) -> FloatArray:
        """Return the scores of the sample for the majority class."""
        return learned.scores(self.sample.rows)[:, 0]


def learn_scores(
    source: SourceRows,
    settings: Settings,
    random_state: np.random.RandomState,
    *,
    is_quick: bool = False,
) -> tuple[Learned, HeldOut | None]:
    """Learn scores, and return them with the rows they were not learned from.

    Parameters
    ----------
    source : SourceRows
    settings : Settings
    random_state : RandomState
    is_quick : bool
        With rows to hold out, take the first feature map whose scores show a signal.

    Returns
    -------
    learned : Learned
    others : HeldOut or None
        None if all rows were learned from: there are few, or they are one table.
    """
    sample = source.sample(_SAMPLE_SIZE, keeps_rows=settings.pairing == "asked")
    n_pairs = sample.statements.count
    n_rows = sample.statements.n_rows
    if sample.statements.is_fresh:
        n_rows = counts_of(sample.statements).unlabeled
    if min(n_pairs, n_rows) < 2 * _N_FOLDS:
        raise ValueError(
            f"Estimating the prior needs at least {2 * _N_FOLDS} pairs and unlabeled rows, but "
            f"there are {n_pairs} pairs and {n_rows} rows: pass prior=... instead."
        )
    maps = feature_maps(
        "auto", sample.rows.shape[1], random_state, is_sparse_table=is_sparse(sample.rows)
    )
    some, others = _split(source, sample)
    if others is None:
        return learn(source, maps, settings, random_state), None
    if is_quick:
        return _learn_quickly(some, maps, settings, random_state), others
    return learn(MemoryRows(some.rows, some.statements), maps, settings, random_state), others


def _learn_quickly(
    some: Some,
    maps: Sequence[tuple[str, Any]],
    settings: Settings,
    random_state: np.random.RandomState,
) -> Learned:
    few = some.thinned(_QUICK_SIZE, keeps_rows=False)
    quick = replace(settings, cv=_QUICK_FOLDS, alphas=_QUICK_ALPHAS)
    found = []
    for one in maps:
        found.append(learn(MemoryRows(few.rows, few.statements), [one], quick, random_state))
        if found[-1].has_signal:
            return found[-1]
    return max(found, key=lambda learned: learned.candidate.information)


def _split(source: SourceRows, sample: Some) -> tuple[Some, HeldOut | None]:
    """Return learning rows and held-out rows; with few rows all are for learning."""
    engine = source.engine
    if engine is None or not sample.statements.is_fresh:
        return sample, None
    counts = counts_of(sample.statements)
    if max(counts) <= 2 * _LEARNING_SIZE:
        return sample, None
    strides = [max(2, -(-count // _LEARNING_SIZE)) for count in counts]
    whole = Counts(engine.count("unlabeled"), engine.count("similar"))
    apart = spacing(whole, _SAMPLE_SIZE)
    among_all: dict[Part, int] = {
        "unlabeled": strides[0] * apart[0],
        "similar": strides[1] * apart[1],
    }
    learning, held_out = sample.split(strides)
    return learning, HeldOut(held_out, engine, among_all)
