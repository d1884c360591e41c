"""The paper's classifier from pairs and unlabeled rows, as scikit-learn estimators.

Input checks, the engine, the minimization and the fitted attributes. Rows come as a table with weak
labels, or stay elsewhere behind a `PairSource`. The mathematics is in `likewise.su`.
"""

import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise._sklearn import HasMethods, Interval, StrOptions, _fit_context
from likewise._types import FloatArray
from likewise._verbose import step, tells
from likewise.classifiers.rows import WeakRows, read_rows
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines import Engine
from likewise.exceptions import PriorWarning
from likewise.prior.base import PriorEstimate
from likewise.prior.pair_likelihood import PairLikelihoodPrior
from likewise.statements.folds import as_splitter
from likewise.su.certificates import certified
from likewise.su.folds import (
    Folds,
    fold_risks,
    squared_weights,
    sum_folds,
    zero_one_risks,
)
from likewise.su.losses import MarginLoss, get_loss, squared
from likewise.su.objective import Summary, SUObjective, minimise_su_risk, summarise
from likewise.su.rewrites import REWRITES, Rewrite, check_prior, choose_rewrite
from likewise.su.solvers import Solution
from likewise.su.span import is_wide

_PAPER_ALPHAS = (1e-1, 1e-4, 1e-7)


