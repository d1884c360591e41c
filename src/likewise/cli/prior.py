"""``likewise prior``: a table and pairs of its rows in, the share of the larger class out."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from likewise.cli.inputs import (
    DroppedNames,
    FeatureNames,
    IdColumn,
    PairsPath,
    TablePath,
    read_inputs,
)
from likewise.cli.terminal import Json, Seed, counting, show_json, waiting
from likewise.cli.wording import aligned, columns_in_words, interval_in_words, option_words

if TYPE_CHECKING:
    from likewise.prior import PriorEstimate

__all__ = ["Method", "prior"]


class Method(StrEnum):
    """How to estimate."""

    PAIR_LIKELIHOOD = "pair_likelihood"
    PAIR_MOMENTS = "pair_moments"
    KM1 = "km1"
    KM2 = "km2"


def prior(
    table: TablePath,
    pairs: PairsPath,
    method: Annotated[
        Method,
        typer.Option(help="pair_moments assumes less; km1 and km2 are the paper's."),
    ] = Method.PAIR_LIKELIHOOD,
    level: Annotated[
        float, typer.Option(help="Level of the interval, which km1 and km2 do not have.")
    ] = 0.95,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate the share of the larger class among the rows of TABLE from PAIRS of them.

    Numbers are standardised and text columns become categories, as `likewise fit` does it.
    """
    from sklearn.preprocessing import StandardScaler

    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1, as 0.95; got {level:g}.")
    inputs = read_inputs(table, pairs, id_column=id_column, features=features, drop=drop)
    rows, y = inputs.pack()
    transformed = inputs.transformer(StandardScaler()).fit_transform(rows)
    with option_words():
        estimate = _estimate(transformed, y, method, level, seed)
    interval = None if estimate.interval is None else list(estimate.interval)
    result = _Result(
        prior=estimate.value,
        interval=interval,
        level=None if interval is None else estimate.level,
        method=method.value,
        notes=list(estimate.diagnostics.get("notes", [])),
        **inputs.counts(),
    )
    if as_json:
        show_json(asdict(result))
    else:
        typer.echo(str(result))


def _estimate(X: Any, y: Any, method: Method, level: float, seed: int) -> "PriorEstimate":
    from likewise.prior import KernelMeanPrior, estimate_prior

    if method in {Method.PAIR_LIKELIHOOD, Method.PAIR_MOMENTS}:
        with waiting("Estimating"):
            return estimate_prior(X, y, method=method.value, level=level, random_state=seed)
    with counting("Estimating") as progress:
        variant: Literal["km1", "km2"] = "km1" if method is Method.KM1 else "km2"
        estimate: PriorEstimate = KernelMeanPrior(variant, progress=progress).fit(X, y).estimate_
        return estimate


@dataclass(frozen=True)
class _Result:
    """What was estimated and from what; the fields are those of ``--json``."""

    prior: float
    interval: list[float] | None
    level: float | None
    method: str
    notes: list[str]
    rows: int
    similar_pairs: int
    dissimilar_pairs: int
    features: list[str]
    text_features: list[str]

    def __str__(self) -> str:
        return aligned(
            [
                ("larger class", f"{self.prior:.1%} of the rows ({self._interval()})"),
                ("method", self.method),
                ("rows", f"{self.rows:,}"),
                ("similar pairs", f"{self.similar_pairs:,}"),
                ("dissimilar pairs", f"{self.dissimilar_pairs:,}"),
                ("columns", columns_in_words(self.features, self.text_features)),
                *(("note", note) for note in self.notes),
            ]
        )

    def _interval(self) -> str:
        if self.interval is None or self.level is None:
            return "this method has no interval"
        return interval_in_words(self.interval, self.level)
