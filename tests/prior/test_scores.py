"""Scores for prior estimators."""

from typing import Any

import numpy as np
import pytest

from likewise.beliefs.expansion import Counts
from likewise.prior import scores as module
from likewise.prior.scores import HeldOut, learn_scores
from likewise.search.learn import Learned
from likewise.search.rows import MemoryRows, Some, counts_of
from likewise.search.settings import Settings
from likewise.statements.labels import read_labels, row_sets_of
from tests.prior.draws import draw_gaussians, draw_rings, draw_table


def source_of(X: Any, y: Any) -> MemoryRows:
    return MemoryRows(X, read_labels(y))


def learned_from(
    X: Any, y: Any, *, is_quick: bool = False, pairing: str = "random"
) -> tuple[Learned, HeldOut | None]:
    settings = Settings(pairing=pairing)
    return learn_scores(source_of(X, y), settings, np.random.RandomState(0), is_quick=is_quick)


def split(X: Any, y: Any) -> tuple[Some, Some, HeldOut]:
    """Return all rows that are looked at, those that are learned from, and the others."""
    source = source_of(X, y)
    sample = source.sample(module._SAMPLE_SIZE, keeps_rows=False)
    some, others = module._split(source, sample)
    assert others is not None
    return sample, some, others


@pytest.mark.usefixtures("linear_only")
def test_with_few_rows_all_are_learned_from_and_none_held_out() -> None:
    X, y = draw_gaussians(60, 0.7, 0, n_dissimilar=20)
    learned, others = learned_from(X, y)
    assert others is None
    assert counts_of(learned.some.statements) == Counts(60, 60, 20)
    assert learned.candidate.scores.shape == (len(y), 1)


@pytest.mark.parametrize("sample_size", [100, 1000])
@pytest.mark.usefixtures("linear_only")
def test_with_many_rows_scores_are_learned_on_some_and_the_others_held_out(
    monkeypatch: pytest.MonkeyPatch, sample_size: int
) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 40)
    monkeypatch.setattr(module, "_SAMPLE_SIZE", sample_size)
    X, y = draw_gaussians(250, 0.7, 0)
    sample, some, others = split(X, y)
    assert max(counts_of(some.statements)) <= 40
    assert others.sample.statements.n_rows + some.statements.n_rows == sample.statements.n_rows
    learned_from = {tuple(row) for row in some.rows}
    assert not learned_from & {tuple(row) for row in others.sample.rows}

    def kernel(*tables: np.ndarray) -> tuple[np.ndarray]:
        return (sum(table.sum(axis=0) for table in tables),)

    (alone,), (paired,) = (others.sum_over(part, kernel) for part in ("unlabeled", "similar"))
    totals = X[y == 0].sum(axis=0), X[y > 0].sum(axis=0)
    stated = some.statements.stated
    of_learning = some.rows[~stated], some.rows[stated]
    for found, total, left_out in zip((alone, paired), totals, of_learning, strict=True):
        np.testing.assert_allclose(found, total - left_out.sum(axis=0), atol=1e-9)


def test_quick_learning_stops_at_the_first_map_with_a_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 150)
    samples = draw_gaussians(400, 0.7, 0), draw_rings(400, 0)
    learned = [learned_from(*sample, is_quick=True)[0] for sample in samples]
    assert {row.features for row in learned[0].selection.rows} == {"linear"}
    assert learned[1].features.name.startswith("rbf")
    assert all(one.has_signal for one in learned)


def test_members_of_a_pair_go_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 80)
    _, y = draw_gaussians(250, 0.7, 0)
    _, some, others = split(np.asarray(y, dtype=float)[:, None], y)
    for part in (some, others.sample):
        codes, where = part.rows[:, 0], row_sets_of(part.statements)
        np.testing.assert_array_equal(codes[where.left], codes[where.right])


@pytest.mark.usefixtures("linear_only")
@pytest.mark.parametrize("kind", ["asked", "met"])
def test_of_one_table_no_row_is_held_out(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 40)
    X, y = draw_table(kind, 200, 150).pack()
    learned, others = learned_from(X, y, pairing="asked" if kind == "asked" else "random")
    assert others is None
    assert learned.some.is_whole
    assert learned.some.statements.n_rows == 200


@pytest.mark.usefixtures("linear_only")
def test_dissimilar_fresh_pairs_are_all_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LEARNING_SIZE", 20)
    X, y = draw_gaussians(60, 0.7, 0, n_dissimilar=20)
    learned, others = learned_from(X, y)
    assert others is None
    assert counts_of(learned.some.statements) == Counts(60, 60, 20)


@pytest.mark.parametrize("n", [1, 9])
def test_too_few_pairs_are_answered_with_what_to_do(n: int) -> None:
    with pytest.raises(ValueError, match=rf"at least 10 pairs.*{n} pairs.*pass prior="):
        learned_from(*draw_gaussians(n, 0.7, 0))
