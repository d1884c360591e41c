"""The picture of ``likewise demo``: one fit to look at, and the accuracies of all.

It draws what it is given and fits nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.io import replacing
from likewise.plots import BLUE, GREY, VERMILION, legend_below, plot_decision_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "Example", "save_picture"]


@dataclass(frozen=True, eq=False)
class Example:
    """Packed rows of two features, the classifier fitted on them, and one that saw the labels."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classifier: Any
    labeled: Any


@dataclass(frozen=True)
class Comparison:
    """Accuracies of several methods, the last of which saw the labels.

    Attributes
    ----------
    title : str
    accuracies : dict
        Mean and standard error of each method, by its title.
    chance : float
        The accuracy of always answering +1, which needs no learning.
    """

    title: str
    accuracies: Mapping[str, tuple[float, float]]
    chance: float


def save_picture(path: Path, example: Example, comparison: Comparison) -> None:
    """Draw both panels and save them as a PNG file.

    Parameters
    ----------
    path : Path
    example : Example
        For the left panel.
    comparison : Comparison
        For the right panel.
    """
    from matplotlib.figure import Figure

    # A figure of its own, not pyplot's: no window opens, and there is nothing to close.
    figure = Figure(figsize=(12.5, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1), gridspec_kw={"wspace": 0.06})
    _draw_example(left, example)
    _draw_comparison(right, comparison)
    with replacing(path) as stream:
        figure.savefig(stream, format="png", dpi=150)


def _draw_example(ax: "Axes", example: Example) -> None:
    plot_decision_map(example.classifier, example.X, example.y, ax=ax, max_pairs=20)
    weights = example.labeled.coef_[0]
    on_line = -example.labeled.intercept_[0] * weights / (weights @ weights)
    along = np.array([-weights[1], weights[0]])
    ax.axline(
        tuple(on_line),
        tuple(on_line + along),
        color=VERMILION,
        lw=2,
        ls="--",
        label="boundary learned from true labels",
    )
    legend_below(ax, ncols=2)
    ax.set_title("Two Gaussians, learned from similar pairs", fontsize="large")


def _draw_comparison(ax: "Axes", comparison: Comparison) -> None:
    heights = range(len(comparison.accuracies))
    for height, (mean, error) in zip(heights, comparison.accuracies.values(), strict=True):
        labeled = height == heights[-1]
        ax.errorbar(
            100 * mean,
            height,
            xerr=100 * error,
            fmt="D" if labeled else "o",
            color=VERMILION if labeled else BLUE,
            markersize=7,
            capsize=4,
        )
        ax.annotate(
            f"{mean:.1%}",
            (100 * mean, height),
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
        )
    # The axis does not start at zero, so what no learning would reach is drawn to compare with.
    ax.axvline(100 * comparison.chance, color=GREY, ls=":", lw=2, label="always answering +1")
    ax.set_yticks(heights, [title.replace(", ", ",\n") for title in comparison.accuracies])
    ax.set_ylim(len(heights) - 0.5, -0.6)  # the first on top
    ax.margins(x=0.12)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel("accuracy on fresh rows, % (whiskers: one standard error)")
    ax.set_title(comparison.title, fontsize="large")
    legend_below(ax, ncols=1)
