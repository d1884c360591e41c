"""``likewise predict``: a saved model and a table in, a class and a score per row out."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

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
    import numpy as np

    from likewise.io import feature_matrix, load_model, read_table
    from likewise.io.wording import first_line, listed, shown

    model = load_model(model_path, trusted)
    table = read_table(
        table_path, id_column=model.id_column, text_columns=sorted(model.features.text)
    )
    unused = [name for name in table.columns if name not in model.features.names]
    if unused:
        note(f"columns that the model was not fitted on are left aside: {listed(unused)}.")
    rows = feature_matrix(table, model.features)
    check_largest(table, model.features, rows)
    rows = model.as_fitted(rows)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # whatever comes of it is looked at
            confidence = _confidence(model.estimator, rows)
            columns = {"id": table.ids, "prediction": model.estimator.predict(rows), **confidence}
    except ValueError as error:
        raise ValueError(
            f"{shown(model_path)} cannot classify the rows of {shown(table_path)}: "
            f"{first_line(error)}."
        ) from error
    for column in confidence.values():
        if not np.isfinite(column).all():
            key = table.keys[int(np.isfinite(column).argmin())].as_py()
            raise ValueError(
                f"{shown(model_path)} gives the row with id '{shown(key)}' of {shown(table_path)} "
                "a score that is no finite number: correct the row, or fit the model again."
            )
    return columns, model.estimator.classes_.tolist()


def _confidence(estimator: Any, rows: Any) -> dict[str, Any]:
    """Return the columns that say how sure a prediction is."""
    if not _are_signs(estimator.classes_.tolist()):
        return {
            f"probability_{label}": probability
            for label, probability in zip(
                estimator.classes_, estimator.predict_proba(rows).T, strict=True
            )
        }
    columns = {"score": estimator.decision_function(rows)}
    if hasattr(estimator, "predict_proba"):
        columns["probability"] = estimator.predict_proba(rows)[:, 1]
    return columns


def _are_signs(classes: list[Any]) -> bool:
    """Tell whether classes are -1 and +1, without names."""
    return classes == [-1, 1]


def _summary(columns: dict[str, Any], classes: list[Any], output: Path | None) -> dict[str, Any]:
    predicted = columns["prediction"]
    shares = {label: float((predicted == label).mean()) for label in classes}
    summary: dict[str, Any] = {"rows": len(predicted)}
    if _are_signs(classes):
        summary["positive_share"] = shares[1]
    else:
        summary["class_shares"] = shares
    if output is not None:
        return {**summary, "output": str(output)}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return {**summary, "predictions": [dict(zip(columns, row, strict=True)) for row in rows]}
