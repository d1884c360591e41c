"""Small tables, written for a test to read."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet


def csv_file(folder: Path, text: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def parquet_file(folder: Path, name: str = "rows.parquet", **columns: Any) -> Path:
    path = folder / name
    pa.parquet.write_table(pa.table(columns), path)
    return path
