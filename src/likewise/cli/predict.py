"""``likewise predict``: a saved model and a table in, a class and a score per row out."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from likewise.cli.terminal import Json, note, show_json, waiting

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
    as_json: Json = False,
) -> None:
    """Classify the rows of TABLE with MODEL: the columns id, prediction (-1 or +1) and score.

    Columns are matched by name; those that the model does not know are left aside.
    """
    from likewise.io import check_output, write_csv, write_table

    if output is not None:
        check_output(output, table=True)
    with waiting("Classifying"):
        columns = _classify(model, table)
        if output is not None:
            write_table(output, columns)
    if as_json:
        show_json(_summary(columns, output))
    elif output is None:
        write_csv(sys.stdout, columns)
    else:
        note(f"{len(columns['prediction']):,} predictions are in {output}.")


def _classify(model_path: Path, table_path: Path) -> dict[str, Any]:
    """Return the columns of the answer."""
    from likewise.io import feature_matrix, load_model, read_table

    model = load_model(model_path)
    table = read_table(
        table_path, id_column=model.id_column, text_columns=sorted(model.features.text)
    )
    unused = [name for name in table.columns if name not in model.features.names]
    if unused:
        note(f"columns that the model was not fitted on are left aside: {', '.join(unused)}.")
    rows = feature_matrix(table, model.features)
    return {
        "id": table.ids,
        "prediction": model.estimator.predict(rows),
        "score": model.estimator.decision_function(rows),
    }


def _summary(columns: dict[str, Any], output: Path | None) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "rows": len(columns["prediction"]),
        "positive_share": float((columns["prediction"] == 1).mean()),
    }
    if output is not None:
        return {**summary, "output": str(output)}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {**summary, "predictions": [dict(zip(columns, row, strict=True)) for row in rows]}
