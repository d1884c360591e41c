"""Hypothesis strategies: tables as text, and small datasets; failing cases are made smaller."""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from likewise.io import read_inputs
from tests.fuzz.checks import finite, refusals
from tests.fuzz.estimators import Dataset, check_su

__all__ = ["datasets", "explore", "tables"]

_CELL = st.one_of(
    st.text(max_size=4),
    st.floats(width=32).map(str),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(["", '"', "nan", "1e400", "é", "\x1b[2J", "\x00", "\ufeff"]),
)
_ROW = st.lists(_CELL, min_size=1, max_size=4).map(",".join)


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Return the bytes of something like a CSV file."""
    heading = draw(st.sampled_from(["id,a,b", "id,a", "a,id", "id", "", "left,right", "ID, a ,b"]))
    rows = draw(st.lists(_ROW, max_size=6))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    return end.join([heading, *rows]).encode(encoding, "surrogatepass")


_NUMBER = st.one_of(
    st.floats(-5, 5),
    st.sampled_from([0.0, 1.0, -1.0, 1e9, 1e-9, 1.7e9, 1e100, 1e-100, 5e-324]),
)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Return a small dataset."""
    n_rows, n_columns = draw(st.integers(2, 8)), draw(st.integers(1, 4))
    cells = draw(st.lists(_NUMBER, min_size=n_rows * n_columns, max_size=n_rows * n_columns))
    number = st.integers(0, n_rows - 1)
    couple = st.tuples(number, number).filter(lambda pair: pair[0] != pair[1])
    similar = draw(st.lists(couple, max_size=4))
    dissimilar = draw(st.lists(couple, min_size=not similar, max_size=4))
    return Dataset(np.array(cells).reshape(n_rows, n_columns), similar, dissimilar)


def explore(number: int, examples: int) -> None:
    """Try examples of every strategy, those that fail made as small as they can be."""
    chosen = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )

    @seed(number)
    @chosen
    @given(table=tables(), pairs=tables())
    def read(table: bytes, pairs: bytes) -> None:
        with TemporaryDirectory() as name, refusals():
            folder = Path(name)
            (folder / "rows.csv").write_bytes(table)
            (folder / "pairs.csv").write_bytes(pairs)
            inputs = read_inputs(folder / "rows.csv", folder / "pairs.csv")
            if not inputs.features.text:
                finite(inputs.X)

    @seed(number)
    @chosen
    @given(data=datasets(), choice=st.integers(0, 10**6))
    def learn(data: Dataset, choice: int) -> None:
        with TemporaryDirectory() as name:
            check_su(data, random.Random(choice), Path(name))  # noqa: S311 - to be repeated

    read()
    learn()
