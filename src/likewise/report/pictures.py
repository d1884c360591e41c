"""Pictures of threshold and calibration curves; matplotlib is imported on first use."""

from typing import TYPE_CHECKING, Any

from likewise.plots import BLUE, GREY, VERMILION, _new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_calibration", "plot_precision_recall", "plot_roc"]


def plot_roc(
    curve: Any,
    true_positive_rate: Any = None,
    false_positive_rate: Any = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the ROC curve of a label-free report.

    Parameters
    ----------
    curve : ThresholdCurve
        ``report.curve``.
    true_positive_rate, false_positive_rate : Estimate, optional
        Where the classifier's own threshold is.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = _new_axes(4.3, 3.9) if ax is None else ax
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=":")
    ax.plot(curve.false_positive_rate, curve.true_positive_rate, color=BLUE, lw=2)
    if true_positive_rate is not None and false_positive_rate is not None:
        ax.plot(false_positive_rate.value, true_positive_rate.value, "o", color=VERMILION, ms=7)
    ax.set(xlabel="false-positive rate", ylabel="true-positive rate")
    return _unit_square(ax)


def plot_precision_recall(curve: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw precision against recall at all thresholds of a label-free report.

    Parameters
    ----------
    curve : ThresholdCurve
        ``report.curve``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = _new_axes(4.3, 3.6) if ax is None else ax
    ax.plot(curve.true_positive_rate[1:], curve.precision[1:], color=BLUE, lw=2)
    ax.axhline(float(curve.precision[-1]), color=GREY, lw=1, ls="--")
    ax.set(xlabel="recall", ylabel="precision")
    return _unit_square(ax)


def plot_calibration(curve: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw what statements say of the probabilities that a classifier gives.

    Parameters
    ----------
    curve : CalibrationCurve
        ``report.calibration``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = _new_axes(4.3, 3.9) if ax is None else ax
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=":")
    ax.plot(curve.predicted, curve.observed, "o-", color=BLUE, lw=2, ms=5)
    ax.set(xlabel="probability that it gives", ylabel="share of rows, by the pairs")
    return _unit_square(ax)


def _unit_square(ax: "Axes") -> "Axes":
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.grid(color=GREY, alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
