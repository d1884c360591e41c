"""What the classifier would be if the class prior were another: coefficients and predictions.

The prior is given or estimated, never certain. This module refits a classifier over a grid of
priors and tells how far its coefficients and predictions move. It estimates no prior itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise._html import html_table
from likewise._types import FloatArray
from likewise._verbose import step, tells_if_asked
from likewise.engines import Block, MemoryEngine
from likewise.engines.kernels import decide
from likewise.statements.labels import WeakLabels, locate
from likewise.su.losses import get_loss, squared
from likewise.su.objective import summarise
from likewise.su.rewrites import check_prior, choose_rewrite
from likewise.su.solvers import RidgePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from likewise.classifiers import SUClassifier, SUClassifierCV

__all__ = ["PriorSensitivity", "prior_sensitivity"]

_N_PRIORS = 25
_REACH = 0.1
"""How far the grid goes to either side of a prior without an interval."""
_MARGIN = 0.01
"""How near the grid comes to 0, 1/2 and 1, where there is no classifier."""
_N_COLORED = 6
"""Coefficients drawn in colour; a legend of many more could not be read."""


@dataclass(frozen=True, eq=False)
class PriorSensitivity:
    """How coefficients and predictions change with the class prior.

    Attributes
    ----------
    priors : array of shape (n_priors,)
        Shares of class +1, increasing.
    coef : array of shape (n_priors, n_features)
    intercept : array of shape (n_priors,)
    share_positive : array of shape (n_priors,)
        Share of the unlabeled rows predicted +1.
    agreement : array of shape (n_priors,)
        Share of the unlabeled rows predicted as at the reference prior.
    reference : float
        The prior that was given or estimated.
    feature_names : tuple of str

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(4000, separation=4, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, prior=0.7, random_state=0)
    >>> moved = lw.prior_sensitivity(lw.SUClassifier(prior=0.7), *sample.pack())
    >>> isinstance(moved, lw.PriorSensitivity), moved.reference
    (True, 0.7)
    """

    priors: FloatArray
    coef: FloatArray
    intercept: FloatArray
    share_positive: FloatArray
    agreement: FloatArray
    reference: float
    feature_names: tuple[str, ...]

    def __str__(self) -> str:
        low, high = self.priors[0], self.priors[-1]
        least, most = self.share_positive.min(), self.share_positive.max()
        return (
            f"predictions agree on at least {_percent(self.agreement.min())} of rows from "
            f"prior {low:.2f} to {high:.2f} (reference {self.reference:.2f}); "
            f"the share predicted +1 goes from {_percent(least)} to {_percent(most)}; "
            f"{self._turns()}"
        )

    def _repr_html_(self) -> str:
        """Show what becomes of the predictions as a table, in a notebook."""
        shares = zip(self.priors, self.share_positive, self.agreement, strict=True)
        rows = [(f"{prior:.3f}", _percent(some), _percent(same)) for prior, some, same in shares]
        return html_table(("prior", "predicted +1", "agree with the reference"), rows)

    def plot(self, axes: "Sequence[Axes] | NDArray[Any] | None" = None) -> "NDArray[Any]":
        """Draw how the coefficients and the predictions change with the prior.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional

        Returns
        -------
        array of two matplotlib Axes
        """
        return _plot(self, axes)

    def _turns(self) -> str:
        """Say which coefficients are of either sign, depending on the prior."""
        turning = (self.coef.min(axis=0) < 0) & (self.coef.max(axis=0) > 0)
        if not turning.any():
            return "no coefficient changes its sign"
        count = int(turning.sum())
        verb = "changes its" if count == 1 else "change their"
        return f"{count} of {turning.size} coefficients {verb} sign"


@tells_if_asked
def prior_sensitivity(
    clf: "SUClassifier | SUClassifierCV",
    X: Any,
    y: WeakLabels,
    *,
    priors: ArrayLike | None = None,
    verbose: bool | int = 0,
) -> PriorSensitivity:
    """Refit a classifier over a grid of class priors and report how much changes.

    With the squared loss all priors together cost little more than one fit: they share one
    eigendecomposition. Other losses are fitted once for each prior.

    Parameters
    ----------
    clf : SUClassifier or SUClassifierCV
        Fitted or not; it is not changed. Its prior, given or estimated, is the reference. Of an
        `SUClassifierCV` the chosen ``alpha_`` is kept for every prior.
    X : table of shape (n_rows, n_features)
    y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
        Weak labels as `likewise.pack` makes them.
    priors : array-like of floats, optional
        Shares of class +1, none of them 0.5. By default 25 values that span the interval of the
        estimated prior, or 0.1 to either side of a given one, on its side of 0.5.
    verbose : bool or int, default 0
        Whether to print a line on every prior that the classifier is refitted at.

    Returns
    -------
    PriorSensitivity

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.report.sensitivity import prior_sensitivity
    >>> X, y = lw.datasets.make_gaussians(4000, separation=4, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, prior=0.7, random_state=0)
    >>> moved = prior_sensitivity(lw.SUClassifier(prior=0.7), *sample.pack())
    >>> moved.coef.shape
    (25, 2)
    >>> bool(moved.agreement.min() > 0.8)
    True
    """
    fitted = _fitted(clf, X, y)
    reference = float(fitted.prior_)
    interval = getattr(fitted, "prior_interval_", None)
    grid = _default_grid(reference, interval) if priors is None else _checked(priors)
    model = _with_one_alpha(fitted).fit(X, y)  # checks X and y, and is the reference
    X = validate_data(model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
    engine = MemoryEngine(X, locate(y))
    weights = (
        _squared_weights(engine, model, grid)
        if get_loss(model.loss) == squared
        else _refitted_weights(model, X, y, grid)
    )
    share_positive, agreement = _predictions(engine, weights, _weights_of(model))
    return PriorSensitivity(
        priors=grid,
        coef=weights[:, :-1],
        intercept=weights[:, -1],
        share_positive=share_positive,
        agreement=agreement,
        reference=reference,
        feature_names=_names(model),
    )


def _fitted(clf: Any, X: Any, y: WeakLabels) -> Any:
    # Imported here, because classifiers estimate priors and so import this package.
    from likewise.classifiers import SUClassifier, SUClassifierCV

    if not isinstance(clf, SUClassifier | SUClassifierCV):
        raise TypeError(
            f"The sensitivity to the prior is that of an SUClassifier or SUClassifierCV, not of a "
            f"{type(clf).__name__}; of a pipeline, pass the last step and the transformed rows."
        )
    try:
        check_is_fitted(clf)
    except NotFittedError:
        return clone(clf).fit(X, y)
    return clf


def _with_one_alpha(fitted: Any) -> "SUClassifier":
    """Return an SUClassifier, not fitted, with the settings and the prior of a fitted one."""
    from likewise.classifiers import SUClassifier

    return SUClassifier(
        fitted.loss,
        prior=float(fitted.prior_),
        rewrite=fitted.rewrite,
        alpha=getattr(fitted, "alpha_", None) or fitted.alpha,
        regularize_intercept=fitted.regularize_intercept,
        tol=fitted.tol,
        max_iter=fitted.max_iter,
    )


def _default_grid(reference: float, interval: tuple[float, float] | None) -> FloatArray:
    """Return increasing priors on the reference's side of 1/2, the reference among them."""
    low, high = interval or (reference - _REACH, reference + _REACH)
    least, most = (0.5 + _MARGIN, 1 - _MARGIN) if reference > 0.5 else (_MARGIN, 0.5 - _MARGIN)
    low, high = min(max(low, least), reference), max(min(high, most), reference)
    grid = np.linspace(low, high, _N_PRIORS)
    grid[np.argmin(np.abs(grid - reference))] = reference
    return np.unique(grid)


