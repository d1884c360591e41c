"""What a saved model makes of the rows of a table, and a plain word where it can make nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise.io.tables import Table

__all__ = ["are_signs", "check_finite", "confidence", "naming_model"]


@contextmanager
def naming_model(model: Path, table: Path) -> Iterator[None]:
    """Name model and table in whatever goes wrong; what overflows is left for `check_finite`.

    Parameters
    ----------
    model, table : Path
    """
    import numpy as np

    from likewise.io.wording import first_line, shown

    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ValueError as error:
        raise ValueError(
            f"{shown(model)} cannot classify the rows of {shown(table)}: {first_line(error)}."
        ) from error


def confidence(estimator: Any, rows: Any) -> dict[str, Any]:
    """Return the columns that say how sure a prediction is.

    Parameters
    ----------
    estimator : fitted classifier
    rows : table of shape (n_rows, n_columns)
    """
    if not are_signs(estimator.classes_.tolist()):
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


def are_signs(classes: list[Any]) -> bool:
    """Tell whether classes are -1 and +1, without names."""
    return classes == [-1, 1]


def check_finite(columns: dict[str, Any], model: Path, table: "Table") -> None:
    """Refuse scores that are no finite numbers, naming the row.

    Parameters
    ----------
    columns : dict from str to array of shape (n_rows,)
    model : Path
    table : Table
        With the rows, in their order.
    """
    import numpy as np

    from likewise.io.wording import shown

    for column in columns.values():
        if not np.isfinite(column).all():
            key = table.keys[int(np.isfinite(column).argmin())].as_py()
            raise ValueError(
                f"{shown(model)} gives the row with id '{shown(key)}' of {shown(table.path)} a "
                "score that is no finite number: correct the row, or fit the model again."
            )
