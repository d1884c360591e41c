"""The paper's Figure 5: the error with more unlabeled rows, at three known class priors.

200 similar pairs, 200 to 1600 unlabeled rows, squared loss, the penalty chosen by five-fold
cross-validated SU risk, 50 trials. The paper shows eight datasets and its text names but one,
phoneme: here all twelve are run. Nor does it say how many test rows it took: here 1000 where a set
has them to spare, since 100 are too few to see an error fall by one point, and at least 100.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from likewise.classifiers import SUClassifierCV
from likewise.datasets.catalogue import CATALOGUE
from likewise.experiments.experiment import Experiment, Plan
from likewise.experiments.figures import panels_by_dataset
from likewise.experiments.runner import Record
from likewise.experiments.samples import Draw, draw_task, pool
from likewise.experiments.statistics import Mean, group, mean_of
from likewise.experiments.tables import mean_cell
from likewise.pages.document import Cell, Picture, Section, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "EXPERIMENT",
    "N_SIMILAR",
    "PRIORS",
    "SIZES",
    "falling",
    "hardest_near_half",
    "measure",
    "plot",
    "sections",
]

N_SIMILAR = 200
SIZES = (200, 400, 800, 1600)
PRIORS = (0.1, 0.4, 0.7)
METHODS = ("su-squared",)
_N_TEST = range(100, 1001, 100)
"""Test rows, as many of these as the set has to spare."""
_MARGIN = 100
"""Rows of a class that a random draw may ask for beyond those that are expected."""


def measure(
    *, experiment: str, dataset: str, method: str, trial: int, n_unlabeled: int, prior: float
) -> Record:
    """Learn with the squared loss and the true prior, and count errors on test rows.

    Parameters
    ----------
    experiment, dataset, method : str
    trial : int
    n_unlabeled : int
    prior : float

    Returns
    -------
    dict
        ``accuracy`` (plain: a known prior also tells which class is which), ``error``,
        ``seconds``, ``alpha``, ``n_test``.
    """
    n_test = _n_test(dataset, prior)
    task, y_test = draw_task(Draw(dataset, N_SIMILAR, n_unlabeled, n_test, prior, trial))
    start = perf_counter()
    model = SUClassifierCV("squared", prior=prior).fit(task.X, task.y)
    seconds = perf_counter() - start
    accuracy = float(np.mean(model.predict(task.X_test) == y_test))
    return {
        "accuracy": accuracy,
        "error": 1.0 - accuracy,
        "seconds": seconds,
        "alpha": float(model.alpha_),
        "n_test": n_test,
    }


def _n_test(dataset: str, prior: float) -> int:
    """Return the number of test rows: the same for every number of unlabeled rows."""
    _, y = pool(dataset)
    shares = np.array([prior, 1.0 - prior])
    taken = 2 * N_SIMILAR * shares**2 / (shares @ shares) + max(SIZES) * shares
    left = np.array([np.sum(y == 1), np.sum(y != 1)]) - taken - _MARGIN
    most = float(np.min(left / shares))
    return max((n_test for n_test in _N_TEST if n_test <= most), default=_N_TEST[0])


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of the number of unlabeled rows.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    sizes = sorted({record["n_unlabeled"] for record in records})
    rows = []
    for (dataset, prior), own in sorted(group(records, "dataset", "prior").items()):
        by_size = group(own, "n_unlabeled")
        cells = [mean_cell(_mean(by_size.get((size,)))) for size in sizes]
        rows.append((Cell(dataset), Cell(f"{prior:g}", prior), *cells))
    table = Table(
        "Error rate in percent: mean and standard error",
        ("dataset", "prior", *(f"{size} unlabeled" for size in sizes)),
        tuple(rows),
    )
    return [
        Section(
            "More unlabeled rows (Figure 5)",
            (
                f"{N_SIMILAR} similar pairs, the squared loss, the class prior known. The paper "
                "finds that errors fall with more unlabeled rows, and are larger the nearer the "
                "prior is to one half.",
                f"Each error is over up to {_N_TEST[-1]} test rows, fewer where a set has no more "
                f"to spare.",
                _trend(records),
            ),
            (table,),
            (
                Picture(
                    "Error rate against the number of unlabeled rows; shaded: one standard error.",
                    lambda: plot(records),
                ),
            ),
        )
    ]


def falling(records: Sequence[Record]) -> dict[float, dict[str, bool]]:
    """Tell, by prior and dataset, whether the error is less with the most unlabeled rows.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    dict
        Datasets that lack the fewest or the most unlabeled rows are left out.
    """
    means = _means(records)
    sizes = sorted({size for _, _, size in means})
    falls: dict[float, dict[str, bool]] = {}
    for dataset, prior in sorted({key[:2] for key in means}):
        first, last = (means.get((dataset, prior, size)) for size in (sizes[0], sizes[-1]))
        if len(sizes) > 1 and first is not None and last is not None:
            falls.setdefault(prior, {})[dataset] = last < first
    return falls


def hardest_near_half(records: Sequence[Record]) -> dict[tuple[str, int], bool]:
    """Tell, by dataset and unlabeled rows, whether the error is largest at the middle prior.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    dict
        Where the error at one of the three priors is not known, nothing is told.
    """
    means = _means(records)
    found = {}
    for dataset, size in sorted({(dataset, size) for dataset, _, size in means}):
        low, middle, high = (means.get((dataset, prior, size)) for prior in PRIORS)
        if low is not None and middle is not None and high is not None:
            found[dataset, size] = middle > max(low, high)
    return found


def _means(records: Sequence[Record]) -> dict[tuple[str, float, int], float]:
    """Return mean errors by dataset, prior and unlabeled rows, where trials did not fail."""
    means = {
        (dataset, prior, size): mean_of(own, "error").value
        for (dataset, prior, size), own in group(records, "dataset", "prior", "n_unlabeled").items()
    }
    return {key: value for key, value in means.items() if value is not None}


def _trend(records: Sequence[Record]) -> str:
    falls, hardest = falling(records), hardest_near_half(records)
    if not falls:
        return "One number of unlabeled rows was run, which shows no trend."
    counts = ", ".join(
        f"{sum(found.values())} of {len(found)} sets at prior {prior:g}"
        for prior, found in sorted(falls.items())
    )
    largest = (
        f" It is larger at prior {PRIORS[1]:g} than at {PRIORS[0]:g} and at {PRIORS[2]:g} in "
        f"{sum(hardest.values())} of {len(hardest)} cases (a set with a number of rows)."
        if hardest
        else ""
    )
    return (
        "Here the error is lower with the most unlabeled rows than with the fewest on "
        f"{counts}; sets without enough rows are not counted.{largest}"
    )


def plot(records: Sequence[Record]) -> "Figure":
    """Draw mean errors against the number of unlabeled rows, a panel for each dataset.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    matplotlib Figure
    """
    return panels_by_dataset(
        records,
        "n_unlabeled",
        _draw_panel,
        xlabel="unlabeled rows",
        ylabel="error rate, % (shaded: one s.e.)",
        heading=f"Squared loss, {N_SIMILAR} similar pairs, known prior",
    )[0]


def _draw_panel(ax: "Axes", records: Sequence[Record]) -> None:
    from likewise.plots import BLUE, GREEN, PURPLE, VERMILION

    colors = dict(zip(PRIORS, (BLUE, VERMILION, GREEN), strict=True))
    for (prior,), own in sorted(group(records, "prior").items()):
        means = {
            size: mean_of(some, "error") for (size,), some in group(own, "n_unlabeled").items()
        }
        good = sorted((size, mean) for size, mean in means.items() if mean.value is not None)
        if not good:
            continue
        middle = np.array([100 * (mean.value or 0.0) for _, mean in good])
        spread = np.array([100 * (mean.standard_error or 0.0) for _, mean in good])
        at, color = [size for size, _ in good], colors.get(prior, PURPLE)
        ax.fill_between(at, middle - spread, middle + spread, color=color, alpha=0.2, lw=0)
        ax.plot(at, middle, color=color, marker="o", markersize=4, lw=1.8, label=f"prior {prior:g}")


def _mean(records: Sequence[Record] | None) -> Mean | None:
    return None if records is None else mean_of(records, "error")


_SETTINGS = {"n_unlabeled": SIZES, "prior": PRIORS}

EXPERIMENT = Experiment(
    name="unlabeled",
    title="The error with more unlabeled rows (Figure 5)",
    measure=measure,
    outcome="error",
    full=Plan(tuple(sorted(CATALOGUE)), METHODS, 50, _SETTINGS),
    quick=Plan(("banana", "phoneme"), METHODS, 5, _SETTINGS),
    methods=METHODS,
    sections=sections,
)
