"""Parquet files to measure on: written in pieces, so that no more than one is in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["written"]

_PIECE = 100_000
_PRIOR = 0.7
_SIMILAR_PRIOR = _PRIOR**2 / (_PRIOR**2 + (1 - _PRIOR) ** 2)


@contextmanager
def written(n_unlabeled: int, n_pairs: int, n_features: int) -> Iterator[tuple[Path, Path]]:
    """Write float32 rows and pairs of two Gaussian classes; the files are removed at the end."""
    names = [f"x{k}" for k in range(n_features)]
    with TemporaryDirectory() as folder:
        rows, pairs = Path(folder) / "rows.parquet", Path(folder) / "pairs.parquet"
        _write(rows, n_unlabeled, [names], _PRIOR)
        sides = [[f"{side}_{name}" for name in names] for side in ("left", "right")]
        _write(pairs, n_pairs, sides, _SIMILAR_PRIOR)
        yield rows, pairs


def _write(path: Path, n_rows: int, tables: list[list[str]], prior: float) -> None:
    random = np.random.default_rng(len(tables))
    schema = pa.schema([(name, pa.float32()) for names in tables for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, _PIECE):
            size = min(_PIECE, n_rows - start)
            classes = np.where(random.random(size) < prior, 1, -1)
            columns = []
            for names in tables:
                rows = random.standard_normal((len(names), size), dtype=np.float32)
                rows[:5] += np.float32(0.5) * classes.astype(np.float32)
                columns += list(rows)
            writer.write_table(pa.table(columns, schema=schema))
