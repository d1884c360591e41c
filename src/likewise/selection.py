"""Model selection without labels: pair-preserving folds, the SU risk as a score, fast CV.

What it selects is not known here: a classifier is anything with a decision function.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from likewise.engines.base import Block, Engine, Kernel, Part, Sums
from likewise.engines.kernels import (
    column_sums,
    column_sums_in_turn,
    count_positive,
    count_positive_in_turn,
    gram,
    grams_in_turn,
)
from likewise.likelihood import Counts, expand, log_probabilities
from likewise.losses import FloatArray, Loss
from likewise.objective import Means, Summary
from likewise.pairs import (
    Positions,
    RowSets,
    as_slice,
    count_positions,
    locate,
    locate_pairs,
    take_rows,
)
from likewise.risk import RiskEstimate, su_risk_of_decisions, zero_one_risk_of_shares
from likewise.solvers import ridge_weights

_COUNTED_ROWS = 1 << 24
"""So many rows tell a share of decisions to about 0.0001, less than what pairs leave uncertain."""

__all__ = [
    "PairKFold",
    "pair_log_likelihood",
    "pair_log_likelihood_scorer",
    "su_risk",
    "su_risk_scorer",
]


class PairKFold(BaseCrossValidator):
    """K folds over weak labels that never tear a pair apart.

    Similar pairs, dissimilar pairs and unlabeled rows are dealt out in turn, each kind evenly over
    the folds: the i-th pair goes to fold ``i % n_splits``, so that rows sorted by anything are
    spread over all folds.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default False
        Deal out in random order.
    random_state : int, RandomState instance or None
        Used when `shuffle` is true.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> y = np.array([1, 2, 0, 0, 2, 1])
    >>> for train, test in lw.PairKFold(2).split(np.zeros((6, 1)), y):
    ...     print(y[train], y[test])
    [2 0 2] [1 0 1]
    [1 0 1] [2 0 2]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        if int(n_splits) != n_splits or n_splits < 2:
            raise ValueError(f"n_splits must be a whole number of at least 2; got {n_splits!r}.")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def assign(self, y: ArrayLike) -> NDArray[np.intp]:
        """Return the fold of every row, shape (n_rows,)."""
        return self.deal(locate(y), np.shape(y)[0])

    def deal(self, rows: RowSets, n_rows: int) -> NDArray[np.intp]:
        """Return the fold of every row, given where each kind of row stands."""
        self._check_enough(rows)
        random = check_random_state(self.random_state) if self.shuffle else None
        folds = np.empty(n_rows, dtype=np.intp)
        for members in (
            (rows.unlabeled,),
            (rows.left, rows.right),
            (rows.dissimilar_left, rows.dissimilar_right),
        ):
            deal = np.arange(count_positions(members[0])) % self.n_splits
            if random is not None:
                random.shuffle(deal)
            for positions in members:
                folds[positions] = deal
        return folds

    def _check_enough(self, rows: RowSets) -> None:
        for name, positions in (
            ("unlabeled rows", rows.unlabeled),
            ("similar pairs", rows.left),
        ):
            count = count_positions(positions)
            if 0 < count < self.n_splits:
                raise ValueError(
                    f"n_splits={self.n_splits} folds need at least {self.n_splits} {name}, but "
                    f"there are only {count}."
                )

    def _iter_test_masks(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.bool_]]:
        if y is None:
            raise ValueError("PairKFold needs the weak labels y to keep pairs together.")
        folds = self.assign(y)
        for fold in range(self.n_splits):
            yield folds == fold


def su_risk(
    y: ArrayLike, decision: ArrayLike, *, prior: float, loss: str | Loss = "zero_one"
) -> RiskEstimate:
    """Estimate the classification risk of decision values from weak labels.

    Parameters
    ----------
    y : integer array of shape (n_rows,)
        Weak labels with at least one similar pair and one unlabeled row.
    decision : array of shape (n_rows,)
        Decision values (or predicted classes) of the same rows, from a classifier that did not
        learn from them.
    prior : float
        Share of class +1.
    loss : str or loss object, default "zero_one"
        With the default, the estimate is the expected error rate.

    Returns
    -------
    RiskEstimate
        Unbiased, so it may be negative on small samples.

    Examples
    --------
    >>> import likewise as lw
    >>> print(lw.su_risk([1, 1, 2, 2, 0, 0, 0], [3, 2, 1, 2, -1, 1, 2], prior=0.9))
    -0.3167 (standard error 0.4167)
    """
    rows = locate(y)
    decision = np.ravel(np.asarray(decision, dtype=np.float64))
    if decision.size != np.size(y):
        raise ValueError(f"decision has {decision.size} values but y has {np.size(y)}.")
    for name, positions in (("similar pair", rows.left), ("unlabeled row", rows.unlabeled)):
        if not count_positions(positions):
            raise ValueError(f"The SU risk needs at least one {name}; y has none.")
    return su_risk_of_decisions(
        decision[rows.left], decision[rows.right], decision[rows.unlabeled], prior=prior, loss=loss
    )


