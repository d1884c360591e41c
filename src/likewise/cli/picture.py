"""The picture of ``likewise demo``: one fit to look at, the accuracies of all, and what one knows.

It draws what it is given and fits nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.io import replacing
from likewise.plots import BLUE, GREY, INK, VERMILION, legend_below, plot_decision_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "Estimates", "Example", "save_picture"]

Estimates = Mapping[str, tuple[float, float, float, float]]
"""Estimate, both ends of its interval and the truth, by the name of the measure."""

_GRID_POINTS = 200


@dataclass(frozen=True, eq=False)
class Example:
    """Packed rows of two features, and three classifiers: ours, the paper's, one from labels."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    classifier: Any
    paper: Any
    labeled: Any


@dataclass(frozen=True)
class Comparison:
    """Accuracies of several methods, the first of which is ours and the last saw the labels.

    Attributes
    ----------
    title : str
    accuracies : dict
        Mean and standard error of each method, by its title.
    baseline : float
        The accuracy of always answering +1, which needs no learning.
    """

    title: str
    accuracies: Mapping[str, tuple[float, float]]
    baseline: float


def save_picture(
    path: Path, example: Example, comparison: Comparison, estimates: Estimates
) -> None:
    """Draw three panels and save them as a PNG file.

    Parameters
    ----------
    path : Path
    example : Example
        For the left panel.
    comparison : Comparison
        For the upper right panel.
    estimates : Estimates
        For the lower right panel.
    """
    from matplotlib.figure import Figure

    # A figure of its own, not pyplot's: no window opens, and there is nothing to close.
    figure = Figure(figsize=(13.5, 7.2), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1.05, 1), wspace=0.03)
    left, right = halves
    _draw_example(left.subplots(), example)
    upper, lower = right.subplots(2, 1, height_ratios=(1.9, 1), gridspec_kw={"hspace": 0.08})
    _draw_comparison(upper, comparison)
    _draw_estimates(lower, estimates)
    with replacing(path) as stream:
        figure.savefig(stream, format="png", dpi=150)


def _draw_example(ax: "Axes", example: Example) -> None:
    plot_decision_map(example.classifier, example.X, example.y, ax=ax, max_pairs=20)
    for line in ax.lines:
        if line.get_label() == "decision boundary":  # one of three here
            line.set_label("boundary: pairs (likewise)")
    _draw_boundary(
        ax, example.paper, color=BLUE, ls="dotted", label="boundary: pairs and prior (paper)"
    )
    _draw_boundary(ax, example.labeled, color=VERMILION, ls="dashed", label="boundary: true labels")
    legend_below(ax, ncols=2)
    ax.set_title("Two moons, learned from similar pairs", fontsize="large")


def _draw_boundary(ax: "Axes", classifier: Any, *, color: str, ls: str, label: str) -> None:
    """Draw where a classifier is undecided, within the axes."""
    first, second = (
        np.linspace(*limits, _GRID_POINTS) for limits in (ax.get_xlim(), ax.get_ylim())
    )
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(first, second)])
    scores = classifier.decision_function(grid).reshape(_GRID_POINTS, _GRID_POINTS)
    ax.contour(first, second, scores, levels=[0.0], colors=color, linestyles=ls, linewidths=2.0)
    ax.plot([], [], color=color, ls=ls, lw=2.0, label=label)


def _draw_comparison(ax: "Axes", comparison: Comparison) -> None:
    heights = range(len(comparison.accuracies))
    colors = [INK, *[BLUE] * (len(heights) - 2), VERMILION]
    for height, (mean, error) in zip(heights, comparison.accuracies.values(), strict=True):
        ax.errorbar(
            100 * mean,
            height,
            xerr=100 * error,
            fmt="D" if height == heights[-1] else "o",
            color=colors[height],
            markersize=7,
            capsize=4,
        )
        _write_above(ax, f"{mean:.1%}", 100 * mean, height)
    # The axis does not start at zero, so what no learning would reach is drawn to compare with.
    ax.axvline(100 * comparison.baseline, color=GREY, ls=":", lw=2, label="always answering +1")
    ax.set_yticks(heights, [title.replace(" (", "\n(") for title in comparison.accuracies])
    ax.set_ylim(len(heights) - 0.5, -0.7)  # the first on top
    ax.margins(x=0.12)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel("accuracy on fresh rows, % (whiskers: one standard error)")
    ax.set_title(comparison.title, fontsize="large")
    legend_below(ax, ncols=1)


def _draw_estimates(ax: "Axes", estimates: Estimates) -> None:
    """Draw intervals with the truth beside them."""
    heights = range(len(estimates))
    values, lows, highs, truths = (
        100 * np.array(part) for part in zip(*estimates.values(), strict=True)
    )
    ax.errorbar(
        values,
        heights,
        xerr=np.abs([values - lows, highs - values]),
        fmt="o",
        color=INK,
        markersize=7,
        capsize=4,
        label="estimate, 95 % interval",
    )
    ax.plot(truths, heights, ls="none", marker="|", ms=16, mew=2.5, color=VERMILION, label="truth")
    for height, value, truth in zip(heights, values, truths, strict=True):
        _write_above(ax, f"{value:.1f}% (truth {truth:.1f}%)", value, height)
    ax.set_yticks(heights, [title.replace(" (", "\n(") for title in estimates])
    ax.set_ylim(len(heights) - 0.5, -0.7)
    ax.set_xlim(50, 100)
    ax.grid(axis="x", alpha=0.3)
    ax.set_xlabel("%")
    ax.set_title("Known without labels (first draw)", fontsize="large")
    legend_below(ax, ncols=2)


def _write_above(ax: "Axes", text: str, x: float, y: float) -> None:
    ax.annotate(text, (x, y), xytext=(0, 10), textcoords="offset points", ha="center")
