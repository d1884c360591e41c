"""What ``fit`` and ``prior`` read alike: a table, pairs of its rows, and which columns to use."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import waiting

if TYPE_CHECKING:
    from likewise.io import Features, Pairs, Table

__all__ = [
    "DroppedNames",
    "FeatureNames",
    "IdColumn",
    "Inputs",
    "PairsPath",
    "TablePath",
    "read_inputs",
]

TablePath = Annotated[
    Path, typer.Argument(metavar="TABLE", help="Unlabeled rows with ids, .csv or .parquet.")
]
PairsPath = Annotated[
    Path, typer.Argument(metavar="PAIRS", help="Columns left, right[, relation] of ids.")
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", help="The id column; if not given, 'id' or else the first."),
]
FeatureNames = Annotated[
    str | None, typer.Option("--features", help="Learn from these columns only, as a,b,c.")
]
DroppedNames = Annotated[
    str | None, typer.Option("--drop", help="Leave these columns out, as x,y.")
]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Rows, the columns to learn from, and pairs of the rows.

    Attributes
    ----------
    table : Table
    features : Features
    X : array of shape (n_rows, n_columns)
        The chosen columns as they are in the file.
    pairs : Pairs
    """

    table: "Table"
    features: "Features"
    X: Any
    pairs: "Pairs"

    def pack(self) -> tuple[Any, Any]:
        """Return all rows and their weak labels."""
        from likewise import pack

        return pack(self.X, similar=self.pairs.similar, dissimilar=self.pairs.dissimilar)

    def transformer(self) -> Any:
        """Return what turns the chosen columns into features, not fitted.

        Numbers are standardised and text columns become categories.
        """
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        names, of_text = self.features.names, self.features.text
        if not of_text:
            return StandardScaler()
        text = [i for i, name in enumerate(names) if name in of_text]
        numbers = [i for i, name in enumerate(names) if name not in of_text]
        return ColumnTransformer(
            [
                ("numbers", StandardScaler(), numbers),
                ("text", OneHotEncoder(handle_unknown="ignore"), text),
            ]
        )

    def counts(self) -> dict[str, Any]:
        """Return what was read, for a summary."""
        return {
            "rows": len(self.table),
            "similar_pairs": len(self.pairs.similar),
            "features": list(self.features.names),
            "text_features": sorted(self.features.text),
        }


def read_inputs(
    table: Path, pairs: Path, *, id_column: str | None, features: str | None, drop: str | None
) -> Inputs:
    """Read a table and pairs of its rows, and choose the columns to learn from."""
    from likewise.io import choose_features, feature_matrix, read_pairs, read_table

    if features is not None and drop is not None:
        raise ValueError("Give either --features or --drop, not both.")
    with waiting("Reading"):
        rows = read_table(table, id_column=id_column)
        chosen = choose_features(rows, keep=_names(features), drop=_names(drop) or ())
        return Inputs(rows, chosen, feature_matrix(rows, chosen), read_pairs(pairs, rows))


def _names(text: str | None) -> list[str] | None:
    """Split ``a,b,c``; a name with a comma in it is quoted as in CSV."""
    return None if text is None else next(csv.reader([text]), [])
