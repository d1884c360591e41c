"""Any classifier learns from statements, by expectation maximization.

E-step: what statements imply of the rows, given class probabilities. M-step: the classifier is
fitted to every row once per class, weighted by what is implied. Probabilities come from models that
were not fitted to the row: a flexible classifier would else confirm whatever it was told. Their
scale is set by the statements, since such models are as often too sure as too timid.

Every fold of rows has a run of its own, which sees neither these rows nor statements about them, so
that each round is judged by held-out statements; the best round is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from likewise._types import FloatArray
from likewise._verbose import step
from likewise.beliefs.base import Beliefs, HeldOut, Likelihood, log_probabilities
from likewise.engines.rows import take_rows
from likewise.scores.maps import FeatureMap
from likewise.scores.models import fit_to_probabilities, score_of
from likewise.search.calibration import Temper, tempered
from likewise.search.climb import renamed
from likewise.search.crossfit import Candidate, parts_of
from likewise.search.fitted import calibrated
from likewise.search.learn import Learned, standard_error
from likewise.search.rows import Some
from likewise.search.settings import Settings
from likewise.search.tried import Selection, Tried
from likewise.statements.folds import deal_rows
from likewise.statements.statements import Statements

__all__ = ["History", "beside", "learn_model", "settles", "starting_point"]

_N_INNER = 2
"""Models per run and round: each scores the rows that the others were fitted to."""
_MOST_ROUNDS = 10
_MANY_ROWS = 20_000
"""From which on fits may use several threads."""
_PATIENCE = 1
"""Rounds to go on for after the held-out evidence began to fall."""
_SETTLED = 5e-3
"""Mean change of a row's class probabilities that ends the rounds."""
_SURE = 0.9
"""Mean probability of the rows' likeliest classes at which statements alone are a start."""
_LEVEL = 0.95
"""Of intervals that are not looked at."""
_TEMPER_TOL = 1e-4
"""Relative gain that ends the search for a scale: the next round goes on from there."""

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class History:
    """The rounds of a fit.

    Attributes
    ----------
    information : list of floats
        Held-out log-likelihood after each round, in nats per statement; that of the best model
        without features is zero.
    change : list of floats
        Mean change of the rows' class probabilities by each round.
    best : int
        The round that was kept.
    converged : bool
        Whether the rounds ended because nothing changed any more.

    Examples
    --------
    >>> import likewise as lw
    >>> lw.History([0.12, 0.15, 0.14], [0.3, 0.1, 0.02], best=1, converged=False).best
    1
    """

    information: list[float]
    change: list[float]
    best: int
    converged: bool


@dataclass(frozen=True)
class _Task:
    """What every fit of a classifier needs: the classifier, the rows and the number of classes."""

    estimator: Any
    rows: Any
    n_classes: int

    def fit(self, numbers: IntArray, targets: FloatArray, seed: int) -> FeatureMap:
        random = np.random.RandomState(seed)
        fitted = fit_to_probabilities(self.estimator, self.rows, numbers, targets, random)
        return score_of(fitted, self.n_classes, numbers.size)

    def scores(self, fitted: FeatureMap, numbers: IntArray) -> FloatArray:
        """Return one score per class, of two classes too."""
        found = fitted.transformer.transform(take_rows(self.rows, numbers))
        return by_class(found)


@dataclass(frozen=True)
class _Run:
    """Where expectation maximization stands without a fold.

    Attributes
    ----------
    part : HeldOut
    inner : integer array of shape (n_train,)
        Which of the run's models does not see each training row.
    beliefs : Beliefs
        What training statements imply.
    vector : array of shape (n_classes,)
        Scale and offsets of the models' scores, as in `tempered`.
    seed : int
    """

    part: HeldOut
    inner: IntArray
    beliefs: Beliefs
    vector: FloatArray
    seed: int

    @property
    def train(self) -> IntArray:
        """Numbers of the training rows."""
        return np.flatnonzero(self.part.train)

    @property
    def targets(self) -> FloatArray:
        """Weights of the training rows in each class."""
        return targets_of(self.beliefs, self.part.likelihood)


