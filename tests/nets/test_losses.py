import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from likewise.beliefs.base import log_probabilities
from likewise.beliefs.table import TableLikelihood
from likewise.nets import PairLoss
from likewise.nets.losses import log_different
from likewise.statements.statements import Statements


def disjoint(is_similar: Any, n_alone: int = 0) -> Statements:
    """Return statements about rows (0, 1), (2, 3), ..."""
    n_pairs = len(is_similar)
    return Statements(
        2 * n_pairs + n_alone,
        np.arange(2 * n_pairs),
        2 * np.arange(n_pairs + 1),
        np.asarray(is_similar, dtype=bool),
        np.arange(n_pairs),
    )


@pytest.mark.parametrize("error_rate", [0.0, 0.15])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_asked_pairs_have_the_value_of_the_beliefs(n_classes: int, error_rate: float) -> None:
    rng = np.random.default_rng(0)
    is_similar = np.array([True, False, True, False, False])
    scores = 2.0 * rng.normal(size=(10, n_classes))
    likelihood = TableLikelihood(disjoint(is_similar), n_classes, "asked", error_rate)
    expected = likelihood.evaluate(log_probabilities(scores)).value / is_similar.size
    loss = PairLoss(n_classes, pairing="asked", error_rate=error_rate)
    tensors = torch.as_tensor(scores)
    found = loss(tensors[::2], tensors[1::2], torch.as_tensor(is_similar))
    # "Different" without errors is all but impossible to the beliefs where rows are alike.
    assert float(found) == pytest.approx(-expected, rel=1e-4)


def test_found_pairs_have_the_value_of_the_formula() -> None:
    torch.manual_seed(0)
    left, right, alone = (torch.randn(n, 3) for n in (5, 5, 7))
    loss = PairLoss(3, pairing="random", momentum=1.0)
    p, q, shares = left.softmax(1), right.softmax(1), alone.softmax(1).mean(0)
    expected = -((p * q).sum(1).log() - (shares**2).sum().log()).mean()
    assert float(loss(left, right, torch.ones(5), alone)) == pytest.approx(float(expected))
    loss = PairLoss(3, pairing="free", momentum=1.0)
    expected = -((p * q / 3 / shares**2).sum(1).log()).mean()
    assert float(loss(left, right, torch.ones(5), alone)) == pytest.approx(float(expected))


def test_pair_shares_of_a_balanced_net_are_those_of_pairs() -> None:
    classes = torch.tensor([0] * 60 + [1] * 30 + [2] * 10)
    scores = 12.0 * torch.eye(3)[classes]
    alone = 12.0 * torch.eye(3)[torch.arange(99) % 3]
    loss = PairLoss(3, pairing="free", momentum=0.5)
    for _ in range(40):
        loss(scores, scores, torch.ones(100), alone)
    assert loss.pair_shares.numpy() == pytest.approx([0.6, 0.3, 0.1], abs=1e-3)
    assert loss.shares.numpy() == pytest.approx([1 / 3] * 3, abs=1e-3)


def test_one_class_for_all_rows_explains_no_found_pair() -> None:
    one = torch.tensor([[9.0, 0.0, 0.0]]).expand(20, 3)
    three = 9.0 * torch.eye(3)[torch.arange(21) % 3]
    loss = PairLoss(3, pairing="random", momentum=1.0)
    collapsed = float(loss(one, one, torch.ones(20), one))
    apart = float(loss(three, three, torch.ones(21), three))
    assert collapsed == pytest.approx(0.0, abs=1e-3)
    assert apart == pytest.approx(-math.log(3.0), abs=1e-2)


