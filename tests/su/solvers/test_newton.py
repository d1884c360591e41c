"""Damped Newton along the path of penalties."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from likewise.su.losses import MarginLoss, logistic
from likewise.su.solvers import minimise_smooth

FloatArray = NDArray[np.float64]
pseudo_huber = MarginLoss(
    name="pseudo_huber",
    psi=lambda m: (np.sqrt(m**2 + 1) - m) / 2,
    psi_derivative=lambda m: (m / np.sqrt(m**2 + 1) - 1) / 2,
    psi_curvature=lambda m: (m**2 + 1) ** -1.5 / 2,
)


class Problem:
    """Rows, a loss and a linear term, counted every time they are evaluated."""

    def __init__(self, loss: MarginLoss, strength: float, rng: np.random.Generator) -> None:
        self.loss = loss
        self.rows = np.column_stack([rng.standard_normal((60, 6)), np.ones(60)])
        self.linear = strength * rng.standard_normal(7)
        self.linear[-1] = 0.2  # a free intercept needs a pull below one half
        self.calls = 0

    def __call__(self, w: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        self.calls += 1
        z, n = self.rows @ w, len(self.rows)
        value = float(self.loss.even(z).mean() - self.linear @ w)
        gradient = self.rows.T @ self.loss.even_derivative(z) / n - self.linear
        hessian = self.rows.T @ (self.loss.even_curvature(z)[:, None] * self.rows) / n
        return value, gradient, hessian


@pytest.mark.parametrize("loss", [logistic, pseudo_huber], ids=lambda loss: loss.name)
@pytest.mark.parametrize("strength", [0.05, 1.0])
@pytest.mark.parametrize("free", [False, True])
def test_it_reaches_the_minimum_that_a_general_optimiser_finds(
    loss: MarginLoss, strength: float, free: bool, rng: np.random.Generator
) -> None:
    problem = Problem(loss, strength, rng)
    penalty = np.full(7, 0.05)
    penalty[-1] *= not free
    solution = minimise_smooth(problem, penalty, tol=1e-12)
    reference = minimize(
        lambda w: problem(w)[0] + penalty @ w**2 / 2,
        np.zeros(7),
        jac=lambda w: problem(w)[1] + penalty * w,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    assert solution.converged
    assert solution.objective == pytest.approx(reference.fun, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(solution.weights, reference.x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("loss", [logistic, pseudo_huber], ids=lambda loss: loss.name)
@pytest.mark.parametrize("alpha", [1e-1, 1e-4, 1e-7])
def test_a_linear_term_that_outweighs_the_loss_converges_in_few_passes(
    loss: MarginLoss, alpha: float, rng: np.random.Generator
) -> None:
    problem = Problem(loss, 1.0, rng)  # without a penalty this objective has no minimum
    solution = minimise_smooth(problem, np.full(7, alpha))
    assert solution.converged
    assert solution.gap <= 1e-9
    assert solution.n_iter == problem.calls < 60


def test_the_gap_bounds_the_distance_to_the_minimum(rng: np.random.Generator) -> None:
    problem = Problem(logistic, 0.3, rng)
    penalty = np.full(7, 0.01)
    best = minimise_smooth(problem, penalty).objective
    for max_iter in (1, 2, 3):
        early = minimise_smooth(problem, penalty, max_iter=max_iter)
        assert not early.converged
        assert early.n_iter == max_iter
        assert best <= early.objective <= best + early.gap * max(1, abs(early.objective)) + 1e-12