def learn_model(
    rows: Any,
    statements: Statements,
    estimator: Any,
    settings: Settings,
    random_state: np.random.RandomState,
    *,
    known: IntArray | None = None,
    start: FloatArray | None = None,
) -> tuple[Learned, History]:
    """Learn any classifier from statements.

    Parameters
    ----------
    rows : table of shape (n_rows, n_columns)
        As the classifier takes it.
    statements : Statements
    estimator : classifier
    settings : Settings
    random_state : RandomState
    known : integer array of shape (n_rows,), optional
        Classes of single rows; -1 where nothing is known.
    start : array of shape (n_rows, n_classes), optional
        Log-probabilities to begin at; by default what statements alone imply.

    Returns
    -------
    Learned, History
    """
    likelihood = settings.likelihood(statements, known)
    parts = parts_of(likelihood, deal_rows(settings.cv, statements, random_state))
    task = _Task(estimator, rows, settings.n_classes)
    seeds = [int(seed) for seed in random_state.randint(2**31 - 1, size=len(parts) + 1)]
    firsts = _first_beliefs(likelihood, parts, start)
    runs = [
        _begun(part, first, seed)
        for part, first, seed in zip(parts, firsts, seeds[1:], strict=True)
    ]
    # Threads of many small fits would wait for each other longer than they work.
    limits = threadpool_limits(1 if likelihood.n_rows < _MANY_ROWS else None)
    with limits, Parallel(n_jobs=settings.n_jobs) as parallel:
        runs, evidence, history = _rounds(task, runs, likelihood, parallel)
        scores = parallel(delayed(_score_fold)(task, run) for run in runs)
        candidate = _candidate(likelihood, parts, scores, evidence)
        features = _fit_whole(task, likelihood, candidate, seeds[0])
    tried = Tried(
        features.name, None, candidate.information, standard_error(candidate), 1.0, chosen=True
    )
    some = Some(rows, statements, None, is_whole=True)
    return Learned(features, candidate, Selection((tried,)), some, likelihood, parts), history


def settles(likelihood: Likelihood) -> bool:
    """Tell whether statements alone tell the classes of most rows, up to their names.

    Parameters
    ----------
    likelihood : Likelihood
    """
    if likelihood.statements.n_dissimilar == 0 or likelihood.statements.is_fresh:
        return False  # of pairs that were found, statements tell little without features
    posteriors = likelihood.constant()[1].posteriors
    return float(posteriors.max(axis=1).mean()) > _SURE


def starting_point(own: Learned, rows: Any) -> FloatArray | None:
    """Return log-probabilities of all rows by other scores; None if these show no signal.

    Parameters
    ----------
    own : Learned
    rows : array or CSR matrix of shape (n_rows, n_features)
        All rows, as its features take them.

    Returns
    -------
    array of shape (n_rows, n_classes) or None
    """
    if not own.has_signal:
        return None
    scores = own.candidate.scores if own.some.is_whole else own.scores(rows)
    found = calibrated(own, _LEVEL)
    return log_probabilities(found.scale * scores + found.offsets)


def beside(learned: Learned, own: Learned | None) -> Learned:
    """List what was learned beside other scores that were tried.

    Parameters
    ----------
    learned : Learned
    own : Learned or None
    """
    if own is None or not own.has_signal:
        return learned
    others = tuple(replace(row, chosen=False, weight=0.0) for row in own.selection.rows)
    return replace(learned, selection=Selection((*others, *learned.selection.rows)))


def by_class(scores: FloatArray) -> FloatArray:
    """Return one score per class: for log-odds, zeros beside them."""
    return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores


def targets_of(beliefs: Beliefs, likelihood: Likelihood) -> FloatArray:
    """Return how much every row counts in each class when a classifier is fitted.

    It is the probability of the class. Fresh pairs hold more of the majority class than rows do:
    they are weighed so that the classes have their shares among rows.

    Parameters
    ----------
    beliefs : Beliefs
    likelihood : Likelihood

    Returns
    -------
    array of shape (n_rows, n_classes)
    """
    if not likelihood.statements.is_fresh:
        return beliefs.posteriors
    weights = likelihood.statements.weights
    counted = beliefs.posteriors if weights is None else weights[:, None] * beliefs.posteriors
    totals = np.maximum(counted.mean(axis=0), 1e-12)
    return np.asarray(counted * (beliefs.shares / totals))


def _first_beliefs(
    likelihood: Likelihood, parts: Sequence[HeldOut], start: FloatArray | None
) -> list[Beliefs]:
    """Return what the statements without each fold imply at the start, classes in one order."""
    if start is not None:
        return [part.likelihood.evaluate(start[part.train]) for part in parts]
    whole = likelihood.constant()[1].posteriors
    found = []
    for part in parts:
        own = part.likelihood.constant()[1]
        if not part.likelihood.is_named:
            together = own.posteriors.T @ whole[part.train]
            order = linear_sum_assignment(together.T, maximize=True)[1]
            own = renamed(own, np.asarray(order))
        found.append(own)
    return found


def _begun(part: HeldOut, first: Beliefs, seed: int) -> _Run:
    n_train = first.posteriors.shape[0]
    inner = np.random.RandomState(seed).permutation(n_train) % _N_INNER
    return _Run(part, inner, first, np.zeros(first.posteriors.shape[1]), seed)


