"""Sums over rows that are tensors are those over the same rows in numpy, however they are cut."""

import numpy as np
import pytest

from likewise.engines import kernels, tensors

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that there are many, and some rows left over."""
    monkeypatch.setattr(tensors, "_PRODUCT_ROWS", 8)
    monkeypatch.setattr(tensors, "_SUM_ROWS", 4)
    monkeypatch.setattr(tensors, "_SCALED_ENTRIES", 1000)


@pytest.fixture(autouse=True, params=[False, True], ids=["one by one", "together"])
def reads_together(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do on the CPU what is done on a device."""
    if request.param:
        monkeypatch.setattr(tensors, "_reads_together", lambda rows: rows.is_contiguous())


@pytest.fixture(params=[(7, 3), (1000, 3), (3001, 40)], ids=str)
def rows(request: pytest.FixtureRequest, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(rng.standard_normal(request.param) + 0.5)


@pytest.mark.parametrize("step", [1, 3])
def test_sums_are_those_of_numpy(rows: np.ndarray, rng: np.random.Generator, step: int) -> None:
    given, expected_rows = torch.from_numpy(rows)[::step], rows[::step]
    values = rng.random(len(expected_rows))
    for found, expected in (
        (kernels.column_sums(given), kernels.column_sums(expected_rows)),
        (kernels.gram(given), kernels.gram(expected_rows)),
        (
            kernels.weighted_sum(given, torch.from_numpy(values)),
            kernels.weighted_sum(expected_rows, values),
        ),
        (
            kernels.weighted_gram(given, torch.from_numpy(values)),
            kernels.weighted_gram(expected_rows, values),
        ),
    ):
        assert found.dtype == torch.float64
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (40,)], ids=str)
def test_decisions_are_those_of_numpy(
    rows: np.ndarray, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    weights = rng.standard_normal((rows.shape[1] + 1, *shape))
    given = torch.from_numpy(rows)
    np.testing.assert_allclose(kernels.decide(given, weights), kernels.decide(rows, weights))
    if shape:
        np.testing.assert_array_equal(
            kernels.count_positive(given, weights), kernels.count_positive(rows, weights)
        )


@pytest.mark.parametrize("start", [0, 3, 12])
@pytest.mark.parametrize("n_turns", [2, 5])
def test_sums_in_turn_are_those_of_numpy(rows: np.ndarray, n_turns: int, start: int) -> None:
    given = torch.from_numpy(rows)
    for function in (kernels.grams_in_turn, kernels.column_sums_in_turn):
        found, expected = (function(table, n_turns, start) for table in (given, rows))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("start", [0, 3, 12])
@pytest.mark.parametrize("n_models", [2, 20])
@pytest.mark.parametrize("stride", [1, 3])
def test_decisions_in_turn_are_those_of_numpy(
    rows: np.ndarray, rng: np.random.Generator, start: int, n_models: int, stride: int
) -> None:
    weights = list(rng.standard_normal((5, rows.shape[1] + 1, n_models)))
    found, expected = (
        kernels.count_positive_in_turn(table, weights, start, 5 * stride)
        for table in (torch.from_numpy(rows), rows)
    )
    np.testing.assert_array_equal(found.numpy(), expected)
    turns = (start + np.arange(len(rows))) % (5 * stride)
    for turn, own in enumerate(weights):
        decisions = rows[turns == turn] @ own[:-1] + own[-1]
        np.testing.assert_array_equal(expected[turn], (decisions > 0).sum(axis=0))