def su_risk_scorer(estimator: Any, X: Any, y: ArrayLike, *, prior: float | None = None) -> float:
    """Score a fitted classifier on weak labels: minus its zero-one SU risk, so larger is better.

    Pass it as ``scoring=`` to scikit-learn's searches, with ``cv=PairKFold(...)``.

    Parameters
    ----------
    estimator : fitted classifier or pipeline
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,)
        Weak labels.
    prior : float, optional
        Share of class +1; by default the estimator's own ``prior_``. When candidates differ in
        their priors, fix one with ``functools.partial(su_risk_scorer, prior=...)``.

    Returns
    -------
    float
    """
    if prior is None:
        prior = _prior_of(estimator)
    decide_or_predict = getattr(estimator, "decision_function", None) or estimator.predict
    return -su_risk(y, decide_or_predict(X), prior=prior).value


def _prior_of(estimator: Any) -> float:
    """Return ``prior_`` of a classifier, or of the one inside a search or pipeline."""
    inner = getattr(estimator, "best_estimator_", estimator)
    inner = inner[-1] if hasattr(inner, "steps") else inner
    if hasattr(inner, "prior_"):
        return float(inner.prior_)
    raise ValueError(
        f"{type(inner).__name__} has no prior_; score it with "
        "functools.partial(su_risk_scorer, prior=...)."
    )


def pair_log_likelihood(y: ArrayLike, scores: ArrayLike) -> float:
    """Return how well class scores explain the pairs of weak labels, in nats per pair.

    Parameters
    ----------
    y : integer array of shape (n_rows,)
        Weak labels with at least one pair and one unlabeled row.
    scores : array of shape (n_rows,) or (n_rows, n_classes)
        Log-odds of one of two classes, or one score per class, of the same rows, from a model that
        did not learn from them. Which class is which does not matter.

    Returns
    -------
    float
        Above zero if the scores know something of the classes; see `likewise.likelihood`.

    Examples
    --------
    >>> import likewise as lw
    >>> lw.pair_log_likelihood([1, 1, 2, 2, 0, 0], [5.0, 5.0, -5.0, -5.0, 5.0, -5.0]) > 0.5
    True
    """
    rows = locate_pairs(y, np.shape(y)[0], "The pair likelihood")
    values = np.asarray(scores, dtype=np.float64)
    if values.shape[:1] != np.shape(y)[:1] or values.ndim > 2:
        raise ValueError(f"scores have shape {values.shape} but y has {np.size(y)} labels.")
    ordered = np.concatenate([values[part] for part in rows])
    return -expand(log_probabilities(ordered), Counts.of(rows)).value


def pair_log_likelihood_scorer(estimator: Any, X: Any, y: ArrayLike) -> float:
    """Score a fitted classifier on weak labels by the pair likelihood of its decision function.

    Pass it as ``scoring=`` to scikit-learn's searches, with ``cv=PairKFold(...)``. Decision values
    must be log-odds, as those of `PairClassifier` and of logistic models are.

    Parameters
    ----------
    estimator : fitted classifier or pipeline
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,)
        Weak labels.

    Returns
    -------
    float
    """
    return pair_log_likelihood(y, estimator.decision_function(X))


