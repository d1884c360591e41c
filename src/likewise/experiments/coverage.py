"""How often intervals hold what they should, and how narrow they could be.

Half of every pool is kept apart: truth is measured on it, and a model that learns from its labels
tells how narrow an interval of the prior could be if the classes' densities were known. Statements
are drawn from the other half. Where only tests are of interest, no interval is computed. Not in the
paper.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier

from likewise._types import FloatArray
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers import PairClassifier
from likewise.classifiers.saying import unsaid
from likewise.datasets import make_waveform, sample_statements, sample_su
from likewise.exceptions import NoSignalError
from likewise.experiments.coverage_page import sections
from likewise.experiments.experiment import UNSEEN, Experiment, Plan
from likewise.experiments.runner import Record
from likewise.experiments.samples import pool, standardise
from likewise.prior import PairMomentPrior
from likewise.report.label_free import label_free_report
from likewise.statements.labels import read_labels

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["EXPERIMENT", "LEVEL", "SETTINGS", "SOURCES", "measure"]

LEVEL = 0.9
SOURCES = (
    "gaussians",
    "waveform",
    "ringnorm",
    "threenorm",
    "magic",
    "phoneme",
    "spambase",
    "adult",
    "cod-rna",
)
PRIORS = (0.5, 0.6, 0.7, 0.9)
SIZES = (100, 300, 1000)
_ERRORS = 0.1
_FREE_SHARE = 0.5
"""Share of class +1 among similar pairs that were not formed at random."""
_STEP = 1e-3
"""By which the prior is moved to see the curvature of a likelihood."""
_N_POOL = 20_000
_SEPARATION = 2.5
"""Distance of the means of three Gaussians, as of the two in `samples`."""
_N_FRESH = 200_000
"""Pairs of each class that the mean information in a pair is taken over. They are made of a limited
number of rows, so that more would tell no more."""


Drawn = tuple[FloatArray, Any]
"""Rows and weak labels of a sample."""


@dataclass(frozen=True)
class Setting:
    """How statements come about, and how they are learned from.

    Attributes
    ----------
    draw : callable
        Given rows, classes, a number of statements, a prior and a source of randomness.
    pairing : str
    error_rate : float or "auto"
    true_error_rate : float
    is_only_tested : bool
        Whether no interval is wanted: rows say nothing about classes, or pairs are not what is
        assumed of them, and the tests should tell.
    n_classes : int
    """

    draw: "Callable[[Any, Any, int, float, Generator], Drawn]"
    pairing: Any
    error_rate: float | str = 0.0
    true_error_rate: float = 0.0
    is_only_tested: bool = False
    n_classes: int = 2


def _fresh(X: Any, y: Any, n: int, prior: float, rng: "Generator") -> Drawn:
    return sample_su(X, y, n, n, prior=prior, random_state=rng).pack()


def _free(X: Any, y: Any, n: int, prior: float, rng: "Generator") -> Drawn:
    """Draw similar pairs without regard to the prior."""
    order = rng.permutation(X.shape[0])
    for_pairs, for_rows = np.array_split(order, [2 * order.size // 3])
    rows = sample_su(X[for_rows], y[for_rows], 1, n, prior=prior, random_state=rng)
    pairs = sample_su(X[for_pairs], y[for_pairs], n, 1, prior=_FREE_SHARE, random_state=rng)
    numbers = np.arange(1, n + 1)
    table = np.vstack([rows.unlabeled, *pairs.similar])
    return table, np.concatenate([np.zeros(n, dtype=np.int64), numbers, numbers])


def _noise(X: Any, y: Any, n: int, prior: float, rng: "Generator") -> Drawn:
    rows, labels = _fresh(X, y, n, prior, rng)
    return rows[rng.permutation(rows.shape[0])], labels


def _of_three(X: Any, y: Any, n: int, prior: float, rng: "Generator") -> Drawn:
    """Draw answers about a table with the shares of the pool, which depend on the prior."""
    return sample_statements(X, y, n, n, random_state=rng).pack()


def _of_table(kind: Any, error_rate: float = 0.0) -> "Callable[..., Drawn]":
    def draw(X: Any, y: Any, n: int, prior: float, rng: "Generator") -> Drawn:
        sample = sample_statements(
            X, y, n, n, kind=kind, prior=prior, error_rate=error_rate, random_state=rng
        )
        return sample.pack()

    return draw


SETTINGS: Mapping[str, Setting] = {
    "fresh": Setting(_fresh, "auto"),
    "met": Setting(_of_table("met"), "random"),
    "asked": Setting(_of_table("asked"), "asked"),
    "asked-errors": Setting(_of_table("asked", _ERRORS), "asked", "auto", _ERRORS),
    "free": Setting(_free, "free"),
    "three-asked": Setting(_of_three, "asked", n_classes=3),
    "noise": Setting(_noise, "auto", is_only_tested=True),
    "free-tested": Setting(_free, "auto", is_only_tested=True),
}
"""In "free-tested" half of the pairs are of class +1 and nobody says so: the pairing test should
reject random pairing, but at a prior of one half, where that share is what random pairs have."""


def measure(
    *, experiment: str, dataset: str, method: str, trial: int, n: int, prior: float
) -> Record:
    """Learn from one weak sample, and compare every interval with the truth.

    Parameters
    ----------
    experiment, dataset : str
    method : str
        A name in `SETTINGS`.
    trial : int
    n : int
        Number of statements; as many rows, or unlabeled rows beside fresh pairs.
    prior : float
        Of class +1, the majority class of the pool; of the first of three classes, the others
        being equally large.

    Returns
    -------
    dict
        ``intervals``: from each quantity to value, low end, high end and truth. ``truth_errors``:
        standard errors of truths that are measured on the rows kept apart. ``narrowest``: half
        the width that an interval of the prior would have if the classes' densities were known
        (two classes). ``signal``, ``pairing_rejected``: what the two tests say.
    """
    setting = SETTINGS[method]
    source = _source(dataset) if setting.n_classes == 2 else _source_of_three(dataset, prior)
    key = [crc32(repr((dataset, method, n, prior)).encode()), trial]
    rows, y = setting.draw(source.X, source.y, n, prior, np.random.default_rng(key))
    X, X_apart = standardise(rows, rows, source.X_apart)
    clf = PairClassifier(
        n_classes=setting.n_classes,
        pairing=setting.pairing,
        error_rate=setting.error_rate,
        level=LEVEL,
        random_state=trial,
    )
    with unsaid():
        clf.fit(X, y)
    tested = clf.pairing_test_
    record: Record = {
        "signal": bool(clf.has_signal_),
        "pairing_rejected": None if tested is None else bool(tested.is_rejected),
    }
    if setting.is_only_tested:
        return record
    truth, errors = _truth(clf, X_apart, source, setting, prior)
    found = _intervals(clf, X, y, setting, trial)
    return {
        **record,
        "accuracy": truth["accuracy"],
        "intervals": {
            name: [*map(float, ends), truth.get(name, setting.true_error_rate)]
            for name, ends in found.items()
        },
        "truth_errors": {name: error for name, error in errors.items() if name in found},
        "narrowest": None
        if setting.n_classes > 2
        else _narrowest(source.ratios(rows), y, setting, prior),
    }


# --- what is said ---------------------------------------------------------------------------


def _intervals(clf: Any, X: Any, y: Any, setting: Setting, seed: int) -> dict[str, Any]:
    """Return value, low and high end of all that is estimated."""
    found = _shares(clf)
    if setting.error_rate == "auto":
        found["error rate"] = (clf.error_rate_, *clf.error_rate_interval_)
    if setting.pairing == "auto":
        with unsaid():
            moments = PairMomentPrior(level=LEVEL, random_state=seed).fit(X, y).estimate_
        found["majority, pair moments"] = (moments.value, *moments.interval)
    if _tells_information(clf, setting):
        told = clf.pair_information_
        reach = float(norm.ppf((1.0 + LEVEL) / 2.0)) * told.standard_error
        found["information"] = (told.value, told.value - reach, told.value + reach)
    try:
        with unsaid():
            report = label_free_report(clf, X, y, level=LEVEL, random_state=seed)
    except NoSignalError:
        return found
    return {**found, **_reported(report)}


def _shares(clf: Any) -> dict[str, Any]:
    if clf.classes_.size == 2:
        return {"prior": (clf.prior_, *clf.prior_interval_)}
    shares = zip(clf.prior_, clf.prior_interval_, strict=True)
    return {f"share of class {k}": (share, *ends) for k, (share, ends) in enumerate(shares)}


def _reported(report: Any) -> dict[str, Any]:
    """Return what a report says of accuracy and rates."""
    found = {"accuracy": report.accuracy}
    if report.true_positive_rate is None:
        for name, of_class in (("recall", report.recall), ("share, report,", report.prior)):
            found |= {f"{name} of class {k}": one for k, one in enumerate(of_class.values())}
    else:
        found["true-positive rate"] = report.true_positive_rate
        found["false-positive rate"] = report.false_positive_rate
        found["prior, report"] = report.prior
    return {name: (one.value, *one.interval) for name, one in found.items()}


def _tells_information(clf: Any, setting: Setting) -> bool:
    """Tell whether the information in a pair is measured.

    Of statements that share rows, what each adds depends on all the others, which no fresh
    statement has beside it.
    """
    return bool(setting.pairing == "auto" and clf.has_signal_ and clf.pairing_ == "random")


# --- what is true ---------------------------------------------------------------------------


_Truth = tuple[dict[str, float], dict[str, float]]
"""What intervals should hold, and the standard errors of what is measured of it."""


def _truth(clf: Any, X: Any, source: "_Source", setting: Setting, prior: float) -> _Truth:
    """Return what intervals should hold, classes called as the classifier calls them."""
    if setting.n_classes > 2:
        return _truth_of_more(clf.predict(X), source)
    found, errors = _truth_of_two(clf.predict(X), source.y_apart, prior)
    if _tells_information(clf, setting):
        found["information"] = _information(clf.predict_proba(X)[:, 1], source.y_apart, prior)
    return found, errors


def _truth_of_two(predicted: Any, y: Any, prior: float) -> _Truth:
    rates = {sign: float(np.mean(predicted[y == sign] == 1)) for sign in (1, -1)}
    counts = {sign: int(np.sum(y == sign)) for sign in (1, -1)}
    right = prior * rates[1] + (1.0 - prior) * (1.0 - rates[-1])
    if right < 0.5:  # it calls the classes the other way round
        rates, prior, right = {1: rates[-1], -1: rates[1]}, 1.0 - prior, 1.0 - right
        counts = {1: counts[-1], -1: counts[1]}
    errors = {sign: _error(rates[sign], counts[sign]) for sign in (1, -1)}
    found = {
        "prior": prior,
        "prior, report": prior,
        "majority, pair moments": max(prior, 1.0 - prior),
        "accuracy": right,
        "true-positive rate": rates[1],
        "false-positive rate": rates[-1],
    }
    return found, {
        "accuracy": float(np.hypot(prior * errors[1], (1.0 - prior) * errors[-1])),
        "true-positive rate": errors[1],
        "false-positive rate": errors[-1],
    }


def _error(rate: float, count: int) -> float:
    """Return the standard error of a rate that is measured on so many rows."""
    return float(np.sqrt(rate * (1.0 - rate) / count))


def _truth_of_more(predicted: Any, source: "_Source") -> _Truth:
    """Match the classes to those of the classifier so that it is right as often as can be."""
    n_classes = int(source.y.max()) + 1
    shares = np.bincount(source.y) / source.y.size
    rates = np.array(
        [
            [np.mean(predicted[source.y_apart == k] == called) for called in range(n_classes)]
            for k in range(n_classes)
        ]
    )
    true, called = linear_sum_assignment(shares[:, None] * rates, maximize=True)
    found, errors = {"accuracy": float(shares[true] @ rates[true, called])}, {}
    for k, name in zip(true, called, strict=True):
        recall = f"recall of class {name}"
        found[recall] = float(rates[k, name])
        errors[recall] = _error(found[recall], int(np.sum(source.y_apart == k)))
        found[f"share of class {name}"] = found[f"share, report, of class {name}"] = float(
            shares[k]
        )
    of_classes = [errors[f"recall of class {name}"] for name in called]
    errors["accuracy"] = float(np.linalg.norm(shares[true] * of_classes))
    return found, errors


def _information(eta: FloatArray, y: Any, prior: float) -> float:
    """Return how much better the classifier explains a fresh similar pair than no features do.

    That is, the mean of ``log(sum_k eta_k(a) eta_k(b) / sum_k q_k^2)`` with its calibrated
    probabilities, q their means over fresh rows. What the library reports is of models of folds,
    which learned from fewer pairs.
    """
    rng = np.random.default_rng(0)
    of_class = {sign: np.flatnonzero(y == sign) for sign in (1, -1)}
    q = prior * eta[of_class[1]].mean() + (1.0 - prior) * eta[of_class[-1]].mean()
    share, total = prior**2 / (prior**2 + (1.0 - prior) ** 2), 0.0
    for sign, weight in ((1, share), (-1, 1.0 - share)):
        left, right = eta[rng.choice(of_class[sign], (2, _N_FRESH))]
        total += weight * float(np.log(left * right + (1.0 - left) * (1.0 - right)).mean())
    return total - float(np.log(q**2 + (1.0 - q) ** 2))


# --- what could be known at best ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Source:
    """A pool in two halves: one to draw statements from, one to measure the truth on."""

    X: FloatArray
    y: "NDArray[np.int64]"
    X_apart: FloatArray
    y_apart: "NDArray[np.int64]"
    model: Any
    """Learned from labels; None where there are more than two classes."""

    def ratios(self, X: FloatArray) -> FloatArray:
        """Return how much likelier rows are in class +1 than in class -1, by labels."""
        p = self.model.predict_proba(X)[:, 1].clip(1e-4, 1.0 - 1e-4)
        share = float(np.mean(self.y_apart == 1))
        return np.asarray(p / (1.0 - p) * (1.0 - share) / share)


@lru_cache(maxsize=2)
def _source_of_three(dataset: str, prior: float) -> _Source:
    """Draw three classes, two of which share what the first one leaves."""
    if dataset == "waveform":
        X, y = make_waveform(2 * _N_POOL, n_classes=3, prior=prior, random_state=0)
    elif dataset == "gaussians":
        rng = np.random.default_rng(0)
        y = rng.choice(3, size=2 * _N_POOL, p=[prior, (1.0 - prior) / 2, (1.0 - prior) / 2])
        angles = 2.0 * np.pi * y / 3.0
        X = rng.standard_normal((y.size, 5))
        X[:, :2] += _SEPARATION / np.sqrt(3.0) * np.column_stack([np.cos(angles), np.sin(angles)])
    else:
        raise ValueError(f"{dataset} has two classes; those of three: gaussians, waveform.")
    return _Source(X[:_N_POOL], y[:_N_POOL], X[_N_POOL:], y[_N_POOL:], None)


@lru_cache(maxsize=2)
def _source(dataset: str) -> _Source:
    X, y = pool(dataset)
    rows: FloatArray = np.asarray(X, dtype=np.float64)
    if np.mean(y == 1) < 0.5:
        y = -y
    first, second = np.array_split(np.random.default_rng(0).permutation(rows.shape[0]), 2)
    second = second[:_N_POOL]
    model = HistGradientBoostingClassifier(early_stopping=True, random_state=0)
    model.fit(rows[second], y[second])
    return _Source(rows[first], y[first], rows[second], y[second], model)


def _narrowest(ratios: FloatArray, y: Any, setting: Setting, prior: float) -> float | None:
    """Return half the width of the interval by the likelihood of the prior alone."""
    statements = read_labels(y)

    def log_likelihood(share: float) -> float:
        total = float(np.log(share * ratios + 1.0 - share).sum())
        if not statements.is_fresh:
            odds = share / (1.0 - share) * ratios
            log_p = np.log(np.column_stack([1.0 / (1.0 + odds), odds / (1.0 + odds)]))
            likelihood = TableLikelihood(statements, 2, setting.pairing, setting.true_error_rate)
            return total + likelihood.evaluate(log_p).value
        members = ratios[statements.members.reshape(-1, 2)]
        total -= float(np.log(share * members + 1.0 - share).sum())  # pairs are not rows alone
        if setting.pairing == "free":
            return total
        alike = share**2 * members.prod(axis=1) + (1.0 - share) ** 2
        return total + float(np.log(alike / (share**2 + (1.0 - share) ** 2)).sum())

    below, here, above = (log_likelihood(prior + step) for step in (-_STEP, 0.0, _STEP))
    curvature = (2.0 * here - below - above) / _STEP**2
    if curvature <= 0.0:
        return None
    return float(norm.ppf((1.0 + LEVEL) / 2.0) / np.sqrt(curvature))


EXPERIMENT = Experiment(
    name="coverage",
    title="How often intervals hold what they should",
    measure=measure,
    outcome="accuracy",
    full=Plan(SOURCES, tuple(SETTINGS), 20, {"n": SIZES, "prior": PRIORS}, first=UNSEEN),
    quick=Plan(("gaussians",), tuple(SETTINGS), 2, {"n": (100,), "prior": (0.7,)}, first=UNSEEN),
    methods=SETTINGS,
    sections=sections,
    by_name_only=True,
)
