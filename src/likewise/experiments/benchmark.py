"""The paper's Table 4: all methods on twelve datasets, 500 pairs, 500 unlabeled and 100 test rows.

The class prior is 0.7 and no method is told. The two SU columns of the paper estimate it by KM2, as
the paper does, from one estimate that both share; ours estimates it by pair moments. Features are
standardized by the training rows of each sample, since the paper does not say how it scaled them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from likewise.datasets.catalogue import CATALOGUE
from likewise.experiments.against_paper import compare_with_paper
from likewise.experiments.classification import learn
from likewise.experiments.experiment import UNSEEN, Experiment, Plan
from likewise.experiments.methods import (
    METHODS,
    REFERENCE,
    SHARING,
    WithMethods,
    ordered,
    title_of,
)
from likewise.experiments.published import TABLE_4
from likewise.experiments.runner import Record
from likewise.experiments.samples import Draw
from likewise.experiments.statistics import Mean, group, mean_of, not_worse
from likewise.experiments.tables import mean_cell
from likewise.pages.document import Cell, Picture, Section, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "measure", "plot", "sections"]

PRIOR = 0.7
_N_SIMILAR, _N_UNLABELED, _N_TEST = 500, 500, 100

_OURS = ("su-logistic", "pair-likelihood")

Found = Mapping[tuple[str, str], Sequence[Record]]
"""Records by dataset and method."""


def measure(*, experiment: str, dataset: str, method: str, trial: int) -> Record:
    """Let one method learn from one sample.

    Parameters
    ----------
    experiment, dataset : str
    method : str
        A name in `likewise.experiments.methods.METHODS`.
    trial : int
        With `dataset` it fixes the sample, which is the same for every method.

    Returns
    -------
    dict
        As of `likewise.experiments.classification.learn`.
    """
    draw = Draw(dataset, _N_SIMILAR, _N_UNLABELED, _N_TEST, PRIOR, trial)
    return learn(draw, method)


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of the comparison.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    found = {(key[0], key[1]): own for key, own in group(records, "dataset", "method").items()}
    datasets = sorted({dataset for dataset, _ in found})
    methods = ordered(record["method"] for record in records)
    return [
        Section(
            "Benchmark (Table 4)",
            (
                f"{_N_SIMILAR} similar pairs, {_N_UNLABELED} unlabeled rows and {_N_TEST} test "
                f"rows; the class prior is {PRIOR:g} and unknown to every method. Clustering "
                "accuracy is 1 - min(r, 1 - r), r being the error rate.",
                f"Whoever puts all rows into one class reaches {100 * PRIOR:g}: read the accuracy "
                "together with the share of the larger predicted class.",
                f"The column {title_of(REFERENCE)!r} is no baseline: it learned from every label.",
            ),
            (
                _accuracy_table(found, datasets, methods),
                _share_table(found, datasets, methods),
                _prior_table(found, datasets, methods),
                _cost_table(records, methods),
            ),
            (Picture("Mean accuracy with one standard error.", lambda: plot(records)),),
        ),
        *compare_with_paper(records),
    ]


def plot(records: Sequence[Record]) -> "Figure":
    """Draw the accuracy of every method, a panel for each dataset.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    matplotlib Figure
    """
    from likewise.experiments.figures import panels
    from likewise.plots import BLUE, GREEN, GREY, VERMILION

    found = {name: own for (name,), own in sorted(group(records, "dataset").items())}
    methods = ordered(record["method"] for record in records)
    figure, axes = panels(
        list(found),
        xlabel="accuracy, %",
        ylabel="",
        heading="Clustering accuracy (whiskers: one s.e.; dotted: all rows in one class)",
    )
    figure.set_figheight((0.23 * len(methods) + 0.8) * (1 + (len(found) - 1) // 4) + 0.8)
    for panel, own in zip(axes, found.values(), strict=True):
        panel.axvline(100 * PRIOR, color=GREY, ls=":")
        for (method,), some in group(own, "method").items():
            mean = mean_of(some, "accuracy")
            if mean.value is None:
                continue
            color = GREEN if method == REFERENCE else VERMILION if method in _OURS else BLUE
            panel.errorbar(
                100 * mean.value,
                methods.index(method),
                xerr=100 * (mean.standard_error or 0.0),
                fmt="o",
                color=color,
                markersize=5,
                capsize=2,
            )
        panel.set_yticks(range(len(methods)), [title_of(method) for method in methods])
        panel.set_ylim(len(methods) - 0.5, -0.5)  # the first on top
    return figure


def _accuracy_table(found: Found, datasets: Sequence[str], methods: Sequence[str]) -> Table:
    rows = []
    for dataset in datasets:
        means = {
            method: mean_of(found[dataset, method], "accuracy")
            for method in methods
            if (dataset, method) in found
        }
        best = not_worse({name: mean for name, mean in means.items() if name != REFERENCE})
        cells = [
            mean_cell(
                means.get(method),
                bold=method in best,
                notes=_remarks(found.get((dataset, method), ())),
                paper=_in_paper(dataset, method),
            )
            for method in methods
        ]
        rows.append((Cell(dataset), *cells))
    return Table(
        "Clustering accuracy in percent: mean and standard error. Bold: the best without labels, "
        "and what is not worse by a one-sided t-test at 5 %.",
        ("dataset", *(title_of(method) for method in methods)),
        tuple(rows),
    )


def _remarks(records: Sequence[Record]) -> tuple[str, ...]:
    """Say how often a method put all rows into one class, or stopped before it converged."""
    good = [record for record in records if record["status"] == "ok"]
    collapsed = sum(record["collapsed"] for record in good)
    unfinished = sum(not record["converged"] for record in good)
    remarks = {
        f"One class for nearly all rows in {collapsed} of {len(good)} trials": collapsed,
        f"Not converged in {unfinished} of {len(good)} trials": unfinished,
    }
    return tuple(words for words, count in remarks.items() if count)


def _in_paper(dataset: str, method: str) -> str | None:
    printed = TABLE_4.get((dataset, method))
    return None if printed is None else str(printed)


def _share_table(found: Found, datasets: Sequence[str], methods: Sequence[str]) -> Table:
    return Table(
        "Share of the unlabeled rows in the larger predicted class, in percent: mean and standard "
        f"error. The true share is {100 * PRIOR:g}; 100 is a constant answer.",
        ("dataset", *(title_of(method) for method in methods)),
        _rows_of_means(found, datasets, methods, "share"),
    )


def _prior_table(found: Found, datasets: Sequence[str], methods: Sequence[str]) -> Table:
    using = [
        method
        for method in methods
        if any(
            record.get("prior_estimate") is not None
            for dataset in datasets
            for record in found.get((dataset, method), ())
        )
    ]
    return Table(
        "Class prior that a method estimated for itself, in percent: mean and standard error. The "
        f"true prior is {100 * PRIOR:g}.",
        ("dataset", *(title_of(method) for method in using)),
        _rows_of_means(found, datasets, using, "prior_estimate"),
    )


def _rows_of_means(
    found: Found, datasets: Sequence[str], methods: Sequence[str], field: str
) -> tuple[tuple[Cell, ...], ...]:
    means: dict[tuple[str, str], Mean] = {key: mean_of(own, field) for key, own in found.items()}
    return tuple(
        (Cell(dataset), *(mean_cell(means.get((dataset, method))) for method in methods))
        for dataset in datasets
    )


def _cost_table(records: Sequence[Record], methods: Sequence[str]) -> Table:
    rows = []
    for method in methods:
        own = [record for record in records if record["method"] == method]
        failed = sum(record["status"] != "ok" for record in own)
        seconds = mean_of(own, "seconds")
        cells = (
            mean_cell(seconds, scale=1, digits=3),
            Cell("" if not own else f"{max(one['seconds'] for one in own):.3f}"),
            Cell(str(len(own)), float(len(own))),
            Cell(str(failed), float(failed)),
        )
        rows.append((Cell(title_of(method)), *cells))
    return Table(
        "Seconds of a trial on one core, to learn and to predict. The KM2 estimate, which the two "
        "losses of the paper share, counts in both.",
        ("method", "mean", "longest", "trials", "failed"),
        tuple(rows),
    )


EXPERIMENT = Experiment(
    name="benchmark",
    title="All methods on twelve datasets (Table 4)",
    measure=WithMethods(measure),
    outcome="accuracy",
    full=Plan(tuple(sorted(CATALOGUE)), METHODS, 20, first=UNSEEN),
    quick=Plan(("banana", "waveform"), METHODS, 3, first=UNSEEN),
    methods=METHODS,
    sections=sections,
    together=SHARING,
)
