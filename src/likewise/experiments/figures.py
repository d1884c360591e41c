"""How the pictures of the experiments are laid out: a panel for each dataset, one legend below.

Nothing here knows what is drawn; matplotlib is imported when a picture is asked for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["legend_of_all", "log_axis", "panels"]

_MOST_COLUMNS = 4


def panels(
    titles: Sequence[str], *, xlabel: str, ylabel: str, heading: str
) -> "tuple[Figure, list[Axes]]":
    """Make a figure with a titled panel for each of `titles`, all on the same axes.

    Parameters
    ----------
    titles : sequence of str
    xlabel, ylabel : str
    heading : str

    Returns
    -------
    figure : matplotlib Figure
        Its own, not pyplot's: no window opens, and there is nothing to close.
    axes : list of matplotlib Axes
        As many as there are titles.
    """
    from matplotlib.figure import Figure

    if not titles:
        raise ValueError("There are no records to draw.")
    columns = min(_MOST_COLUMNS, len(titles))
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(max(3.1 * columns, 6.2), 2.7 * rows + 0.9), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for panel in axes[len(titles) :]:
        panel.set_visible(False)
    used = axes[: len(titles)]
    for position, (panel, title) in enumerate(zip(used, titles, strict=True)):
        panel.set_title(title, fontsize="medium")
        panel.grid(axis="y", alpha=0.3)
        if position + columns >= len(titles):  # nothing below it
            panel.tick_params(labelbottom=True)
            panel.set_xlabel(xlabel)
    figure.suptitle(heading, fontsize="medium")
    figure.supylabel(ylabel, fontsize="medium")
    return figure, used


def log_axis(ax: "Axes", sizes: Sequence[int]) -> None:
    """Put sizes that double on an axis where they are evenly spaced, each with its number."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    if len(sizes) > 1:
        ax.set_xlim(sizes[0] / 1.25, sizes[-1] * 1.25)


def legend_of_all(figure: "Figure", axes: "Sequence[Axes]") -> None:
    """Put one legend for all panels below them."""
    drawn: dict[str, Any] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        drawn.update(zip(labels, handles, strict=True))
    if drawn:
        columns = int(np.ceil(len(drawn) / -(-len(drawn) // 5)))
        figure.legend(
            list(drawn.values()),
            list(drawn),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
        )