class _BaseSUClassifier(ScoresTrueClasses, ClassifierMixin, BaseEstimator):
    """What both estimators share: input, prediction, and the fitted attributes of a solution."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"squared", "logistic", "double_hinge"}), MarginLoss],
        "prior": [Interval(Real, 0.0, 1.0, closed="neither"), HasMethods("fit"), None],
        "positive": [StrOptions({"majority", "minority"})],
        "rewrite": [StrOptions({"auto", *REWRITES}), Rewrite],
        "regularize_intercept": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
    }

    loss: str | MarginLoss
    prior: Any
    positive: str
    rewrite: str | Rewrite
    regularize_intercept: bool
    tol: float
    max_iter: int
    verbose: bool | int

    def decision_function(self, X: Any) -> FloatArray:
        """Return signed decision values, positive for class +1.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self)
        self._check_scoring()
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row, -1 or +1.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        decision = self.decision_function(X)
        return np.asarray(self.classes_[(decision > 0).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def _find_prior(self, rows: WeakRows) -> float:
        """Return the share of class +1, given or estimated, and keep it with its interval."""
        self.prior_estimate_: PriorEstimate | None = None
        self.prior_interval_: tuple[float, float] | None = None
        if isinstance(self.prior, Real):
            self.prior_ = check_prior(float(self.prior))
            return self.prior_
        estimator = PairLikelihoodPrior(random_state=0) if self.prior is None else clone(self.prior)
        estimate: PriorEstimate = rows.fit_prior(estimator).estimate_
        step(f"prior estimated: {estimate}")
        self.prior_estimate_, self.prior_interval_ = estimate, estimate.interval
        self.prior_ = estimate.value
        if self.positive == "minority":
            self.prior_ = 1.0 - estimate.value
            if estimate.interval is not None:
                self.prior_interval_ = 1.0 - estimate.interval[1], 1.0 - estimate.interval[0]
        if estimate.interval is not None and estimate.interval[0] <= 0.5:
            warnings.warn(
                f"The estimated prior is uncertain ({estimate}), and the SU risk divides by "
                "2 * prior - 1: do not trust this fit; pass prior=... if you know it, or use "
                "likewise.PairClassifier, which needs none.",
                PriorWarning,
                stacklevel=4,
            )
        return check_prior(self.prior_)

    def _chosen_rewrite(self, rows: WeakRows) -> Rewrite:
        """Return the rewrite to use; a source may have pairs that it leaves out."""
        return choose_rewrite(self.rewrite, rows.engine.pair_parts, type(self).__name__)

    def _learning_loss(self) -> MarginLoss:
        loss = get_loss(self.loss)
        if not isinstance(loss, MarginLoss):  # pragma: no cover - the constraints exclude it
            raise TypeError(f"{loss!r} cannot be learned with.")
        return loss

    def _minimise(self, objective: SUObjective, prior: float, alpha: float) -> Solution:
        solution = minimise_su_risk(
            objective,
            prior=prior,
            alpha=alpha,
            regularize_intercept=self.regularize_intercept,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        step(f"risk minimized at alpha {alpha:g}")
        names = getattr(self, "feature_names_in_", None)
        is_free = not self.regularize_intercept
        return certified(solution, alpha, objective.summary, names, is_free=is_free)

    def _fit_objective(self, objective: SUObjective, prior: float, alpha: float) -> None:
        """Minimize over all rows, and keep the solution."""
        solution = self._minimise(objective, prior, alpha)
        self.su_share_ = objective.rewrite.place(prior, objective.summary.spreads)
        self.coef_ = solution.weights[None, :-1].copy()
        self.intercept_ = solution.weights[-1:].copy()
        self.classes_ = np.array([-1, 1])
        self.objective_ = solution.objective
        self.duality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter
        self.n_passes_ = objective.engine.n_passes


class SUClassifier(_BaseSUClassifier):
    r"""Linear classifier from pairs and unlabeled rows (the paper's SU classification).

    Minimizes the unbiased SU risk (Eq. 5 of Bao, Niu and Sugiyama, 2018) with a ridge penalty.
    For the losses here it reduces to

    .. math:: \mathrm{E}_U[e(w^T x)] - c^T w + \frac{\alpha}{2} w^T w

    .. math:: c = \frac{\pi_S \mathrm{E}_S[x] - \frac{1}{2} \mathrm{E}_U[x]}{2 \pi - 1}

    with e the even part of the loss, rows x that end in a constant for the intercept, means over
    the unlabeled rows U and the members S of similar pairs, :math:`\pi` the class prior and
    :math:`\pi_S = \pi^2 + (1 - \pi)^2`. With dissimilar pairs, c has other weights and a third
    mean: see `rewrite`.

    Parameters
    ----------
    loss : {"squared", "logistic", "double_hinge"} or MarginLoss, default "squared"
        Any convex loss with ``l(z, +1) - l(z, -1) = -z``; see `likewise.losses.MarginLoss`.
    prior : float in (0, 1) but not 0.5, prior estimator, or None, default None
        Share of class +1 among the unlabeled rows (the paper's Case 1). None estimates it with
        ``likewise.prior.PairLikelihoodPrior(random_state=0)`` (Cases 2 and 3); so does any object
        with ``fit(X, y)`` and ``estimate_``.
    positive : {"majority", "minority"}, default "majority"
        Which class is +1 when the prior is estimated, since pairs cannot tell.
    rewrite : {"auto", "su", "du", "sd", "sdu"} or Rewrite, default "auto"
        What c is made of: similar pairs (S), dissimilar pairs (D) and unlabeled rows (U), each by
        the mean of its rows. "auto" takes all pairs: "su" of the paper, "du", or "sdu" with the
        weights of least variance where there are both kinds. All are unbiased.
    alpha : float, default 1e-4
        Ridge penalty, the paper's lambda.
    regularize_intercept : bool, default True
        Whether the penalty covers the intercept too, as in the paper.
    tol : float, default 1e-9
        Relative duality gap at which the iterative solvers stop.
    max_iter : int, default 200
        Largest number of iterations of those solvers.
    verbose : bool or int, default 0
        Whether to print a line on every step.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    classes_ : array ``[-1, 1]``
    prior_ : float
        Share of class +1, given or estimated.
    prior_interval_ : tuple of two floats, or None
        Interval of an estimated prior; for another level, ``prior=PairLikelihoodPrior(level=0.9)``.
    prior_estimate_ : PriorEstimate or None
    su_share_ : float
        Every c is ``su_share_`` times that of "su" plus the rest times that of "du".
    objective_ : float
        Value of the minimized objective; an unbiased risk minus what it costs can be negative.
    duality_gap_ : float
        Certificate: `objective_` lies above the minimum by at most this times
        ``max(1, |objective_|)``.
    n_iter_ : int
    n_passes_ : int
        How often the unlabeled rows were read.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.

    See Also
    --------
    SUClassifierCV : chooses alpha by cross-validated SU risk.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> clf = lw.SUClassifier(prior=0.7).fit(*sample.pack())
    >>> clf.score(sample.X_test, sample.y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_BaseSUClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        loss: str | MarginLoss = "squared",
        *,
        prior: Any = None,
        positive: str = "majority",
        rewrite: str | Rewrite = "auto",
        alpha: float = 1e-4,
        regularize_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 200,
        verbose: bool | int = 0,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.positive = positive
        self.rewrite = rewrite
        self.alpha = alpha
        self.regularize_intercept = regularize_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @tells
    def fit(self, X: Any, y: ArrayLike | None = None, *, sample_weight: Any = None) -> Self:
        """Learn from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), or PairSource
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers; or rows
            that are elsewhere, see `likewise.engines.PairSource`.
        y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them; none for a `PairSource`. Of one table, all
            rows are the unlabeled ones, and a group counts as a chain of pairs.
        sample_weight : array of shape (n_rows,), optional
            How many rows of the population each row stands for: means over rows are weighted. Both
            rows of a fresh pair carry the weight of the pair; a pair of rows of one table weighs
            the product of theirs.

        Returns
        -------
        self
        """
        rows = read_rows(self, X, y, sample_weight)
        rewrite = self._chosen_rewrite(rows)
        summary = rows.summarise(rewrite)
        prior = self._find_prior(rows)
        objective = SUObjective(rows.engine, summary, self._learning_loss(), rewrite)
        self._fit_objective(objective, prior, self.alpha)
        return self


class SUClassifierCV(_BaseSUClassifier):
    """`SUClassifier` whose alpha is chosen by the zero-one SU risk on held-out folds.

    No label is needed: the SU risk is an unbiased estimate of the error rate, with the same weights
    of rows as in the fit. Folds keep pairs together, and fold risks are averaged unclipped. With
    the squared loss all folds and alphas together cost about as much as one fit, since sums over
    folds can be added and subtracted. Where statements about one table join too many rows for
    that, folds split some; a statement counts for those parts of the data that hold it whole.

    Parameters
    ----------
    loss : {"squared", "logistic", "double_hinge"} or MarginLoss, default "squared"
    prior : float in (0, 1) but not 0.5, prior estimator, or None, default None
        As in `SUClassifier`; an estimate is made once, from all rows.
    positive : {"majority", "minority"}, default "majority"
    rewrite : {"auto", "su", "du", "sd", "sdu"} or Rewrite, default "auto"
    alphas : sequence of floats, default (1e-1, 1e-4, 1e-7)
        Ridge penalties to choose from; the default is the paper's grid. The first of equally good
        ones wins.
    cv : int, splitter or iterable of (train, test), default 5
        An int means ``PairKFold(cv)``.
    regularize_intercept : bool, default True
    tol : float, default 1e-9
    max_iter : int, default 200
    verbose : bool or int, default 0

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    cv_results_ : dict of arrays
        As in scikit-learn's searches: ``params``, ``param_alpha``, ``split<k>_test_score``,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``. A score is minus a zero-one SU
        risk.
    best_score_ : float
    coef_, intercept_, classes_, objective_, duality_gap_, n_iter_, n_passes_, n_features_in_
        As in `SUClassifier`.
    prior_, prior_interval_, prior_estimate_, su_share_
        As in `SUClassifier`.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> clf = lw.SUClassifierCV(prior=0.7).fit(*sample.pack())
    >>> clf.alpha_ in (1e-1, 1e-4, 1e-7)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_BaseSUClassifier._parameter_constraints,
        "alphas": ["array-like"],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        loss: str | MarginLoss = "squared",
        *,
        prior: Any = None,
        positive: str = "majority",
        rewrite: str | Rewrite = "auto",
        alphas: Sequence[float] = _PAPER_ALPHAS,
        cv: Any = 5,
        regularize_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 200,
        verbose: bool | int = 0,
    ) -> None:
        self.loss = loss
        self.prior = prior
        self.positive = positive
        self.rewrite = rewrite
        self.alphas = alphas
        self.cv = cv
        self.regularize_intercept = regularize_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @tells
    def fit(self, X: Any, y: ArrayLike | None = None, *, sample_weight: Any = None) -> Self:
        """Choose alpha by cross-validation, then learn from all rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), or PairSource
        y : integer array of shape (n_rows,), or scipy CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them; none for a `PairSource`.
        sample_weight : array of shape (n_rows,), optional
            As in `SUClassifier`; held-out risks are weighted too.

        Returns
        -------
        self
        """
        alphas = self._checked_alphas()
        rows = read_rows(self, X, y, sample_weight)
        rewrite = self._chosen_rewrite(rows)
        cv = as_splitter(self.cv)
        # Of a wide table, sums over folds would be square matrices of its columns.
        folds = None if is_wide(rows.engine) else rows.folds(cv, rewrite)
        if folds is None:
            splits = rows.splits(cv, rewrite)
            summary = rows.summarise(rewrite)
            prior = self._find_prior(rows)
            risks = self._risks_of_splits(splits, rows, rewrite, prior, alphas)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                sums = sum_folds(rows.engine, folds, rewrite)
                summary = sums.without(None)
            rows.check_finite(summary.means)
            prior = self._find_prior(rows)
            others = [sums.without(fold) for fold in range(folds.count)]
            weights = self._fold_weights(rows, folds, others, rewrite, prior, alphas)
            settled = [rewrite.settle(prior, other.spreads) for other in others]
            risks = fold_risks(rows.engine, folds, weights, prior, settled)
        best = self._keep_scores(alphas, -risks)
        objective = SUObjective(rows.engine, summary, self._learning_loss(), rewrite)
        self._fit_objective(objective, prior, alphas[best])
        return self

    def _checked_alphas(self) -> list[float]:
        alphas = [float(alpha) for alpha in np.ravel(self.alphas)]
        if not alphas or not all(0 < alpha < np.inf for alpha in alphas):
            raise ValueError(f"alphas must be positive finite numbers; got {self.alphas!r}.")
        return alphas

    def _fold_weights(
        self,
        rows: WeakRows,
        folds: Folds,
        summaries: Sequence[Summary],
        rewrite: Rewrite,
        prior: float,
        alphas: Sequence[float],
    ) -> list[FloatArray]:
        """Fit every alpha without each fold in turn; one array (weights x alphas) for each."""
        loss = self._learning_loss()
        if loss == squared:
            return squared_weights(
                summaries,
                prior=prior,
                alphas=alphas,
                regularize_intercept=self.regularize_intercept,
                rewrite=rewrite,
            )
        weights = []
        for fold, summary in enumerate(summaries):
            others = SUObjective(rows.without(folds, fold), summary, loss, rewrite)
            weights.append(self._fit_alphas(others, prior, alphas))
            rows.engine.n_passes += others.engine.n_passes
        return weights

    def _risks_of_splits(
        self,
        splits: Iterable[tuple[Engine, Engine]],
        rows: WeakRows,
        rewrite: Rewrite,
        prior: float,
        alphas: Sequence[float],
    ) -> FloatArray:
        """Fit every alpha on each training set and return the zero-one SU risks on the others."""
        risks = []
        for train, test in splits:
            summary = summarise(train, rewrite)
            objective = SUObjective(train, summary, self._learning_loss(), rewrite)
            weights = self._fit_alphas(objective, prior, alphas)
            settled = rewrite.settle(prior, summary.spreads)
            risks.append(zero_one_risks(test, weights, prior, settled))
            rows.engine.n_passes += train.n_passes
        if not risks:
            raise ValueError("cv yields no splits; pass a number of folds or a splitter.")
        return np.array(risks)

    def _fit_alphas(
        self, objective: SUObjective, prior: float, alphas: Sequence[float]
    ) -> FloatArray:
        weights = [self._minimise(objective, prior, alpha).weights for alpha in alphas]
        return np.column_stack(weights)

    def _keep_scores(self, alphas: Sequence[float], scores: FloatArray) -> int:
        """Keep the table of scores (splits x alphas) and return the position of the best alpha."""
        mean = scores.mean(axis=0)
        best = int(np.argmax(mean))
        self.alpha_ = alphas[best]
        self.best_score_ = float(mean[best])
        self.cv_results_ = {
            "params": [{"alpha": alpha} for alpha in alphas],
            "param_alpha": np.array(alphas),
            **{f"split{k}_test_score": row.copy() for k, row in enumerate(scores)},
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": 1 + np.sum(mean[None, :] > mean[:, None], axis=1),
        }
        return best