@pytest.mark.parametrize("pairing", ["asked", "random", "free"])
@pytest.mark.parametrize("error_rate", [0.0, 0.2])
def test_gradients_are_those_of_finite_differences(pairing: str, error_rate: float) -> None:
    if pairing == "free" and error_rate:
        pytest.skip("free pairs have no error rate")
    torch.manual_seed(1)
    scores = torch.randn(14, 3, requires_grad=True)
    is_similar = torch.tensor([True, False, True, True])
    # In evaluation mode shares stand still, so that the value is a function of the scores.
    loss = PairLoss(3, pairing=pairing, error_rate=error_rate).eval()
    loss.shares.copy_(scores[8:].detach().softmax(1).mean(0))

    def value(flat: Any) -> Any:
        some = flat.reshape(14, 3)
        return loss(some[:4], some[4:8], is_similar, some[8:] if pairing != "asked" else None)

    (found,) = torch.autograd.grad(value(scores), scores)
    expected = _differences(_frozen(value, loss, pairing), scores.detach())
    assert found.numpy() == pytest.approx(expected, abs=2e-3)


def _frozen(value: Callable[[Any], Any], loss: Any, pairing: str) -> Callable[[Any], Any]:
    """Let shares follow the scores, as their gradient says that they do."""
    start = loss.shares.clone()

    def follow(scores: Any) -> Any:
        if pairing != "asked":
            loss.shares.copy_(scores[8:].softmax(1).mean(0))
        found = float(value(scores))
        loss.shares.copy_(start)
        return found

    return follow


def _differences(value: Callable[[Any], Any], at: Any, step: float = 5e-3) -> Any:
    slopes = np.zeros(tuple(at.shape))
    for place in np.ndindex(*slopes.shape):
        ahead, behind = at.clone(), at.clone()
        ahead[place] += step
        behind[place] -= step
        slopes[place] = (value(ahead) - value(behind)) / (2 * step)
    return slopes


@pytest.mark.parametrize("size", [1e2, 1e4])
@pytest.mark.parametrize("pairing", ["asked", "random", "free"])
def test_saturated_scores_have_finite_values_and_gradients(pairing: str, size: float) -> None:
    sure = size * torch.eye(3)
    scores = torch.cat([sure, sure]).requires_grad_()
    is_similar = torch.tensor([True, False, False, True, True, False])
    other = torch.cat([sure, sure.roll(1, 0)])
    value = PairLoss(3, pairing=pairing)(scores, other, is_similar, scores)
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(scores.grad).all()


def test_log_different_is_exact_where_double_precision_is() -> None:
    log_same = torch.linspace(-20.0, -1e-3, 300)
    expected = np.log(-np.expm1(log_same.double().numpy()))
    assert log_different(log_same).numpy() == pytest.approx(expected, rel=2e-4, abs=1e-8)


def test_gradient_of_shares_is_unbiased_over_batches() -> None:
    torch.manual_seed(0)
    scores = torch.randn(400, 3)
    whole = scores.clone().requires_grad_()
    shares = whole.softmax(1).mean(0)
    (expected,) = torch.autograd.grad((shares**2).sum().log(), whole)
    loss = PairLoss(3, pairing="random").eval()
    loss.shares.copy_(shares.detach())
    mean = torch.zeros_like(scores)
    for batch in torch.arange(400).reshape(100, 4):
        some = scores[batch].clone().requires_grad_()
        flat = torch.zeros(1, 3)
        (slope,) = torch.autograd.grad(
            -loss.log_likelihood(flat, flat, torch.ones(1), some).sum(), some
        )
        mean[batch] += slope / 100
    assert mean.numpy() == pytest.approx(expected.numpy(), abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_classes": 1}, "at least 2"),
        ({"n_classes": 2, "pairing": "met"}, "pairing must be one of"),
        ({"n_classes": 2, "error_rate": 0.5}, "error_rate must lie"),
        ({"n_classes": 2, "momentum": 0.0}, "momentum must lie"),
        ({"n_classes": 2, "pairing": "free", "error_rate": 0.1}, "error_rate is for"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PairLoss(**arguments)


def test_found_pairs_need_unlabeled_rows() -> None:
    with pytest.raises(ValueError, match="unlabeled rows"):
        PairLoss(2, pairing="random")(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1))