def _rounds(
    task: _Task,
    runs: list[_Run],
    likelihood: Likelihood,
    parallel: Parallel,
) -> tuple[list[_Run], FloatArray, History]:
    """Go round until nothing changes or held-out statements are explained worse.

    Returns
    -------
    runs : list of _Run
        As they stood before the best round: their beliefs are what its models were fitted to.
    evidence : array of shape (n_folds,)
        Of the best round.
    history : History
    """
    before: list[list[_Run]] = []
    evidence: list[FloatArray] = []
    reached: list[float] = []
    changes: list[float] = []
    n_judged = max(sum(run.part.n_judged for run in runs), 1.0)
    while len(reached) < _MOST_ROUNDS:
        before.append(runs)
        found = parallel(delayed(_go_round)(task, run, likelihood) for run in runs)
        runs = [run for run, _ in found]
        evidence.append(np.array([one for _, one in found]))
        reached.append(float(evidence[-1].sum()) / n_judged)
        changes.append(_change(before[-1], runs))
        step(
            f"round {len(reached)}: {reached[-1]:.4f} nats per held-out statement, class "
            f"probabilities changed by {changes[-1]:.4f}"
        )
        best = int(np.argmax(reached))
        if changes[-1] < _SETTLED or len(reached) - 1 - best >= _PATIENCE:
            break
    converged = changes[-1] < _SETTLED
    return before[best], evidence[best], History(reached, changes, best, converged)


def _change(before: Sequence[_Run], after: Sequence[_Run]) -> float:
    moved = [
        np.abs(new.beliefs.posteriors - old.beliefs.posteriors).sum(axis=1).mean() / 2
        for old, new in zip(before, after, strict=True)
    ]
    return float(np.mean(moved))


def _go_round(task: _Task, run: _Run, likelihood: Likelihood) -> tuple[_Run, float]:
    """Fit, score the rows that each model was not fitted to, and say what that implies.

    The fold's own rows, which no model was fitted to, get the models' mean score.
    """
    train, outside = run.train, np.flatnonzero(~run.part.train)
    scores = np.zeros((likelihood.n_rows, task.n_classes))
    for number in range(_N_INNER):
        seen = run.inner != number
        fitted = task.fit(train[seen], run.targets[seen], run.seed)
        scores[train[~seen]] = task.scores(fitted, train[~seen])
        scores[outside] += task.scores(fitted, outside) / _N_INNER
    vector, beliefs = _temper(scores[train], run.part.likelihood, run.beliefs, run.vector)
    evidence = likelihood.evidence(run.part, tempered(scores, vector), beliefs)
    return replace(run, beliefs=beliefs, vector=vector), evidence


def _temper(
    scores: FloatArray, likelihood: Likelihood, near: Beliefs, start: FloatArray
) -> tuple[FloatArray, Beliefs]:
    """Return scale and offsets of scores, and what the statements imply by them.

    A learned error rate is held while these are sought.
    """
    vector = Temper(scores, likelihood.held(near), near).best(start, _TEMPER_TOL)
    return vector, likelihood.evaluate(tempered(scores, vector), near)


def _score_fold(task: _Task, run: _Run) -> FloatArray:
    """Score the fold by one model of all training rows."""
    fitted = task.fit(run.train, run.targets, run.seed)
    return task.scores(fitted, np.flatnonzero(run.part.rows))


def _candidate(
    likelihood: Likelihood,
    parts: Sequence[HeldOut],
    of_folds: Sequence[FloatArray],
    evidence: FloatArray,
) -> Candidate:
    """Gather what models of the folds say of the rows that they did not see."""
    found = np.zeros((likelihood.n_rows, likelihood.n_classes))
    for part, scores in zip(parts, of_folds, strict=True):
        found[part.rows] = scores
    if likelihood.n_classes == 2:
        found = found[:, 1:]
    m = found.shape[1]
    weights = np.vstack([np.eye(m), np.zeros((1, m))])
    return Candidate(None, weights, evidence, sum(part.n_judged for part in parts), found)


def _fit_whole(task: _Task, likelihood: Likelihood, candidate: Candidate, seed: int) -> FeatureMap:
    """Fit the classifier to all rows, by what all statements imply of them."""
    scores = by_class(candidate.scores)
    near = likelihood.evaluate(log_probabilities(scores))
    beliefs = _temper(scores, likelihood, near, np.zeros(task.n_classes))[1]
    return task.fit(np.arange(likelihood.n_rows), targets_of(beliefs, likelihood), seed)
