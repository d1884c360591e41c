"""Theorems 1, 2 and 4 of the paper, by simulation: no bias, least variance at 1/2, and the bound.

The pool is the population: a risk over all its rows, weighted to the prior, is the true risk, and
so there is nothing to approximate the truth by. (Theorem 3, convexity, is checked with the losses.)
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress
from sklearn.linear_model import LogisticRegression

from likewise._types import FloatArray
from likewise.classifiers import SUClassifier
from likewise.datasets import SUSample, sample_su
from likewise.experiments.experiment import Experiment, Plan
from likewise.experiments.figures import log_axis
from likewise.experiments.runner import Record
from likewise.experiments.samples import Draw, pool, standardise
from likewise.experiments.statistics import group, mean_of
from likewise.experiments.tables import mean_cell
from likewise.pages.document import Cell, Picture, Section, Table
from likewise.su.losses import LOSSES, get_loss
from likewise.su.risk import error_bound, similar_term_variance, su_risk_of_decisions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "Population", "measure", "population", "sections"]

PRIOR = 0.7
SIZES = (50, 100, 200, 400, 800, 1600)
METHODS = ("unbiased", "variance", "bound")
WEIGHTS = tuple(k / 10 for k in range(11))
DELTA = 0.05

_SMALLEST_ALPHA = 1e-8
_LARGEST_ALPHA = 1e2
_HALVINGS = 20


@dataclass(frozen=True, eq=False)
class Population:
    """All rows of a pool with the weights that make it a population of prior 0.7.

    Attributes
    ----------
    X : array of shape (n_rows, n_features)
        Standardized.
    y, weights : arrays of shape (n_rows,)
        Classes; weights sum to one.
    best : array of shape (n_features + 1,)
        Minimizer of the logistic risk, the intercept last: the paper's f*.
    """

    X: FloatArray
    y: NDArray[np.int64]
    weights: FloatArray
    best: FloatArray

    @property
    def radius(self) -> float:
        """Largest norm in the model class: twice that of the best model, which is thus inside."""
        return 2.0 * float(np.linalg.norm(self.best))

    def risk(self, model: FloatArray, loss: str) -> float:
        """Return the true risk of a linear model."""
        return float(self.weights @ get_loss(loss).value(_decide(self.X, model), self.y))

    def bound(self, n: int) -> float:
        """Return the paper's bound for n pairs and n unlabeled rows and the logistic loss."""
        longest_row = float(np.sqrt((self.X**2).sum(axis=1).max() + 1.0))
        largest_decision = self.radius * longest_row
        return error_bound(
            n,
            n,
            prior=PRIOR,
            lipschitz=1.0,
            complexity=largest_decision,
            loss_bound=float(get_loss("logistic").value(largest_decision, -1)),
            delta=DELTA,
        )


@lru_cache(maxsize=2)
def population(dataset: str) -> Population:
    """Make a population of a pool, and find its best linear model.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    Population
    """
    rows, y = pool(dataset)
    (X,) = standardise(rows, rows)
    share = {1: PRIOR, -1: 1.0 - PRIOR}
    weights = np.where(y == 1, share[1] / np.sum(y == 1), share[-1] / np.sum(y == -1))
    # The constant column is penalized like the others, as in the paper, but next to nothing.
    model = LogisticRegression(C=1e8, fit_intercept=False, tol=1e-8, max_iter=1000)
    model.fit(np.column_stack([X, np.ones(len(X))]), y, sample_weight=weights)
    return Population(X, y, weights, model.coef_[0])


def measure(*, experiment: str, dataset: str, method: str, trial: int, n: int) -> Record:
    """Draw n pairs and n unlabeled rows, and measure what one theorem speaks of.

    Parameters
    ----------
    experiment, dataset : str
    method : {"unbiased", "variance", "bound"}
    trial : int
    n : int

    Returns
    -------
    dict
        ``value`` is: for "unbiased" the estimated minus the true logistic risk of a fixed model;
        for "variance" the estimated variance of the similar term at weight 1/2 over that at 0; for
        "bound" the excess risk of the learned model.
    """
    truth = population(dataset)
    rng = Draw(dataset, n, n, 0, PRIOR, trial).generator()
    sample = sample_su(truth.X, truth.y, n, n, prior=PRIOR, random_state=rng)
    if method == "unbiased":
        return _measure_bias(truth, sample)
    if method == "variance":
        return _measure_variance(truth, sample)
    return _measure_excess(truth, sample, n)


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of the theorems.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    good = {
        (key[0], key[1]): [record for record in own if record["status"] == "ok"]
        for key, own in sorted(group(records, "dataset", "method").items())
    }
    parts = {"unbiased": _bias_section, "variance": _variance_section, "bound": _bound_section}
    return [
        parts[method](dataset, own)
        for method in METHODS
        for (dataset, name), own in good.items()
        if name == method and own
    ]


