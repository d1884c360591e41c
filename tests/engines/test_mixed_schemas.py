"""Folders of Parquet files with mixed schemas: one answer, or one sentence, whoever reads them."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.engines.mixed_folders import (
    MIXTURES,
    base_files,
    check_engines_agree,
    fit_by_command,
    mixed_folder,
    write_folder,
)

pytest.importorskip("dask.dataframe")

_UNLIKE = r"rows/part-{}\.parquet, column 'c': values of type {}, but in .*part-{}\.parquet"
REFUSED: dict[str, str] = {
    "flags, then whole numbers": _UNLIKE.format(1, "int64", 0),
    "whole numbers, then flags": _UNLIKE.format(2, "bool", 0),
    "flags and broken numbers": _UNLIKE.format(1, "double", 0),
    "text and numbers": _UNLIKE.format(1, "int64", 0),
    "numbers, then text": _UNLIKE.format(2, "text", 0),
    "a column that is missing later": r"part-1\.parquet has no column 'c', which .*part-0",
    "a column that is missing first": r"part-0\.parquet has no column 'c', which .*part-1",
    "a column that one file has besides": r"part-0\.parquet has no column 'extra', which .*part-2",
    "a column without one value": r"'c', row with id 'r8': the value is missing .*8 missing values",
    "dates": _UNLIKE.format(1, r"timestamp\[us\]", 0),
    "dates in all files": r"column 'c': values of type timestamp\[us\] are neither numbers nor",
    "lists": _UNLIKE.format(1, "list", 0),
    "lists in all files": "column 'c': values of type list are neither numbers nor text",
    "lists as ids": "column 'id': values of type list cannot be used as text or ids",
    "structs": "column 'c': values of type struct are neither numbers nor text",
    "numbers and text as ids": r"part-1\.parquet, column 'id': values of type text, but in",
    "no files": "rows is a folder without Parquet files",
    "a gap": r"column 'c', row with id 'r8': the value is missing .*1 missing value\)",
    "text, none of it in one file": "'c', row with id 'r8': the value is missing",
    "ids twice": "rows has 8 ids more than once in column 'id': 'r0', 'r1'",
}
OTHER_VALUES = {
    "flags alone",
    "numbers beyond 64 bits with a sign",
    "kinds of numbers as ids",
    "an empty first file",
}
"""Mixtures that are answered, but not with the weights of the files as they were."""
LIKE_OTHERS = {
    "broken, then whole numbers",
    "32 and 64 bits",
    "single and double precision",
    "decimals and whole numbers",
    "columns in another order",
    "kinds of text as ids",
    "flags, then whole numbers",
    "numbers, then text",
}
"""Mixtures of the sort of another one: each is joined by Dask, which takes a second."""


@pytest.fixture(scope="module")
def unmixed(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The weights that files learn which were not mixed."""
    files = base_files(np.random.default_rng(0), [8, 8, 8])
    found = fit_by_command(*write_folder(files, tmp_path_factory.mktemp("unmixed")), ())
    assert isinstance(found, np.ndarray)
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LIKE_OTHERS else ())
        for name in MIXTURES
    ],
)
def test_all_engines_say_the_same(name: str, tmp_path: Path, unmixed: np.ndarray) -> None:
    files = base_files(np.random.default_rng(0), [8, 8, 8])
    MIXTURES[name](files)
    table, pairs = write_folder(files, tmp_path)
    found = check_engines_agree(table, pairs)
    if name in REFUSED:
        assert isinstance(found, str), found
        assert re.search(REFUSED[name], found), found
    elif name not in OTHER_VALUES:
        np.testing.assert_allclose(found, unmixed, rtol=1e-6, atol=1e-9)


def test_text_and_an_id_of_no_row_are_both_refused(tmp_path: Path) -> None:
    files = base_files(np.random.default_rng(0), [8, 8])
    for columns in files:
        columns["c"] = columns["c"].cast(pa.string())
    table, pairs = write_folder(files, tmp_path)
    pa.parquet.write_table(pa.table({"left": ["r0", "r1"], "right": ["r2", "nobody"]}), pairs)
    assert "1 id not found" in check_engines_agree(table, pairs)


@pytest.mark.parametrize("seed", range(2))
def test_a_random_mixture(seed: int, tmp_path: Path) -> None:
    check_engines_agree(*mixed_folder(seed, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, *range(1000, 1200)])
def test_many_random_mixtures(seed: int, tmp_path: Path) -> None:
    check_engines_agree(*mixed_folder(seed, tmp_path))
