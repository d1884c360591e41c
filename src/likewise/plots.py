"""Pictures of losses and of fitted classifiers, drawn with matplotlib.

Every function draws on the axes it is given, or on new ones, and returns them. Nothing here fits a
model, saves a file or changes matplotlib's settings; matplotlib is imported on first use.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.engines.rows import RowSets, Table
from likewise.statements.labels import locate
from likewise.su.losses import Loss, get_loss
from likewise.su.risk import similar_loss, unlabeled_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_decision_map",
    "plot_label_free_report",
    "plot_losses",
    "plot_probabilities",
    "plot_score_histograms",
    "plot_su_losses",
]

# The Okabe-Ito colors, told apart by people with any common color blindness.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, GREY = "#1a1a1a", "#7f7f7f"

_GRID_POINTS = 200
_WIDTH_OF_TWO = 5.0
"""Inches from which on two entries of a legend fit beside each other."""
_MOST_NUMBERED = 10
"""Classes up to which every cell of a table has room for its number."""


def plot_losses(ax: "Axes | None" = None) -> "Axes":
    """Draw the losses that likewise learns with as functions of the margin (paper, Figure 3).

    The hinge and the zero-one loss are drawn for comparison, dashed: the one is not linear-odd and
    the other not convex, so the SU objective is not convex with them.

    Parameters
    ----------
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import likewise as lw
    >>> ax = lw.plots.plot_losses()
    >>> ax.get_xlabel()
    'margin m'
    """
    ax = _new_axes(5.6, 4.0) if ax is None else ax
    margin = np.linspace(-3.0, 3.0, 601)
    learned = {"squared": BLUE, "logistic": VERMILION, "double_hinge": GREEN}
    for name, color in learned.items():
        ax.plot(margin, get_loss(name).value(margin, 1), color=color, lw=2, label=_words(name))
    hinge = np.maximum(0.0, 1.0 - margin)
    ax.plot(margin, hinge, color=PURPLE, lw=1.2, ls="--", label="hinge")
    # Two points at zero, so that the step is drawn upright.
    ax.plot(
        [-3.0, 0.0, 0.0, 3.0], [1.0, 1.0, 0.0, 0.0], color=GREY, lw=1.2, ls="--", label="zero-one"
    )
    ax.set(xlabel="margin m", ylabel="loss ψ(m)", xlim=(-3, 3), ylim=(-0.1, 4.1))
    ax.legend(loc="upper right", frameon=False)
    return ax


def plot_su_losses(
    prior: float,
    losses: Sequence[str | Loss] = ("squared", "logistic"),
    *,
    axes: "Sequence[Axes] | NDArray[Any] | None" = None,
) -> "NDArray[Any]":
    """Draw what a decision value costs on a pair member and on an unlabeled row (paper, Figure 2).

    Parameters
    ----------
    prior : float
        Share of class +1, not 0.5.
    losses : losses or their names, default ("squared", "logistic")
        One panel for each.
    axes : sequence of matplotlib Axes, optional
        As many as there are losses.

    Returns
    -------
    array of matplotlib Axes

    Examples
    --------
    >>> import likewise as lw
    >>> axes = lw.plots.plot_su_losses(0.75, losses=["squared"])
    >>> axes[0].get_title()
    'squared loss'
    """
    if axes is None:
        axes = _new_row_of_axes(len(losses))
    panels = np.asarray(axes, dtype=object).ravel()
    if panels.size != len(losses):
        raise ValueError(f"There are {len(losses)} losses but {panels.size} axes; pass one each.")
    z = np.linspace(-4.0, 4.0, 401)
    for panel, loss in zip(panels, losses, strict=True):
        panel.axhline(0.0, color=GREY, lw=0.8)
        panel.plot(
            z, similar_loss(loss, z, prior), color=BLUE, lw=2, label="$L_S$: member of a pair"
        )
        panel.plot(
            z,
            unlabeled_loss(loss, z, prior),
            color=VERMILION,
            lw=2,
            ls="--",
            label="$L_U$: unlabeled row",
        )
        panel.set(xlabel="decision value z", title=f"{_words(get_loss(loss).name)} loss")
        panel.set_xlim(-4, 4)
        legend_below(panel, ncols=1)
    panels[0].set_ylabel(f"loss at prior {prior:g}")
    return panels


def plot_score_histograms(clf: Any, X: Table, y: ArrayLike, ax: "Axes | None" = None) -> "Axes":
    """Draw how decision values spread over pair members and over unlabeled rows.

    Similar pairs hold the majority class more often than the unlabeled rows do, so a classifier
    that has found the classes shows the two histograms shifted against each other.

    Parameters
    ----------
    clf : fitted classifier with a ``decision_function``
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,)
        Weak labels, as `likewise.pack` makes them.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(2000, random_state=0)
    >>> X, y = lw.datasets.sample_su(X, y, 100, 100, prior=0.7, random_state=0).pack()
    >>> ax = lw.plots.plot_score_histograms(lw.SUClassifier(prior=0.7).fit(X, y), X, y)
    >>> ax.get_ylabel()
    'density'
    """
    rows = locate(y)
    scores = np.asarray(clf.decision_function(X), dtype=np.float64)
    unlabeled = scores[rows.unlabeled]
    members = {
        "similar": (_members(scores, rows.left, rows.right), BLUE),
        "dissimilar": (_members(scores, rows.dissimilar_left, rows.dissimilar_right), VERMILION),
    }
    ax = _new_axes(5.6, 4.0) if ax is None else ax
    edges = np.histogram_bin_edges(scores, bins=_n_bins(scores.size)).tolist()
    if unlabeled.size:
        label = f"unlabeled rows ({unlabeled.size:,})"
        ax.hist(unlabeled, edges, density=True, color=GREY, alpha=0.45, label=label)
    for kind, (values, color) in members.items():
        if values.size:
            label = f"members of {kind} pairs ({values.size:,})"
            ax.hist(values, edges, density=True, color=color, histtype="step", lw=2, label=label)
    ax.axvline(0.0, color=INK, lw=1.0, ls=":")
    ax.set(xlabel="decision value (above zero: class +1)", ylabel="density")
    is_narrow = ax.figure.bbox.width < _WIDTH_OF_TWO * ax.figure.dpi
    legend_below(ax, ncols=1 if is_narrow else 2)
    return ax


def plot_decision_map(
    clf: Any,
    X: Table,
    y: ArrayLike | None = None,
    *,
    ax: "Axes | None" = None,
    max_pairs: int = 40,
) -> "Axes":
    """Draw decision values over the plane of two features, with the rows and pairs on top.

    Parameters
    ----------
    clf : fitted classifier with a ``decision_function``
    X : table of shape (n_rows, 2)
    y : integer array of shape (n_rows,), optional
        Weak labels; without them every row counts as unlabeled.
    ax : matplotlib Axes, optional
    max_pairs : int, default 40
        Draw at most as many pairs of each kind, evenly chosen, lest they hide each other.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(2000, random_state=0)
    >>> X, y = lw.datasets.sample_su(X, y, 100, 100, prior=0.7, random_state=0).pack()
    >>> ax = lw.plots.plot_decision_map(lw.SUClassifier(prior=0.7).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'first feature'
    """
    points = _as_plane(X)
    rows = locate(np.zeros(len(points), dtype=np.int64) if y is None else y)
    ax = _new_axes(6.4, 5.2) if ax is None else ax
    _draw_decision_values(clf, X, points, ax)
    unlabeled = points[rows.unlabeled]
    label = f"unlabeled rows ({len(unlabeled):,})"
    ax.scatter(unlabeled[:, 0], unlabeled[:, 1], s=9, color=INK, alpha=0.45, lw=0, label=label)
    _draw_pairs(ax, points, rows, max_pairs)
    names = getattr(X, "columns", ("first feature", "second feature"))
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]))
    legend_below(ax, ncols=2)
    return ax


def plot_label_free_report(
    estimates: Mapping[str, Any],
    probabilities: NDArray[np.float64],
    predictions: NDArray[np.intp],
    level: float,
    *,
    classes: Sequence[Any],
) -> "Figure":
    """Draw estimates with their intervals, and the probabilities of the rows behind them.

    Of two classes, rows are counted by their probability; of more, by the class that is predicted
    and the class that they are expected to be of.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        Titles, and what has a ``value`` and an ``interval``.
    probabilities : array of shape (n_rows, n_classes)
        Of the classes of rows.
    predictions : integer array of shape (n_rows,)
        Position of the class that is predicted for each.
    level : float
        Level of the intervals.
    classes : sequence of length n_classes
        Names of the classes.

    Returns
    -------
    matplotlib Figure
        A figure of its own, not one of pyplot's.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots import plot_label_free_report
    >>> from likewise.report.estimates import Estimate
    >>> figure = plot_label_free_report(
    ...     {"accuracy": Estimate(0.9, (0.85, 0.94))},
    ...     np.array([[0.8, 0.2], [0.1, 0.9]]),
    ...     np.array([0, 1]),
    ...     0.95,
    ...     classes=[-1, 1],
    ... )
    >>> len(figure.axes)
    2
    """
    from matplotlib.figure import Figure

    height = max(3.4, 0.9 + 0.36 * len(estimates))
    figure = Figure(figsize=(9.6, height), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1.0])
    _draw_estimates(left, estimates)
    left.set_title(f"estimates and {100 * level:g} % intervals", loc="left", fontsize="medium")
    if len(classes) == 2:
        plot_probabilities(probabilities[:, 1], predictions == 1, ax=right)
    else:
        _draw_confusion(right, probabilities, predictions, classes)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def plot_probabilities(
    probabilities: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    classes: Sequence[Any] = ("-1", "+1"),
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Count rows by their probability of the second of two classes, and by what is predicted.

    Parameters
    ----------
    probabilities : array of shape (n_rows,)
    is_positive : boolean array of shape (n_rows,)
        Whether the second class is predicted.
    classes : sequence of two names
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots import plot_probabilities
    >>> ax = plot_probabilities(np.array([0.2, 0.9]), np.array([False, True]))
    >>> ax.get_ylabel()
    'rows'
    """
    ax = _new_axes(4.3, 3.0) if ax is None else ax
    ax.hist(
        [probabilities[is_positive], probabilities[~is_positive]],
        bins=list(np.linspace(0.0, 1.0, 21)),
        stacked=True,
        color=[BLUE, VERMILION],
        label=[f"predicted {classes[1]}", f"predicted {classes[0]}"],
    )
    ax.set(xlabel=f"probability of class {classes[1]}, by the pairs", ylabel="rows", xlim=(0, 1))
    ax.legend(frameon=False)
    return ax


def _draw_estimates(ax: "Axes", estimates: Mapping[str, Any]) -> None:
    for position, estimate in enumerate(reversed(list(estimates.values()))):
        low, high = estimate.interval
        ax.plot([low, high], [position, position], color=BLUE, lw=6, alpha=0.35)
        ax.plot(estimate.value, position, "o", color=BLUE)
        beside = (6, 0) if estimate.value < 0.85 else (-6, 0)
        ax.annotate(
            f"{estimate.value:.3f}",
            (high if beside[0] > 0 else low, position),
            xytext=beside,
            textcoords="offset points",
            va="center",
            ha="left" if beside[0] > 0 else "right",
            color=INK,
        )
    ax.set_yticks(range(len(estimates)), list(reversed(list(estimates))))
    ax.set(xlim=(0, 1), ylim=(-0.6, len(estimates) - 0.4))
    ax.grid(axis="x", color=GREY, alpha=0.25)


def _draw_confusion(
    ax: "Axes",
    probabilities: NDArray[np.float64],
    predictions: NDArray[np.intp],
    classes: Sequence[Any],
) -> None:
    """Draw how many of a hundred rows are expected to be of a class, by what is predicted."""
    k = len(classes)
    shares = 100.0 * (np.eye(k)[predictions].T @ probabilities) / max(len(predictions), 1)
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.25 * float(shares.max()), aspect="auto")
    if k <= _MOST_NUMBERED:
        for (row, column), share in np.ndenumerate(shares):
            color = "white" if share > 0.75 * shares.max() else INK
            ax.text(column, row, f"{share:.1f}", ha="center", va="center", color=color)
    names = [str(name) for name in classes]
    ax.set_xticks(range(k), names)
    ax.set_yticks(range(k), names)
    ax.set(xlabel="class, by the pairs", ylabel="predicted class")
    ax.set_title("rows in a hundred", loc="left", fontsize="medium")