def _checked(priors: ArrayLike) -> FloatArray:
    grid = np.unique([check_prior(prior) for prior in np.ravel(np.asarray(priors, dtype=float))])
    if not grid.size:
        raise ValueError("priors is empty; pass at least one.")
    return grid


def _squared_weights(engine: MemoryEngine, model: "SUClassifier", grid: FloatArray) -> FloatArray:
    """Return the weights at every prior, (n_priors, d + 1), from one eigendecomposition."""
    rewrite = choose_rewrite(model.rewrite, engine.pair_parts, type(model).__name__)
    summary = summarise(engine, rewrite)
    path = RidgePath(summary.gram, regularize_intercept=model.regularize_intercept)
    linear = (summary.linear_term(float(prior), rewrite) for prior in grid)
    return np.array([path.solve(term, model.alpha) for term in linear])


def _refitted_weights(model: "SUClassifier", X: Any, y: WeakLabels, grid: FloatArray) -> FloatArray:
    found = []
    for prior in grid:
        found.append(_weights_of(clone(model).set_params(prior=float(prior)).fit(X, y)))
        step(f"refitted at prior {prior:.3f}")
    return np.array(found)


def _weights_of(model: "SUClassifier") -> FloatArray:
    return np.append(model.coef_[0], model.intercept_[0])


