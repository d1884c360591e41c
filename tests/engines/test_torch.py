"""The torch engine: forms of pairs, and input that it refuses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.datasets import SUSample
from likewise.engines import PairSource, arrays, open_engine
from likewise.engines import torch as torch_engine
from likewise.su import objective
from likewise.su.losses import MarginLoss

torch = pytest.importorskip("torch")

Draw = Callable[..., SUSample]


def as_tensors(sample: SUSample) -> PairSource:
    left, right = map(torch.from_numpy, sample.similar)
    return PairSource(torch.from_numpy(sample.unlabeled), (left, right))


def test_pairs_may_be_row_numbers(draw_waveform: Draw, rng: np.random.Generator) -> None:
    rows = draw_waveform(20, 200).unlabeled
    pairs = rng.permutation(200)[:80].reshape(40, 2)
    expected = lw.SUClassifierCV(prior=0.7).fit(*lw.pack(rows, similar=pairs))
    found = lw.SUClassifierCV(prior=0.7).fit(*lw.pack(torch.from_numpy(rows), similar=pairs))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    expected, found = (
        lw.SUClassifier(prior=0.7).fit(*lw.pack(table, similar=pairs[:20], dissimilar=pairs[20:]))
        for table in (rows, torch.from_numpy(rows))
    )
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-8)


def test_bad_tensors_are_named() -> None:
    rows = torch.zeros((5, 3))
    for source, message in (
        (PairSource(torch.zeros(5), np.array([[0, 1]])), "must be a table"),
        (
            PairSource(torch.zeros((5, 3), dtype=torch.int64), np.array([[0, 1]])),
            "float32 or float64",
        ),
        (PairSource(rows, np.array([[0, 5]])), "rows 0 to 4"),
        (PairSource(rows, np.array([[2, 2]])), "Pair 0 joins 2 with itself"),
        (PairSource(rows, np.array([[0.5, 1.0]])), "`similar` must be .* row numbers"),
        (PairSource(rows, None, np.array([[0.5, 1.0]])), "`dissimilar` must be .* row numbers"),
        (PairSource(rows, (rows, rows[:, :2])), "have 3 columns"),
    ):
        with pytest.raises(ValueError, match=message):
            open_engine(source)


def test_one_result_is_fetched_in_a_pass(
    draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched, to_numpy = [], arrays.to_numpy

    def counted(values: Any) -> Any:
        fetched.append(values)
        return to_numpy(values)

    monkeypatch.setattr(arrays, "to_numpy", counted)
    monkeypatch.setattr(torch_engine, "_HOST_BYTES", 21 * 8 * 50)
    source = as_tensors(draw_waveform(100, 300))
    for dissimilar in (None, source.similar):
        fetched.clear()
        both = PairSource(source.unlabeled, source.similar, dissimilar)
        clf = lw.SUClassifierCV(prior=0.7).fit(both)
        assert len(fetched) == clf.n_passes_ == 2


def pseudo_huber(*, any_library: bool, seen: list[type]) -> MarginLoss:
    """A loss of operators only, which keeps the types that it is given."""

    def psi(m: Any) -> Any:
        seen.append(type(m))
        return ((m**2 + 1) ** 0.5 - m) / 2

    return MarginLoss(
        "pseudo_huber",
        psi,
        lambda m: (m * (m**2 + 1) ** -0.5 - 1) / 2,
        lambda m: (m**2 + 1) ** -1.5 / 2,
        any_library,
    )


@pytest.mark.parametrize("any_library", [False, True])
def test_losses_of_numpy_and_of_any_library_can_be_learned_with(
    draw_waveform: Draw, monkeypatch: pytest.MonkeyPatch, any_library: bool
) -> None:
    monkeypatch.setattr(objective, "_SAMPLE_ENTRIES", 21 * 100)
    sample = draw_waveform(100, 300)
    seen: list[type] = []
    loss = pseudo_huber(any_library=any_library, seen=seen)
    found = lw.SUClassifier(loss, prior=0.7, alpha=0.1).fit(as_tensors(sample))
    expected = lw.SUClassifier(loss, prior=0.7, alpha=0.1).fit(*sample.pack())
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)
    assert (torch.Tensor in seen) == any_library


def test_a_tensor_that_is_trained_elsewhere_is_read_as_it_is(draw_waveform: Draw) -> None:
    source = as_tensors(draw_waveform(50, 100))
    source.unlabeled.requires_grad_()
    clf = lw.SUClassifier("logistic", prior=0.7, alpha=0.1).fit(source)
    assert source.unlabeled.grad is None
    assert clf.coef_.shape == (1, 21)
