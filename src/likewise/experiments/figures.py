"""How the pictures of the experiments are laid out: a panel for each dataset, one legend below.

Nothing here knows what is drawn; matplotlib is imported when a picture is asked for.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from likewise.experiments.runner import Record
from likewise.experiments.statistics import group

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["legend_of_all", "log_axis", "panels", "panels_by_dataset"]

_MOST_COLUMNS = 4
_MOST_KEYS = 5
"""Entries of a legend in one line."""
_KEY, _LETTER = 0.6, 0.075
"""Inches that an entry of a legend takes: its key, and each letter of its name."""


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


def panels_by_dataset(
    records: Sequence[Record],
    size: str,
    draw: "Callable[[Axes, Sequence[Record]], None]",
    *,
    xlabel: str,
    ylabel: str,
    heading: str,
) -> "tuple[Figure, list[Axes]]":
    """Draw the records of each dataset against a size, in a panel of its own.

    Parameters
    ----------
    records : sequence of dict
    size : str
        Which entry of the records is the size.
    draw : callable
        Draws the records of a dataset into a panel.
    xlabel, ylabel, heading : str

    Returns
    -------
    figure, axes
        As `panels` returns them.
    """
    found = {name: own for (name,), own in sorted(group(records, "dataset").items())}
    figure, axes = panels(list(found), xlabel=xlabel, ylabel=ylabel, heading=heading)
    sizes = sorted({record[size] for record in records})
    for panel, own in zip(axes, found.values(), strict=True):
        draw(panel, own)
        log_axis(panel, sizes)
    legend_of_all(figure, axes)
    return figure, axes


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
        widest = max(map(len, drawn))
        fitting = int(figure.get_figwidth() / (_KEY + _LETTER * widest))
        lines = -(-len(drawn) // max(1, min(fitting, _MOST_KEYS)))
        columns = -(-len(drawn) // lines)
        figure.legend(
            list(drawn.values()),
            list(drawn),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
        )
