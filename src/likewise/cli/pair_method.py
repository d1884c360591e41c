"""The pair likelihood for ``fit`` and ``report``: the classifier, and what a fit came to."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from likewise.cli.wording import aligned, columns_in_words, interval_in_words

if TYPE_CHECKING:
    from likewise.cli.inputs import Inputs

__all__ = ["PairSummary", "Pairing", "pair_pipeline", "summarise_pair"]

_MOST_FOLDS = 5
_LEVEL = 0.95
"""Level of the intervals that the library's classifier keeps."""


class Pairing(StrEnum):
    """How similar pairs were formed."""

    AUTO = "auto"
    RANDOM = "random"
    FREE = "free"


def pair_pipeline(
    inputs: "Inputs",
    *,
    seed: int,
    n_classes: int = 2,
    positive: str = "majority",
    pairing: str = "auto",
) -> Any:
    """Return a pipeline, not fitted, from the columns of a table to classes.

    Numbers go in as they are, since the classifier standardises every column itself.
    """
    from sklearn.pipeline import make_pipeline

    from likewise import PairClassifier

    classifier = PairClassifier(
        n_classes,
        positive=positive,
        pairing=pairing,
        cv=_n_folds(inputs),
        random_state=seed,
    )
    return make_pipeline(inputs.transformer("passthrough"), classifier)


def _n_folds(inputs: "Inputs") -> int:
    """Return as many folds as the pairs allow, five at most."""
    n_similar, n_dissimilar = len(inputs.pairs.similar), len(inputs.pairs.dissimilar)
    n_folds = min(_MOST_FOLDS, n_similar or n_dissimilar, len(inputs.table))
    if n_folds < 2:
        kind = "similar" if n_similar else "dissimilar"
        raise ValueError(
            f"The pair method chooses among models by held-out pairs: it needs at least two {kind} "
            "ones, but there is one."
        )
    return n_folds


def summarise_pair(
    pipeline: Any, inputs: "Inputs", model: str, warnings: Sequence[str]
) -> "PairSummary":
    """Say what a fit came to."""
    import numpy as np

    classifier = pipeline[-1]
    classes = classifier.classes_.tolist()
    predicted = pipeline.predict(inputs.X)
    return PairSummary(
        model=model,
        **inputs.counts(),
        chosen_features=classifier.features_,
        alpha=classifier.alpha_,
        classes=classes,
        positive=classifier.positive,
        prior=np.asarray(classifier.prior_).tolist(),
        prior_interval=np.asarray(classifier.prior_interval_).tolist(),
        has_signal=bool(classifier.has_signal_),
        nats_per_pair=classifier.pair_information_.value,
        nats_per_pair_standard_error=classifier.pair_information_.standard_error,
        pairing=classifier.pairing_,
        pairing_test=_facts_of_test(classifier.pairing_test_),
        predicted_shares=[float((predicted == label).mean()) for label in classes],
        warnings=list(warnings),
    )


def _facts_of_test(test: Any) -> dict[str, Any] | None:
    if test is None:
        return None
    return {
        "statistic": test.statistic,
        "p_value": test.p_value,
        "pair_shares": list(test.pair_shares),
        "expected_shares": list(test.expected_shares),
        "is_rejected": test.is_rejected,
        "verdict": str(test),
    }


@dataclass(frozen=True)
class PairSummary:
    """What a fit came to; the fields are those of ``--json``.

    `prior` and `prior_interval` are those of class +1, or lists over the classes where there are
    more than two.
    """

    model: str
    rows: int
    similar_pairs: int
    dissimilar_pairs: int
    features: list[str]
    text_features: list[str]
    chosen_features: str
    alpha: float | None
    classes: list[int]
    positive: str
    prior: Any
    prior_interval: list[Any]
    has_signal: bool
    nats_per_pair: float
    nats_per_pair_standard_error: float
    pairing: str
    pairing_test: dict[str, Any] | None
    predicted_shares: list[float]
    warnings: list[str]
    prior_level: float = _LEVEL
    method: str = "pair"

    def __str__(self) -> str:
        return aligned(
            [
                ("rows", f"{self.rows:,}"),
                ("similar pairs", f"{self.similar_pairs:,}"),
                ("dissimilar pairs", f"{self.dissimilar_pairs:,}"),
                ("columns", columns_in_words(self.features, self.text_features)),
                ("features", self._chosen_features()),
                ("penalty", "each score its own" if self.alpha is None else f"{self.alpha:.2g}"),
                *self._priors(),
                ("information", self._information()),
                ("pairing", self._pairing()),
                ("predicted", self._predicted()),
                ("model", self.model),
            ]
        )

    def _chosen_features(self) -> str:
        parts = [_in_words(name) for name in self.chosen_features.split(" + ")]
        return parts[0] if len(parts) == 1 else f"a sum of scores: {'; '.join(parts)}"

    def _priors(self) -> list[tuple[str, str]]:
        if len(self.classes) == 2:
            which = "larger" if self.positive == "majority" else "smaller"
            prior = self._prior(self.prior, self.prior_interval)
            return [("prior of +1", f"{prior}; +1 is the {which} class")]
        shares = zip(self.classes, self.prior, self.prior_interval, strict=True)
        return [(f"prior of {label}", self._prior(*found)) for label, *found in shares]

    def _prior(self, value: float, interval: Sequence[float]) -> str:
        return f"{value:.1%} ({interval_in_words(interval, self.prior_level)})"

    def _information(self) -> str:
        return (
            f"{self.nats_per_pair:.3f} ± {self.nats_per_pair_standard_error:.3f} nats per pair "
            "(held out; 0 is chance)"
        )

    def _pairing(self) -> str:
        if self.pairing_test is None:
            return f"{self.pairing}, not tested"
        is_kept = self.pairing_test["is_rejected"] and self.pairing == "random"
        kept = "; kept since free shares explain held-out pairs no better" if is_kept else ""
        return f"{self.pairing}; {self.pairing_test['verdict']}{kept}"

    def _predicted(self) -> str:
        shares = zip(self.classes, self.predicted_shares, strict=True)
        if len(self.classes) == 2:
            return f"+1 for {self.predicted_shares[-1]:.1%} of the rows"
        return ", ".join(f"{label} for {share:.1%}" for label, share in shares) + " of the rows"


def _in_words(features: str) -> str:
    kind, *how = features.split()
    if kind == "linear":
        return "linear in the columns"
    of_what = " of principal components" if how[1:] else ""
    return f"radial, {how[0]} typical distances wide{of_what}"
