"""The methods that are compared, one entry each: from a sample to predictions.

To add a baseline, write a function from a `Task` to an `Answer` and name it in `METHODS`; it then
has its column in the table. A method must not know which experiment it is in.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.baselines import (
    DIMC,
    IMSAT,
    ITML,
    SERAPH,
    KMeansBaseline,
    MPCKMeans,
    PCKMeans,
    ThreeSMIC,
)
from likewise.classifiers import SUClassifierCV
from likewise.experiments.reference import fit_reference
from likewise.experiments.runner import Measure, Record
from likewise.experiments.samples import Task
from likewise.prior import PairMomentPrior

__all__ = [
    "METHODS",
    "REFERENCE",
    "SHARING",
    "Answer",
    "Method",
    "WithMethods",
    "answer",
    "ordered",
    "title_of",
]

Classes = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method found.

    Attributes
    ----------
    test : array of shape (n_test,)
        Class of every test row, -1 or +1.
    unlabeled : array of shape (n_unlabeled,)
        Class of every unlabeled row; tells whether all fell into one class.
    extras : dict
        What else the record shall keep, such as ``prior_estimate``. ``seconds`` takes the place of
        what the clock shows.
    """

    test: Classes
    unlabeled: Classes
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A method and how it is called in tables.

    Attributes
    ----------
    title : str
    fit : callable
        Learns from a `Task` and returns its `Answer`.
    """

    title: str
    fit: Callable[[Task], Answer]


def answer(model: Any, task: Task, **extras: Any) -> Answer:
    """Let a fitted model predict the test rows and the unlabeled rows.

    Parameters
    ----------
    model : fitted estimator with ``predict``
    task : Task
    **extras
        What else the record shall keep.

    Returns
    -------
    Answer

    Examples
    --------
    >>> from likewise.baselines import KMeansBaseline
    >>> from likewise.experiments.methods import answer
    >>> from likewise.experiments.samples import Draw, draw_task
    >>> task, y_test = draw_task(Draw("gaussians", 50, 60, 40, prior=0.7, trial=0))
    >>> answer(KMeansBaseline(random_state=0).fit(task.X, task.y), task).test.shape
    (40,)
    """
    return Answer(model.predict(task.X_test), model.predict(task.unlabeled), extras)


def _su_squared(task: Task) -> Answer:
    return _su_with_km2(task, "squared")


def _su_double_hinge(task: Task) -> Answer:
    return _su_with_km2(task, "double_hinge")


def _su_with_km2(task: Task, loss: str) -> Answer:
    """Learn as the paper does: prior by KM2, alpha by the zero-one SU risk on five folds."""
    estimates, seconds = task.kernel_mean
    start = perf_counter()
    prior = estimates["km2"].value
    found = answer(SUClassifierCV(loss, prior=prior).fit(task.X, task.y), task)
    # The estimate is computed once for both losses; each would have had to wait for it.
    seconds += perf_counter() - start
    return Answer(found.test, found.unlabeled, {"prior_estimate": prior, "seconds": seconds})


def _su_logistic(task: Task) -> Answer:
    prior = PairMomentPrior(random_state=task.seed)
    model = SUClassifierCV("logistic", prior=prior).fit(task.X, task.y)
    return answer(model, task, prior_estimate=model.prior_)


def _pair_likelihood(task: Task) -> Answer:
    import likewise

    model = likewise.PairClassifier(random_state=task.seed).fit(task.X, task.y)
    return answer(model, task, prior_estimate=float(model.prior_))


def _three_smic(task: Task) -> Answer:
    return answer(ThreeSMIC().fit(task.X, task.y), task)


def _dimc(task: Task) -> Answer:
    """Cluster training and test rows together, as the paper does: DIMC knows no other rows."""
    X = np.vstack([task.X, task.X_test])
    y = np.concatenate([task.y, np.zeros(len(task.X_test), dtype=task.y.dtype)])
    return answer(DIMC(random_state=task.seed).fit(X, y), task)


def _seeded(baseline: Callable[..., Any]) -> Callable[[Task], Answer]:
    """Return how to run a baseline that needs nothing but a seed."""

    def fit(task: Task) -> Answer:
        return answer(baseline(random_state=task.seed).fit(task.X, task.y), task)

    return fit


def _labels(task: Task) -> Answer:
    """Learn from all hidden labels, by the better of two ordinary classifiers."""
    return answer(fit_reference(task.X, task.hidden), task)


METHODS: dict[str, Method] = {
    "su-squared": Method("SU squared", _su_squared),
    "su-double-hinge": Method("SU double hinge", _su_double_hinge),
    "km": Method("KM", _seeded(KMeansBaseline)),
    "itml": Method("ITML", _seeded(ITML)),
    "seraph": Method("SERAPH", _seeded(SERAPH)),
    "3smic": Method("3SMIC", _three_smic),
    "dimc": Method("DIMC", _dimc),
    "imsat": Method("IMSAT", _seeded(IMSAT)),
    "pckmeans": Method("PCKMeans", _seeded(PCKMeans)),
    "mpckmeans": Method("MPCKMeans", _seeded(MPCKMeans)),
    "su-logistic": Method("SU logistic, pair-moment prior", _su_logistic),
    "pair-likelihood": Method("pair likelihood", _pair_likelihood),
    "labels": Method("all labels", _labels),
}
"""In the order of the columns of the table."""

_OWN = frozenset(METHODS)
"""What every process knows; other names were added by whoever runs an experiment."""

REFERENCE = "labels"
"""The method that sees labels: no baseline, but what is to be reached."""

SHARING = (("su-squared", "su-double-hinge"),)
"""Methods that use the same estimate of the prior."""


@dataclass(frozen=True)
class WithMethods:
    """What a trial does, taking methods that were added to `METHODS` along to other processes.

    Attributes
    ----------
    measure : callable
        As of `likewise.experiments.experiment.Experiment`.
    """

    measure: Measure

    def __call__(self, **settings: Any) -> Record:
        """Run a trial."""
        return self.measure(**settings)

    def __reduce__(self) -> tuple[Any, ...]:
        added = {name: method for name, method in METHODS.items() if name not in _OWN}
        return _arrive, (self.measure, added)


def _arrive(measure: Measure, added: dict[str, Method]) -> WithMethods:
    METHODS.update(added)
    return WithMethods(measure)


def title_of(method: str) -> str:
    """Return how a method is called in tables; one that is no longer here keeps its name."""
    return METHODS[method].title if method in METHODS else method


def ordered(names: Iterable[str]) -> list[str]:
    """Return names of methods, each once, in the order of the columns.

    Examples
    --------
    >>> from likewise.experiments.methods import ordered
    >>> ordered(["labels", "km", "no-longer-here", "km"])
    ['km', 'labels', 'no-longer-here']
    """
    found = set(names)
    # A method that was taken out of this file still has its records.
    return [*(name for name in METHODS if name in found), *sorted(found - METHODS.keys())]
