"""Tables, pairs, groups and known classes, sound and damaged, through the readers and commands."""

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from likewise.io import Inputs, read_inputs, read_known
from tests.fuzz.checks import command, finite, refusals
from tests.fuzz.mutation import mutated

__all__ = ["fuzz_files", "fuzz_known", "write_sound"]

_IDS = ("a", "b", "c", "007", "7", "7.0", "1e3", "é", "x y", "-", "0", "long" * 30)
_CELLS = ("0", "1", "-2.5", "1e3", "3.0", "0.1", "1e-9", "12345678901")
_WORDS = ("red", "blue", "grün", "a,b", 'say "x"', "")
_RELATIONS = ("same", "different", "must-link", "cannot_link", "Similar", " same ")


def fuzz_files(draw: random.Random, folder: Path) -> None:
    """Read a table and pairs of which one may be damaged; a few are learned from."""
    table, pairs = write_sound(draw, folder)
    if draw.random() < 0.9:
        victim = table if draw.random() < 0.6 else pairs
        victim.write_bytes(mutated(draw, victim.read_bytes()))
    with refusals() as refused:
        _check(read_inputs(table, pairs, gaps=draw.random() < 0.3))
    if draw.random() < 0.03 + 0.1 * (not refused):
        _learn(folder, table, pairs)


def fuzz_known(draw: random.Random, folder: Path) -> None:
    """Read known classes of a sound table."""
    table, pairs = write_sound(draw, folder)
    with refusals():
        inputs = read_inputs(table, pairs)
        known = folder / "known.csv"
        ids = draw.sample(inputs.table.keys.to_pylist(), 2)
        rows = [["id", "class"], *([name, draw.choice(("yes", "no"))] for name in ids)]
        known.write_bytes(mutated(draw, _csv(rows)))
        found = read_known(known, inputs.table)
        assert len(found) == len(inputs.table)
        assert any(name is not None for name in found)


def _check(inputs: Inputs) -> None:
    """Check what was read: numbers that are numbers, ids once, rows that are there."""
    n_rows = len(inputs.table)
    assert inputs.X.shape == (n_rows, len(inputs.features.names))
    keys = inputs.table.keys.to_pylist()
    assert len(set(keys)) == n_rows
    for place, name in enumerate(inputs.features.names):
        if name not in inputs.features.text:
            column = inputs.X[:, place].astype(np.float64)
            finite(np.nan_to_num(column) if inputs.features.gaps else column)
    stated = [*inputs.pairs.similar, *inputs.pairs.dissimilar]
    assert stated
    assert all(0 <= row < n_rows for rows in stated for row in rows)


def _learn(folder: Path, table: Path, pairs: Path) -> None:
    """Fit and predict by the commands, with the method that is the quickest."""
    model = folder / "model.skops"
    how = ("--method", "su", "--prior", "0.7", "--alpha", "0.1", "-o", str(model))
    if command("fit", str(table), str(pairs), *how).code:
        assert not model.exists()
        return
    predicted = command("predict", str(model), str(table))
    assert predicted.code == 0, predicted.stderr
    assert "nan" not in predicted.stdout.partition("\n")[0]
    for line in predicted.stdout.splitlines()[1:][-1:]:
        finite(float(line.rpartition(",")[2]))


def write_sound(draw: random.Random, folder: Path) -> tuple[Path, Path]:
    """Write a table and pairs of its rows that are as they should be, or nearly so."""
    n_rows, n_columns = draw.randrange(4, 9), draw.randrange(1, 4)
    ids = draw.sample(_IDS, n_rows)
    rows = [["id", *(f"c{j}" for j in range(n_columns))]]
    has_words = draw.random() < 0.2
    for name in ids:
        cells = [draw.choice(_CELLS) for _ in range(n_columns)]
        if has_words:
            cells[-1] = draw.choice(_WORDS)
        rows.append([name, *cells])
    table = folder / draw.choice(("rows.csv", "rows.csv", "rows.CSV", "rows.parquet", "rows.tsv"))
    table.write_bytes(_parquet(draw, rows) if table.suffix == ".parquet" else _csv(rows))
    return table, _write_pairs(draw, folder, ids)


def _write_pairs(draw: random.Random, folder: Path, ids: list[str]) -> Path:
    kind = draw.random()
    if kind < 0.2:
        rows = [["id", "group"], *([name, draw.choice("xy")] for name in ids)]
    else:
        couples = [draw.sample(ids, 2) for _ in range(draw.randrange(1, 6))]
        rows = [["left", "right"], *couples]
        if kind < 0.6:
            rows = [
                ["left", "right", "relation"],
                *([*c, draw.choice(_RELATIONS)] for c in couples),
            ]
    path = folder / draw.choice(("pairs.csv", "pairs.csv", "pairs.parquet"))
    path.write_bytes(_parquet(draw, rows) if path.suffix == ".parquet" else _csv(rows))
    return path


def _csv(rows: list[list[str]]) -> bytes:
    import csv

    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _parquet(draw: random.Random, rows: list[list[str]]) -> bytes:
    """Write columns with types of their own, where the cells have one."""
    columns: dict[str, Any] = {}
    for heading, *cells in zip(*rows, strict=True):
        values = pa.array(cells)
        kinds = (pa.float64(), pa.float32(), pa.int64(), pa.dictionary(pa.int32(), pa.string()))
        try:
            values = values.cast(draw.choice(kinds))
        except pa.ArrowException:
            values = pa.array(cells)
        columns[heading] = values
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()
