"""Tables with more columns than rows: the same minimization in the span of the rows.

A ridge penalty keeps the weights of the columns in the span of the rows and of the linear term, of
which there are few: in an orthonormal basis of it neither decision values nor lengths change, and
systems have the size of the rows. Exact, for every loss.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr

from likewise._types import FloatArray
from likewise.engines.base import Engine
from likewise.engines.memory import MemoryEngine
from likewise.engines.rows import is_sparse
from likewise.su.solvers import Solution

__all__ = ["Span", "is_wide", "span_of"]


@dataclass(frozen=True)
class Span:
    """The span of the rows of a wide table and of a linear term.

    Attributes
    ----------
    engine : MemoryEngine
        The unlabeled rows in an orthonormal basis.
    linear : array of shape (n_basis + 1,)
        The linear term there; the intercept stays what it is.
    basis : array of shape (n_features, n_basis)
    """

    engine: MemoryEngine
    linear: FloatArray
    basis: FloatArray

    def lifted(self, solution: Solution) -> Solution:
        """Return a solution in the span as one over the columns."""
        weights = np.append(self.basis @ solution.weights[:-1], solution.weights[-1])
        return replace(solution, weights=weights)


def is_wide(engine: Engine) -> bool:
    """Tell whether a table in memory has clearly more columns than unlabeled rows."""
    return isinstance(engine, MemoryEngine) and engine.n_features > engine.count("unlabeled") + 1


def span_of(engine: Engine, linear: FloatArray) -> Span:
    """Return the span of the unlabeled rows of a wide table and of a linear term.

    Parameters
    ----------
    engine : Engine
        With more columns than rows.
    linear : array of shape (n_features + 1,)

    Returns
    -------
    Span
    """
    (rows,) = engine.every("unlabeled", 1)
    dense = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    basis, inside = _orthonormal(np.vstack([dense, linear[:-1]]))
    weights = engine.weights("unlabeled") if isinstance(engine, MemoryEngine) else None
    engine = MemoryEngine.of_unlabeled(np.ascontiguousarray(inside[:-1]), weights)
    return Span(engine, np.append(inside[-1], linear[-1]), basis)


def _orthonormal(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return an orthonormal basis of the span of vectors, and the vectors in it.

    The largest vector comes first, and so does the largest column: then rounding stays small beside
    every single column, not only beside the largest of all (Cox and Higham, 1998). Directions that
    rounding made are left out: a small penalty would make huge weights of them.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)

    Returns
    -------
    basis : array of shape (n_features, n_basis)
    inside : array of shape (n_vectors, n_basis)
    """
    largest = np.abs(vectors).max(axis=0)
    order = np.argsort(-largest, kind="stable")
    sorted_basis, triangle, places = qr(vectors[:, order].T, mode="economic", pivoting=True)
    rounding = vectors.shape[0] * np.finfo(np.float64).eps * largest[order, None]
    is_real = np.any(np.abs(sorted_basis * np.diag(triangle)) > rounding, axis=0)
    is_real[0] = True  # of zeros, too, there is a basis
    sorted_basis, triangle = sorted_basis[:, is_real], triangle[is_real]
    basis, inside = np.empty_like(sorted_basis), np.empty_like(triangle.T)
    basis[order], inside[places] = sorted_basis, triangle.T
    return basis, inside
