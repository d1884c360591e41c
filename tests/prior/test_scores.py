"""Scores for prior estimators."""

import numpy as np
import pytest

from likewise.learner.table import Table
from likewise.likelihood import Counts
from likewise.pairs import locate
from likewise.prior import scores as module
from likewise.prior.scores import Rows, learn_scores
from tests.prior.draws import draw_gaussians


def rows_of(X: np.ndarray, y: np.ndarray) -> Rows:
    return Rows.of_table(Table.of(X, locate(y)))


@pytest.mark.usefixtures("linear_only")
def test_with_few_rows_all_are_learned_from_and_none_held_out() -> None:
    X, y = draw_gaussians(60, 0.7, 0, n_dissimilar=20)
    learned, others = learn_scores(rows_of(X, y), np.random.RandomState(0))
    assert others is None
    assert learned.counts == Counts(60, 60, 20)
    assert learned.candidate.scores.shape == (len(y), 1)


@pytest.mark.parametrize("sample_size", [100, 1000])
@pytest.mark.usefixtures("linear_only")
def test_with_many_rows_scores_are_learned_on_some_and_the_others_held_out(
    monkeypatch: pytest.MonkeyPatch, sample_size: int
) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 40)
    monkeypatch.setattr(module, "_SAMPLE_SIZE", sample_size)
    X, y = draw_gaussians(250, 0.7, 0, n_dissimilar=60)
    rows = rows_of(X, y)
    some, others = module._split(rows)
    assert others is not None
    assert some.counts.unlabeled <= 40
    assert some.counts.similar <= 40
    assert others.sample.counts.rows + some.counts.rows == rows.sample.counts.rows
    learned_from = {tuple(row) for row in some.rows}
    assert not learned_from & {tuple(row) for row in others.sample.rows}

    def kernel(*tables: np.ndarray) -> tuple[list[tuple[float, ...]]]:
        return ([tuple(row) for table in tables for row in table],)

    seen = [row for part in ("unlabeled", "similar") for row in others.sum_over(part, kernel)[0]]
    assert len(seen) == len(set(seen)) == 750 - 2 * some.counts.similar - some.counts.unlabeled
    assert not learned_from & set(seen)


def test_members_of_a_pair_go_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 80)
    _, y = draw_gaussians(250, 0.7, 0, n_dissimilar=200)
    some, others = module._split(rows_of(np.asarray(y, dtype=float)[:, None], y))
    assert others is not None
    for table in (some, others.sample):
        codes, counts = table.rows[:, 0], table.counts
        np.testing.assert_array_equal(codes[counts.left], codes[counts.right])
        np.testing.assert_array_equal(codes[counts.dissimilar_left], codes[counts.dissimilar_right])


@pytest.mark.parametrize("n", [1, 9])
def test_too_few_pairs_are_answered_with_what_to_do(n: int) -> None:
    X, y = draw_gaussians(n, 0.7, 0)
    with pytest.raises(ValueError, match=rf"at least 10 pairs.*{n} pairs.*pass prior="):
        learn_scores(rows_of(X, y), np.random.RandomState(0))
