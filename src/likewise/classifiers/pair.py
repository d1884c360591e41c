"""The pair-likelihood classifier as a scikit-learn estimator.

Input checks, the learner and the fitted attributes; the mathematics is in `beliefs` and `search`.
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import validate_data

from likewise._sklearn import HasMethods, Interval, StrOptions, _fit_context
from likewise._types import FloatArray
from likewise._verbose import tells
from likewise.beliefs.base import Likelihood, as_shares, log_probabilities
from likewise.beliefs.components import ContradictionError
from likewise.beliefs.errors import suspected
from likewise.beliefs.table import TableLikelihood
from likewise.classifiers.any_model import as_untouched, starting_numbers
from likewise.classifiers.deciding import DecidesByScores
from likewise.classifiers.reading import read_alphas, read_named, read_source_rows, row_names
from likewise.classifiers.saying import is_quiet, warn_of
from likewise.engines.rows import is_sparse
from likewise.scores.encoding import gradient_boosting, is_finite_table
from likewise.scores.maps import feature_maps, named_maps
from likewise.scores.models import check_learns
from likewise.search.class_count import ClassCount, compare_counts, look_for_more
from likewise.search.climb import exchanged
from likewise.search.em import beside, learn_model, settles, starting_point
from likewise.search.fitted import Calibrated, calibrated, error_rate_interval, scores_of_all
from likewise.search.information import PairInformation, pair_information
from likewise.search.learn import Learned, learn, standard_error
from likewise.search.pairing import PairingTest, compare_pairings
from likewise.search.rows import MemoryRows, SourceRows
from likewise.search.settings import Settings, default_pairing
from likewise.statements.known import Known
from likewise.statements.labels import WeakLabels

_MOST_CLASSES = 33
"""Numbers of classes up to which "auto" goes."""
_ROUNDS = 3
"""How often it compares numbers anew with features that were chosen for the last one."""


class PairClassifier(DecidesByScores, ClassifierMixin, BaseEstimator):
    r"""Classifier from statements that rows are alike, or differ; no parameter has to be chosen.

    Learns class probabilities :math:`\eta(x)` by the likelihood of the statements about rows: pairs
    and groups of one table that are alike, pairs that differ, some of the statements wrong, or
    fresh pairs beside unlabeled rows. Given the rows, the likelihood sums over their hidden classes
    z:

    .. math:: \log \sum_z \prod_i \eta_{z_i}(x_i) \prod_e \psi_e(z)

    with a ridge penalty on the scores; :math:`\psi_e(z)` is the probability of statement e given
    the classes of its rows. Features (linear or RBF) and penalty are chosen by the log-probability
    of held-out statements, and so is a weighted sum of the scores of several kinds of features.
    Scores of rows that the models did not see then calibrate the probabilities and give the class
    prior.

    Parameters
    ----------
    n_classes : int or "auto", default 2
        "auto" compares numbers of classes by held-out statements and takes the smallest that is
        within one standard error of the best.
    features : {"auto", "linear", "rbf"} or transformer, default "auto"
        What the scores are linear in: the standardized columns, RBF features of them, or what
        a scikit-learn transformer makes of them. "auto" tries linear and RBF ones, from few
        fresh similar pairs also linear ones averaged over a posterior in which every column has a
        deviation of its own, and for two classes a sum over several.
    alphas : "auto", sequence of floats, or dict, default "auto"
        Ridge penalties to choose from; where columns have deviations of their own, what is expected
        of these beforehand. A dict has a sequence for each kind of features, by its name in
        `selection_`; kinds that it does not name are not tried.
    positive : {"majority", "minority"}, default "majority"
        Which of two classes is +1, since pairs cannot tell. More than two classes are numbered by
        size, the largest (or smallest) first.
    pairing : {"auto", "asked", "random", "free"}, default "auto"
        How statements came about. "asked": rows were chosen for any reason, also by their
        features, somebody answered, and every answer was kept. "random": only similar pairs were
        kept, each equally likely, as the paper assumes. "free" (class-dependent): only similar
        pairs were kept, and classes have their own shares among them. "auto" takes statements
        about one table as asked if some say that rows differ; otherwise it tests random pairing,
        and uses class-dependent pairing if the test rejects it and held-out statements do not
        contradict.
    error_rate : float in [0, 0.5), or "auto", default 0.0
        Probability that a statement about one table is wrong; "auto" learns it. At 0, statements
        that contradict each other are an error. For asked statements; with similar pairs only,
        `fit` warns.
    cv : int or splitter, default 5
        An int means ``PairKFold(cv, shuffle=True)``; or a splitter whose test sets hold every row
        once, such as ``PairKFold`` or ``KFold``.
    calibrate : bool, default True
        Whether scale and offset of the scores are fitted to held-out pairs.
    estimator : classifier or "auto", default None
        Any scikit-learn classifier or pipeline with ``predict_proba`` whose ``fit`` takes
        ``sample_weight``, instead of linear and RBF scores. It learns by expectation maximization
        and gets rows unchanged: missing values, categories and data frames. "auto" tries gradient
        boosting too and keeps it if it explains held-out statements clearly better; tables with
        missing values or text always get it.
    level : float in (0, 1), default 0.95
        Level of `prior_interval_` and `error_rate_interval_`.
    n_jobs : int, default None
        Number of feature maps, or folds of `estimator`, that are fitted in parallel.
    verbose : bool or int, default 0
        Whether to print a line on every step.
    random_state : int, RandomState instance or None, default None
        Determines folds, landmarks and starting points.

    Attributes
    ----------
    classes_ : array
        ``[-1, 1]`` for two classes, else ``[0, ..., n_classes - 1]``; the users' names where
        `known` gave some.
    n_classes_ : int
        The number of classes, given or chosen.
    class_count_ : ClassCount or None
        Held-out evidence for all numbers that were tried, or for the given number and one more;
        prints as a table. None if one more class explains the statements no better even where it
        is learned from them, and with `known` or an `estimator`.
    labels_ : array of shape (n_rows,)
        Class of every row of the table, from features and statements together.
    row_proba_ : array of shape (n_rows, n_classes)
        Probabilities behind `labels_`, in the order of `classes_`.
    error_rate_ : float
        Probability that a statement is wrong, given or learned.
    error_rate_interval_ : tuple of two floats
        Interval of a learned error rate, at `level`.
    suspects_ : integer array
        Numbers of the statements that are more likely wrong than the average one, with a
        probability of at least 1 %, most likely first. Statements are numbered as they were passed,
        similar ones first.
    wrong_proba_ : array of shape (n_statements,)
        Probability that each statement is wrong.
    prior_ : float, or array of shape (n_classes,)
        Share of class +1 among rows; of every class where there are more than two.
    prior_interval_ : tuple of two floats, or array of shape (n_classes, 2)
        Interval of `prior_`, at `level`. It reaches to both sides of one half where it is open
        which class is larger.
    pair_information_ : PairInformation
        Nats per held-out statement, with its standard error. ``pair_information_.p_value()`` tests
        it as if nothing had been chosen; `has_signal_` allows for all that was tried.
    selection_ : Selection
        What was tried; prints as a table.
    pairing_ : {"asked", "random", "free"}
        How statements came about, according to the chosen model.
    pairing_test_ : PairingTest or None
        The test behind ``pairing="auto"``.
    has_signal_ : bool
        False if held-out statements do not support the models with odds of 20 to 1: then every
        new row is predicted to be of the majority class.
    estimator_ : classifier or None
        The fitted `estimator`, of classes ``0, ..., n_classes - 1``; None without one.
    history_ : History
        The rounds of `estimator`: held-out log-likelihood, change, and which round was kept.
    features_ : str
        Name of the chosen features; several with a plus if their scores are summed.
    alpha_ : float or None
        The chosen penalty; None for a sum, whose parts are in `selection_`.
    coef_ : array of shape (1, n_features), or (n_classes, n_features)
        In units of the columns, where the chosen features are linear (``features="linear"``).
    intercept_ : array of shape (1,), or (n_classes,)
    n_passes_ : int or None
        How often the rows of a `PairSource` were read; None for a table in memory.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        When `X` had string column names.

    See Also
    --------
    SUClassifier : the paper's risk minimizer, which needs or estimates the prior.
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

    _trusts_scores = False
    """Whether scores are used even if these statements alone do not speak for them: set on clones
    that learn from a part of what spoke for the classifier itself."""
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_classes": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "features": [StrOptions({"auto", "linear", "rbf"}), HasMethods(["fit", "transform"])],
        "alphas": [StrOptions({"auto"}), "array-like", dict],
        "positive": [StrOptions({"majority", "minority"})],
        "pairing": [str],
        "error_rate": [StrOptions({"auto"}), Interval(Real, 0.0, 0.5, closed="left")],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split", "get_n_splits"])],
        "calibrate": ["boolean"],
        "estimator": [StrOptions({"auto"}), HasMethods(["fit"]), None],
        "level": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_classes: int | str = 2,
        *,
        features: Any = "auto",
        alphas: Any = "auto",
        positive: str = "majority",
        pairing: str = "auto",
        error_rate: float | str = 0.0,
        cv: Any = 5,
        calibrate: bool = True,
        estimator: Any = None,
        level: float = 0.95,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_classes = n_classes
        self.features = features
        self.alphas = alphas
        self.positive = positive
        self.pairing = pairing
        self.error_rate = error_rate
        self.cv = cv
        self.calibrate = calibrate
        self.estimator = estimator
        self.level = level
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    @tells
    def fit(
        self, X: Any, y: WeakLabels | None = None, *, known: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from weak labels.

        Parameters
        ----------
        X : table of shape (n_rows, n_features), or PairSource
            Numpy array, scipy sparse matrix, or pandas or polars data frame of numbers; for rows
            that are elsewhere, see `likewise.engines.PairSource`. With an `estimator`, whatever
            that takes.
        y : integer array of shape (n_rows,), or CSR matrix of shape (n_rows, n_statements)
            Weak labels as `likewise.pack` makes them; none for a `PairSource`.
        known : sequence of length n_rows, optional
            The class of each row of one table, or None where it is not known. It names the classes
            and counts as evidence.
        sample_weight : array of shape (n_rows,), optional
            How many rows of the population each row stands for (survey weights); both rows of a
            fresh pair carry that of the pair. Of one table, weights change the class prior alone.

        Returns
        -------
        self
        """
        names = row_names(X)
        if not (self.estimator is None or isinstance(self.estimator, str)):
            check_learns(self.estimator)
        source = read_source_rows(self, X, y, sample_weight)
        named = read_named(self, known, source)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=3)
        self._forget()
        self.class_count_: ClassCount | None = None
        try:
            learned = self._learn_number(source.counted, named, seeds)
        except ContradictionError as error:
            if names is None:
                raise
            raise error.named(names) from None
        self._keep(learned, source, named)
        self.n_passes_ = source.n_passes
        if not (self.n_classes == "auto" or named or self.estimator_ is not None or is_quiet()):
            of_starts = np.random.RandomState(seeds[0])
            self.class_count_ = look_for_more(learned, self._settings(), of_starts)
        warn_of(self, learned.information)
        return self

    def _learn_number(
        self, source: SourceRows, named: Known | None, seeds: NDArray[np.int64]
    ) -> Learned:
        """Learn with the number of classes that was asked for, or that statements speak for."""
        if self.n_classes != "auto":
            self.n_classes_ = int(self.n_classes)
            return self._learn_any(source, named, seeds)
        learned = None
        for self.n_classes_ in range(2, _MOST_CLASSES):
            try:
                learned = self._learn_any(source, named, seeds)
                break
            except ContradictionError:  # there may be more classes, or no way at all
                if self.n_classes_ == _MOST_CLASSES - 1:
                    raise
        assert learned is not None  # noqa: S101 - else the last number raised
        fewest = self.n_classes_
        for _ in range(_ROUNDS):
            before = self.n_classes_
            self.class_count_ = compare_counts(
                learned,
                self._settings(),
                range(fewest, _MOST_CLASSES),
                np.random.RandomState(seeds[0]),
            )
            if self.class_count_.chosen == before:
                break
            self.n_classes_ = self.class_count_.chosen
            learned = self._learn_any(source, named, seeds)
        return learned

    def _learn_any(
        self, source: SourceRows, named: Known | None, seeds: NDArray[np.int64]
    ) -> Learned:
        """Learn our own scores, or the classifier that the user brought."""
        self.estimator_: Any = None
        if self.estimator is None:
            return self._learn_pairing(source, named, seeds[:2])
        assert isinstance(source, MemoryRows)  # noqa: S101 - others were refused
        rows, statements = source.whole.rows, source.whole.statements
        estimator = gradient_boosting() if self.estimator == "auto" else self.estimator
        is_open = self.estimator == "auto" and is_finite_table(rows)
        codes = None if named is None else named.codes
        self.pairing_test_: PairingTest | None = None
        self.pairing_ = default_pairing(statements) if self.pairing == "auto" else self.pairing
        own = start = None
        if is_open or not settles(self._settings().likelihood(statements, codes)):
            numbers = starting_numbers(rows, estimator)
            if numbers is not None:
                own = self._learn_pairing(MemoryRows(numbers, statements), named, seeds[:2])
                start = starting_point(own, numbers)
        learned, self.history_ = learn_model(
            rows,
            statements,
            estimator,
            self._settings(),
            np.random.RandomState(seeds[2]),
            known=codes,
            start=start,
        )
        learned = beside(learned, own)
        clearly = learned.information - standard_error(learned.candidate)
        if is_open and own is not None and own.information >= clearly:
            del self.history_
            return own
        self.estimator_ = learned.features.transformer.estimator
        return learned

    def _learn_pairing(
        self, source: SourceRows, named: Known | None, seeds: NDArray[np.int64]
    ) -> Learned:
        """Learn, and where asked to, find out how similar pairs were formed."""
        self.pairing_test_ = None
        self.pairing_ = self.pairing
        if self.pairing != "auto":
            return self._learn(source, named, seeds)
        self.pairing_ = "random"
        if source.statements is not None:
            self.pairing_ = default_pairing(source.statements)
        learned = self._learn(source, named, seeds)
        is_found = self.pairing_ == "random" and learned.some.statements.n_similar > 0
        if not (is_found and learned.has_signal):
            return learned
        self.pairing_test_ = compare_pairings(learned.candidate.scores, learned.likelihood)
        if not self.pairing_test_.is_rejected:
            return learned
        self.pairing_ = "free"
        freely = self._learn(source, named, seeds)
        # A poor calibration can look like odd pairs: held-out statements have the last word.
        if freely.candidate.information > learned.candidate.information:
            return freely
        self.pairing_ = "random"
        return learned

    def _learn(self, source: SourceRows, named: Known | None, seeds: NDArray[np.int64]) -> Learned:
        of_maps, of_folds = (np.random.RandomState(seed) for seed in seeds[::-1])
        is_named = isinstance(self.alphas, dict)
        rows = source.whole.rows if isinstance(source, MemoryRows) else None
        is_sparse_table = rows is not None and is_sparse(rows)
        maps = feature_maps(
            self.features,
            self.n_features_in_ if rows is None else rows.shape[1],
            of_maps,
            is_sparse_table=is_sparse_table,
            all_kinds=is_named,
        )
        if is_named:
            maps = named_maps(maps, self.alphas)
        codes = None if named is None else named.codes
        return learn(source, maps, self._settings(), of_folds, codes)

    def _settings(self) -> Settings:
        return Settings(
            self.cv,
            read_alphas(self.alphas),
            self.n_classes_,
            pairing=self.pairing_,
            error_rate=None if self.error_rate == "auto" else float(self.error_rate),
            n_jobs=self.n_jobs,
        )

    def _keep(self, learned: Learned, source: SourceRows, named: Known | None) -> None:
        """Calibrate, name the classes, and keep what users may ask for."""
        self.feature_map_ = learned.features
        self.features_ = learned.features.name
        self.alpha_ = learned.candidate.alpha
        self.selection_ = learned.selection
        self.has_signal_ = learned.has_signal
        found = calibrated(learned, self.level)
        scale, offsets = found.scale, found.offsets
        if not self.calibrate:
            scale, offsets = float(np.copysign(1.0, scale)), np.zeros_like(offsets)
        weights = scale * learned.candidate.weights
        weights[-1] += offsets
        scores = scale * learned.candidate.scores + offsets
        self.pair_information_: PairInformation = pair_information(learned, scores)
        if not (self.has_signal_ or self._trusts_scores):
            weights, scores = np.zeros_like(weights), np.zeros_like(scores)
            shares = as_shares(found.shares, 1e-12)  # a class may have no row
            weights[-1] = logit(shares[1:]) if self.n_classes_ == 2 else np.log(shares)
            scores += weights[-1]
        order = self._name_classes(found, named)
        self.weights_ = exchanged(weights, order)
        if source.statements is not None:
            scores = scores_of_all(learned, source, scores, weights)
            codes = None if named is None else named.codes
            likelihood = self._settings().likelihood(source.statements, codes)
            self._keep_rows(likelihood, scores, order)
        if learned.features.transformer is None:
            slopes = self.weights_[:-1] / learned.features.scale[:, None]
            self.coef_ = slopes.T.copy()
            self.intercept_ = self.weights_[-1] - learned.features.mean @ slopes

    def _forget(self) -> None:
        """Drop what an earlier fit kept and this one may not."""
        for name in (
            "coef_",
            "intercept_",
            "row_proba_",
            "labels_",
            "error_rate_",
            "error_rate_interval_",
            "wrong_proba_",
            "suspects_",
            "history_",
        ):
            self.__dict__.pop(name, None)

    def _keep_rows(
        self, likelihood: Likelihood, scores: FloatArray, order: NDArray[np.intp]
    ) -> None:
        """Keep what features and statements together tell of the rows, and of the statements."""
        log_p = log_probabilities(scores)
        beliefs = likelihood.evaluate(log_p)
        self.error_rate_ = rate = beliefs.error_rate
        self.error_rate_interval_ = (rate, rate)
        if isinstance(likelihood, TableLikelihood) and likelihood.error_rate is None:
            self.error_rate_interval_ = error_rate_interval(likelihood, log_p, beliefs, self.level)
        self.row_proba_, self.wrong_proba_ = beliefs.posteriors[:, order], beliefs.wrong
        del beliefs  # which take several times the memory of the scores
        self.labels_ = self.classes_[self.row_proba_.argmax(axis=1)]
        self.suspects_ = likelihood.statements.numbers[suspected(self.wrong_proba_, rate)]

    def _name_classes(self, found: Calibrated, named: Known | None) -> NDArray[np.intp]:
        """Order the classes as `known` names them, or by size as `positive` asks."""
        minority = self.positive == "minority"
        binary = self.n_classes_ == 2
        self.classes_ = np.array([-1, 1]) if binary else np.arange(self.n_classes_)
        order = np.arange(self.n_classes_)
        if named is not None:
            self.classes_ = named.classes
        elif binary:
            order = order[::-1] if minority else order
        else:
            order = np.argsort(found.shares if minority else -found.shares, kind="stable")
        shares, intervals = found.shares[order], found.intervals[order]
        self.prior_: Any = float(shares[1]) if binary else shares
        self.prior_interval_: Any = tuple(map(float, intervals[1])) if binary else intervals
        return order

    def _scores_of(self, X: Any) -> FloatArray:
        if self.estimator is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=float, order="C", reset=False)
        else:
            X = as_untouched(self, X, reset=False)
        return self.feature_map_.design(X).decide(self.weights_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.estimator == "auto":
            tags.input_tags.allow_nan = True
        elif self.estimator is not None:
            tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags
