"""The paper's Figures 2 and 3: the losses, and what they become on pairs and on unlabeled rows.

Figure 3 compares losses as functions of the margin; Figure 2 draws L_S and L_U of the squared and
the logistic loss at priors 3/4 and 1/4. Curves need no data, so a "trial" checks by numbers what
the figures show: with the losses that likewise learns with, L_S is a straight line and L_U convex
(Theorem 3 of the paper); with the zero-one loss neither holds.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise._types import FloatArray
from likewise.experiments.experiment import Experiment, Plan
from likewise.experiments.runner import Record
from likewise.experiments.statistics import group
from likewise.pages.document import Cell, Picture, Section, Table
from likewise.su.losses import LOSSES
from likewise.su.risk import similar_loss, unlabeled_loss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EXPERIMENT", "measure", "sections"]

DATASET = "analytic"
"""Stands where other experiments name a dataset."""
PRIORS = (0.75, 0.25)
METHODS = tuple(LOSSES)

_MARGINS = np.linspace(-4.0, 4.0, 801)
_ROUNDING = 1e-9


def measure(*, experiment: str, dataset: str, method: str, trial: int, prior: float) -> Record:
    """Measure how bent L_S and L_U of a loss are on a grid of decision values.

    Parameters
    ----------
    experiment, dataset : str
    method : str
        Name of the loss.
    trial : int
        Changes nothing.
    prior : float

    Returns
    -------
    dict
        ``similar_bend``: largest second difference of L_S, 0 for a straight line;
        ``unlabeled_sag``: smallest second difference of L_U, not negative for a convex function;
        ``convex``: whether the SU objective is convex with this loss at this prior.
    """
    similar = _second_differences(similar_loss(method, _MARGINS, prior))
    unlabeled = _second_differences(unlabeled_loss(method, _MARGINS, prior))
    bend, sag = float(np.abs(similar).max()), float(unlabeled.min())
    return {
        "similar_bend": bend,
        "unlabeled_sag": sag,
        "convex": bool(bend < _ROUNDING and sag > -_ROUNDING),
    }


def sections(records: Sequence[Record]) -> list[Section]:
    """Return what a report says of the losses.

    Parameters
    ----------
    records : sequence of dict

    Returns
    -------
    list of Section
    """
    rows = tuple(
        (
            Cell(method.replace("_", " ")),
            Cell(f"{prior:g}", prior),
            _bend_cell(one["similar_bend"]),
            _bend_cell(one["unlabeled_sag"]),
            Cell("yes" if one["convex"] else "no"),
        )
        for (method, prior), (one, *_) in group(records, "method", "prior").items()
        if one["status"] == "ok"
    )
    table = Table(
        "Second differences of L_S and L_U over decision values from -4 to 4, in steps of 0.01",
        ("loss", "prior", "L_S, largest", "L_U, smallest", "objective convex"),
        rows,
    )
    return [
        Section(
            "Losses (Figures 2 and 3)",
            (
                "A loss of a labeled row becomes one of a pair member, L_S, and one of an "
                "unlabeled row, L_U. The objective is convex where L_S is a straight line and L_U "
                "is convex.",
            ),
            (table,),
            (
                Picture("Figure 2: L_S and L_U at priors 3/4 and 1/4.", _draw_rewritten),
                Picture("Figure 3: losses as functions of the margin.", _draw_losses),
            ),
        )
    ]


def _second_differences(values: FloatArray) -> FloatArray:
    return values[2:] - 2 * values[1:-1] + values[:-2]


def _bend_cell(value: float) -> Cell:
    return Cell("0" if abs(value) < _ROUNDING else f"{value:.2g}", value)


def _draw_rewritten() -> "Figure":
    from matplotlib.figure import Figure

    from likewise.plots import plot_su_losses

    figure = Figure(figsize=(12.4, 3.9), layout="constrained")
    axes = figure.subplots(1, 4)
    for position, prior in enumerate(PRIORS):
        plot_su_losses(prior, axes=axes[2 * position : 2 * position + 2])
    return figure


def _draw_losses() -> "Figure":
    from matplotlib.figure import Figure

    from likewise.plots import plot_losses

    figure = Figure(figsize=(5.6, 4.0), layout="constrained")
    plot_losses(figure.subplots())
    return figure


_PLAN = Plan((DATASET,), METHODS, 1, {"prior": PRIORS})

EXPERIMENT = Experiment(
    name="losses",
    title="Losses on pairs and on unlabeled rows (Figures 2 and 3)",
    measure=measure,
    outcome="unlabeled_sag",
    full=_PLAN,
    quick=_PLAN,
    methods=METHODS,
    sections=sections,
    sampled=False,
)
