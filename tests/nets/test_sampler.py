import numpy as np
import pytest
import scipy.sparse as sp
import torch

import likewise as lw
from likewise.nets import PairBatchSampler, PairDataset, split_batch
from likewise.statements.labels import read_labels
from tests.nets.samples import blobs


def couples(batches: list) -> list[tuple[int, int, bool]]:  # type: ignore[type-arg]
    return sorted(
        (int(a), int(b), bool(s))
        for batch in batches
        for a, b, s in zip(batch.left, batch.right, batch.is_similar, strict=True)
    )


def test_every_statement_is_in_one_batch_of_an_epoch_with_both_its_rows() -> None:
    sample = blobs(n_rows=100, n_pairs=150)
    assert sp.issparse(sample.y)
    links = read_labels(sample.y).links
    expected = sorted(zip(links.left, links.right, links.is_similar, strict=True))
    sampler = PairBatchSampler(sample.y, 32, unlabeled_size=20, random_state=0)
    for _ in range(2):
        batches = list(sampler.batches())
        assert couples(batches) == expected
        sizes = [batch.left.size for batch in batches]
        assert len(batches) == len(sampler) == 5
        assert max(sizes) - min(sizes) <= 1


def test_groups_are_chains_of_links() -> None:
    _, y = lw.pack(np.zeros((6, 1)), similar=[(0, 1, 2, 3)])
    (batch,) = PairBatchSampler(y, 8, unlabeled_size=2, random_state=0).batches()
    assert couples([batch]) == [(0, 1, True), (1, 2, True), (2, 3, True)]


def test_unlabeled_rows_are_all_there_before_one_comes_again() -> None:
    sample = blobs(n_rows=90, n_pairs=90)
    sampler = PairBatchSampler(sample.y, 30, unlabeled_size=30, random_state=0)
    rows = np.concatenate([batch.unlabeled for batch in sampler.batches()])
    assert np.array_equal(np.sort(rows), np.arange(90))


def test_unlabeled_rows_of_fresh_pairs_are_those_in_no_pair() -> None:
    rng = np.random.default_rng(0)
    _, y = lw.pack(rng.normal(size=(30, 2)), similar=rng.normal(size=(10, 2, 2)))
    sampler = PairBatchSampler(y, 4, unlabeled_size=50, random_state=0)
    for batch in sampler.batches():
        assert set(batch.unlabeled) == set(range(30))
        assert min(batch.left.min(), batch.right.min()) >= 30


def test_the_same_seed_gives_the_same_batches() -> None:
    sample = blobs()
    one, other, third = (
        [
            batch.rows.tolist()
            for batch in PairBatchSampler(sample.y, 64, unlabeled_size=16, random_state=s).batches()
        ]
        for s in (3, 3, 4)
    )
    assert one == other
    assert one != third


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_keeps_rows_and_roles_together(workers: int) -> None:
    sample = blobs(n_rows=60, n_pairs=40)
    numbers = torch.arange(60)
    sampler = PairBatchSampler(sample.y, 16, unlabeled_size=8, random_state=0)
    again = PairBatchSampler(sample.y, 16, unlabeled_size=8, random_state=0)
    loader = torch.utils.data.DataLoader(
        PairDataset(numbers), batch_sampler=sampler, num_workers=workers
    )
    for (rows, roles), batch in zip(loader, again.batches(), strict=True):
        found = split_batch(rows, roles)
        assert found.left.tolist() == batch.left.tolist()
        assert found.right.tolist() == batch.right.tolist()
        assert found.is_similar.tolist() == batch.is_similar.tolist()
        assert found.unlabeled.tolist() == batch.unlabeled.tolist()


def test_wrong_sizes_are_refused() -> None:
    _, y = lw.pack(np.zeros((4, 1)), similar=[(0, 1)])
    with pytest.raises(ValueError, match="batch_size"):
        PairBatchSampler(y, 0)
    with pytest.raises(ValueError, match="no statements"):
        PairBatchSampler(np.zeros(4, dtype=int))
