"""The paper's method for ``fit``: the classifier with the options given, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from likewise.cli.inputs import packed
from likewise.cli.wording import (
    aligned,
    columns_in_words,
    interval_in_words,
    statements_in_words,
)

if TYPE_CHECKING:
    from likewise.io import Inputs

__all__ = [
    "LossName",
    "RewriteName",
    "SUSummary",
    "check_consistent",
    "check_prior_option",
    "su_pipeline",
    "summarise_su",
]

PAPER_ALPHAS = (0.1, 1e-4, 1e-7)


class LossName(StrEnum):
    """The losses to choose from."""

    SQUARED = "squared"
    LOGISTIC = "logistic"
    DOUBLE_HINGE = "double_hinge"


class RewriteName(StrEnum):
    """Which rows the risk is made of: similar (s) and dissimilar (d) pairs, all rows (u)."""

    AUTO = "auto"
    SU = "su"
    DU = "du"
    SD = "sd"
    SDU = "sdu"


def check_prior_option(prior: float | None, positive: str | None) -> None:
    """Refuse a prior that cannot be, before any file is read."""
    from likewise.su.risk import check_prior

    if prior is None:
        return
    if positive is not None:
        raise ValueError(
            "Give either --prior or --positive, not both: a prior above 0.5 means that +1 is the "
            "majority class, one below 0.5 that it is the minority class."
        )
    try:
        check_prior(prior)
    except ValueError as error:
        raise ValueError(f"--prior: {error}") from error


def su_pipeline(
    inputs: "Inputs",
    *,
    seed: int,
    loss: str,
    alphas: Sequence[float],
    prior: float | None,
    positive: str,
    level: float = 0.95,
    rewrite: str = "auto",
) -> Any:
    """Return a pipeline, not fitted, from the columns of a table to classes -1 and +1."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from likewise import SUClassifier, SUClassifierCV
    from likewise.prior import PairLikelihoodPrior
    from likewise.su.validation import usable_folds

    chosen: Any = prior
    if prior is None:
        chosen = PairLikelihoodPrior(level=level, random_state=seed)
    common: dict[str, Any] = {"prior": chosen, "positive": positive, "rewrite": rewrite}
    folds = usable_folds(packed(inputs)[1], rewrite=rewrite, random_state=seed)
    if folds is not None:
        classifier: Any = SUClassifierCV(loss, alphas=tuple(alphas), cv=folds, **common)
    elif len(alphas) > 1:
        raise ValueError(
            "Choosing among several alphas needs at least two pairs of every kind that do not hang "
            "together; give one alpha with --alpha."
        )
    else:
        classifier = SUClassifier(loss, alpha=alphas[0], **common)
    return make_pipeline(inputs.transformer(StandardScaler()), classifier)


def check_consistent(inputs: "Inputs") -> None:
    """Refuse statements that contradict each other, of which the risk would make something."""
    from likewise.beliefs.components import ContradictionError, contract
    from likewise.statements.labels import read_labels

    try:
        contract(read_labels(packed(inputs)[1]), n_classes=2)
    except ContradictionError as error:
        sentence = str(error.named(lambda row: repr(inputs.id_of(row))))
        way_out = "leave out --method su and add --errors auto if"
        raise ValueError(sentence.replace("pass error_rate='auto' if", way_out)) from error


def summarise_su(
    pipeline: Any, inputs: "Inputs", model: str, warnings: Sequence[str]
) -> "SUSummary":
    """Say what a fit came to."""
    classifier = pipeline[-1]
    is_validated = hasattr(classifier, "best_score_")
    return SUSummary(
        model=model,
        **inputs.counts(),
        loss=classifier.loss,
        **_prior_facts(classifier),
        alpha=classifier.alpha_ if is_validated else classifier.alpha,
        cv_risk=-classifier.best_score_ if is_validated else None,
        cv_risk_standard_error=_risk_standard_error(pipeline, inputs) if is_validated else None,
        positive_share=float((pipeline.predict(inputs.X) == 1).mean()),
        warnings=list(warnings),
    )


def _risk_standard_error(pipeline: Any, inputs: "Inputs") -> float | None:
    """Return the standard error of an SU risk on so many pairs and rows.

    Of rows that are not in memory, some tell how much a decision varies.
    """
    from likewise import unpack
    from likewise.su.validation import zero_one_standard_error

    rows, y = packed(inputs)
    some = unpack(pipeline.decision_function(rows)[:, None], y)
    similar = some.left[:, 0], some.right[:, 0]
    dissimilar = some.dissimilar_left[:, 0], some.dissimilar_right[:, 0]
    # A group is a chain of pairs, of which there are more than groups.
    n_similar = max(len(inputs.pairs.similar), len(similar[0]))
    return zero_one_standard_error(
        some.unlabeled[:, 0],
        similar,
        dissimilar,
        counts=(len(inputs.table), n_similar, len(dissimilar[0])),
        prior=pipeline[-1].prior_,
        su_share=pipeline[-1].su_share_,
    )


def _prior_facts(classifier: Any) -> dict[str, Any]:
    """Return the prior and, where it was estimated, what is known of the estimate."""
    estimate = classifier.prior_estimate_
    if estimate is None:
        return {
            "prior": classifier.prior_,
            "prior_interval": None,
            "prior_level": None,
            "prior_method": "given",
            "prior_notes": [],
            "positive": None,
        }
    return {
        "prior": classifier.prior_,
        "prior_interval": list(classifier.prior_interval_),
        "prior_level": estimate.level,
        "prior_method": estimate.method,
        "prior_notes": list(estimate.diagnostics.get("notes", [])),
        "positive": classifier.positive,
    }


@dataclass(frozen=True)
class SUSummary:
    """What a fit came to; the fields are those of ``--json``."""

    model: str
    rows: int
    similar_pairs: int
    dissimilar_pairs: int
    groups: int
    features: list[str]
    text_features: list[str]
    loss: str
    prior: float
    prior_interval: list[float] | None
    prior_level: float | None
    prior_method: str
    prior_notes: list[str]
    positive: str | None
    alpha: float
    cv_risk: float | None
    cv_risk_standard_error: float | None
    positive_share: float
    warnings: list[str]
    method: str = "su"

    def __str__(self) -> str:
        return aligned(
            [
                ("rows", f"{self.rows:,}"),
                *statements_in_words(self.similar_pairs, self.dissimilar_pairs, self.groups),
                ("columns", columns_in_words(self.features, self.text_features)),
                ("loss", self.loss),
                ("prior of +1", self._prior()),
                ("penalty", f"{self.alpha:g}"),
                ("error rate", self._error_rate()),
                ("predicted", f"+1 for {self.positive_share:.1%} of the rows"),
                ("model", self.model),
            ]
        )

    def _prior(self) -> str:
        if self.prior_interval is None or self.prior_level is None:
            return f"{self.prior:g}, as given"
        interval = interval_in_words(self.prior_interval, self.prior_level)
        line = f"{self.prior:.1%}, estimated ({interval}); +1 is the {self.positive} class"
        return "; ".join([line, *self.prior_notes])

    def _error_rate(self) -> str:
        if self.cv_risk is None or self.cv_risk_standard_error is None:
            return "unknown (cross-validation needs at least two pairs)"
        return (
            f"{self.cv_risk:.1%} ± {self.cv_risk_standard_error:.1%} "
            "(cross-validated risk: no labels used; unbiased, so it may fall below zero)"
        )
