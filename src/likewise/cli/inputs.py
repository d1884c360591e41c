"""What commands read alike: a table, statements about its rows, and which columns to use."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import note, waiting

if TYPE_CHECKING:
    from likewise.io import Inputs, Model

__all__ = [
    "DroppedNames",
    "FeatureNames",
    "IdColumn",
    "PairsPath",
    "TablePath",
    "chosen_columns",
    "packed",
    "read_inputs",
    "read_inputs_of",
]

TablePath = Annotated[
    Path, typer.Argument(metavar="TABLE", help="Unlabeled rows with ids, .csv or .parquet.")
]
PairsPath = Annotated[
    Path,
    typer.Argument(
        metavar="PAIRS",
        help="Columns left, right[, relation] of ids; or id, group: who is alike; or a file of "
        "`likewise ask`.",
    ),
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


def chosen_columns(id_column: str | None, features: str | None, drop: str | None) -> dict[str, Any]:
    """Return the options that choose columns as arguments of `likewise.io.read_inputs`."""
    if features is not None and drop is not None:
        raise ValueError("Give either --features or --drop, not both.")
    return {
        "id_column": id_column,
        "keep": None if features is None else _names(features, "--features"),
        "drop": () if drop is None else _names(drop, "--drop"),
    }


def read_inputs(table: Path, pairs: Path, **columns: Any) -> "Inputs":
    """Read a table and statements about its rows; see `chosen_columns` for the columns."""
    from likewise.io import read_inputs as read

    with waiting("Reading"):
        inputs = read(table, pairs, **columns)
    return _noted(inputs)


def read_inputs_of(model: "Model", table: Path, pairs: Path) -> "Inputs":
    """Read a table and statements about its rows, with the columns that a model was fitted on."""
    from likewise.io import read_inputs_of as read

    with waiting("Reading"):
        inputs = read(model, table, pairs)
    return _noted(inputs)


def _noted(inputs: "Inputs") -> "Inputs":
    for sentence in inputs.pairs.notes:
        note(sentence)
    return inputs


def packed(inputs: "Inputs") -> tuple[Any, Any]:
    """Return the rows, of which none is copied, and their weak labels."""
    from likewise import pack

    return pack(inputs.X, **inputs.statements)


def _names(text: str, option: str) -> list[str]:
    """Split ``a,b,c``, in one line or several; a name with a comma in it is quoted as in CSV."""
    try:
        return [name for line in csv.reader(io.StringIO(text, newline="")) for name in line]
    except csv.Error as error:
        from likewise.io.wording import listed

        raise ValueError(f"{option} takes names, as a,b,c, but got {listed([text])}.") from error
