"""DirtyIMC: complete the matrix of similarities from features, then cluster what it rests on.

The completion is a convex problem, solved to a duality gap; clustering is left to k-means. In
sample only: the rows to be clustered must be there when the matrix is completed.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.cluster import KMeans

from likewise._sklearn import Interval
from likewise.baselines.base import Baseline, FloatArray, Outcome, Sample

__all__ = ["DIMC", "Completion", "complete"]

_CENTERED = 1.0
"""Squared Newton decrement below which the barrier is lowered."""
_FINEST = 1e-9
"""Smallest relative gap to aim at; beyond it rounding moves the dual off its feasible set."""
_BOUNDARY = 0.9
"""Largest share of the way to the boundary that a step may go."""
_JITTER = 1e-13
"""Relative ridge on the Newton system, which repeated pairs make singular to working precision."""


class DIMC(Baseline):
    r"""DirtyIMC of Chiang, Hsieh and Dhillon (2015), followed by k-means.

    Completes the similarity matrix R, known to be 1 on the similar pairs and -1 on the dissimilar
    ones, by features F of all rows and a part N that features do not explain:

    .. math::

        \min_{M, N} \frac{1}{2} \sum_{\text{known}} (F M F^T + N - R)_{ij}^2
        + \lambda_m \left\| M \right\|_* + \lambda_n \left\| N \right\|_*

    and splits the unlabeled rows by k-means on the two leading directions of :math:`F M F^T`. For
    disjoint pairs the best N is known in closed form, which leaves a Huber loss in M alone:

    .. math::

        \min_M 2 \sum_{\text{pairs}} \operatorname{huber}(R_{ab} - a^T M b; \lambda_n)
        + \lambda_m \left\| M \right\|_*

    The same is minimized where rows are in several statements: N is then penalized by the sum of
    the absolute values of its entries, which for disjoint pairs is its nuclear norm. In one table,
    every row is clustered once, and a group of g similar rows is g - 1 pairs.

    The paper trains it on training and test rows together. So here: pack the rows that you want
    clustered among the unlabeled ones. `predict` knows the rows of `fit` and no others.

    Parameters
    ----------
    lambda_m : float, default 1e-2
        Weight of the nuclear norm of M.
    lambda_n : float, default 1e-2
        Weight of the nuclear norm of N.
    tol : float, default 1e-6
        Relative duality gap at which the completion is done.
    max_iter : int, default 100
        Largest number of Newton steps.
    random_state : int, RandomState instance or None
        Starts of k-means.

    Attributes
    ----------
    matrix_ : array of shape (n_features, n_features)
        M, for standardized features; symmetric.
    gap_ : float
        `objective_` exceeds the minimum by at most this share of itself.
    known_ : dict
        Cluster of every row of `fit`, by the bytes of its standardized features.
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `Baseline`.
    mean_, scale_, n_features_in_, feature_names_in_
        As in `Baseline`.

    Notes
    -----
    Features are standardized, not made orthonormal: with orthonormal columns M = 0 is optimal. A
    constant feature is left out, since it explains "all rows are similar" by itself.

    Examples
    --------
    >>> import numpy as np, likewise as lw
    >>> from likewise.baselines import DIMC
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, n_test=100, random_state=0)
    >>> rows = np.vstack([sample.unlabeled, sample.X_test])
    >>> clf = DIMC(random_state=0).fit(*lw.pack(rows, similar=sample.similar))
    >>> clf.predict(sample.X_test).shape
    (100,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lambda_m": [Interval(Real, 0.0, None, closed="neither")],
        "lambda_n": [Interval(Real, 0.0, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _learns_from = "all pairs"

    def __init__(
        self,
        *,
        lambda_m: float = 1e-2,
        lambda_n: float = 1e-2,
        tol: float = 1e-6,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.lambda_m = lambda_m
        self.lambda_n = lambda_n
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, sample: Sample) -> Outcome:
        links = sample.links
        # That two rows differ is that one and the opposite of the other are alike.
        signs = np.where(links.is_similar, 1.0, -1.0)
        completion = complete(
            sample.rows[links.left] * signs[:, None],
            sample.rows[links.right],
            lambda_m=self.lambda_m,
            lambda_n=self.lambda_n,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if not completion.matrix.any():
            raise ValueError(
                "DIMC has nothing to cluster by: features explain none of the pairs (M = 0 "
                f"is optimal at lambda_m={self.lambda_m:g}); lower lambda_m."
            )
        self.matrix_ = completion.matrix
        self.gap_ = completion.gap
        embedded = leading_directions(sample.rows, completion.matrix)
        means = KMeans(n_clusters=2, n_init=10, random_state=self.random_state)
        means.fit(embedded[sample.is_unlabeled])
        in_second = (means.predict(embedded) == 1).tolist()
        self.known_ = dict(zip(_keys(sample.rows), in_second, strict=True))
        return Outcome(completion.objective, completion.n_iter, completion.converged)

    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        keys = _keys(rows)
        strangers = [number for number, key in enumerate(keys) if key not in self.known_]
        if strangers:
            raise ValueError(
                f"DIMC can only split rows that it was fitted on, but {len(strangers)} of these "
                f"{len(keys)} rows were not among them, the first being row {strangers[0]}: fit "
                "again with the rows to predict packed among the unlabeled ones (y = 0)."
            )
        return np.array([self.known_[key] for key in keys], dtype=bool)


@dataclass(frozen=True, eq=False)
class Completion:
    """A completed matrix, with the proof of how good it is.

    Attributes
    ----------
    matrix : array of shape (n_features, n_features)
        M, symmetric; zero exactly when zero is optimal.
    objective : float
    gap : float
        `objective` exceeds the minimum by at most this share of itself.
    n_iter : int
    converged : bool
    """

    matrix: FloatArray
    objective: float
    gap: float
    n_iter: int
    converged: bool


def complete(
    left: FloatArray,
    right: FloatArray,
    *,
    lambda_m: float,
    lambda_n: float,
    tol: float,
    max_iter: int,
) -> Completion:
    r"""Minimize ``2 sum huber(1 - a' M b; lambda_n) + lambda_m |M|_*`` over symmetric M.

    A barrier method on the dual, which has one bounded number per pair::

        max over |h| <= lambda_n:  sum 2 h - h^2   subject to  |sum h (a b' + b a')| <= lambda_m

    with the spectral norm. Each Newton step also gives an M, so that the gap is known exactly.

    Parameters
    ----------
    left, right : arrays of shape (n_pairs, n_features)
    lambda_m, lambda_n : float
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Returns
    -------
    Completion
    """
    n_pairs, n_features = left.shape
    if _zero_is_optimal(left, right, lambda_m, lambda_n):
        zero = np.zeros((n_features, n_features))
        objective = completion_objective(zero, left, right, lambda_m, lambda_n)
        return Completion(zero, objective, 0.0, 0, True)
    best, objective, bound = np.zeros((n_features, n_features)), np.inf, 0.0
    dual = np.zeros(n_pairs)
    barrier = min(1.0, lambda_n) / 10
    gap, n_iter = 1.0, 0
    while gap > tol and n_iter < max_iter:
        n_iter += 1
        point = _Interior.at(dual, left, right, lambda_m, lambda_n)
        step = point.newton_step(barrier)
        dual = dual + step.length * step.direction
        bound = max(bound, _dual_objective(dual))
        value = completion_objective(step.matrix, left, right, lambda_m, lambda_n)
        if value < objective:
            best, objective = step.matrix, value
        gap = (objective - bound) / objective
        if step.decrement < _CENTERED:
            # On the central path the gap is the barrier's weight times the number of its terms.
            finest = max(tol, _FINEST) * objective / (2 * (n_pairs + n_features))
            barrier = max(barrier / 10, finest / 10)
    return Completion(best, objective, gap, n_iter, gap <= tol)


def completion_objective(
    matrix: FloatArray, left: FloatArray, right: FloatArray, lambda_m: float, lambda_n: float
) -> float:
    """Return ``2 sum huber(1 - a' M b; lambda_n) + lambda_m |M|_*`` for a symmetric M."""
    error = np.abs(1.0 - ((left @ matrix) * right).sum(axis=1))
    capped = np.minimum(error, lambda_n)
    huber = capped * (error - capped / 2)
    nuclear_norm = np.abs(np.linalg.eigvalsh(matrix)).sum()
    return float(2 * huber.sum() + lambda_m * nuclear_norm)


def leading_directions(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return rows on the two leading eigenvectors of F M F', shape (n_rows, at most 2).

    Columns are scaled by the root of the eigenvalue's size.
    """
    orthonormal, triangular = np.linalg.qr(rows)
    values, vectors = np.linalg.eigh(triangular @ matrix @ triangular.T)
    leading = np.argsort(-np.abs(values), kind="stable")[:2]
    return np.asarray(orthonormal @ (vectors[:, leading] * np.sqrt(np.abs(values[leading]))))


@dataclass(frozen=True, eq=False)
class _Step:
    """A Newton step of the dual, how far to go, and the M that belongs to it."""

    direction: FloatArray
    length: float
    decrement: float
    matrix: FloatArray


@dataclass(frozen=True, eq=False)
class _Interior:
    """A strictly feasible point of the dual, with the inverse slacks of its constraints.

    In the eigenbasis of the constrained matrix ``sum h (a b' + b a')`` the barriers of both its
    bounds are diagonal, so that everything is kept in that basis.
    """

    dual: FloatArray
    basis: FloatArray
    left: FloatArray
    right: FloatArray
    upper: FloatArray
    lower: FloatArray
    above: FloatArray
    below: FloatArray

    @classmethod
    def at(
        cls,
        dual: FloatArray,
        left: FloatArray,
        right: FloatArray,
        lambda_m: float,
        lambda_n: float,
    ) -> Self:
        values, basis = np.linalg.eigh(_adjoint(dual, left, right))
        return cls(
            dual=dual,
            basis=basis,
            left=left @ basis,
            right=right @ basis,
            upper=1 / (lambda_n - dual),
            lower=1 / (lambda_n + dual),
            above=1 / (lambda_m - values),
            below=1 / (lambda_m + values),
        )

    def newton_step(self, barrier: float) -> _Step:
        """Return Newton's step for the dual objective over `barrier`, plus the logarithms."""
        slope = 2 * (self.dual - 1) / barrier
        products = (self.left * (self.above - self.below) * self.right).sum(axis=1)
        gradient = slope + self.upper - self.lower + 2 * products
        hessian = self._curvature(self.above) + self._curvature(self.below)
        hessian[np.diag_indices_from(hessian)] += 2 / barrier + self.upper**2 + self.lower**2
        direction = -_solve(hessian, gradient)
        change = _adjoint(direction, self.left, self.right)
        length = _line_search(
            float(slope @ direction),
            2 * float(direction @ direction) / barrier,
            self._rates(direction, change),
        )
        decrement = float(-gradient @ direction)
        return _Step(direction, length, decrement, barrier * self._primal(change))

    def _curvature(self, inverse: FloatArray) -> FloatArray:
        """Return the Hessian of one log-determinant, shape (n_pairs, n_pairs)."""
        left, right = self.left * np.sqrt(inverse), self.right * np.sqrt(inverse)
        crossed = left @ right.T
        return np.asarray(2 * ((left @ left.T) * (right @ right.T) + crossed * crossed.T))

    def _rates(self, direction: FloatArray, change: FloatArray) -> FloatArray:
        """Return what share of each slack a full step uses up."""
        root_above, root_below = np.sqrt(self.above), np.sqrt(self.below)
        return np.concatenate(
            [
                direction * self.upper,
                -direction * self.lower,
                np.linalg.eigvalsh(root_above[:, None] * change * root_above),
                -np.linalg.eigvalsh(root_below[:, None] * change * root_below),
            ]
        )

    def _primal(self, change: FloatArray) -> FloatArray:
        """Return the M that stationarity asks for after a full step, to first order."""
        centre = np.diag(self.above - self.below)
        centre += (np.outer(self.above, self.above) + np.outer(self.below, self.below)) * change
        matrix = self.basis @ centre @ self.basis.T
        return np.asarray((matrix + matrix.T) / 2)


def _line_search(slope: float, curvature: float, rates: FloatArray) -> float:
    """Minimize ``slope t + curvature t^2 / 2 - sum log(1 - rates t)`` over t > 0 by bisection.

    Along a step all barriers take this form, so that an exact search costs next to nothing.
    """
    steepest = float(rates.max())
    longest = 1 / steepest if steepest > 0 else np.inf
    low, high = 0.0, min(_BOUNDARY * longest, 10.0)
    for _ in range(30):
        middle = (low + high) / 2
        if slope + curvature * middle + float((rates / (1 - rates * middle)).sum()) < 0:
            low = middle
        else:
            high = middle
    return low


def _solve(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """Solve the Newton system after bringing its diagonal to one."""
    size = np.sqrt(np.diag(hessian))
    scaled = hessian / size / size[:, None]
    scaled[np.diag_indices_from(scaled)] += _JITTER * len(size)
    return np.asarray(cho_solve(cho_factor(scaled), gradient / size) / size)


def _zero_is_optimal(left: FloatArray, right: FloatArray, lambda_m: float, lambda_n: float) -> bool:
    dual = np.full(len(left), min(1.0, lambda_n))
    return bool(np.linalg.norm(_adjoint(dual, left, right), ord=2) <= lambda_m)


def _dual_objective(dual: FloatArray) -> float:
    return float((dual * (2 - dual)).sum())


def _adjoint(weights: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``sum weights (a b' + b a')``, shape (n_features, n_features)."""
    half = left.T @ (weights[:, None] * right)
    return np.asarray(half + half.T)


def _keys(rows: FloatArray) -> list[bytes]:
    """Return the bytes of every row, the same for equal rows."""
    # Zero and minus zero are equal, but not in bytes; adding zero makes them so.
    return [row.tobytes() for row in rows + 0.0]