class Folds(Protocol):
    """A partition of the unlabeled rows, and one of the similar pairs, into as many folds."""

    @property
    def count(self) -> int:
        """Number of folds."""

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""

    def member_sums(self, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""

    def stride(self, n_rows: int) -> int:
        """Return how far apart a fold's rows (or pairs) are that risks are counted on."""

    def count_positive(
        self, part: Part, block: Block, weights: Sequence[FloatArray], stride: int
    ) -> tuple[Any, NDArray[np.intp]]:
        """Return how many rows of each fold its own models decide for +1, and how many there are.

        Shapes (count, k) and (count,); of each fold, every `stride`-th row (or pair) is counted.
        """


@dataclass(frozen=True)
class DealtFolds:
    """Folds dealt in turn: row (or pair) i is in fold ``i % count``, so nothing is stored."""

    count: int

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""
        size = at.stop - at.start
        firsts = [(fold - at.start) % self.count for fold in range(self.count)]
        return [slice(min(first, size), size, self.count) for first in firsts]

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""
        return grams_in_turn(block.tables[0], self.count, block.start)

    def member_sums(self, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""
        return sum(column_sums_in_turn(rows, self.count, block.start) for rows in block.tables)

    def stride(self, n_rows: int) -> int:
        """Return one, or more than that where there are very many rows."""
        return max(1, -(-n_rows // _COUNTED_ROWS))

    def count_positive(
        self, part: Part, block: Block, weights: Sequence[FloatArray], stride: int
    ) -> tuple[Any, NDArray[np.intp]]:
        """Return how many rows of each fold its own models decide for +1, and how many there are.

        Shapes (count, k) and (count,); of each fold, every `stride`-th row (or pair) is counted.
        """
        start, period = block.start, stride * self.count
        counts = sum(count_positive_in_turn(r, weights, start, period) for r in block.tables)
        size = block.tables[0].shape[0]
        firsts = [(fold - start) % period for fold in range(self.count)]
        sizes = [len(range(first, size, period)) for first in firsts]
        return counts, len(block.tables) * np.array(sizes)


@dataclass(frozen=True)
class GivenFolds:
    """The fold number of every unlabeled row and of every similar pair."""

    unlabeled: NDArray[np.intp]
    similar: NDArray[np.intp]
    count: int

    @classmethod
    def of_rows(cls, fold_of_row: NDArray[np.intp], rows: RowSets, count: int) -> "GivenFolds":
        """Build from the fold of every row; the members of a pair must be in one fold."""
        left, right = fold_of_row[rows.left], fold_of_row[rows.right]
        if np.any(left != right):
            raise ValueError(
                "The cross-validation splitter tears pairs apart; use likewise.PairKFold."
            )
        return cls(fold_of_row[rows.unlabeled], left, count)

    def split(self, part: Part, at: slice) -> list[Positions]:
        """Return, for each fold, which of the consecutive rows (or pairs) `at` it holds."""
        here = (self.unlabeled if part == "unlabeled" else self.similar)[at]
        return [as_slice(np.flatnonzero(here == fold)) for fold in range(self.count)]

    def grams(self, block: Block) -> Any:
        """Return the gram of each fold's unlabeled rows of a block, shape (count, p, p)."""
        return np.stack([gram(rows) for (rows,) in self._rows("unlabeled", block)])

    def member_sums(self, block: Block) -> Any:
        """Return the column sums of each fold's pair members of a block, shape (count, p)."""
        return np.stack([sum(map(column_sums, rows)) for rows in self._rows("similar", block)])

    def stride(self, n_rows: int) -> int:
        """Return one: all rows are counted on."""
        return 1

    def count_positive(
        self, part: Part, block: Block, weights: Sequence[FloatArray], stride: int
    ) -> tuple[Any, NDArray[np.intp]]:
        """Return how many rows of each fold its own models decide for +1, and how many there are.

        Shapes (count, k) and (count,).
        """
        own = zip(self._rows(part, block), weights, strict=True)
        counts, sizes = zip(*(_count_positive(rows, w) for rows, w in own), strict=True)
        return np.stack(counts), np.array(sizes)

    def _rows(self, part: Part, block: Block) -> Iterator[list[Any]]:
        for positions in self.split(part, block.rows):
            yield [take_rows(table, positions) for table in block.tables]


@dataclass(frozen=True)
class FoldSums:
    """Sums over the rows of every fold: all that the squared loss needs, from one pass.

    Attributes
    ----------
    grams : array of shape (n_folds, p, p)
        Sums of ``x x'`` over unlabeled rows x with a one behind their features.
    similar : array of shape (n_folds, p)
        Sums of x over the members of similar pairs.
    """

    grams: FloatArray
    similar: FloatArray

    def without(self, fold: int | None) -> Summary:
        """Return mean outer product and mean rows over all folds but one (or over all)."""
        gram_sum, similar_sum = self.grams.sum(axis=0), self.similar.sum(axis=0)
        if fold is not None:
            gram_sum -= self.grams[fold]
            similar_sum -= self.similar[fold]
        mean_gram = gram_sum / gram_sum[-1, -1]
        return Summary(mean_gram, Means(similar_sum / similar_sum[-1], mean_gram[-1]))


def sum_folds(engine: Engine, folds: Folds) -> FoldSums:
    """Collect the sums of every fold in one pass."""
    (grams,), (similar,) = engine.map_reduce_both(
        lambda block: (folds.grams(block),),
        lambda block: (folds.member_sums(block),),
        frugal=True,
    )
    return FoldSums(grams, similar)


def squared_weights(
    sums: FoldSums, *, prior: float, alphas: Sequence[float], regularize_intercept: bool
) -> list[FloatArray]:
    """Fit the squared loss without each fold in turn, by adding and subtracting sums.

    What the training rows of a fold sum to is the total less the fold.

    Returns
    -------
    list of arrays of shape (p, n_alphas), one for each fold
    """
    weights = []
    for fold in range(len(sums.grams)):
        summary = sums.without(fold)
        linear = summary.means.linear_term(prior)
        weights.append(
            ridge_weights(summary.gram, linear, alphas, regularize_intercept=regularize_intercept)
        )
    return weights


def fold_risks(
    engine: Engine, folds: Folds, weights: Sequence[FloatArray], prior: float
) -> FloatArray:
    """Return the zero-one SU risks of each fold's models on its own rows, in one pass.

    Parameters
    ----------
    engine : Engine
    folds : Folds
    weights : sequence of arrays of shape (p, n_models), one for each fold
    prior : float

    Returns
    -------
    array of shape (n_folds, n_models)
    """
    counted = engine.map_reduce_both(
        _counting(engine, "unlabeled", weights, folds),
        _counting(engine, "similar", weights, folds),
        frugal=True,
    )
    unlabeled, similar = (counts / sizes[:, None] for counts, sizes in counted)
    return zero_one_risk_of_shares(similar, unlabeled, prior)


def _counting(engine: Engine, part: Part, weights: Sequence[FloatArray], folds: Folds) -> Kernel:
    """Return the kernel that counts decisions for +1 and rows, by fold."""
    stride = folds.stride(engine.count(part))
    return lambda block: folds.count_positive(part, block, weights, stride)


class WithoutFold(Engine):
    """The rows and pairs of an engine that are not in one of folds dealt in turn.

    Parameters
    ----------
    engine : Engine
    n_folds, fold : int
    """

    def __init__(self, engine: Engine, n_folds: int, fold: int) -> None:
        self._engine = engine
        self._n_folds = n_folds
        self._fold = fold

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._engine.n_features

    def count(self, part: Part) -> int:
        """Return the number of unlabeled rows, or of similar pairs, outside the fold."""
        return _kept_before(self._engine.count(part), self._n_folds, self._fold)

    def _sum_over(self, part: Part, kernel: Kernel) -> Sums:
        n_folds, fold = self._n_folds, self._fold

        def outside(block: Block) -> Sums:
            kept = np.arange(block.rows.start, block.rows.stop) % n_folds != fold
            tables = tuple(table[kept] for table in block.tables)
            return kernel(Block(tables, _kept_before(block.start, n_folds, fold)))

        return self._engine._sum_over(part, outside)


def _kept_before(position: int, n_folds: int, fold: int) -> int:
    """Return how many of the first `position` rows are outside the fold."""
    return position - (position - fold + n_folds - 1) // n_folds


def zero_one_risks(engine: Engine, weights: FloatArray, prior: float) -> FloatArray:
    """Return the zero-one SU risk of each column of weights, shape (n_features + 1, k), on rows."""

    def kernel(block: Block) -> Sums:
        return _count_positive(block.tables, weights)

    unlabeled, similar = (counts / size for counts, size in engine.map_reduce_both(kernel, kernel))
    return zero_one_risk_of_shares(similar, unlabeled, prior)


def _count_positive(tables: Sequence[Any], weights: FloatArray) -> tuple[Any, int]:
    """Return how many rows each column of weights decides for +1, and how many there are."""
    counts = sum(count_positive(rows, weights) for rows in tables)
    return counts, sum(rows.shape[0] for rows in tables)
