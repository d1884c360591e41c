"""Scores for prior estimators."""

import numpy as np
import pytest

from likewise.likelihood import Counts
from likewise.pairs import RowSets, locate, row_numbers
from likewise.prior import scores as module
from likewise.prior.scores import HeldOut, learn_scores
from tests.prior.draws import draw_gaussians


@pytest.mark.usefixtures("linear_only")
def test_with_few_rows_all_are_learned_from_and_none_held_out() -> None:
    X, y = draw_gaussians(60, 0.7, 0, n_dissimilar=20)
    learned, others = learn_scores(X, locate(y), np.random.RandomState(0))
    assert others is None
    assert learned.counts == Counts(60, 60, 20)
    assert learned.candidate.scores.shape == (len(y), 1)


def numbers(rows: RowSets) -> list[set[int]]:
    return [set(row_numbers(part).tolist()) for part in rows]


@pytest.mark.usefixtures("linear_only")
def test_with_many_rows_scores_are_learned_on_some_and_the_others_held_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 80)
    X, y = draw_gaussians(250, 0.7, 0, n_dissimilar=60)
    rows = locate(y)
    some, others = module._split(rows, np.random.RandomState(0))
    assert others is not None
    for whole, learning, held_out in zip(
        numbers(rows), numbers(some), numbers(others), strict=True
    ):
        assert learning | held_out == whole
        assert not learning & held_out
    assert [len(part) for part in numbers(some)] == [80, 80, 80, 30, 30]
    learned, held_out_rows = learn_scores(X, rows, np.random.RandomState(0))
    assert learned.counts == Counts(80, 80, 30)
    assert held_out_rows is not None
    assert held_out_rows.counts == Counts(170, 170, 30)


def test_members_of_a_pair_go_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 80)
    _, y = draw_gaussians(250, 0.7, 0, n_dissimilar=200)
    for part in module._split(locate(y), np.random.RandomState(0)):
        assert part is not None
        np.testing.assert_array_equal(y[part.left], y[part.right])
        np.testing.assert_array_equal(y[part.dissimilar_left], y[part.dissimilar_right])


@pytest.mark.usefixtures("linear_only")
def test_held_out_rows_are_scored_in_the_order_of_their_counts() -> None:
    X, y = draw_gaussians(60, 0.8, 0, n_dissimilar=20)
    learned, _ = learn_scores(X, locate(y), np.random.RandomState(0))
    others = HeldOut(X, locate(y))
    np.testing.assert_allclose(others.scores(learned), learned.scores(X)[:, 0])
    first = others.first(10)
    assert first.counts == Counts(10, 10, 10)
    counts = others.counts
    parts = [counts.alone, counts.left, counts.right]
    parts += [counts.dissimilar_left, counts.dissimilar_right]
    expected = np.concatenate([learned.scores(X[part][:10])[:, 0] for part in parts])
    np.testing.assert_allclose(first.scores(learned), expected)


@pytest.mark.parametrize("n", [1, 9])
def test_too_few_pairs_are_answered_with_what_to_do(n: int) -> None:
    X, y = draw_gaussians(n, 0.7, 0)
    with pytest.raises(ValueError, match=rf"at least 10 pairs.*{n} pairs.*pass prior="):
        learn_scores(X, locate(y), np.random.RandomState(0))
