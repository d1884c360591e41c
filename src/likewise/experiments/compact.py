"""Records in little room, for a repository: rounded, one compressed file for each experiment.

A run writes lines of JSON as trials finish (see `likewise.experiments.runner`); this is what they
are turned into once it is over.
"""

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from likewise.experiments.runner import Record, key_of
from likewise.experiments.statistics import group
from likewise.io import replacing

__all__ = ["DIGITS", "pack_records", "replaced", "unpack_records"]

DIGITS = 10
"""Significant digits that are kept: tables show four, and none of them hangs on more than these."""

_SUFFIX = ".jsonl.xz"


def pack_records(folder: Path, records: Iterable[Record]) -> None:
    """Write records, one file for each experiment; files of other experiments stay.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    records : iterable of dict
    """
    folder.mkdir(parents=True, exist_ok=True)
    for (experiment,), own in group(records, "experiment").items():
        lines = [json.dumps(_rounded(one), separators=(",", ":")) for one in own]
        with replacing(folder / f"{experiment}{_SUFFIX}") as stream:
            stream.write(lzma.compress("\n".join(lines).encode(), preset=9))


def unpack_records(folder: Path) -> list[Record]:
    """Read records as `pack_records` wrote them.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of dict
        Experiments in the order of their names.
    """
    return [
        json.loads(line)
        for path in sorted(folder.glob(f"*{_SUFFIX}"))
        for line in lzma.decompress(path.read_bytes()).decode().split("\n")
    ]


def replaced(old: Sequence[Record], new: Sequence[Record]) -> list[Record]:
    """Put new records in the place of all old ones of the same experiments and methods.

    Parameters
    ----------
    old, new : sequences of dict

    Returns
    -------
    list of dict
        Each trial once: of new records of one trial, the last.

    Examples
    --------
    >>> from likewise.experiments.compact import replaced
    >>> one = {"experiment": "half", "dataset": "waveform", "method": "labels", "trial": 0}
    >>> two, other = {**one, "trial": 1000}, {**one, "method": "su-squared"}
    >>> [(kept["method"], kept["trial"]) for kept in replaced([one, other], [two])]
    [('su-squared', 0), ('labels', 1000)]
    """
    made = {(one["experiment"], one["method"]) for one in new}
    kept = [one for one in old if (one["experiment"], one["method"]) not in made]
    return [*kept, *{key_of(one): one for one in new}.values()]


def _rounded(value: Any) -> Any:
    """Round all floats in a record."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value
