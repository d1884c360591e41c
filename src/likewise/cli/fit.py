"""``likewise fit``: a table and pairs of its rows in, a saved classifier out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.inputs import (
    DroppedNames,
    FeatureNames,
    IdColumn,
    PairsPath,
    TablePath,
    read_inputs,
)
from likewise.cli.terminal import Json, Seed, show_json, waiting

if TYPE_CHECKING:
    from likewise.cli.inputs import Inputs

__all__ = ["fit"]

_PAPER_ALPHAS = ["0.1,1e-4,1e-7"]


class PositiveClass(StrEnum):
    """Which class is +1 where nobody has said what its share is."""

    MAJORITY = "majority"
    MINORITY = "minority"


class LossName(StrEnum):
    """The losses to choose from."""

    SQUARED = "squared"
    LOGISTIC = "logistic"
    DOUBLE_HINGE = "double_hinge"


def fit(
    table: TablePath,
    pairs: PairsPath,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")],
    prior: Annotated[
        float | None,
        typer.Option(help="Share of class +1 among the rows, not 0.5; by default estimated."),
    ] = None,
    positive: Annotated[
        PositiveClass | None,
        typer.Option(
            help="Which class is +1 where the prior is estimated: majority, if not given."
        ),
    ] = None,
    loss: Annotated[LossName, typer.Option(help="The loss to learn with.")] = LossName.SQUARED,
    alpha: Annotated[
        list[str],
        typer.Option(
            metavar="NUMBERS", help="Penalty; of several, as 0.1,0.001, cross-validation chooses."
        ),
    ] = _PAPER_ALPHAS,
    id_column: IdColumn = None,
    features: FeatureNames = None,
    drop: DroppedNames = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Learn a classifier from the rows of TABLE and PAIRS of them known to be of one class.

    Numbers are standardised and text columns become categories, inside the saved model.
    """
    from sklearn.pipeline import make_pipeline

    from likewise.io import Model, check_output, save_model

    check_output(output)
    _check_prior(prior, positive)
    alphas = _numbers(alpha)
    inputs = read_inputs(table, pairs, id_column=id_column, features=features, drop=drop)
    n_folds = min(5, len(inputs.pairs.similar), len(inputs.table))
    classifier = _classifier(
        n_folds,
        loss=loss.value,
        alphas=alphas,
        seed=seed,
        prior=_prior_estimator(seed) if prior is None else prior,
        positive=(positive or PositiveClass.MAJORITY).value,
    )
    pipeline = make_pipeline(inputs.transformer(), classifier)
    with waiting("Fitting"):
        risk_error = _fit(pipeline, inputs)
        save_model(output, Model(pipeline, inputs.features, inputs.table.id_column))
        summary = _Summary(
            model=str(output),
            **inputs.counts(),
            loss=loss.value,
            **_prior_facts(classifier, positive),
            alpha=getattr(classifier, "alpha_", alphas[0]),
            cv_risk=None if risk_error is None else -classifier.best_score_,
            cv_risk_standard_error=risk_error,
            positive_share=float((pipeline.predict(inputs.X) == 1).mean()),
        )
    if as_json:
        show_json(asdict(summary))
    else:
        typer.echo(str(summary))


def _classifier(
    n_folds: int, *, loss: str, alphas: Sequence[float], seed: int, prior: Any, positive: str
) -> Any:
    """Return a classifier, not fitted, that chooses its alpha where pairs allow it."""
    from likewise import PairKFold, SUClassifier, SUClassifierCV

    if n_folds > 1:
        folds = PairKFold(n_folds, shuffle=True, random_state=seed)
        return SUClassifierCV(loss, prior=prior, positive=positive, alphas=tuple(alphas), cv=folds)
    if n_folds == 1 and len(alphas) > 1:  # no similar pair at all is for the library to refuse
        raise ValueError(
            "Choosing among several alphas needs at least two pairs; give one alpha with --alpha."
        )
    return SUClassifier(loss, prior=prior, positive=positive, alpha=alphas[0])


def _prior_estimator(seed: int) -> Any:
    """Return the default estimator of the library, not fitted, with the seed of this run."""
    from likewise.prior import PairMomentPrior

    return PairMomentPrior(random_state=seed)


