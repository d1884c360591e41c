"""What a label-free report says: estimates with intervals, as text, table, picture or JSON.

Nothing here knows how the numbers were found.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise._html import html_table
from likewise._types import FloatArray
from likewise.report.checks import Check
from likewise.report.curves import CalibrationCurve, ThresholdCurve
from likewise.report.suggestions import Suggestion

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["TITLE", "Estimate", "LabelFreeReport"]

TITLE = "How accurate is this classifier? A report without labels"

_OfTwo = Any
"""An `Estimate` where there are two classes; see `LabelFreeReport` for more."""


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Examples
    --------
    >>> import likewise as lw
    >>> print(lw.Estimate(0.9, (0.87, 0.93)))
    0.900 (0.870 to 0.930)
    """

    value: float
    interval: tuple[float, float]

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.interval[0]:.3f} to {self.interval[1]:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """Return value and interval, ready for JSON."""
        return {"value": self.value, "interval": list(self.interval)}


@dataclass(frozen=True, repr=False)
class LabelFreeReport:
    """How accurate a classifier is, as estimated from statements about rows.

    Statements cannot name the hidden classes: each has the name that the classifier gives to most
    of its rows.

    Attributes
    ----------
    accuracy : Estimate
        Of new rows.
    recall : dict
        From each class of the classifier to an `Estimate`: how many rows of the class it finds.
    prior : Estimate, or dict
        Share of class +1 (the larger of two class values) among new rows. For more than two classes
        a dict from each class to an `Estimate`.
    pair_agreement : Estimate or None
        Share of similar statements whose members are predicted alike; None if there are none.
    true_positive_rate, false_positive_rate : Estimate or None
        Of class +1; None for more than two classes.
    level : float
        Level of the intervals.
    cross_fitted : bool
        Whether predictions were made by refitted clones; else the classifier itself predicted.
    n_pairs, n_rows : int
        Statements, and rows that stand for all there could be, that it was judged by.
    checks : tuple of Check
        Tests of the assumptions behind these numbers.
    probabilities : array of shape (n_rows, n_classes)
        Of the classes, in the order of `recall`: of a row of one table given its features and all
        statements, of an unlabeled row beside fresh pairs given its features.
    predictions : integer array of shape (n_rows,)
        Position of the predicted class among these.
    confusion : array of shape (n_classes, n_classes)
        Share of all rows that are of a class (row) and predicted to be of one (column).
    baseline : Estimate or None
        Accuracy of always predicting the majority class.
    roc_auc, average_precision : Estimate or None
        Areas under the ROC curve and the precision-recall curve, for two classes, of a classifier
        that has probabilities or decision values.
    curve : ThresholdCurve or None
        The rates at other thresholds.
    calibration : CalibrationCurve or None
        Whether the classifier's probabilities are as large as the statements say.
    suggestions : tuple of Suggestion
        What would help, what helps most first.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(3000, separation=3, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, prior=0.7, random_state=0)
    >>> clf = lw.SUClassifier(prior=0.7, alpha=0.1).fit(*sample.pack())
    >>> report = lw.label_free_report(clf, *sample.pack(), random_state=0)
    >>> report.accuracy.value > report.baseline.value
    True
    >>> bool(report.roc_auc.value > 0.9)
    True
    >>> report.to_html()[:15]
    '<!DOCTYPE html>'
    """

    accuracy: Estimate
    recall: dict[Any, Estimate]
    prior: _OfTwo
    pair_agreement: _OfTwo
    true_positive_rate: _OfTwo
    false_positive_rate: _OfTwo
    level: float
    cross_fitted: bool
    n_pairs: int
    n_rows: int
    checks: tuple[Check, ...]
    probabilities: FloatArray
    predictions: NDArray[np.intp]
    confusion: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    baseline: Estimate | None = None
    roc_auc: Estimate | None = None
    average_precision: Estimate | None = None
    curve: ThresholdCurve | None = None
    calibration: CalibrationCurve | None = None
    suggestions: tuple[Suggestion, ...] = ()

    def _estimates(self) -> Iterator[tuple[str, str, Estimate]]:
        """Yield the name, the title and the estimate of everything there is."""
        yield "accuracy", "accuracy", self.accuracy
        if self.baseline is not None:
            yield "baseline", "majority-class baseline", self.baseline
        if self.true_positive_rate is not None:
            yield "true_positive_rate", "true-positive rate", self.true_positive_rate
            yield "false_positive_rate", "false-positive rate", self.false_positive_rate
            yield "prior", "class prior, of class +1", self.prior
        else:
            for name, found in (("recall", self.recall), ("share", self.prior)):
                for label, estimate in found.items():
                    title = f"{name} of class {label}"
                    yield title, title, estimate
        if self.pair_agreement is not None:
            yield "pair_agreement", "similar pairs that agree", self.pair_agreement
        if self.roc_auc is not None and self.average_precision is not None:
            yield "roc_auc", "area under the ROC curve", self.roc_auc
            yield "average_precision", "average precision", self.average_precision

    def __str__(self) -> str:
        how = "cross-fitted" if self.cross_fitted else "held-out"
        lines = [
            f"Without labels, from {self.n_pairs} pairs and {self.n_rows} rows "
            f"({how} predictions, {100 * self.level:g} % intervals):"
        ]
        found = list(self._estimates())
        width = max(26, 2 + max(len(title) for _, title, _ in found))
        lines += [f"  {title:<{width}}{estimate}" for _, title, estimate in found]
        lines.append("Assumptions:")
        marks = {True: "holds", False: "DOUBTFUL", None: "not tested"}
        lines += [f"  {check.name}: {marks[check.passed]}; {check.text}" for check in self.checks]
        if self.suggestions:
            lines.append("What would help:")
            lines += [f"  {one.name}: {one.text}" for one in self.suggestions]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Show the estimates and the checks as tables, in a notebook."""
        rows = [
            (title, f"{100 * one.value:.1f} %", *(f"{100 * end:.1f} %" for end in one.interval))
            for _, title, one in self._estimates()
        ]
        marks = {True: "holds", False: "doubtful", None: "not tested"}
        checks = [(check.name, marks[check.passed], check.text) for check in self.checks]
        head = ("measure", "estimate", "from", "to")
        return (
            f"<p>{escape(str(self).splitlines()[0])}</p>{html_table(head, rows)}"
            f"{html_table(('assumption', 'verdict', 'finding'), checks)}"
        )

    def to_html(self, path: Any = None, *, title: str = TITLE) -> str:
        """Return the report as a self-contained page, and save it if a path is given.

        Parameters
        ----------
        path : path, optional
            Where to save it as well.
        title : str, optional

        Returns
        -------
        str
            The text of an HTML file. Pictures are in it where matplotlib is installed.
        """
        from likewise.report.page import report_page

        return report_page(self, path, title)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and texts, ready for JSON; None for what these classes do not have."""
        names = (
            "accuracy",
            "baseline",
            "true_positive_rate",
            "false_positive_rate",
            "prior",
            "pair_agreement",
            "roc_auc",
            "average_precision",
        )
        return {
            **{name: _plain(getattr(self, name)) for name in names},
            "recall": _plain(self.recall),
            "confusion": self.confusion.tolist(),
            "calibration": None if self.calibration is None else self.calibration.to_dict(),
            "suggestions": [asdict(one) for one in self.suggestions],
            "level": self.level,
            "cross_fitted": self.cross_fitted,
            "n_pairs": self.n_pairs,
            "n_rows": self.n_rows,
            "checks": [asdict(check) for check in self.checks],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return the estimates as a pandas data frame with columns value, low and high."""
        import pandas as pd

        rows = {name: (one.value, *one.interval) for name, _, one in self._estimates()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["value", "low", "high"])

    def plot(self) -> "Figure":
        """Draw the estimates, and the probabilities behind them."""
        from likewise.plots import plot_label_free_report

        return plot_label_free_report(
            {title: estimate for _, title, estimate in self._estimates()},
            self.probabilities,
            self.predictions,
            self.level,
            classes=list(self.recall),
        )


def _plain(found: Any) -> Any:
    """Return an estimate, or one per class, or None, ready for JSON."""
    if isinstance(found, dict):
        return {str(label): estimate.to_dict() for label, estimate in found.items()}
    return None if found is None else found.to_dict()
