"""The torch engine: forms of pairs, and input that it refuses."""

from collections.abc import Callable

import numpy as np
import pytest

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import PairSource, open_engine

torch = pytest.importorskip("torch")


def test_pairs_may_be_row_numbers(
    draw_waveform: Callable[..., SUSample], rng: np.random.Generator
) -> None:
    rows = draw_waveform(20, 200).unlabeled
    pairs = rng.permutation(200)[:80].reshape(40, 2)
    expected = lw.SUClassifierCV(prior=0.7).fit(*lw.pack(rows, similar=pairs))
    found = lw.SUClassifierCV(prior=0.7).fit(*lw.pack(torch.from_numpy(rows), similar=pairs))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)


def test_bad_tensors_are_named() -> None:
    rows = torch.zeros((5, 3))
    for source, message in (
        (PairSource(torch.zeros(5), np.array([[0, 1]])), "must be a table"),
        (PairSource(torch.zeros((5, 3), dtype=torch.int64), np.array([[0, 1]])), "floating-point"),
        (PairSource(rows, np.array([[0, 5]])), "rows 0 to 4"),
        (PairSource(rows, np.array([[2, 2]])), "Pair 0 joins 2 with itself"),
        (PairSource(rows, np.array([[0.5, 1.0]])), "row numbers"),
        (PairSource(rows, (rows, rows[:, :2])), "have 3 columns"),
    ):
        with pytest.raises(ValueError, match=message):
            open_engine(source)
