import pytest
import torch

from likewise.nets import adversarial_consistency, augmented_consistency
from likewise.nets.consistency import nearest_distances


def test_nearest_distances_are_those_of_all_pairs() -> None:
    torch.manual_seed(0)
    table = torch.randn(30, 4)
    apart = torch.cdist(table, table)
    apart.fill_diagonal_(torch.inf)
    expected = apart.min(1).values
    expected = expected.clamp(min=0.1 * float(expected.median()))
    assert nearest_distances(table).numpy() == pytest.approx(expected.numpy(), rel=1e-3)


def test_rows_that_stand_in_a_batch_twice_are_changed_too() -> None:
    table = torch.cat([torch.randn(6, 3), torch.zeros(2, 3)])
    assert float(nearest_distances(table).min()) > 0


def test_the_worst_direction_is_that_of_a_linear_score() -> None:
    """Of two classes and a linear score, the worst step is along the weights."""
    torch.manual_seed(0)
    rows = torch.randn(50, 3)
    weights = torch.tensor([[0.0, 0.3], [0.0, -0.2], [0.0, 0.1]])

    def scorer(some: torch.Tensor) -> torch.Tensor:
        return some @ weights

    scores, radius = scorer(rows), 0.5
    found = adversarial_consistency(scorer, rows, scores, radius)
    odds = scores[:, 1]
    step = radius * nearest_distances(rows) * weights[:, 1].norm()
    worst = torch.maximum(_divergence(odds, odds + step), _divergence(odds, odds - step))
    either = torch.minimum(_divergence(odds, odds + step), _divergence(odds, odds - step))
    assert float(either.mean()) - 1e-6 <= float(found) <= float(worst.mean()) + 1e-6


def _divergence(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    p, q = torch.sigmoid(before), torch.sigmoid(after)
    return p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()


def test_answers_before_the_change_are_held_fixed() -> None:
    torch.manual_seed(0)
    module = torch.nn.Linear(3, 2)
    rows = torch.randn(20, 3)
    scores = module(rows)
    adversarial_consistency(module, rows, scores).backward()
    assert module.weight.grad is not None
    scores = scores.detach().requires_grad_()
    with pytest.raises(RuntimeError):
        torch.autograd.grad(adversarial_consistency(lambda x: x[:, :2], rows, scores), scores)


def test_a_net_that_says_the_same_of_all_rows_is_consistent() -> None:
    rows = torch.randn(20, 3)
    constant = torch.zeros(3, 2)
    found = adversarial_consistency(lambda x: x @ constant, rows, rows @ constant)
    assert float(found) == pytest.approx(0.0, abs=1e-7)


def test_an_augmentation_is_compared_by_its_divergence() -> None:
    rows = torch.tensor([[0.0, 1.0], [2.0, -1.0]])
    found = augmented_consistency(lambda x: x, rows, rows, lambda x: x.flip(1))
    expected = _divergence(rows[:, 1] - rows[:, 0], rows[:, 0] - rows[:, 1]).mean()
    assert float(found) == pytest.approx(float(expected), rel=1e-5)


def test_of_a_dict_all_floating_parts_are_changed() -> None:
    rows = {"a": torch.randn(9, 2), "number": torch.arange(9)}
    seen = []

    def scorer(some: dict[str, torch.Tensor]) -> torch.Tensor:
        seen.append(some)
        return some["a"]

    adversarial_consistency(scorer, rows, rows["a"])
    assert not torch.equal(seen[-1]["a"], rows["a"])
    assert torch.equal(seen[-1]["number"], rows["number"])


def test_whole_numbers_cannot_be_changed_a_little() -> None:
    rows = torch.arange(6).reshape(3, 2)
    with pytest.raises(ValueError, match="whole numbers"):
        adversarial_consistency(lambda x: x.float(), rows, rows.float())