def _draw_decision_values(clf: Any, X: Table, points: NDArray[np.float64], ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    first, second = (
        np.linspace(start, stop, _GRID_POINTS)
        for start, stop in zip(low - margin, high + margin, strict=True)
    )
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(first, second)])
    scores = np.asarray(clf.decision_function(_like(X, grid)), dtype=np.float64)
    scores = scores.reshape(_GRID_POINTS, _GRID_POINTS)
    # White must mean undecided, so levels are symmetric about zero; pale, so that rows stand out.
    bound = float(np.abs(scores).max()) or 1.0
    levels = np.asarray(MaxNLocator(nbins=16, symmetric=True).tick_values(-bound, bound))
    darkest = 1.6 * levels[-1]
    filled = ax.contourf(
        first, second, scores, levels=levels, cmap="PuOr_r", vmin=-darkest, vmax=darkest
    )
    ticks = levels[levels.size // 2 % 2 :: 2]  # zero, the middle one, is among them
    ax.figure.colorbar(filled, ax=ax, label="decision value", ticks=ticks)
    if scores.min() < 0.0 < scores.max():
        ax.contour(first, second, scores, levels=[0.0], colors=INK, linewidths=2.0)
        ax.plot([], [], color=INK, lw=2.0, label="decision boundary")


def _draw_pairs(ax: "Axes", points: NDArray[np.float64], rows: RowSets, max_pairs: int) -> None:
    from matplotlib.collections import LineCollection

    kinds = (
        ("similar", rows.left, rows.right, GREEN, "solid"),
        ("dissimilar", rows.dissimilar_left, rows.dissimilar_right, VERMILION, "dashed"),
    )
    for kind, left, right, color, style in kinds:
        ends = np.stack([points[left], points[right]], axis=1)
        if not len(ends):
            continue
        shown = ends[
            np.unique(np.linspace(0, len(ends) - 1, min(max_pairs, len(ends))).astype(int))
        ]
        ax.add_collection(LineCollection(list(shown), colors=color, linewidths=1.1, ls=style))
        share = f"{len(shown):,}" if len(shown) == len(ends) else f"{len(shown)} of {len(ends):,}"
        ax.plot(
            *shown.reshape(-1, 2).T, color=color, ls="none", marker="o", ms=4, mec="white", mew=0.6
        )
        ax.plot([], [], color=color, ls=style, marker="o", ms=4, label=f"{kind} pairs ({share})")


def _members(scores: NDArray[np.float64], left: Any, right: Any) -> NDArray[np.float64]:
    return np.concatenate([scores[left], scores[right]])


def _n_bins(n_values: int) -> int:
    return int(np.clip(np.sqrt(n_values), 10, 60))


def _as_plane(X: Table) -> NDArray[np.float64]:
    n_features = X.shape[1] if hasattr(X, "shape") else np.shape(X)[-1]
    if n_features != 2:
        raise ValueError(
            f"A decision map needs a table of exactly 2 features, but X has {n_features}; use "
            "plot_score_histograms, which takes any number."
        )
    dense = X.toarray() if hasattr(X, "toarray") else X
    try:
        return np.asarray(dense, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("A decision map needs two features of numbers, not of text.") from error


def _like(X: Table, grid: NDArray[np.float64]) -> Table:
    """Return the grid as a frame where X is one: classifiers check the names of columns."""
    if not hasattr(X, "columns"):
        return grid
    columns = dict(zip(X.columns, grid.T, strict=True))
    return type(X)(columns)


def _words(name: str) -> str:
    return name.replace("_", "-")


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures are drawn with matplotlib, which is not installed: "
            "pip install 'likewise[plots]'."
        ) from error
    return plt


def _new_axes(width: float, height: float) -> "Axes":
    ax: Axes = _pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def _new_row_of_axes(count: int) -> Any:
    return _pyplot().subplots(
        1, count, figsize=(4.0 * count, 3.8), sharey=True, squeeze=False, layout="constrained"
    )[1]


def legend_below(ax: "Axes", *, ncols: int) -> None:
    """Put the legend under the axis label, where it covers no data."""
    from matplotlib.transforms import ScaledTranslation

    under = ScaledTranslation(0, -40 / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + under,
        ncols=ncols,
        frameon=False,
    )