def _prior_facts(classifier: Any, positive: PositiveClass | None) -> dict[str, Any]:
    """Return the prior and, where it was estimated, what is known of the estimate."""
    estimate = classifier.prior_estimate_
    if estimate is None:
        return {"prior": classifier.prior_}
    return {
        "prior": classifier.prior_,
        "prior_interval": list(classifier.prior_interval_),
        "prior_level": estimate.level,
        "prior_method": estimate.method,
        "prior_notes": list(estimate.diagnostics.get("notes", [])),
        "positive": (positive or PositiveClass.MAJORITY).value,
    }


def _fit(pipeline: Any, inputs: "Inputs") -> float | None:
    """Fit, and return the standard error of an SU risk on so many pairs and rows.

    The spread over a few folds would be too rough a standard error; one pair has none.
    """
    from likewise import su_risk

    rows, y = inputs.pack()
    try:
        pipeline.fit(rows, y)
    except ValueError as error:
        raise _naming_option(error) from error
    if len(inputs.pairs.similar) < 2:
        return None
    risk = su_risk(y, pipeline.decision_function(rows), prior=pipeline[-1].prior_)
    return risk.standard_error


def _check_prior(prior: float | None, positive: PositiveClass | None) -> None:
    """Refuse a prior that cannot be, before any file is read."""
    from likewise.risk import check_prior

    if prior is not None and positive is not None:
        raise ValueError(
            "Give either --prior or --positive, not both: a prior above 0.5 means that the larger "
            "class is +1, one below 0.5 the smaller."
        )
    try:
        if prior is not None:
            check_prior(prior)
    except ValueError as error:
        raise _naming_option(error) from error


def _naming_option(error: ValueError) -> ValueError:
    """Say which option the library's sentence is about."""
    return ValueError(f"--prior: {error}") if "prior" in str(error) else error


def _numbers(texts: Sequence[str]) -> tuple[float, ...]:
    listed = ",".join(texts)
    try:
        return tuple(float(part) for part in listed.split(","))
    except ValueError:
        raise ValueError(f"--alpha takes numbers, as 0.1,0.001, but got {listed!r}.") from None


@dataclass(frozen=True)
class _Summary:
    """What a fit came to; the fields are those of ``--json``."""

    model: str
    rows: int
    similar_pairs: int
    features: list[str]
    text_features: list[str]
    loss: str
    prior: float
    alpha: float
    cv_risk: float | None
    cv_risk_standard_error: float | None
    positive_share: float
    prior_interval: list[float] | None = None
    prior_level: float | None = None
    prior_method: str = "given"
    prior_notes: list[str] = field(default_factory=list)
    positive: str | None = None

    def __str__(self) -> str:
        text = f" ({len(self.text_features)} of text)" if self.text_features else ""
        lines = {
            "rows": f"{self.rows:,}",
            "similar pairs": f"{self.similar_pairs:,}",
            "features": f"{len(self.features):,}{text}",
            "loss": self.loss,
            "prior of +1": self._prior(),
            "alpha": f"{self.alpha:g}",
            "error rate": self._error_rate(),
            "predicted +1": f"{self.positive_share:.1%} of the rows",
            "model": self.model,
        }
        return "\n".join(f"{name:<15}{value}" for name, value in lines.items())

    def _prior(self) -> str:
        if self.prior_interval is None or self.prior_level is None:
            return f"{self.prior:g}, as given"
        low, high = self.prior_interval
        which = "larger" if self.positive == PositiveClass.MAJORITY else "smaller"
        line = (
            f"{self.prior:.3f}, estimated ({100 * self.prior_level:g} % interval {low:.3f} to "
            f"{high:.3f}); +1 is the {which} class"
        )
        return "; ".join([line, *self.prior_notes])

    def _error_rate(self) -> str:
        if self.cv_risk is None:
            return "unknown (cross-validation needs at least two pairs)"
        return (
            f"{self.cv_risk:.1%} ± {self.cv_risk_standard_error:.1%} "
            "(cross-validated SU risk: no labels used, chance can take it below zero)"
        )
