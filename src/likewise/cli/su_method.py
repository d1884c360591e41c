"""The paper's method for ``fit``: the classifier with the options given, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from likewise.cli.wording import aligned, columns_in_words, interval_in_words

if TYPE_CHECKING:
    from likewise.cli.inputs import Inputs

__all__ = ["LossName", "SUSummary", "check_prior_option", "su_pipeline", "summarise_su"]

PAPER_ALPHAS = (0.1, 1e-4, 1e-7)


class LossName(StrEnum):
    """The losses to choose from."""

    SQUARED = "squared"
    LOGISTIC = "logistic"
    DOUBLE_HINGE = "double_hinge"


def check_prior_option(prior: float | None, positive: str | None) -> None:
    """Refuse a prior that cannot be, before any file is read."""
    from likewise.su.risk import check_prior

    if prior is None:
        return
    if positive is not None:
        raise ValueError(
            "Give either --prior or --positive, not both: a prior above 0.5 means that the larger "
            "class is +1, one below 0.5 the smaller."
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
) -> Any:
    """Return a pipeline, not fitted, from the columns of a table to classes -1 and +1."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from likewise import PairKFold, SUClassifier, SUClassifierCV
    from likewise.prior import PairLikelihoodPrior

    _check_pairs(inputs)
    chosen: Any = PairLikelihoodPrior(random_state=seed) if prior is None else prior
    n_folds = min(5, len(inputs.pairs.similar), len(inputs.table))
    if n_folds > 1:
        folds = PairKFold(n_folds, shuffle=True, random_state=seed)
        classifier: Any = SUClassifierCV(
            loss, prior=chosen, positive=positive, alphas=tuple(alphas), cv=folds
        )
    elif len(alphas) > 1:
        raise ValueError(
            "Choosing among several alphas needs at least two pairs; give one alpha with --alpha."
        )
    else:
        classifier = SUClassifier(loss, prior=chosen, positive=positive, alpha=alphas[0])
    return make_pipeline(inputs.transformer(StandardScaler()), classifier)


def _check_pairs(inputs: "Inputs") -> None:
    n_dissimilar = len(inputs.pairs.dissimilar)
    if n_dissimilar:
        raise ValueError(
            f"--method su learns from similar pairs only, but {n_dissimilar:,} of the pairs are "
            "dissimilar: leave those out, or leave out --method su."
        )


def summarise_su(
    pipeline: Any, inputs: "Inputs", model: str, warnings: Sequence[str]
) -> "SUSummary":
    """Say what a fit came to."""
    classifier = pipeline[-1]
    risk_error = _risk_standard_error(pipeline, inputs)
    return SUSummary(
        model=model,
        **inputs.counts(),
        loss=classifier.loss,
        **_prior_facts(classifier),
        alpha=classifier.alpha if risk_error is None else classifier.alpha_,
        cv_risk=None if risk_error is None else -classifier.best_score_,
        cv_risk_standard_error=risk_error,
        positive_share=float((pipeline.predict(inputs.X) == 1).mean()),
        warnings=list(warnings),
    )


def _risk_standard_error(pipeline: Any, inputs: "Inputs") -> float | None:
    """Return the standard error of an SU risk on so many pairs and rows.

    The spread over a few folds would be too rough a standard error; one pair has none. Of rows
    that are not in memory, some tell how much a decision varies.
    """
    import numpy as np

    from likewise import unpack
    from likewise.su.risk import similar_loss, similar_pair_share, unlabeled_loss

    if len(inputs.pairs.similar) < 2:
        return None
    rows, y = inputs.pack()
    prior = pipeline[-1].prior_
    decisions = unpack(pipeline.decision_function(rows)[:, None], y)
    first, second = (
        similar_loss("zero_one", side, prior) for side in (decisions.left, decisions.right)
    )
    of_pairs = similar_pair_share(prior) * (first + second) / 2
    of_rows = unlabeled_loss("zero_one", decisions.unlabeled, prior)
    variance = np.var(of_pairs, ddof=1) / len(inputs.pairs.similar)
    return float(np.sqrt(variance + np.var(of_rows, ddof=1) / len(inputs.table)))


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
                ("similar pairs", f"{self.similar_pairs:,}"),
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
        which = "larger" if self.positive == "majority" else "smaller"
        line = f"{self.prior:.1%}, estimated ({interval}); +1 is the {which} class"
        return "; ".join([line, *self.prior_notes])

    def _error_rate(self) -> str:
        if self.cv_risk is None:
            return "unknown (cross-validation needs at least two pairs)"
        return (
            f"{self.cv_risk:.1%} ± {self.cv_risk_standard_error:.1%} "
            "(cross-validated SU risk: no labels used, chance can take it below zero)"
        )
