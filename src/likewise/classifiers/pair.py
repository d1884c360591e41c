"""The pair-likelihood classifier as a scikit-learn estimator.

Glue only: input checks, the learner, and the fitted attributes. The mathematics is in
`likewise.beliefs.fresh` and `likewise.search`.
"""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise._types import FloatArray
from likewise.classifiers.rows import read_source
from likewise.classifiers.scoring import ScoresTrueClasses
from likewise.engines import Engine, PairSource
from likewise.engines.rows import RowSets, is_sparse
from likewise.engines.source import refuse_labels
from likewise.scores.features import check_magnitude
from likewise.scores.maps import feature_maps
from likewise.search.calibration import CROSS_FITTED, calibrate, calibrate_classes
from likewise.search.information import PairInformation, pair_information
from likewise.search.learn import Learned, Settings, learn, learn_from_engine
from likewise.search.pairing import PairingTest, compare_pairings
from likewise.statements.labels import locate_pairs

_EMPTY = 0.005
"""Share of rows below which a class counts as not there."""
_LEVEL = 0.95
"""Level of `prior_interval_`."""
_NORMAL = 1.959963984540054
"""Standard deviations on either side that hold that much of a normal distribution."""


class PairClassifier(ScoresTrueClasses, ClassifierMixin, BaseEstimator):
    """Classifier from similar pairs (dissimilar ones too) and unlabeled rows; nothing to choose.

    Learns class chances eta(x) by the likelihood of the pairs. For pairs formed at random::

        maximise  mean_S log sum_k eta_k(a) eta_k(b) - log sum_k q_k^2,   q_k = mean eta_k

    with a ridge penalty; see `likewise.beliefs.fresh` for dissimilar pairs, for pairs that were not
    formed at random, and for how the rows' distribution is profiled out. Features (linear or
    radial) and penalty are chosen by the likelihood of held-out pairs, and so is a weighted sum of
    the scores of several kinds of features; scores of rows that the models did not see then
    calibrate the chances and tell the prior.

    Parameters
    ----------
    n_classes : int, default 2
    features : {"auto", "linear", "rbf"} or transformer, default "auto"
        What the scores are linear in: the standardised columns, radial features of them, or what
        a scikit-learn transformer makes of them. "auto" tries linear and radial ones, and for two
        classes a sum over both.
    alphas : "auto", sequence of floats, or dict, default "auto"
        Ridge penalties to choose from. A dict has a sequence for each kind of features, by its
        name in `selection_`; kinds that it does not name are not tried.
    positive : {"majority", "minority"}, default "majority"
        Which of two classes is +1, since pairs cannot tell. More than two classes are numbered by
        size, the largest (or smallest) first.
    pairing : {"random", "free", "auto"}, default "auto"
        How similar pairs were formed. "random": two rows were drawn and kept if of one class, as
        the paper assumes; "free": the classes have shares of their own among pairs. "auto" tests
        the first against the second, and uses free shares where the data reject random pairing
        and held-out pairs do not speak against it.
    cv : int, default 5
        Number of folds.
    calibrate : bool, default True
        Whether scale and offset of the scores are fitted to held-out pairs.
    n_jobs : int, default None
        Feature maps that are tried side by side.
    random_state : int, RandomState instance or None, default None
        Deals out folds, picks landmarks and starting points.

    Attributes
    ----------
    classes_ : array
        ``[-1, 1]`` for two classes, else ``[0, ..., n_classes - 1]``.
    prior_ : float, or array of shape (n_classes,)
        Share of class +1 among rows; of every class where there are more than two.
    prior_interval_ : tuple of two floats, or array of shape (n_classes, 2)
        95 % interval of `prior_`.
    pair_information_ : PairInformation
        Nats per pair, with its standard error. ``pair_information_.p_value()`` tests it as if
        nothing had been chosen; `has_signal_` allows for all that was tried.
    selection_ : Selection
        What was tried; prints as a table.
    pairing_ : {"random", "free"}
        How the chosen model takes pairs to have been formed.
    pairing_test_ : PairingTest or None
        The test behind ``pairing="auto"``.
    has_signal_ : bool
        False if held-out pairs do not speak for any model: then every row is predicted to be of
        the larger class.
    features_ : str
        Name of the chosen features; several with a plus if their scores are summed.
    alpha_ : float or None
        The chosen penalty; None for a sum, whose parts are in `selection_`.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        In the units of the columns, where the chosen features are linear (ask for them by
        ``features="linear"``).
    intercept_ : array of shape (1,), or (n_classes,)
    n_passes_ : int or None
        How often the rows of a `PairSource` were read; None for a table in memory.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.

    See Also
    --------
    SUClassifier : the paper's risk minimiser, which needs or estimates the prior.
    label_free_report : how accurate a classifier is, without labels.

    Examples
    --------
    >>> import likewise as lw
    >>> X, y = lw.datasets.make_gaussians(6000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 500, 500, n_test=1000, prior=0.7, random_state=0)
    >>> clf = lw.PairClassifier(random_state=0).fit(*sample.pack())
    >>> clf.score(sample.X_test, sample.y_test) > 0.8
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_classes": [Interval(Integral, 2, None, closed="left")],
        "features": [StrOptions({"auto", "linear", "rbf"}), HasMethods(["fit", "transform"])],
        "alphas": [StrOptions({"auto"}), "array-like", dict],
        "positive": [StrOptions({"majority", "minority"})],
        "pairing": [StrOptions({"random", "free", "auto"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "calibrate": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_classes: int = 2,
        *,
        features: Any = "auto",
        alphas: Any = "auto",
        positive: str = "majority",
        pairing: str = "auto",
        cv: int = 5,
        calibrate: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_classes = n_classes
        self.features = features
        self.alphas = alphas
        self.positive = positive
        self.pairing = pairing
        self.cv = cv
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), or PairSource
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers; for rows
            that are elsewhere, see `likewise.engines.PairSource`.
        y : integer array of shape (n_rows,)
            Weak labels as `likewise.pack` makes them; none for a `PairSource`.

        Returns
        -------
        self
        """
        learner = self._read(X, y)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        is_free = self.pairing == "free"
        learned = self._learn(learner, is_free, seeds)
        self.pairing_test_: PairingTest | None = None
        if self.pairing == "auto" and learned.has_signal and learned.counts.similar:
            self.pairing_test_ = compare_pairings(
                learned.candidate.scores, learned.counts, learned.freshness
            )
            if self.pairing_test_.is_rejected:
                freely = self._learn(learner, True, seeds)
                # A poor calibration can look like odd pairs: held-out pairs have the last word.
                is_free = freely.candidate.information > learned.candidate.information
                learned = freely if is_free else learned
        self.pairing_ = "free" if is_free else "random"
        self.n_passes_ = learner.n_passes
        self._keep(learned, is_free)
        self._say(learned.information)
        return self

    def _read(self, X: Any, y: ArrayLike | None) -> "_Rows":
        """Check what was passed to ``fit``."""
        if isinstance(X, PairSource):
            refuse_labels(y)
            return _EngineRows(read_source(self, X))
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        check_magnitude(X)
        return _TableRows(X, locate_pairs(y, X.shape[0], type(self).__name__))

    def _learn(self, rows: "_Rows", is_free: bool, seeds: NDArray[np.int64]) -> Learned:
        settings = Settings(
            self.cv, self._checked_alphas(), self.n_classes, is_free=is_free, n_jobs=self.n_jobs
        )
        of_maps, of_folds = (np.random.RandomState(seed) for seed in seeds[::-1])
        is_named = isinstance(self.alphas, dict)
        maps = feature_maps(
            self.features,
            self.n_features_in_,
            of_maps,
            is_sparse_table=rows.is_sparse,
            all_kinds=is_named,
        )
        if is_named:
            maps = _named(maps, self.alphas)
        return rows.learn(maps, settings, of_folds)

    def _checked_alphas(self) -> Any:
        if isinstance(self.alphas, str):
            return None
        if isinstance(self.alphas, dict):
            return {name: _positive(alphas) for name, alphas in self.alphas.items()}
        return _positive(self.alphas)

    def _keep(self, learned: Learned, is_free: bool) -> None:
        """Calibrate, name the classes, and keep what users may ask for."""
        binary = self.n_classes == 2
        self.classes_ = np.array([-1, 1]) if binary else np.arange(self.n_classes)
        self.feature_map_ = learned.features
        self.features_ = learned.features.name
        self.alpha_ = learned.candidate.alpha
        self.selection_ = learned.selection
        self.has_signal_ = learned.has_signal
        found = (_calibrate_two if binary else _calibrate_more)(learned, is_free)
        scale, offsets = found.scale, found.offsets
        if not self.calibrate:
            scale, offsets = float(np.copysign(1.0, scale)), np.zeros_like(offsets)
        weights = scale * learned.candidate.model.weights
        weights[-1] += offsets
        self.pair_information_: PairInformation = pair_information(
            scale * learned.candidate.scores + offsets,
            learned.counts,
            learned.folds,
            found.pair_shares,
        )
        if not self.has_signal_:
            weights = np.zeros_like(weights)
            weights[-1] = logit(found.shares[1]) if binary else np.log(found.shares)
        self._name_classes(weights, found)
        for name in ("coef_", "intercept_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if learned.features.transformer is None:
            slopes = self.weights_[:-1] / learned.features.scale[:, None]
            self.coef_ = slopes.T.copy()
            self.intercept_ = self.weights_[-1] - learned.features.mean @ slopes

    def _name_classes(self, weights: FloatArray, found: "_Calibrated") -> None:
        """Order the classes by size, as `positive` asks."""
        minority = self.positive == "minority"
        if self.n_classes == 2:
            self.weights_ = -weights if minority else weights
            chosen = 0 if minority else 1
            self.prior_: Any = float(found.shares[chosen])
            low, high = found.intervals[chosen]
            self.prior_interval_: Any = (float(low), float(high))
            return
        order = np.argsort(found.shares if minority else -found.shares, kind="stable")
        self.weights_ = weights[:, order]
        self.prior_, self.prior_interval_ = found.shares[order], found.intervals[order]

    def _say(self, information: float) -> None:
        """Warn of what a user must know before trusting the fit."""
        if not self.has_signal_:
            warnings.warn(
                "The pairs show no signal: no model explains held-out pairs clearly better than "
                f"chance (the best reaches {information:.4f} nats per pair), so every row is "
                "predicted to be of the larger class. Collect more pairs, or features that tell "
                "the classes apart.",
                UserWarning,
                stacklevel=4,
            )
        if self.has_signal_ and np.min(self.prior_) < _EMPTY:
            warnings.warn(
                f"A class has next to no rows (shares {np.round(self.prior_, 3)}): the pairs do "
                f"not show {self.n_classes} classes. Pass a smaller n_classes, or collect more "
                "pairs.",
                UserWarning,
                stacklevel=4,
            )
        if self.pairing == "auto" and self.pairing_ == "free":
            warnings.warn(
                f"Pairs were not formed at random: {self.pairing_test_}. Using free pair shares; "
                "pass pairing='random' if you know better.",
                UserWarning,
                stacklevel=4,
            )

    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of class +1, or one score per class where there are more than two.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = self.feature_map_.design(X).decide(self.weights_)
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the chances of the classes, in the order of `classes_`.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        decision = self.decision_function(X)
        if self.classes_.size == 2:
            return np.column_stack([expit(-decision), expit(decision)])
        return np.asarray(softmax(decision, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of every row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        decision = self.decision_function(X)
        chosen = decision > 0 if self.classes_.size == 2 else decision.argmax(axis=1)
        return np.asarray(self.classes_[np.asarray(chosen, dtype=np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def _positive(alphas: Any) -> tuple[float, ...]:
    try:
        found = tuple(float(alpha) for alpha in np.ravel(alphas))
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0 < alpha < np.inf for alpha in found):
        raise ValueError(f"alphas must be positive finite numbers; got {alphas!r}.")
    return found


def _named(maps: Sequence[tuple[str, Any]], names: Collection[str]) -> list[tuple[str, Any]]:
    """Keep the feature maps that have been named."""
    known = [name for name, _ in maps]
    if not names or not set(names).issubset(known):
        raise ValueError(
            f"alphas must name at least one kind of features, and only such as are tried here "
            f"({', '.join(known)}); got {list(names)}."
        )
    return [one for one in maps if one[0] in names]


@dataclass(frozen=True)
class _TableRows:
    """A table in memory and where its rows belong."""

    X: Any
    rows: RowSets
    n_passes: None = None

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.X)

    def learn(self, maps: Any, settings: Settings, random_state: np.random.RandomState) -> Learned:
        return learn(self.X, self.rows, maps, settings, random_state)


@dataclass(frozen=True)
class _EngineRows:
    """Rows that an engine reads from where they are."""

    engine: Engine
    is_sparse: bool = False

    @property
    def n_passes(self) -> int:
        return self.engine.n_passes

    def learn(self, maps: Any, settings: Settings, random_state: np.random.RandomState) -> Learned:
        return learn_from_engine(self.engine, maps, settings, random_state)


_Rows = _TableRows | _EngineRows


@dataclass(frozen=True)
class _Calibrated:
    """Scale and offsets of the scores, and what they tell of the classes."""

    scale: float
    offsets: FloatArray
    shares: FloatArray
    """Of all classes, (n_classes,); of two, the second is the larger."""
    intervals: FloatArray
    """Shape (n_classes, 2)."""
    pair_shares: FloatArray | None


def _calibrate_two(learned: Learned, is_free: bool) -> _Calibrated:
    scores = learned.candidate.scores[:, 0]
    power = CROSS_FITTED * learned.freshness
    found = calibrate(scores, learned.counts, is_free=is_free, power=power)
    low, high = found.interval(_LEVEL) if learned.has_signal else (0.5, 1.0)
    pair_shares = None
    if found.pair_share is not None:
        pair_shares = np.array([1.0 - found.pair_share, found.pair_share])
    return _Calibrated(
        found.scale,
        np.array([found.offset]),
        np.array([1.0 - found.share, found.share]),
        np.array([[1.0 - high, 1.0 - low], [low, high]]),
        pair_shares,
    )


def _calibrate_more(learned: Learned, is_free: bool) -> _Calibrated:
    pair_shares = learned.candidate.model.pair_shares if is_free else None
    found = calibrate_classes(learned.candidate.scores, learned.counts, pair_shares)
    reach = _NORMAL * found.deviations / np.sqrt(learned.freshness)
    # Of a class that no row is in, so many could have gone unseen.
    unseen = -np.log1p(-_LEVEL) / learned.counts.unlabeled
    highest = np.maximum(found.shares + reach, unseen)
    intervals = np.column_stack([found.shares - reach, highest]).clip(0.0, 1.0)
    return _Calibrated(found.scale, found.offsets, found.shares, intervals, pair_shares)
