"""Equally large classes: the one case that the paper's risk excludes, and its neighbourhood.

The SU risk divides by ``2 * prior - 1``. Here the classes of waveform are drawn at shares of 0.5,
0.55 and 0.6, and the paper's method is compared with the pair likelihood and with labels. Not in
the paper.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from likewise.experiments.classification import learn
from likewise.experiments.experiment import UNSEEN, Experiment, Plan
from likewise.experiments.figures import legend_of_all, panels
from likewise.experiments.methods import METHODS, SHARING, WithMethods, ordered, title_of
from likewise.experiments.runner import Record
from likewise.experiments.samples import Draw
from likewise.experiments.statistics import group, mean_of
from likewise.experiments.tables import mean_cell
from likewise.pages.document import Cell, Picture, Section, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "PRIORS", "measure", "plot", "sections"]

PRIORS = (0.5, 0.55, 0.6)
_N_SIMILAR, _N_UNLABELED, _N_TEST = 500, 500, 500
_COMPARED = ("su-squared", "su-logistic", "pair-likelihood", "labels")


def measure(*, experiment: str, dataset: str, method: str, trial: int, prior: float) -> Record:
    """Let one method learn from one sample with this share of class +1.

    Parameters
    ----------
    experiment, dataset : str
    method : str
        A name in `likewise.experiments.methods.METHODS`.
    trial : int
    prior : float

    Returns
    -------
    dict
        As of `likewise.experiments.classification.learn`.
    """
    return learn(Draw(dataset, _N_SIMILAR, _N_UNLABELED, _N_TEST, prior, trial), method)


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of equally large classes.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    found = {key: mean_of(own, "accuracy") for key, own in _grouped(records).items()}
    methods = ordered(method for _, _, method in found)
    places = sorted({(dataset, prior) for dataset, prior, _ in found})
    table = Table(
        "Clustering accuracy in percent: mean and standard error",
        ("dataset", "prior", *map(title_of, methods)),
        tuple(
            (
                Cell(dataset),
                Cell(f"{prior:g}", prior),
                *(mean_cell(found.get((dataset, prior, method))) for method in methods),
            )
            for dataset, prior in places
        ),
    )
    return [
        Section(
            "Equally large classes",
            (
                "At a prior of one half the paper's risk does not exist; its estimators of the "
                "prior then return something else, and the method learns from that. The "
                "likelihood of pairs needs no prior.",
            ),
            (table,),
            (Picture("Accuracy at priors around one half.", lambda: plot(records)),),
        )
    ]


def plot(records: Sequence[Record]) -> "Figure":
    """Draw the accuracy against the prior, a panel for each dataset.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    matplotlib Figure
    """
    from likewise.plots import BLUE, GREEN, PURPLE, VERMILION

    styles = dict(
        zip(
            _COMPARED,
            ((BLUE, "s", "-"), (GREEN, "D", "-"), (VERMILION, "o", "-"), (PURPLE, "^", "--")),
            strict=True,
        )
    )
    found = {name: own for (name,), own in sorted(group(records, "dataset").items())}
    figure, axes = panels(
        list(found),
        xlabel="prior",
        ylabel="accuracy, % (whiskers: one s.e.)",
        heading=f"{_N_SIMILAR} similar pairs and {_N_UNLABELED} unlabeled rows",
    )
    for panel, own in zip(axes, found.values(), strict=True):
        for place, ((method,), some) in enumerate(group(own, "method").items()):
            color, marker, line = styles.get(method, (None, "v", ":"))
            means = {
                prior: mean_of(few, "accuracy") for (prior,), few in group(some, "prior").items()
            }
            good = [(prior, means[prior]) for prior in sorted(means) if means[prior].trials]
            panel.errorbar(
                [prior + 0.001 * place for prior, _ in good],  # side by side, lest lines cover
                [100 * (mean.value or 0.0) for _, mean in good],
                yerr=[100 * (mean.standard_error or 0.0) for _, mean in good],
                color=color,
                marker=marker,
                ls=line,
                markersize=5,
                lw=1.8,
                capsize=3,
                label=title_of(method),
            )
    legend_of_all(figure, axes)
    return figure


def _grouped(records: Sequence[Record]) -> dict[tuple[str, float, str], list[Record]]:
    return {
        (key[0], key[1], key[2]): own
        for key, own in group(records, "dataset", "prior", "method").items()
    }


EXPERIMENT = Experiment(
    name="half",
    title="Equally large classes, which the paper's risk excludes",
    measure=WithMethods(measure),
    outcome="accuracy",
    full=Plan(("waveform",), _COMPARED, 20, {"prior": PRIORS}, UNSEEN),
    quick=Plan(("waveform",), _COMPARED, 2, {"prior": PRIORS}, UNSEEN),
    methods=METHODS,
    sections=sections,
    together=SHARING,
)
