"""Margin losses."""

import numpy as np
import pytest
from scipy.special import expit

from likewise.su import losses
from likewise.su.losses import MarginLoss, get_loss

LEARNED = [losses.squared, losses.logistic, losses.double_hinge]
# Off the kinks of the double hinge at -1 and 1.
Z = np.linspace(-6.05, 6.05, 57)


def ids(loss: MarginLoss) -> str:
    return loss.name


@pytest.mark.parametrize("loss", LEARNED, ids=ids)
@pytest.mark.parametrize("t", [-1, 1])
def test_derivative_and_curvature_match_finite_differences(loss: MarginLoss, t: int) -> None:
    h = 1e-5
    slope = (loss.value(Z + h, t) - loss.value(Z - h, t)) / (2 * h)
    bend = (loss.derivative(Z + h, t) - loss.derivative(Z - h, t)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(Z, t), slope, atol=1e-8)
    np.testing.assert_allclose(loss.curvature(Z, t), bend, atol=1e-8)


@pytest.mark.parametrize("loss", [*LEARNED, losses.zero_one], ids=ids)
def test_even_and_odd_part_make_up_the_loss(loss: losses.Loss) -> None:
    np.testing.assert_allclose(loss.even(Z) + loss.odd(Z) / 2, loss.value(Z, +1), atol=1e-12)
    np.testing.assert_allclose(loss.even(Z) - loss.odd(Z) / 2, loss.value(Z, -1), atol=1e-12)


@pytest.mark.parametrize("loss", LEARNED, ids=ids)
def test_derivatives_of_the_even_part_match_finite_differences(loss: MarginLoss) -> None:
    h = 1e-5
    slope = (loss.even(Z + h) - loss.even(Z - h)) / (2 * h)
    bend = (loss.even_derivative(Z + h) - loss.even_derivative(Z - h)) / (2 * h)
    np.testing.assert_allclose(loss.even_derivative(Z), slope, atol=1e-8)
    np.testing.assert_allclose(loss.even_curvature(Z), bend, atol=1e-8)


def test_even_parts_are_those_of_the_reduced_objective() -> None:
    np.testing.assert_allclose(losses.squared.even(Z), (Z**2 + 1) / 4)
    np.testing.assert_allclose(losses.logistic.even(Z), np.log(2 * np.cosh(Z / 2)))
    np.testing.assert_allclose(losses.double_hinge.even(Z), np.maximum(1, np.abs(Z)) / 2)


def test_values_are_those_of_the_papers_table() -> None:
    m = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(losses.squared.value(m, 1), [2.25, 1, 0.25, 0.0625, 0, 0.25])
    np.testing.assert_allclose(losses.logistic.value(m, 1), -np.log(expit(m)))
    np.testing.assert_allclose(losses.double_hinge.value(m, 1), [2, 1, 0.5, 0.25, 0, 0])
    np.testing.assert_array_equal(losses.zero_one.value(m, 1), [1, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(losses.zero_one.value(m, -1), [0, 0, 0, 1, 1, 1])


def test_the_logistic_loss_survives_extreme_scores() -> None:
    z = np.array([-1e6, -500.0, 500.0, 1e6])
    np.testing.assert_allclose(losses.logistic.even(z), np.abs(z) / 2)
    assert np.isfinite(losses.logistic.even_curvature(z)).all()


@pytest.mark.parametrize(
    ("psi", "derivative", "message"),
    [
        (lambda m: np.maximum(0, 1 - m), lambda m: -1.0 * (m < 1), "not linear-odd"),
        (lambda m: np.exp(-m), lambda m: -np.exp(-m), "not linear-odd"),
        (lambda m: -m / 2 + np.cos(m), lambda m: -0.5 - np.sin(m), "not convex"),
        (lambda m: (m - 1) ** 2 / 4, lambda m: m - 1, "psi_derivative does not match"),
        (lambda m: m * np.nan, lambda m: m, "not linear-odd"),
    ],
)
def test_a_loss_that_cannot_work_is_refused_with_the_reason(
    psi: losses.Elementwise, derivative: losses.Elementwise, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        MarginLoss("mine", psi, derivative, lambda m: np.ones(np.shape(m)))


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="squared, logistic, double_hinge, zero_one"):
        get_loss("hinge")


@pytest.mark.parametrize("loss", LEARNED, ids=ids)
def test_tensors_are_computed_by_torch_in_their_own_precision(loss: MarginLoss) -> None:
    torch = pytest.importorskip("torch")
    for name in ("even", "even_derivative", "even_curvature"):
        expected = getattr(loss, name)(Z)
        for kind, tolerance in ((torch.float64, 1e-14), (torch.float32, 1e-6)):
            found = getattr(loss, name)(torch.from_numpy(Z).to(kind))
            assert found.dtype == kind
            np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=tolerance * 10)


def test_a_loss_of_numpy_gets_numpy_arrays_of_tensors() -> None:
    torch = pytest.importorskip("torch")
    mine = MarginLoss(
        "mine",
        lambda m: np.logaddexp(0.0, -m),
        lambda m: -expit(-m),
        lambda m: expit(m) * expit(-m),
    )
    for name in ("even", "even_derivative", "even_curvature"):
        found = getattr(mine, name)(torch.from_numpy(Z))
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.numpy(), getattr(losses.logistic, name)(Z), atol=1e-13)
