"""Independent references: the double-hinge program stated for general solvers."""

import clarabel
import cvxopt
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def double_hinge_objective(
    rows: FloatArray, linear: FloatArray, penalty: FloatArray, weights: FloatArray
) -> float:
    z = rows @ weights[:-1] + weights[-1]
    value = np.maximum(1, np.abs(z)).mean() / 2 - linear @ weights + penalty @ weights**2 / 2
    return float(value)


def solve_with_clarabel(rows: FloatArray, linear: FloatArray, penalty: FloatArray) -> FloatArray:
    """Minimise over (w, t): mean(t) - linear.w + w'diag(penalty)w/2, t >= 1/2, t >= |z|/2.

    Both are stated in units of 1 / penalty: otherwise the solver stops far from the minimum at
    small penalties and calls it solved.
    """
    n = rows.shape[0]
    unit = 1 / penalty.max()
    design = np.column_stack([rows, np.ones(n)])
    p = design.shape[1]
    quadratic = sp.block_diag([sp.diags(unit * penalty), sp.csc_matrix((n, n))], format="csc")
    identity = sp.identity(n)
    constraints = sp.vstack(
        [
            sp.hstack([sp.csr_matrix((n, p)), -identity]),
            sp.hstack([sp.csr_matrix(design / 2), -identity]),
            sp.hstack([sp.csr_matrix(-design / 2), -identity]),
        ]
    ).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    solver = clarabel.DefaultSolver(
        sp.triu(quadratic).tocsc(),
        np.concatenate([-linear, np.full(n, 1 / n)]),
        constraints,
        np.concatenate([np.full(n, -0.5 / unit), np.zeros(2 * n)]),
        [clarabel.NonnegativeConeT(3 * n)],
        settings,
    )
    return np.asarray(unit * np.array(solver.solve().x)[:p])


def solve_with_cvxopt(rows: FloatArray, linear: FloatArray, penalty: FloatArray) -> FloatArray:
    """Solve the same program as a dense quadratic program, the way the paper's appendix does."""
    n, d = rows.shape
    design = np.column_stack([rows, np.ones(n)])
    quadratic = np.zeros((d + 1 + n, d + 1 + n))
    quadratic[np.arange(d + 1), np.arange(d + 1)] = penalty
    identity = np.eye(n)
    constraints = np.block(
        [
            [np.zeros((n, d + 1)), -identity],
            [design / 2, -identity],
            [-design / 2, -identity],
        ]
    )
    cvxopt.solvers.options["show_progress"] = False
    solution = cvxopt.solvers.qp(
        cvxopt.matrix(quadratic),
        cvxopt.matrix(np.concatenate([-linear, np.full(n, 1 / n)])),
        cvxopt.matrix(constraints),
        cvxopt.matrix(np.concatenate([np.full(n, -0.5), np.zeros(2 * n)])),
    )
    return np.array(solution["x"]).ravel()[: d + 1]
