"""3SMIC: clusters that share the most squared-loss information with rows, bent towards pairs.

A closed form: two leading eigenvectors of a sparse kernel of neighbors. Which kernel is decided by
held-out pairs; nothing here is random.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from likewise._sklearn import Interval
from likewise.baselines.base import Baseline, FloatArray, Outcome, Sample
from likewise.statements.folds import PairKFold

__all__ = [
    "Clusters",
    "Kernel",
    "Spectrum",
    "ThreeSMIC",
    "excess_agreement",
    "leading_eigenvectors",
    "link_matrix",
    "neighbor_kernels",
]

_SMALLEST_SCALE = 0.1
"""Share of the median scale below which a row's own scale may not fall, as duplicates would."""
_ROUNDING = 1e-12
"""Squared distance, relative to the squared lengths, below which rows are duplicates."""
_BASIS = 40
"""Number of Lanczos vectors."""
_ROWS_AT_ONCE = 1000
"""How many rows are compared with all others at once, to bound the memory for distances."""


class ThreeSMIC(Baseline):
    r"""Semi-supervised SMI-based clustering of Calandriello, Niu and Sugiyama (2014).

    Models the posteriors of two clusters by ``p(y | x) ~ sum_i alpha_yi K(x, x_i)`` and maximizes
    their squared-loss mutual information with the rows, plus the agreement of similar pairs:

    .. math:: J = \frac{1}{n} \sum_y \alpha_y^T K (I + 2 \gamma M) K \alpha_y - \frac{1}{2}

    over orthonormal alpha, with :math:`M_{ij} = 1` where rows i and j are a similar pair; several
    statements about one pair add up. The best alpha are the two leading eigenvectors.

    K is a Gaussian kernel among neighbors with local scales, ``exp(-|x_i - x_j|^2 / (2
    s_i s_j))`` with s_i the distance to the t-th neighbor, divided by the roots of its row sums:
    without that, eigenvectors settle on small dense clumps of rows.

    gamma and t are chosen by cross-validation, as in the paper. What is compared is how much more
    often held-out pairs come together than two rows at random; the information itself cannot tell
    which of several structures the pairs speak of.

    Of one table, every row is in the kernel once, and a group of g similar rows is g - 1 pairs.
    Folds are of rows then, and all statements that touch a fold are held out. Dissimilar pairs are
    ignored, and `n_ignored_` is their number: entered into M as -1, they make one eigenvector tell
    the classes apart by its sign and leave the other without a meaning, which is worse than to do
    without them.

    Parameters
    ----------
    gammas : sequence of floats, default (1e-2, 1.0, 1e2)
        Weights of the pairs to choose from.
    n_neighbors : sequence of ints, default (4, 7, 10)
        Values of t to choose from.
    n_folds : int, default 5
        Folds of the cross-validation, which needs as many pairs and unlabeled rows. With one gamma
        and one t there is nothing to choose, and no folds are made.
    tol : float, default 1e-6
        Relative accuracy of the eigenvalues.
    max_iter : int, default 1000
        Largest number of restarts of the eigensolver.

    Attributes
    ----------
    gamma_ : float
    n_neighbors_ : int
    cv_results_ : dict of arrays
        ``param_gamma``, ``param_n_neighbors``, ``split<k>_test_score`` and ``mean_test_score``, of
        every candidate; empty without cross-validation. A score is an `excess_agreement`, and not a
        number for a fold that no statement touches.
    eigenvalues_ : array of shape (2,)
    clusters_ : Clusters
    classes_, objective_, n_iter_, converged_, share_, collapsed_, positive_cluster_
        As in `Baseline`; `n_iter_` counts products with the kernel in the final fit.
    mean_, scale_, n_features_in_, feature_names_in_
        As in `Baseline`.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.baselines import ThreeSMIC
    >>> X, y = lw.datasets.make_gaussians(4000, random_state=0)
    >>> sample = lw.datasets.sample_su(X, y, 200, 200, n_test=100, random_state=0)
    >>> clf = ThreeSMIC().fit(*sample.pack())
    >>> clf.predict(sample.X_test).shape
    (100,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "gammas": ["array-like"],
        "n_neighbors": ["array-like"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        gammas: Sequence[float] = (1e-2, 1.0, 1e2),
        n_neighbors: Sequence[int] = (4, 7, 10),
        n_folds: int = 5,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.gammas = gammas
        self.n_neighbors = n_neighbors
        self.n_folds = n_folds
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, sample: Sample) -> Outcome:
        gammas, sizes = self._checked_candidates()
        self.cv_results_: dict[str, Any] = {}
        self.gamma_, self.n_neighbors_ = gammas[0], sizes[0]
        if len(gammas) * len(sizes) > 1:
            self.gamma_, self.n_neighbors_ = self._choose(sample, gammas, sizes)
        (kernel,) = neighbor_kernels(sample.rows, [self.n_neighbors_])
        spectrum = self._decompose(kernel, link_matrix(sample), self.gamma_)
        self.clusters_ = Clusters.of(kernel, spectrum.vectors)
        self.eigenvalues_ = spectrum.values
        objective = float(spectrum.values.sum() / len(kernel.rows) - 0.5)
        return Outcome(objective, spectrum.n_products, spectrum.converged)

    def _in_second(self, rows: FloatArray) -> NDArray[np.bool_]:
        kernel = self.clusters_.kernel
        parts = []
        for batch in gen_batches(len(rows), _ROWS_AT_ONCE):
            distances = _distances(rows[batch], kernel.rows)
            parts.append(self.clusters_.split(kernel.extend(distances), distances.argmin(axis=1)))
        return np.concatenate(parts)

    def _checked_candidates(self) -> tuple[list[float], list[int]]:
        gammas = [float(gamma) for gamma in np.ravel(self.gammas)]
        if not gammas or not all(0 <= gamma < np.inf for gamma in gammas):
            raise ValueError(f"gammas must be finite numbers from 0 on; got {self.gammas!r}.")
        sizes = np.ravel(self.n_neighbors)
        if not sizes.size or sizes.dtype.kind not in "iu" or sizes.min() < 1:
            raise ValueError(
                f"n_neighbors must be whole numbers from 1 on; got {self.n_neighbors!r}."
            )
        return gammas, sizes.tolist()

    def _choose(self, sample: Sample, gammas: list[float], sizes: list[int]) -> tuple[float, int]:
        """Return the gamma and t under which held-out pairs agree the most."""
        self._check_enough(sample)
        folds = PairKFold(self.n_folds).deal(sample.statements)
        scores = np.array(
            [
                self._fold_scores(sample, folds == fold, gammas, sizes)
                for fold in range(self.n_folds)
            ]
        )
        candidates = [(gamma, size) for size in sizes for gamma in gammas]
        mean = np.nanmean(scores, axis=0)
        self.cv_results_ = {
            "param_gamma": np.array([gamma for gamma, _ in candidates]),
            "param_n_neighbors": np.array([size for _, size in candidates]),
            **{f"split{fold}_test_score": row for fold, row in enumerate(scores)},
            "mean_test_score": mean,
        }
        return candidates[int(np.argmax(mean))]

    def _check_enough(self, sample: Sample) -> None:
        n_alone = int(sample.is_unlabeled.sum())
        for name, count in (("similar pairs", sample.links.left.size), ("unlabeled rows", n_alone)):
            if count < self.n_folds:
                raise ValueError(
                    f"ThreeSMIC chooses gamma and n_neighbors on {self.n_folds} folds, but there "
                    f"are only {count} {name}: pass a smaller n_folds, or one gamma and one "
                    "n_neighbors."
                )

    def _fold_scores(
        self, sample: Sample, held_out: NDArray[np.bool_], gammas: list[float], sizes: list[int]
    ) -> FloatArray:
        """Return the excess agreement of held-out pairs for every t and, within, gamma."""
        links = sample.links
        touches = held_out[links.left] | held_out[links.right]
        if not touches.any():
            return np.full(len(sizes) * len(gammas), np.nan)
        left, right = links.left[touches], links.right[touches]
        new = np.unique(np.concatenate([left, right]))
        new = new[held_out[new]]
        train = sample.among(~held_out)
        matrix = link_matrix(train)
        distances = _distances(sample.rows[new], train.rows)
        nearest = distances.argmin(axis=1)
        scores = []
        in_second = np.zeros(len(sample.rows), dtype=bool)
        for kernel in neighbor_kernels(train.rows, sizes):
            similarities = kernel.extend(distances)
            for gamma in gammas:
                clusters = Clusters.of(kernel, self._decompose(kernel, matrix, gamma).vectors)
                in_second[~held_out] = clusters.in_second
                in_second[new] = clusters.split(similarities, nearest)
                scores.append(excess_agreement(in_second[left], in_second[right]))
        return np.array(scores)

    def _decompose(self, kernel: "Kernel", links: Any, gamma: float) -> "Spectrum":
        return leading_eigenvectors(
            kernel.matrix, links, gamma, tol=self.tol, max_iter=self.max_iter
        )


@dataclass(frozen=True, eq=False)
class Kernel:
    """The normalized kernel among training rows, and what extends it to new ones.

    Attributes
    ----------
    rows : array of shape (n_rows, n_features)
    n_neighbors : int
    radii : array of shape (n_rows,)
        Distance from each row to its last neighbor.
    floor : float
        What no scale falls below.
    root_degrees : array of shape (n_rows,)
    matrix : sparse array of shape (n_rows, n_rows)
    """

    rows: FloatArray
    n_neighbors: int
    radii: FloatArray
    floor: float
    root_degrees: FloatArray
    matrix: Any

    def extend(self, distances: FloatArray) -> FloatArray:
        """Return the kernel between new rows and the training rows, given their distances.

        The new rows' own degrees are left out: they change no comparison of two clusters.
        """
        reach = np.partition(distances, self.n_neighbors - 1, axis=1)[:, [self.n_neighbors - 1]]
        near = (distances <= reach) | (distances <= self.radii)
        scales = np.maximum(reach, self.floor) * np.maximum(self.radii, self.floor)
        kernel = np.zeros_like(distances)
        np.exp(-(distances**2) / (2 * scales), out=kernel, where=near)
        return np.asarray(kernel / self.root_degrees)


def neighbor_kernels(rows: FloatArray, sizes: Sequence[int]) -> list[Kernel]:
    """Return the kernel of `rows` for each number of neighbors in `sizes`."""
    most = max(sizes)
    if most >= len(rows):
        raise ValueError(
            f"n_neighbors={most} needs more than {most} rows to learn from, but there are "
            f"{len(rows)}; pass smaller numbers."
        )
    distances, neighbors = _nearest(rows, most)
    return [_kernel(rows, distances[:, :size], neighbors[:, :size]) for size in sizes]


def _nearest(rows: FloatArray, count: int) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return distances to, and numbers of, the nearest other rows, in rising order."""
    parts = []
    for batch in gen_batches(len(rows), _ROWS_AT_ONCE):
        distances = _distances(rows[batch], rows)
        distances[np.arange(len(distances)), np.arange(batch.start, batch.stop)] = np.inf
        near = np.argpartition(distances, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(distances, near, axis=1), axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        parts.append((np.take_along_axis(distances, near, axis=1), near))
    sorted_distances, neighbors = (np.vstack(part) for part in zip(*parts, strict=True))
    return sorted_distances, neighbors


def _distances(new: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the distances from new rows to rows, zero where rounding is all there is."""
    squared = euclidean_distances(new, rows, squared=True)
    sizes = np.square(new).sum(axis=1)[:, None] + np.square(rows).sum(axis=1)
    squared[squared <= _ROUNDING * sizes] = 0.0
    return np.asarray(np.sqrt(squared))


def _kernel(rows: FloatArray, distances: FloatArray, neighbors: NDArray[np.intp]) -> Kernel:
    n_rows, size = neighbors.shape
    radii = distances[:, -1].copy()
    floor = _scale_floor(radii)
    scales = np.maximum(radii, floor)
    values = np.exp(-(distances**2) / (2 * scales[:, None] * scales[neighbors]))
    starts = np.arange(0, n_rows * size + 1, size)
    one_way = sp.csr_array((values.ravel(), neighbors.ravel(), starts), shape=(n_rows, n_rows))
    affinity = one_way.maximum(one_way.T) + sp.eye_array(n_rows, format="csr")
    root_degrees = np.sqrt(affinity.sum(axis=1))
    normalise = sp.diags_array(1 / root_degrees)
    matrix = (normalise @ affinity @ normalise).tocsr()
    return Kernel(rows, size, radii, floor, root_degrees, matrix)


def _scale_floor(radii: FloatArray) -> float:
    positive = radii[radii > 0]
    return _SMALLEST_SCALE * float(np.median(positive)) if positive.size else 1.0


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Two leading eigenvectors.

    Attributes
    ----------
    values : array of shape (2,)
        In falling order.
    vectors : array of shape (n_rows, 2)
        Columns of zeros stand for what did not converge.
    n_products : int
        Number of products with the matrix.
    converged : bool
    """

    values: FloatArray
    vectors: FloatArray
    n_products: int
    converged: bool


def link_matrix(sample: Sample) -> Any:
    """Return M, which is 1 between the rows of similar pairs.

    Parameters
    ----------
    sample : Sample

    Returns
    -------
    sparse array of shape (n_rows, n_rows)
        Symmetric; several statements about one pair add up.
    """
    left, right, _, _ = sample.links
    places = (np.ones(left.size), (left, right))
    one_way = sp.coo_array(places, shape=(len(sample.rows), len(sample.rows)))
    return (one_way + one_way.T).tocsr()


def leading_eigenvectors(
    matrix: Any, links: Any, gamma: float, *, tol: float = 1e-6, max_iter: int = 1000
) -> Spectrum:
    """Return the two leading eigenvectors of ``K (I + 2 gamma M) K``.

    Parameters
    ----------
    matrix : sparse array of shape (n_rows, n_rows)
        K, symmetric.
    links : sparse array of shape (n_rows, n_rows)
        M, symmetric.
    gamma : float
    tol : float, default 1e-6
    max_iter : int, default 1000

    Returns
    -------
    Spectrum
        Of the largest eigenvalues, not of the largest in size: there are negative ones.
    """
    n_rows = matrix.shape[0]
    n_products = 0

    def product(vector: FloatArray) -> FloatArray:
        nonlocal n_products
        n_products += 1
        once = matrix @ vector
        return np.asarray(matrix @ (once + 2 * gamma * (links @ once)))

    operator = LinearOperator((n_rows, n_rows), matvec=product, dtype=np.float64)
    try:
        values, vectors = eigsh(
            operator,
            k=2,
            which="LA",
            v0=np.ones(n_rows),
            ncv=min(n_rows, _BASIS),
            tol=tol,
            maxiter=max_iter,
        )
    except ArpackNoConvergence as failure:
        values, vectors = np.zeros(2), np.zeros((n_rows, 2))
        found = len(failure.eigenvalues)
        values[2 - found :] = failure.eigenvalues
        vectors[:, 2 - found :] = failure.eigenvectors
        return Spectrum(values[::-1], vectors[:, ::-1], n_products, False)
    return Spectrum(values[::-1], vectors[:, ::-1], n_products, True)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Posteriors of two clusters, for training rows and new ones.

    Attributes
    ----------
    kernel : Kernel
    weights : array of shape (n_rows, 2)
        What each training row adds to the two posteriors, up to their common factor.
    in_second : boolean array of shape (n_rows,)
        Which training rows belong to the second cluster.
    """

    kernel: Kernel
    weights: FloatArray
    in_second: NDArray[np.bool_]

    @classmethod
    def of(cls, kernel: Kernel, vectors: FloatArray) -> Self:
        """Turn eigenvectors, of arbitrary sign, into posteriors."""
        vectors = np.where(vectors.sum(axis=0) < 0, -vectors, vectors)
        responses = np.maximum(kernel.matrix @ vectors, 0.0)
        totals = responses.sum(axis=0)
        # Each cluster has the same mass. One without any has no rows.
        weights = vectors / np.where(totals > 0, totals, np.inf)
        posteriors = responses / np.where(totals > 0, totals, np.inf)
        return cls(kernel, weights, posteriors[:, 1] > posteriors[:, 0])

    def split(self, similarities: FloatArray, nearest: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell which new rows belong to the second cluster.

        Parameters
        ----------
        similarities : array of shape (n_new, n_rows)
            The kernel between new and training rows.
        nearest : integer array of shape (n_new,)
            The nearest training row, which decides where both posteriors vanish.
        """
        first, second = np.maximum(similarities @ self.weights, 0.0).T
        return np.where((first == 0) & (second == 0), self.in_second[nearest], second > first)


def excess_agreement(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> float:
    """Return how much more often similar pairs are put together than two rows at random.

    Twice the covariance of the cluster across a pair: zero for a constant or a random answer, and
    one half at most.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.baselines.three_smic import excess_agreement
    >>> excess_agreement(np.array([True, False]), np.array([True, False]))
    0.5
    >>> excess_agreement(np.array([True, True]), np.array([True, True]))
    0.0
    """
    share = (left.mean() + right.mean()) / 2
    return float(np.mean(left == right) - share**2 - (1 - share) ** 2)