def _predictions(
    engine: MemoryEngine, weights: FloatArray, reference: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the shares of unlabeled rows predicted +1, and predicted as at the reference."""

    def count(block: Block) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        positive = decide(block.tables[0], weights.T) > 0
        expected = decide(block.tables[0], reference) > 0
        return positive.sum(axis=0), (positive == expected[:, None]).sum(axis=0)

    positive, agreeing = engine.map_reduce("unlabeled", count)
    n_rows = engine.count("unlabeled")
    return positive / n_rows, agreeing / n_rows


def _names(model: "SUClassifier") -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return tuple(f"feature {i}" for i in range(model.n_features_in_))
    return tuple(map(str, names))


def _percent(share: float) -> str:
    """Return a share in percent, without rounding anything up to all or down to none."""
    percent = 100 * float(share)
    if 99 < percent < 100 or 0 < percent < 1:
        return f"{np.clip(percent, 0.1, 99.9):.1f} %"
    return f"{percent:.0f} %"


def _plot(moved: PriorSensitivity, axes: "Sequence[Axes] | NDArray[Any] | None") -> "NDArray[Any]":
    from likewise.plots import GREY, _pyplot

    if axes is None:
        axes = _pyplot().subplots(1, 2, figsize=(10.0, 4.6), layout="constrained")[1]
    panels = np.asarray(axes, dtype=object).ravel()
    if panels.size != 2:
        raise ValueError(f"The picture has two panels, but {panels.size} axes were passed.")
    _draw_coefficients(panels[0], moved)
    _draw_predictions(panels[1], moved)
    for panel in panels:
        panel.axvline(moved.reference, color=GREY, lw=1.2, ls=":", zorder=0)
        panel.set_xlabel("class prior: share of class +1")
        panel.locator_params(axis="x", nbins=6)
        panel.margins(x=0.02)
    panels[0].annotate(
        f"prior {moved.reference:.2f}",
        (moved.reference, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4, -4),
        textcoords="offset points",
        va="top",
        color=GREY,
    )
    return panels


def _draw_coefficients(ax: "Axes", moved: PriorSensitivity) -> None:
    from likewise.plots import BLUE, GREEN, GREY, INK, PURPLE, VERMILION, legend_below

    colors = (BLUE, VERMILION, GREEN, PURPLE, "#E69F00", "#56B4E9")  # the rest of Okabe-Ito
    largest = np.argsort(-np.abs(moved.coef).max(axis=0), kind="stable")
    for feature, color in zip(largest[:_N_COLORED], colors, strict=False):
        name = moved.feature_names[feature]
        ax.plot(moved.priors, moved.coef[:, feature], color=color, lw=2, label=name)
    others = largest[_N_COLORED:]
    if others.size:
        ax.plot(moved.priors, moved.coef[:, others], color=GREY, lw=0.8, alpha=0.6, zorder=1)
        ax.plot([], [], color=GREY, lw=0.8, label=f"{others.size} smaller")
    ax.axhline(0.0, color=INK, lw=0.8, zorder=0)
    # No intercept: that of features which are not centred would dwarf them all.
    ax.set(ylabel="coefficient", title="Coefficients")
    legend_below(ax, ncols=3)


def _draw_predictions(ax: "Axes", moved: PriorSensitivity) -> None:
    from likewise.plots import BLUE, VERMILION, legend_below

    same = f"predicted as at prior {moved.reference:.2f}"
    ax.plot(moved.priors, 100 * moved.agreement, color=BLUE, lw=2, label=same)
    ax.plot(
        moved.priors,
        100 * moved.share_positive,
        color=VERMILION,
        lw=2,
        ls="--",
        label="predicted +1",
    )
    ax.set(ylabel="unlabeled rows, %", ylim=(-2, 102), title="Predictions")
    ax.grid(axis="y", alpha=0.3)
    legend_below(ax, ncols=1)
