"""How long it takes to import the library, against scikit-learn."""

from functools import partial

from benchmarks.measure import import_seconds, least
from benchmarks.table import Limit, Row, Table, seconds

_FRONT_DOOR = ("import likewise", "import sklearn")
_FIRST_USE = (
    "from likewise import SUClassifierCV",
    "from sklearn.linear_model import LogisticRegressionCV",
)


def measure(repeats: int) -> Table:
    """Time the bare imports, and those of a classifier since ours are loaded on first use."""
    statements = (*_FRONT_DOOR, *_FIRST_USE)
    meters = {statement: partial(import_seconds, statement) for statement in statements}
    least(meters, 1)  # warms the caches of the disk
    best = least(meters, repeats)
    row = partial(_row, best)
    return Table(
        "import_time: imports in a fresh interpreter",
        "ratio",
        (row(*_FRONT_DOOR, Limit(highest=1.5)), row(*_FIRST_USE, None)),
        (
            f"Best of {repeats}, taking turns; the start of the interpreter is not counted. "
            "`import likewise` loads nothing until it is used, so the second row shows what the "
            "first use costs.",
        ),
    )


def _row(best: dict[str, float], ours: str, rival: str, limit: Limit | None) -> Row:
    return Row(
        f"`{ours}`",
        seconds(best[ours]),
        f"`{rival}`: {seconds(best[rival])}",
        best[ours] / best[rival],
        limit,
    )
