"""What commands read alike: a table, pairs of its rows, and which columns to use."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import waiting

if TYPE_CHECKING:
    from likewise.io import Features, Model, Pairs, Table

__all__ = [
    "DroppedNames",
    "FeatureNames",
    "IdColumn",
    "Inputs",
    "PairsPath",
    "TablePath",
    "read_inputs",
    "read_inputs_of",
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

    def transformer(self, numbers: Any) -> Any:
        """Return what turns the chosen columns into features, not fitted.

        Text columns become categories.

        Parameters
        ----------
        numbers : transformer, or "passthrough"
            What to do with columns of numbers.
        """
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder

        names, of_text = self.features.names, self.features.text
        if not of_text:
            return numbers
        places = {
            kind: [i for i, name in enumerate(names) if (name in of_text) == kind]
            for kind in (False, True)
        }
        categories = OneHotEncoder(handle_unknown="ignore")
        return ColumnTransformer(
            [("numbers", numbers, places[False]), ("text", categories, places[True])]
        )

    def counts(self) -> dict[str, Any]:
        """Return what was read, for a summary."""
        return {
            "rows": len(self.table),
            "similar_pairs": len(self.pairs.similar),
            "dissimilar_pairs": len(self.pairs.dissimilar),
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


def read_inputs_of(model: "Model", table: Path, pairs: Path) -> Inputs:
    """Read a table and pairs of its rows, with the columns that a model was fitted on."""
    from likewise.io import feature_matrix, read_pairs, read_table

    with waiting("Reading"):
        chosen = model.features
        rows = read_table(table, id_column=model.id_column, text_columns=sorted(chosen.text))
        return Inputs(rows, chosen, feature_matrix(rows, chosen), read_pairs(pairs, rows))


def _names(text: str | None) -> list[str] | None:
    """Split ``a,b,c``; a name with a comma in it is quoted as in CSV."""
    return None if text is None else next(csv.reader([text]), [])
