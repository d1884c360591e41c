"""Kinds that several types share: numbers of columns and their names, seeds, shares."""

from likewise.io.modelfile.composites import Default, OneOf, Table
from likewise.io.modelfile.contract import Kind
from likewise.io.modelfile.values import Labels, Nothing, Number, Text, Whole

__all__ = [
    "FITTED_COLUMNS",
    "MOST_CLASSES",
    "MOST_COLUMNS",
    "MOST_ENCODED_COLUMNS",
    "NOTHING",
    "OUTPUT",
    "POSITIVE",
    "SEED",
    "SHARE",
]

MOST_CLASSES = 10_000
MOST_COLUMNS = 100_000
"""Of a table, and between steps: to check the names of far more would fill the memory."""
MOST_ENCODED_COLUMNS = 5_000
"""Of one encoder, which goes through them one by one."""

NOTHING = Nothing()
POSITIVE = Number(0.0, above=True)
SHARE = Number(0.0, 1.0)
SEED = Default(OneOf((Nothing(), Whole(0, 2**32 - 1))), None)
"""A seed; a source of random numbers is not kept."""

FITTED_COLUMNS: dict[str, Kind] = {
    "n_features_in_": Whole(1, MOST_COLUMNS, "columns"),
    "feature_names_in_": Labels("columns", numbers=False, most=MOST_COLUMNS),
}
"""What estimators remember of the table that they were fitted to."""
OUTPUT: dict[str, Kind] = {
    "_sklearn_output_config": Table({"transform": Text(("default", "pandas", "polars"))})
}
"""What users want transformers to return."""
