"""Scores for prior estimators."""

import numpy as np
import pytest

from likewise.beliefs.fresh import Counts
from likewise.prior import scores as module
from likewise.prior.scores import Rows, learn_scores
from likewise.search.table import Table
from likewise.statements.labels import locate
from tests.prior.draws import draw_gaussians, draw_rings


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

    def kernel(*tables: np.ndarray) -> tuple[np.ndarray]:
        return (sum(table.sum(axis=0) for table in tables),)

    (alone,), (paired,) = (others.sum_over(part, kernel) for part in ("unlabeled", "similar"))
    totals = X[locate(y).unlabeled].sum(axis=0), X[y > 0].sum(axis=0)
    counts = some.counts
    of_learning = some.rows[counts.alone], some.rows[counts.left.start : counts.right.stop]
    for found, total, left_out in zip((alone, paired), totals, of_learning, strict=True):
        np.testing.assert_allclose(found, total - left_out.sum(axis=0), atol=1e-9)


def test_quick_learning_stops_at_the_first_map_with_a_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 150)
    lines, rings = rows_of(*draw_gaussians(400, 0.7, 0)), rows_of(*draw_rings(400, 0))
    learned = [
        learn_scores(rows, np.random.RandomState(0), is_quick=True)[0] for rows in (lines, rings)
    ]
    assert {row.features for row in learned[0].selection.rows} == {"linear"}
    assert learned[1].features.name.startswith("rbf")
    assert all(one.has_signal for one in learned)


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
