"""IMSAT with a linear model: information maximization, with similar pairs as augmentations.

The objective's pieces work on scores; the only model here is a hyperplane.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from likewise._sklearn import Interval
from likewise.baselines.base import Baseline, FloatArray, IntArray, Outcome, Sample

__all__ = ["IMSAT", "Problem", "augmentation_loss", "mutual_information", "stop_gradient_field"]

_LEARNING_RATE = 0.02
_FIRST_DECAY, _SECOND_DECAY = 0.9, 0.999
_START_DEVIATION = 0.1
_SMALLEST_SHARE = 1e-12
_ADAM_STEPS = 1000
"""Steps of Adam after which Newton's method is tried."""
_NEWTON_STEPS = 50
_SHORTEST_STEP = 1e-6


class IMSAT(Baseline):
    r"""Information maximizing self-augmented training of Hu et al. (2017), with a linear model.

    With :math:`p(x) = \sigma(w^T x + b)`, means over the unlabeled rows U and h the binary entropy,
    it minimizes

    .. math::

        \mathrm{SAT} - \lambda (h(\mathrm{E}_U[p]) - \mathrm{E}_U[h(p)])
        + \frac{\alpha}{2} \left\| w \right\|^2

    with :math:`\lambda` the `information_weight` and SAT the mean over ordered pairs
    :math:`(x, x')` of

    .. math:: -\hat p(x) \ln(p(x')) - (1 - \hat p(x)) \ln(1 - p(x'))

    where :math:`\hat p` is the current prediction taken as a constant, as its authors do: each
    member of a similar pair is the augmentation of the other. If it were differentiated too, "all
    rows in one cluster" would be the optimum on overlapping classes.

    In one table, U is all rows, each of them once, and every similar statement is a pair (a group
    of g rows is g - 1 of them). Dissimilar pairs are not augmentations: they are ignored, and
    `n_ignored_` is their number.

    Parameters
    ----------
    information_weight : float, default 1.0
        Weight of the information term, the paper's lambda.
    alpha : float, default 1e-6
        Ridge penalty of the weights, without the intercept.
    n_init : int, default 5
        Number of random starts; of those that converge, the one with the lowest objective is
        kept.
    tol : float, default 1e-6
        Largest entry of the field (the gradient with constant p^) at which a start is done.
    max_iter : int, default 5000
        Number of steps after which a start is given up; up to 50 of Newton's method, which finds
        the last digits, may come on top.
    random_state : int, RandomState instance or None
        Starting weights.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Weights of the standardized features; positive scores are the method's second cluster.
    intercept_ : float
    field_norm_ : float
        Largest entry of the field at the end.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `Baseline`.
    mean_, scale_, n_features_in_, feature_names_in_
        As in `Baseline`.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import IMSAT
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, n_test=100, random_state=0)
    >>> clf = IMSAT(random_state=0).fit(*sample.pack())
    >>> clf.predict(sample.X_test).shape
    (100,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "information_weight": [Interval(Real, 0.0, None, closed="neither")],
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        information_weight: float = 1.0,
        alpha: float = 1e-6,
        n_init: int = 5,
        tol: float = 1e-6,
        max_iter: int = 5000,
        random_state: Any = None,
    ) -> None:
        self.information_weight = information_weight
        self.alpha = alpha
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, sample: Sample) -> Outcome:
        problem = Problem.of(sample, self.information_weight, self.alpha)
        random = check_random_state(self.random_state)
        n_features = sample.rows.shape[1]
        ends = []
        for _ in range(self.n_init):
            start = np.append(_START_DEVIATION * random.standard_normal(n_features), 0.0)
            ends.append(_descend(problem, start, tol=self.tol, max_iter=self.max_iter))
        # Where the field does not vanish the objective may be lower, but that is no answer.
        best = min(ends, key=lambda end: (end.field_norm > self.tol, end.objective))
        self.coef_, self.intercept_ = best.weights[:-1].copy(), float(best.weights[-1])
        self.field_norm_ = best.field_norm
        return Outcome(best.objective, best.n_iter, best.field_norm <= self.tol)

    def decision_function(self, X: Any) -> FloatArray:
        """Return signed scores, positive for class +1.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        scores = self._scores(self._standardised(X))
        return scores if self.positive_cluster_ else -scores

    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        return self._scores(rows) > 0

    def _scores(self, rows: FloatArray) -> FloatArray:
        return np.asarray(rows @ self.coef_ + self.intercept_)


