"""What is learned from: a table, the columns to use, and what a second file says about its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from likewise.io.features import Features, check_lengths, choose_features, feature_matrix
from likewise.io.files import PathName
from likewise.io.models import Model
from likewise.io.pairs import Pairs, read_pairs
from likewise.io.tables import Table, read_table

__all__ = ["Inputs", "read_inputs", "read_inputs_of"]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Rows, the columns to learn from, and statements about the rows.

    Attributes
    ----------
    table : Table
        Its ids; the columns are in `X`, and nowhere else.
    features : Features
    X : array of shape (n_rows, n_columns)
        The chosen columns as they are in the file.
    pairs : Pairs
    weights : array of shape (n_rows,), or None
        Of the rows, where a column holds such.
    """

    table: Table
    features: Features
    X: Any
    pairs: Pairs
    weights: Any = field(default=None, kw_only=True)

    @property
    def statements(self) -> dict[str, Any]:
        """What is said about the rows of `X`, as `likewise.pack` takes it."""
        return {"similar": self.pairs.similar, "dissimilar": self.pairs.dissimilar}

    @property
    def is_one_table(self) -> bool:
        """Whether pairs are statements about the rows of the table: here they always are."""
        return True

    def id_of(self, row: int) -> str:
        """Return the id of a row, as text."""
        return str(self.table.keys[row].as_py())

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
        text = ("text", categories, places[True])
        return ColumnTransformer(
            [("numbers", numbers, places[False]), text] if places[False] else [text]
        )

    def counts(self) -> dict[str, Any]:
        """Return what was read, for a summary."""
        n_similar, are_groups = len(self.pairs.similar), self.pairs.are_groups
        return {
            "rows": len(self.table),
            "similar_pairs": 0 if are_groups else n_similar,
            "dissimilar_pairs": len(self.pairs.dissimilar),
            "groups": n_similar if are_groups else 0,
            "features": list(self.features.names),
            "text_features": sorted(self.features.text),
        }


def read_inputs(
    table: PathName,
    pairs: PathName,
    *,
    id_column: str | None = None,
    keep: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    gaps: bool = False,
    weight: str | None = None,
) -> Inputs:
    """Read a table and statements about its rows, and choose the columns to learn from.

    Parameters
    ----------
    table, pairs : paths
    id_column, keep, drop, gaps
        As in `read_table` and `choose_features`.
    weight : str, optional
        The column with weights of the rows, which is no feature.

    Returns
    -------
    Inputs
    """
    rows = read_table(table, id_column=id_column)
    others = drop if weight is None else [*drop, weight]
    chosen = choose_features(rows, keep=keep, drop=others, gaps=gaps)
    check_lengths(rows, chosen)
    inputs = _joined(rows, chosen, pairs)
    if weight is None:
        return inputs
    return replace(inputs, weights=feature_matrix(rows, Features((weight,)))[:, 0])


def read_inputs_of(model: Model, table: PathName, pairs: PathName) -> Inputs:
    """Read a table and statements about its rows, with the columns that a model was fitted on."""
    chosen = model.features
    rows = read_table(table, id_column=model.id_column, text_columns=sorted(chosen.text))
    return _joined(rows, chosen, pairs)


def _joined(rows: Table, chosen: Features, pairs: PathName) -> Inputs:
    said = read_pairs(pairs, rows)  # first: what is wrong there is found at once
    matrix = feature_matrix(rows, chosen)
    return Inputs(replace(rows, columns={}), chosen, matrix, said)  # every value in memory once
