"""``likewise prior``: a table and statements about its rows in, shares of the classes out."""

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
    chosen_columns,
    packed,
    read_inputs,
)
from likewise.cli.magnitudes import check_magnitudes
from likewise.cli.options import (
    CountOption,
    ErrorsOption,
    PairingOption,
    check_level,
    refuse_given,
    statement_settings,
)
from likewise.cli.terminal import Json, Seed, counting, say, show_json, waiting
from likewise.cli.wording import (
    aligned,
    columns_in_words,
    interval_in_words,
    option_words,
    statements_in_words,
)

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
    classes: CountOption = None,
    pairing: PairingOption = None,
    errors: ErrorsOption = None,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate the share of the majority class among the rows of TABLE from PAIRS of them.

    Of more than two classes, the shares of all of them, by size. Numbers are standardized and
    text columns become categories, as `likewise fit` does it. --classes, --pairing and --errors are
    options of the method pair_likelihood, and pairing is not tested there.
    """
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    check_level(level)
    if method is not Method.PAIR_LIKELIHOOD:
        given: dict[str, Any] = {"--classes": classes, "--pairing": pairing, "--errors": errors}
        refuse_given(given, "is an option of the method pair_likelihood: leave out --method.")
    settings = statement_settings(classes, pairing, errors)
    inputs = read_inputs(table, pairs, **chosen_columns(id_column, features, drop))
    check_magnitudes(inputs.table, inputs.features, inputs.X)
    rows, y = packed(inputs)
    transformed = inputs.transformer(StandardScaler()).fit_transform(rows)
    with option_words(inputs.id_of):
        estimate = _estimate(transformed, y, method, settings, level=level, seed=seed)
    interval = None if estimate.interval is None else np.asarray(estimate.interval).tolist()
    result = _Result(
        prior=np.asarray(estimate.value).tolist(),
        interval=interval,
        level=None if interval is None else estimate.level,
        method=method.value,
        notes=list(estimate.diagnostics.get("notes", [])),
        **inputs.counts(),
    )
    if as_json:
        show_json(asdict(result))
    else:
        say(str(result))


def _estimate(
    X: Any, y: Any, method: Method, settings: dict[str, Any], *, level: float, seed: int
) -> "PriorEstimate":
    from likewise.prior import KernelMeanPrior, PairLikelihoodPrior, PairMomentPrior

    common: dict[str, Any] = {"level": level, "random_state": seed}
    estimate: PriorEstimate
    if method in {Method.PAIR_LIKELIHOOD, Method.PAIR_MOMENTS}:
        estimator: Any = PairMomentPrior(**common)
        with waiting("Estimating"):
            if method is Method.PAIR_LIKELIHOOD:
                settings = {**settings, "n_classes": _number(X, y, settings, seed)}
                estimator = PairLikelihoodPrior(**settings, **common)
            estimate = estimator.fit(X, y).estimate_
            return estimate
    with counting("Estimating") as progress:
        variant: Literal["km1", "km2"] = "km1" if method is Method.KM1 else "km2"
        estimate = KernelMeanPrior(variant, progress=progress).fit(X, y).estimate_
        return estimate


def _number(X: Any, y: Any, settings: dict[str, Any], seed: int) -> int:
    """Return the number of classes, given or chosen by held-out pairs."""
    from likewise import PairClassifier

    if settings["n_classes"] != "auto":
        return int(settings["n_classes"])
    return int(PairClassifier(**settings, random_state=seed).fit(X, y).n_classes_)


@dataclass(frozen=True)
class _Result:
    """What was estimated and from what; the fields are those of ``--json``.

    `prior` and `interval` are those of the majority class, or lists over more than two classes.
    """

    prior: Any
    interval: list[Any] | None
    level: float | None
    method: str
    notes: list[str]
    rows: int
    similar_pairs: int
    dissimilar_pairs: int
    groups: int
    features: list[str]
    text_features: list[str]

    def __str__(self) -> str:
        return aligned(
            [
                *self._shares(),
                ("method", self.method),
                ("rows", f"{self.rows:,}"),
                *statements_in_words(self.similar_pairs, self.dissimilar_pairs, self.groups),
                ("columns", columns_in_words(self.features, self.text_features)),
                *(("note", note) for note in self.notes),
            ]
        )

    def _shares(self) -> list[tuple[str, str]]:
        if not isinstance(self.prior, list):
            return [("majority class", self._share(self.prior, self.interval))]
        intervals = self.interval or [None] * len(self.prior)
        return [
            (f"class {number}", self._share(*found))
            for number, found in enumerate(zip(self.prior, intervals, strict=True))
        ]

    def _share(self, value: float, interval: list[float] | None) -> str:
        words = "this method has no interval"
        if interval is not None and self.level is not None:
            words = interval_in_words(interval, self.level)
        return f"{value:.1%} of the rows ({words})"