def _measure_bias(truth: Population, sample: SUSample) -> Record:
    left, right, unlabeled = _decisions(sample, truth.best)
    biases = {
        loss: su_risk_of_decisions(left, right, unlabeled, prior=PRIOR, loss=loss).value
        - truth.risk(truth.best, loss)
        for loss in LOSSES
    }
    return {"value": biases["logistic"], "biases": biases}


def _measure_variance(truth: Population, sample: SUSample) -> Record:
    left, right, _ = _decisions(sample, truth.best)
    expected = similar_term_variance(left, right, prior=PRIOR, loss="logistic", weight=WEIGHTS)
    half = WEIGHTS.index(0.5)
    # The unlabeled rows are held at one decision value, so that only the similar term varies.
    terms = [
        su_risk_of_decisions(left, right, [0.0], prior=PRIOR, loss="logistic", weight=weight).value
        for weight in WEIGHTS
    ]
    return {
        "value": float(expected[half] / expected[0]),
        "terms": terms,
        "expected": expected.tolist(),
    }


def _measure_excess(truth: Population, sample: SUSample, n: int) -> Record:
    model = _learn_within(truth.radius, sample)
    excess = truth.risk(model, "logistic") - truth.risk(truth.best, "logistic")
    return {
        "value": excess,
        "bound": truth.bound(n),
        "norm": float(np.linalg.norm(model)),
        "radius": truth.radius,
    }


def _learn_within(radius: float, sample: SUSample) -> FloatArray:
    """Minimize the SU risk over models no longer than `radius`.

    That is the penalized minimizer for the right penalty: none to speak of if the free minimizer is
    short enough, else the one that makes it as long as the radius, found by bisection.
    """
    X, y = sample.pack()
    model = _learn(X, y, _SMALLEST_ALPHA)
    if np.linalg.norm(model) <= radius:
        return model
    low, high = np.log(_SMALLEST_ALPHA), np.log(_LARGEST_ALPHA)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        model = _learn(X, y, float(np.exp(middle)))
        low, high = (middle, high) if np.linalg.norm(model) > radius else (low, middle)
    return _learn(X, y, float(np.exp(high)))


def _learn(X: FloatArray, y: NDArray[np.int64], alpha: float) -> FloatArray:
    with warnings.catch_warnings():  # far too long models do not converge; they are not kept
        warnings.simplefilter("ignore")
        fitted = SUClassifier("logistic", prior=PRIOR, alpha=alpha).fit(X, y)
    return np.append(fitted.coef_[0], fitted.intercept_)


def _decisions(sample: SUSample, model: FloatArray) -> list[FloatArray]:
    return [_decide(rows, model) for rows in (*sample.similar, sample.unlabeled)]


def _decide(X: FloatArray, model: FloatArray) -> FloatArray:
    return np.asarray(X @ model[:-1] + model[-1])


def _bias_section(dataset: str, records: Sequence[Record]) -> Section:
    sizes = group(records, "n")
    rows = []
    for loss in LOSSES:
        means = [
            mean_of([{**one, "bias": one["biases"][loss]} for one in sizes[size]], "bias")
            for size in sorted(sizes)
        ]
        cells = [mean_cell(mean, scale=1, digits=4) for mean in means]
        rows.append((Cell(loss.replace("_", " ")), *cells))
    return Section(
        f"No bias (Theorem 1), {dataset}",
        (
            "The SU risk of a fixed linear model minus its true risk, for n pairs and n unlabeled "
            f"rows at prior {PRIOR:g}: mean and standard error over {len(records) // len(sizes)} "
            "samples. Without bias, about one mean in twenty is further from zero than two "
            "standard errors.",
        ),
        (
            Table(
                "Estimated minus true risk",
                ("loss", *(f"n = {size}" for (size,) in sorted(sizes))),
                tuple(rows),
            ),
        ),
    )


def _variance_section(dataset: str, records: Sequence[Record]) -> Section:
    # One sample has no variance; two determine no weight.
    sizes = {n: own for (n,), own in sorted(group(records, "n").items()) if len(own) > 2}
    pictures = (Picture("Variance against the weight.", lambda: _draw_variance(sizes)),)
    return Section(
        f"Least variance at weight 1/2 (Theorem 2), {dataset}",
        (
            "The similar term of the risk may weigh the left member of a pair by any number and "
            "the right by the rest. Its variance over samples, over that at weight 1/2; then what "
            "the formula tells for weight 0, and the weight of least variance with its standard "
            "error: the theorem says 1/2.",
        ),
        (
            Table(
                "Variance of the similar term, relative to weight 1/2",
                ("pairs", *(f"{weight:g}" for weight in WEIGHTS), "formula, at 0", "least at"),
                tuple(_variance_row(n, own) for n, own in sizes.items()),
            ),
        ),
        pictures if sizes else (),
    )


