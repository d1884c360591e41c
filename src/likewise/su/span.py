"""Tables with more columns than rows: the same minimisation in the span of the rows.

A ridge penalty keeps the weights of the columns in the span of the rows and of the linear term, of
which there are few: in an orthonormal basis of it neither decision values nor lengths change, and
systems have the size of the rows. Exact, for every loss.
"""

from dataclasses import dataclass, replace

import numpy as np

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
    basis = np.linalg.qr(np.vstack([dense, linear[:-1]]).T)[0]
    weights = engine.weights("unlabeled") if isinstance(engine, MemoryEngine) else None
    inside = MemoryEngine.of_unlabeled(np.ascontiguousarray(dense @ basis), weights)
    return Span(inside, np.append(basis.T @ linear[:-1], linear[-1]), basis)
