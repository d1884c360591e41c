"""Rows for nets: the same batch, whatever form the rows come in."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import Dataset

from likewise.nets.rows import read_rows

TABLE = np.arange(12.0).reshape(6, 2)


class Items(Dataset[Any]):
    """The table's rows one by one, alone or with something beside."""

    def __init__(self, *, is_tuple: bool) -> None:
        self.is_tuple = is_tuple

    def __len__(self) -> int:
        return len(TABLE)

    def __getitem__(self, number: int) -> Any:
        row = TABLE[number].astype(np.float32)
        return (row, -1) if self.is_tuple else row


@pytest.mark.parametrize(
    "rows",
    [
        TABLE,
        torch.as_tensor(TABLE),
        pd.DataFrame(TABLE),
        Items(is_tuple=False),
        Items(is_tuple=True),
    ],
    ids=["array", "tensor", "frame", "items", "tuples"],
)
def test_some_rows_are_taken_in_single_precision(rows: Any) -> None:
    found = read_rows(rows, "cpu")
    assert found.n_rows == 6
    batch = found.take(np.array([4, 1]))
    assert batch.dtype == torch.float32
    np.testing.assert_array_equal(batch.numpy(), TABLE[[4, 1]])


def test_arrays_by_name_are_taken_by_name_and_whole_numbers_stay_whole() -> None:
    found = read_rows({"rows": TABLE, "kind": np.arange(6)}, "cpu")
    batch = found.take(torch.tensor([5, 0]))
    np.testing.assert_array_equal(batch["rows"].numpy(), TABLE[[5, 0]])
    np.testing.assert_array_equal(batch["kind"].numpy(), [5, 0])
    assert not batch["kind"].is_floating_point()


def test_only_one_array_of_numbers_is_a_table() -> None:
    images = read_rows(TABLE.reshape(6, 1, 2), "cpu").table
    assert images is not None
    np.testing.assert_array_equal(images.numpy(), TABLE)
    for other in (Items(is_tuple=False), {"rows": TABLE}, np.arange(6)):
        assert read_rows(other, "cpu").table is None


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"a": TABLE, "b": TABLE[:4]}, r"as many rows each; got \[4, 6\]"),
        (np.array(["x", "y"]), "Nets take numbers, but X has dtype"),
        (np.array([[1.0], [np.inf]]), "NaN or infinite"),
        (TABLE[:0], "X has no rows"),
        (torch.tensor(1.0), "X has no rows"),
    ],
)
def test_what_a_net_cannot_take_is_named(rows: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_rows(rows, "cpu")
