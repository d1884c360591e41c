"""Which columns a classifier needs, by what becomes of held-out pairs if a column is shuffled.

Scikit-learn's permutation importance does the shuffling; pairs that a refitted copy of the
classifier did not see take the place of labels.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.inspection import permutation_importance as shuffled_importance
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from likewise._html import html_table
from likewise._types import FloatArray
from likewise._verbose import step, tells_if_asked
from likewise.classifiers.saying import unsaid
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines.rows import as_table, take_rows
from likewise.report.predictions import innermost, read_scores, unfitted
from likewise.search.scorers import pair_log_likelihood
from likewise.statements.folds import PairKFold
from likewise.statements.labels import WeakLabels, statements_for
from likewise.su.scorers import su_risk_scorer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Importance", "permutation_importance"]

_MOST_SHOWN = 20
_UNITS = {True: "accuracy", False: "nats per pair"}


@dataclass(frozen=True, eq=False)
class Importance:
    """How much worse held-out pairs are explained if a column is shuffled.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    drops : array of shape (n_folds, n_columns)
        Drop of the score of each fold, a mean over shuffles.
    unit : str
        What the score is measured in.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> print(lw.Importance(("age", "noise"), np.array([[0.3, 0.0], [0.2, -0.1]]), "nats per pair"))
    nats per pair that shuffling a column costs, by held-out pairs:
      age       0.250 (standard error 0.050)
      noise    -0.050 (standard error 0.050)
    """

    names: tuple[str, ...]
    drops: FloatArray
    unit: str

    @property
    def mean(self) -> FloatArray:
        """Mean drop over folds, (n_columns,)."""
        return np.asarray(self.drops.mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean over folds, (n_columns,)."""
        count = self.drops.shape[0]
        spread = self.drops.std(axis=0, ddof=1) if count > 1 else np.full(len(self.names), np.nan)
        return np.asarray(spread / np.sqrt(count))

    def _ordered(self) -> list[tuple[str, float, float]]:
        """Return the columns with mean and error, the most important first."""
        order = np.argsort(-self.mean, kind="stable")
        mean, error = self.mean, self.standard_error
        return [(self.names[k], float(mean[k]), float(error[k])) for k in order]

    def __str__(self) -> str:
        found = self._ordered()
        width = 2 + max(len(name) for name, *_ in found[:_MOST_SHOWN])
        lines = [f"{self.unit} that shuffling a column costs, by held-out pairs:"]
        lines += [
            f"  {name:<{width}}{mean:>7.3f} (standard error {error:.3f})"
            for name, mean, error in found[:_MOST_SHOWN]
        ]
        if len(found) > _MOST_SHOWN:
            lines.append(f"  and {len(found) - _MOST_SHOWN} less important ones")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the columns as a table, in a notebook."""
        rows = [(name, f"{mean:.3f}", f"{error:.3f}") for name, mean, error in self._ordered()]
        return html_table(("column", self.unit, "standard error"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the columns, the most important first, ready for JSON."""
        found = self._ordered()
        return {
            "unit": self.unit,
            "columns": [
                {"name": name, "mean": mean, "standard_error": None if np.isnan(error) else error}
                for name, mean, error in found
            ],
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the most important columns.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        from likewise.plots import BLUE, GREY, _new_axes

        found = self._ordered()[:_MOST_SHOWN][::-1]
        ax = _new_axes(4.3, 1.0 + 0.28 * len(found)) if ax is None else ax
        names, means, errors = zip(*found, strict=True)
        ax.barh(range(len(found)), means, xerr=errors, color=BLUE, ecolor=GREY)
        ax.set_yticks(range(len(found)), names)
        ax.set_xlabel(self.unit)
        ax.spines[["top", "right"]].set_visible(False)
        return ax


@tells_if_asked
def permutation_importance(
    clf: Any,
    X: Any,
    y: WeakLabels,
    *,
    scoring: Callable[[Any, Any, Any], float] | None = None,
    cv: Any = 5,
    n_repeats: int = 5,
    trained_on_same_pairs: bool | None = None,
    verbose: bool | int = 0,
    random_state: Any = None,
) -> Importance:
    """Tell which columns a classifier needs, from pairs that it did not learn from.

    Parameters
    ----------
    clf : fitted classifier or pipeline
        With ``predict_proba`` or ``decision_function``.
    X : table of shape (n_rows, n_columns)
    y : integer array of shape (n_rows,), or CSR matrix of shape (n_rows, n_statements)
        Weak labels as `likewise.pack` makes them.
    scoring : callable ``(estimator, X, y)``, optional
        Score by weak labels, larger is better. By default the pair log-likelihood of the log-odds;
        for `SUClassifier`, whose decision values are no log-odds, the SU risk.
    cv : int, splitter or iterable of (train, test), default 5
        An int means ``PairKFold(cv, shuffle=True)``.
    n_repeats : int, default 5
        How often each column is shuffled in every fold.
    trained_on_same_pairs : bool, optional
        Whether `clf` learned from these pairs; then copies are refitted without each fold. By
        default true for learners of this library and false for all others.
    verbose : bool or int, default 0
        Whether to print a line on every fold.
    random_state : int, RandomState instance or None
        Deals out folds and shuffles.

    Returns
    -------
    Importance

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(3000, n_features=3, separation=3, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, prior=0.7, random_state=0)
    >>> clf = lw.SUClassifier(prior=0.7, alpha=0.1).fit(*sample.pack())
    >>> found = lw.permutation_importance(clf, *sample.pack(), random_state=0)
    >>> found.drops.shape
    (5, 3)
    """
    X = as_table(X)
    statements_for(y, X.shape[0], "permutation_importance")
    own = innermost(clf)
    if isinstance(own, ScoresTrueClasses):
        check_is_fitted(own)
    if trained_on_same_pairs is None:
        trained_on_same_pairs = isinstance(own, ScoresTrueClasses)
    by_risk = scoring is None and getattr(own, "_scorer", None) == "su_risk_scorer"
    unit = "score" if scoring is not None else _UNITS[by_risk]
    score = scoring or (su_risk_scorer if by_risk else _pair_score)
    random = check_random_state(random_state)
    drops = []
    labels = y.tocsr() if hasattr(y, "tocsr") else np.asanyarray(y)
    for number, (train, test) in enumerate(_splits(cv, X, labels, random), start=1):
        fitted = clf
        if trained_on_same_pairs:
            with unsaid():
                fitted = unfitted(clf).fit(take_rows(X, train), labels[train])
        found = shuffled_importance(
            fitted,
            take_rows(X, test),
            None,  # scikit-learn takes no matrix of statements here
            scoring=partial(_score_of_rows, score, labels[test]),
            n_repeats=n_repeats,
            random_state=random,
        )
        drops.append(found.importances_mean)
        step(f"fold {number}: {X.shape[1]} columns shuffled")
    return Importance(_names(X), np.array(drops), unit)


def _splits(
    cv: Any, X: Any, y: Any, random_state: np.random.RandomState
) -> "Iterator[tuple[Any, Any]]":
    if isinstance(cv, Integral):
        cv = PairKFold(int(cv), shuffle=True, random_state=random_state)
    yield from cv.split(X, y) if hasattr(cv, "split") else cv


def _score_of_rows(
    score: Callable[[Any, Any, Any], float], y: Any, clf: Any, X: Any, _: Any
) -> float:
    return score(clf, X, y)


def _pair_score(clf: Any, X: Any, y: Any) -> float:
    """Return the pair log-likelihood of a classifier's probabilities, or of its log-odds."""
    n_classes = np.size(getattr(clf, "classes_", (0, 1)))
    scores = read_scores(clf, as_table(X), n_classes)
    if scores.ranks is not None:
        return pair_log_likelihood(y, scores.ranks)
    if scores.probabilities is None:
        raise ValueError(
            f"{type(clf).__name__} has neither probabilities nor decision values to rank rows by; "
            "pass scoring=..."
        )
    return pair_log_likelihood(y, np.log(scores.probabilities.clip(1e-12)))


def _names(X: Any) -> tuple[str, ...]:
    if hasattr(X, "columns"):
        return tuple(map(str, X.columns))
    return tuple(f"column {k}" for k in range(X.shape[1]))
