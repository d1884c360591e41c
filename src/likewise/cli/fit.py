"""``likewise fit``: a table and pairs of its rows in, a saved classifier out."""

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.terminal import Json, Seed, show_json, waiting

if TYPE_CHECKING:
    from likewise.io import Features, Pairs

__all__ = ["fit"]

_PAPER_ALPHAS = ["0.1,1e-4,1e-7"]


class LossName(StrEnum):
    """The losses to choose from."""

    SQUARED = "squared"
    LOGISTIC = "logistic"
    DOUBLE_HINGE = "double_hinge"


def fit(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="Unlabeled rows with ids, .csv or .parquet.")
    ],
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Columns left, right[, relation] of ids.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to save the model.")],
    prior: Annotated[
        float | None, typer.Option(help="Share of class +1 among the rows, not 0.5.")
    ] = None,
    loss: Annotated[LossName, typer.Option(help="The loss to learn with.")] = LossName.SQUARED,
    alpha: Annotated[
        list[str],
        typer.Option(
            metavar="NUMBERS", help="Penalty; of several, as 0.1,0.001, cross-validation chooses."
        ),
    ] = _PAPER_ALPHAS,
    id_column: Annotated[
        str | None,
        typer.Option("--id", help="The id column; if not given, 'id' or else the first."),
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="Learn from these columns only, as a,b,c.")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="Leave these columns out, as x,y.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Learn a classifier from the rows of TABLE and PAIRS of them known to be of one class.

    Numbers are standardised and text columns become categories, inside the saved model.
    """
    from likewise.io import (
        Model,
        check_output,
        choose_features,
        feature_matrix,
        read_pairs,
        read_table,
        save_model,
    )

    check_output(output)
    _check_prior(prior)
    alphas = _numbers(alpha)
    if features is not None and drop is not None:
        raise ValueError("Give either --features or --drop, not both.")
    with waiting("Reading"):
        rows = read_table(table, id_column=id_column)
        chosen = choose_features(rows, keep=_names(features), drop=_names(drop) or ())
        X = feature_matrix(rows, chosen)
        linked = read_pairs(pairs, rows)
    n_folds = min(5, len(linked.similar), len(rows))
    classifier = _classifier(n_folds, loss=loss.value, prior=prior, alphas=alphas, seed=seed)
    pipeline = _pipeline(chosen, classifier)
    with waiting("Fitting"):
        risk_error = _fit(pipeline, X, linked)
        save_model(output, Model(pipeline, chosen, rows.id_column))
        summary = _Summary(
            model=str(output),
            rows=len(rows),
            similar_pairs=len(linked.similar),
            features=list(chosen.names),
            text_features=sorted(chosen.text),
            loss=loss.value,
            prior=classifier.prior_,
            alpha=getattr(classifier, "alpha_", alphas[0]),
            cv_risk=None if risk_error is None else -classifier.best_score_,
            cv_risk_standard_error=risk_error,
            positive_share=float((pipeline.predict(X) == 1).mean()),
        )
    if as_json:
        show_json(asdict(summary))
    else:
        typer.echo(str(summary))


def _classifier(
    n_folds: int, *, loss: str, prior: float | None, alphas: Sequence[float], seed: int
) -> Any:
    """Return a classifier, not fitted, that chooses its alpha where pairs allow it."""
    from likewise import PairKFold, SUClassifier, SUClassifierCV

    if n_folds > 1:
        folds = PairKFold(n_folds, shuffle=True, random_state=seed)
        return SUClassifierCV(loss, prior=prior, alphas=tuple(alphas), cv=folds)
    if n_folds == 1 and len(alphas) > 1:  # no similar pair at all is for the library to refuse
        raise ValueError(
            "Choosing among several alphas needs at least two pairs; give one alpha with --alpha."
        )
    return SUClassifier(loss, prior=prior, alpha=alphas[0])


def _pipeline(features: "Features", classifier: Any) -> Any:
    """Return what turns the chosen columns into features and classifies them, not fitted."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if not features.text:
        return make_pipeline(StandardScaler(), classifier)
    text = [i for i, name in enumerate(features.names) if name in features.text]
    numbers = [i for i, name in enumerate(features.names) if name not in features.text]
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("text", OneHotEncoder(handle_unknown="ignore"), text),
        ]
    )
    return make_pipeline(columns, classifier)


def _fit(pipeline: Any, X: Any, pairs: "Pairs") -> float | None:
    """Fit, and return the standard error of an SU risk on so many pairs and rows.

    The spread over a few folds would be too rough a standard error; one pair has none.
    """
    from likewise import pack, su_risk

    rows, y = pack(X, similar=pairs.similar, dissimilar=pairs.dissimilar)
    try:
        pipeline.fit(rows, y)
    except ValueError as error:
        raise _naming_option(error) from error
    if len(pairs.similar) < 2:
        return None
    risk = su_risk(y, pipeline.decision_function(rows), prior=pipeline[-1].prior_)
    return risk.standard_error


def _check_prior(prior: float | None) -> None:
    """Refuse a prior that cannot be, before any file is read."""
    from likewise.risk import check_prior

    try:
        if prior is not None:
            check_prior(prior)
    except ValueError as error:
        raise _naming_option(error) from error


def _naming_option(error: ValueError) -> ValueError:
    """Say which option the library's sentence is about."""
    return ValueError(f"--prior: {error}") if "prior" in str(error) else error


def _names(text: str | None) -> list[str] | None:
    """Split ``a,b,c``; a name with a comma in it is quoted as in CSV."""
    return None if text is None else next(csv.reader([text]), [])


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

    def __str__(self) -> str:
        text = f" ({len(self.text_features)} of text)" if self.text_features else ""
        lines = {
            "rows": f"{self.rows:,}",
            "similar pairs": f"{self.similar_pairs:,}",
            "features": f"{len(self.features):,}{text}",
            "loss, prior": f"{self.loss}, {self.prior:g}",
            "alpha": f"{self.alpha:g}",
            "error rate": self._error_rate(),
            "predicted +1": f"{self.positive_share:.1%} of the rows",
            "model": self.model,
        }
        return "\n".join(f"{name:<15}{value}" for name, value in lines.items())

    def _error_rate(self) -> str:
        if self.cv_risk is None:
            return "unknown (cross-validation needs at least two pairs)"
        return (
            f"{self.cv_risk:.1%} ± {self.cv_risk_standard_error:.1%} "
            "(cross-validated SU risk: no labels used, chance can take it below zero)"
        )