def mutual_information(scores: FloatArray) -> float:
    """Return ``h(mean p) - mean h(p)`` in nats, p the sigmoid of the scores."""
    share = expit(scores)
    return _entropy(float(share.mean())) - float(_entropies(scores).mean())


def augmentation_loss(left: FloatArray, right: FloatArray) -> float:
    """Return the mean cross-entropy between the predictions of the two members of a pair.

    Both orders of each pair count; the arguments are scores of shape (n_pairs,).
    """
    to_right = np.logaddexp(0.0, right) - expit(left) * right
    to_left = np.logaddexp(0.0, left) - expit(right) * left
    return float((to_left + to_right).mean() / 2)


def stop_gradient_field(
    left: FloatArray, right: FloatArray, unlabeled: FloatArray, information_weight: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the derivatives of the objective in the three kinds of scores, targets constant.

    Not the gradient of any function, so there is nothing to search along a line.
    """
    share = expit(unlabeled)
    difference = (expit(left) - expit(right)) / (2 * left.size)
    balance = unlabeled - _log_odds(float(share.mean()))
    of_unlabeled = -information_weight / unlabeled.size * _slopes(unlabeled) * balance
    return difference, -difference, of_unlabeled


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with a constant feature for the intercept, and the weights of the terms."""

    rows: FloatArray
    left: IntArray
    right: IntArray
    unlabeled: IntArray
    information_weight: float
    penalty: FloatArray

    @classmethod
    def of(cls, sample: Sample, information_weight: float, alpha: float) -> Self:
        """Take the rows of a sample and the numbers of pairs and of unlabeled rows."""
        penalty = np.append(np.full(sample.rows.shape[1], alpha), 0.0)
        return cls(
            np.column_stack([sample.rows, np.ones(len(sample.rows))]),
            sample.links.left,
            sample.links.right,
            np.flatnonzero(sample.is_unlabeled),
            information_weight,
            penalty,
        )

    def objective(self, weights: FloatArray) -> float:
        """Return the value of what is minimized, each target being the partner's prediction."""
        left, right, unlabeled = self._split(self.rows @ weights)
        information = self.information_weight * mutual_information(unlabeled)
        ridge = float(self.penalty @ weights**2) / 2
        return augmentation_loss(left, right) - information + ridge

    def field(self, weights: FloatArray) -> FloatArray:
        """Return the derivative of the objective with the targets held constant."""
        parts = self._split(self.rows @ weights)
        members = np.concatenate([self.left, self.right, self.unlabeled])
        of_members = np.concatenate(stop_gradient_field(*parts, self.information_weight))
        of_scores = np.bincount(members, of_members, minlength=len(self.rows))
        return np.asarray(of_scores @ self.rows + self.penalty * weights)

    def jacobian(self, weights: FloatArray) -> FloatArray:
        """Return the derivative of the field, targets moving: not symmetric."""
        left, right, unlabeled = self._split(self.rows)
        of_left, of_right, slopes = self._split(_slopes(self.rows @ weights))
        moved = of_left[:, None] * left - of_right[:, None] * right
        scores = unlabeled @ weights
        share = expit(scores)
        q = float(share.mean())
        bends = slopes * ((1 - 2 * share) * (scores - _log_odds(q)) + 1)
        mean_slope = slopes @ unlabeled / len(unlabeled)
        information = unlabeled.T @ (bends[:, None] * unlabeled) / len(unlabeled)
        information -= np.outer(mean_slope, mean_slope) / max(q * (1 - q), _SMALLEST_SHARE)
        agreement = (left - right).T @ moved / (2 * len(left))
        return np.asarray(agreement - self.information_weight * information + np.diag(self.penalty))

    def _split(self, of_rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return of_rows[self.left], of_rows[self.right], of_rows[self.unlabeled]


@dataclass(frozen=True, eq=False)
class _End:
    """Where one start ended."""

    weights: FloatArray
    objective: float
    field_norm: float
    n_iter: int


def _descend(problem: Problem, start: FloatArray, *, tol: float, max_iter: int) -> _End:
    """Follow the field to where it vanishes: Adam for the way there, Newton for the last digits.

    Adam alone never settles: once the field is small, so are the moments that it divides by.
    """
    weights, n_iter = start, 0
    while True:
        weights, n_adam = _adam(
            problem, weights, tol=tol, max_iter=min(_ADAM_STEPS, max_iter - n_iter)
        )
        finished, n_newton = _newton(problem, weights, tol=tol)
        n_iter += n_adam + n_newton
        norm = float(np.abs(problem.field(finished)).max())
        # Where Newton is stuck the field is only slow; Adam goes on from where it was.
        if norm <= tol or n_iter >= max_iter:
            return _End(finished, problem.objective(finished), norm, n_iter)


def _adam(
    problem: Problem, weights: FloatArray, *, tol: float, max_iter: int
) -> tuple[FloatArray, int]:
    """Take Adam's steps on all rows at once; return the weights and the number of steps."""
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for n_steps in range(1, max_iter + 1):
        field = problem.field(weights)
        if np.abs(field).max() <= tol:
            return weights, n_steps - 1
        first = _FIRST_DECAY * first + (1 - _FIRST_DECAY) * field
        second = _SECOND_DECAY * second + (1 - _SECOND_DECAY) * field**2
        root = np.sqrt(second / (1 - _SECOND_DECAY**n_steps))
        # The small number only keeps a feature without any field from dividing zero by zero.
        step = first / (1 - _FIRST_DECAY**n_steps) / (root + 1e-8)
        weights = weights - _LEARNING_RATE * step
    return weights, max_iter


def _newton(problem: Problem, weights: FloatArray, *, tol: float) -> tuple[FloatArray, int]:
    """Take damped Newton steps on the field, each of which shortens it, while that is possible."""
    field = problem.field(weights)
    for n_steps in range(_NEWTON_STEPS):
        if np.abs(field).max() <= tol:
            return weights, n_steps
        # Least squares, since redundant features leave the Jacobian without an inverse.
        step = np.linalg.lstsq(problem.jacobian(weights), field)[0]
        length = 1.0
        while length > _SHORTEST_STEP:
            next_field = problem.field(weights - length * step)
            if np.linalg.norm(next_field) < (1 - 1e-4 * length) * np.linalg.norm(field):
                break
            length /= 2
        else:
            return weights, n_steps
        weights, field = weights - length * step, next_field
    return weights, _NEWTON_STEPS


def _slopes(scores: FloatArray) -> FloatArray:
    return np.asarray(expit(scores) * expit(-scores))


def _entropies(scores: FloatArray) -> FloatArray:
    """Return the binary entropy of the sigmoid of each score."""
    # Even in the score; the negative side loses no digits.
    size = np.abs(scores)
    return np.asarray(np.log1p(np.exp(-size)) + size * expit(-size))


def _entropy(share: float) -> float:
    return float(_entropies(np.array(_log_odds(share))))


def _log_odds(share: float) -> float:
    # One cluster holding every row has infinite odds, times a vanishing p (1 - p) in the field.
    share = min(max(share, _SMALLEST_SHARE), 1 - _SMALLEST_SHARE)
    return float(np.log(share / (1 - share)))
