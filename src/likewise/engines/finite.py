"""Where a value is not finite, asked only after a sum was not."""

from typing import NoReturn

import numpy as np

from likewise.engines.arrays import to_numpy
from likewise.engines.base import Block, Engine, Part

__all__ = ["ADVICE", "name_value", "raise_not_finite"]

ADVICE = "remove such rows or impute them, for instance with sklearn.impute.SimpleImputer."


def raise_not_finite(engine: Engine) -> NoReturn:
    """Raise an error that says where a value is not finite, or else that values are too large."""
    names: dict[Part, str] = {
        "unlabeled": "unlabeled row",
        "similar": "pair",
        "dissimilar": "dissimilar pair",
    }
    for part in ("unlabeled", *engine.pair_parts):
        name = names[part]
        (found,) = engine.map_reduce(part, _find_not_finite)
        if found:
            position, column, value = found[0]
            names_of_columns = engine.feature_names
            which = column if names_of_columns is None else repr(names_of_columns[column])
            raise ValueError(
                f"The rows contain {name_value(value)}, first at {name} {position}, column "
                f"{which}; {ADVICE}"
            )
    raise ValueError("The rows contain values too large to be squared; scale the features.")


def name_value(value: float) -> str:
    """Return the name of a value that is not finite."""
    return "NaN" if np.isnan(value) else "infinity"


def _find_not_finite(block: Block) -> tuple[list[tuple[int, int, float]]]:
    """Return the position, the column and the value of the block's first value not finite."""
    for table in block.tables:
        rows = to_numpy(table)
        bad = np.argwhere(~np.isfinite(rows))
        if bad.size:
            row, column = bad[0].tolist()
            return ([(block.start + row, column, float(rows[row, column]))],)
    return ([],)
