"""``likewise predict``: a saved model and a table in, a class and a score per row out."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.deciding import are_signs, check_finite, confidence, naming_model
from likewise.cli.magnitudes import check_largest
from likewise.cli.options import TrustOption
from likewise.cli.terminal import STDOUT, Json, note, show_json, waiting

__all__ = ["predict"]


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model that `likewise fit` saved.")
    ],
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="Rows to classify, .csv or .parquet.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write, .csv or .parquet; else stdout."),
    ] = None,
    trust: TrustOption = None,
    as_json: Json = False,
) -> None:
    """Classify the rows of TABLE with MODEL: the columns id, prediction (-1 or +1) and score.

    Models of the pair method add the probability of +1. Where classes have names, or are more than
    two, prediction is the name or number of a class, and a column for each has its probability.
    Columns are matched by name; those that the model does not know are left aside.
    """
    from likewise.io import check_output, write_csv, write_table
    from likewise.io.files import blaming
    from likewise.io.wording import shown

    if output is not None:
        check_output(output, table=True, inputs=(model, table))
    with waiting("Classifying"):
        columns, classes = _classify(model, table, trust or ())
        if output is not None:
            write_table(output, columns)
    if as_json:
        show_json(_summary(columns, classes, output))
    elif output is None:
        with blaming(STDOUT):
            write_csv(sys.stdout, _escaped(columns) if sys.stdout.isatty() else columns)
    else:
        note(f"{len(columns['prediction']):,} predictions are in {shown(output)}.")


def _escaped(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns as a terminal may show them: what a cell holds must not command it."""
    import numpy as np

    from likewise.io.wording import escaped

    return {
        escaped(name): np.array(
            [escaped(cell) if isinstance(cell, str) else cell for cell in column.tolist()], object
        )
        for name, column in columns.items()
    }


def _classify(
    model_path: Path, table_path: Path, trusted: Sequence[str]
) -> tuple[dict[str, Any], list[Any]]:
    """Return the columns of the answer, and the classes that there are."""
    from likewise.io import feature_matrix, load_model, read_table
    from likewise.io.wording import listed

    model = load_model(model_path, trusted)
    table = read_table(
        table_path, id_column=model.id_column, text_columns=sorted(model.features.text)
    )
    rows = feature_matrix(table, model.features)
    check_largest(table, model.features, rows)
    known = frozenset(model.features.names)
    unused = [name for name in table.columns if name not in known]
    if unused:
        note(f"columns that the model was not fitted on are left aside: {listed(unused)}.")
    rows = model.as_fitted(rows)
    with naming_model(model_path, table_path):
        scores = confidence(model.estimator, rows)
        columns = {"id": table.ids, "prediction": model.estimator.predict(rows), **scores}
    check_finite(scores, model_path, table)
    return columns, model.estimator.classes_.tolist()


def _summary(columns: dict[str, Any], classes: list[Any], output: Path | None) -> dict[str, Any]:
    predicted = columns["prediction"]
    shares = {label: float((predicted == label).mean()) for label in classes}
    summary: dict[str, Any] = {"rows": len(predicted)}
    if are_signs(classes):
        summary["positive_share"] = shares[1]
    else:
        summary["class_shares"] = shares
    if output is not None:
        return {**summary, "output": str(output)}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {**summary, "predictions": [dict(zip(columns, row, strict=True)) for row in rows]}