def _variance_row(n: int, records: Sequence[Record]) -> tuple[Cell, ...]:
    seen = _variances(records)
    expected = np.mean([record["expected"] for record in records], axis=0)
    told = float(expected[0] / expected[WEIGHTS.index(0.5)])
    return (
        Cell(f"n = {n}", float(n)),
        *(Cell(f"{ratio:.2f}", float(ratio)) for ratio in seen),
        Cell(f"{told:.2f}", told),
        _least_cell(records),
    )


def _variances(records: Sequence[Record]) -> FloatArray:
    """Return the variance over samples at every weight, over that at weight 1/2."""
    seen = np.var([record["terms"] for record in records], axis=0, ddof=1)
    return np.asarray(seen / seen[WEIGHTS.index(0.5)])


def _least_cell(records: Sequence[Record]) -> Cell:
    """Return the weight w of least variance of ``w left + (1 - w) right``.

    It is minus the slope of a straight line for the right member's term against the difference of
    both, and so has that slope's standard error.
    """
    right, left = np.array([[record["terms"][0], record["terms"][-1]] for record in records]).T
    line = linregress(left - right, right)
    return Cell(f"{-line.slope:.2f} ({line.stderr:.2f})", float(-line.slope))


def _draw_variance(sizes: Mapping[int, Sequence[Record]]) -> "Figure":
    from matplotlib.figure import Figure

    from likewise.plots import GREY

    figure = Figure(figsize=(6.2, 3.9), layout="constrained")
    ax = figure.subplots()
    for n, own in sizes.items():
        ax.plot(WEIGHTS, _variances(own), marker="o", label=f"n = {n}")
    ax.axvline(0.5, color=GREY, ls=":")
    ax.set(xlabel="weight of the left member", ylabel="variance, relative to weight 1/2")
    ax.legend(frameon=False)
    return figure


def _bound_section(dataset: str, records: Sequence[Record]) -> Section:
    rows = []
    for (n,), own in sorted(group(records, "n").items()):
        excess = np.array([record["value"] for record in own])
        over = int(np.sum(excess > own[0]["bound"]))
        rows.append(
            (
                Cell(f"n = {n}", float(n)),
                mean_cell(mean_of(own, "value"), scale=1, digits=4),
                Cell(
                    f"{np.quantile(excess, 1 - DELTA):.4f}", float(np.quantile(excess, 1 - DELTA))
                ),
                Cell(f"{own[0]['bound']:.1f}", own[0]["bound"]),
                Cell(f"{over} of {len(own)}", float(over)),
            )
        )
    return Section(
        f"The error bound (Theorem 4), {dataset}",
        (
            "Excess logistic risk of the linear model that minimizes the SU risk of n pairs and n "
            "unlabeled rows, over models at most twice as long as the best one, and the paper's "
            f"bound on it, which holds with probability {1 - DELTA:g}.",
            "The bound is about every distribution and every model of the class at once: far "
            "above what is seen, and falling as 1 / sqrt(n).",
        ),
        (
            Table(
                "Excess risk and its bound",
                ("sample", "mean excess", f"{100 * (1 - DELTA):g} % quantile", "bound", "above it"),
                tuple(rows),
            ),
        ),
        (Picture("Excess risk and bound against n.", lambda: _draw_bound(records)),),
    )


def _draw_bound(records: Sequence[Record]) -> "Figure":
    from matplotlib.figure import Figure

    from likewise.plots import BLUE, GREY, VERMILION

    figure = Figure(figsize=(6.2, 3.9), layout="constrained")
    ax = figure.subplots()
    found = {n: own for (n,), own in sorted(group(records, "n").items())}
    sizes = list(found)
    means = np.array([np.mean([record["value"] for record in own]) for own in found.values()])
    ax.plot(sizes, [own[0]["bound"] for own in found.values()], color=VERMILION, label="bound")
    ax.plot(sizes, means, color=BLUE, marker="o", label="mean excess risk")
    slope = means[0] * np.sqrt(sizes[0] / np.array(sizes))
    ax.plot(sizes, slope, color=GREY, ls=":", label="1 / sqrt(n)")
    ax.set_yscale("log")
    log_axis(ax, sizes)
    ax.set(xlabel="n pairs and n unlabeled rows", ylabel="excess logistic risk")
    ax.legend(frameon=False)
    return figure


EXPERIMENT = Experiment(
    name="theory",
    title="No bias, least variance and the error bound (Theorems 1, 2 and 4)",
    measure=measure,
    outcome="value",
    full=Plan(("gaussians",), METHODS, 400, {"n": SIZES}),
    quick=Plan(("gaussians",), METHODS, 100, {"n": (50, 200, 800)}),
    methods=METHODS,
    sections=sections,
)
