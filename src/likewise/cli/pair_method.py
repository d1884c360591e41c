"""The pair likelihood for ``fit`` and ``report``: the classifier, and what a fit came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise.cli.wording import (
    aligned,
    class_names,
    columns_in_words,
    interval_in_words,
    statements_in_words,
)

if TYPE_CHECKING:
    from likewise.io import Inputs

__all__ = [
    "PairSummary",
    "first_suspects",
    "known_option",
    "pair_pipeline",
    "summarise_pair",
    "suspect_in_words",
    "write_rows",
]

_TREES = "HistGradientBoostingClassifier"
_MOST_FOLDS = 5
_MOST_SUSPECTS = 20
"""Suspects that are listed for machines and on a page."""
_SHOWN_SUSPECTS = 5
"""Suspects that a summary shows."""
_LONGEST_ID = 60
"""Characters of an id that a summary shows."""


def pair_pipeline(
    inputs: "Inputs",
    settings: Mapping[str, Any],
    *,
    seed: int,
    positive: str = "majority",
    level: float = 0.95,
    has_trees: bool = False,
) -> Any:
    """Return a pipeline, not fitted, from the columns of a table to classes.

    Numbers go in as they are, since the classifier standardizes every column itself; trees take all
    columns as they are.
    """
    from sklearn.pipeline import make_pipeline

    from likewise import PairClassifier
    from likewise.scores.encoding import gradient_boosting

    classifier = PairClassifier(
        **settings,
        positive=positive,
        level=level,
        cv=_n_folds(inputs),
        estimator=gradient_boosting() if has_trees else None,
        random_state=seed,
    )
    return make_pipeline(
        "passthrough" if has_trees else inputs.transformer("passthrough"), classifier
    )


def _n_folds(inputs: "Inputs") -> int:
    """Return as many folds as there are statements, five at most."""
    n_folds = min(_MOST_FOLDS, len(inputs.pairs), len(inputs.table))
    if n_folds < 2:
        raise ValueError(
            "The pair method chooses among models by held-out pairs: it needs at least two, but "
            "there is one."
        )
    return n_folds


def known_option(known: Any, n_classes: int) -> dict[str, Any]:
    """Return known classes as the pipeline's ``fit`` takes them; refuse more than there are."""
    from likewise.io.wording import listed

    names = sorted({name for name in known if name is not None})
    if len(names) > n_classes:
        raise ValueError(
            f"--known names {len(names)} classes ({listed(names, 6)}), but there are to be "
            f"{n_classes}: "
            f"correct the names, or add --classes {len(names)}."
        )
    return {"pairclassifier__known": known}


def write_rows(path: Any, classifier: Any, inputs: "Inputs") -> None:
    """Write id, class and its probability for every row of the table."""
    from likewise.io import write_table

    write_table(
        path,
        {
            "id": inputs.table.ids,
            "class": classifier.labels_,
            "probability": classifier.row_proba_.max(axis=1),
        },
    )


def first_suspects(classifier: Any, inputs: "Inputs") -> list[dict[str, Any]]:
    """Return the statements that are most likely wrong, by ids."""
    found = []
    for number in getattr(classifier, "suspects_", ())[:_MOST_SUSPECTS]:
        rows, relation = inputs.pairs.statement(int(number))
        found.append(
            {
                "ids": [inputs.id_of(int(row)) for row in rows],
                "relation": relation,
                "probability": float(classifier.wrong_proba_[number]),
            }
        )
    return found


def suspect_in_words(suspect: Mapping[str, Any]) -> str:
    """Say what a statement that may be wrong says.

    Examples
    --------
    >>> from likewise.cli.pair_method import suspect_in_words
    >>> suspect_in_words({"ids": ["a", "b"], "relation": "same", "probability": 0.934})
    'a, b: same (wrong with probability 0.93)'
    """
    from likewise.io.wording import shown

    first = ", ".join(shown(name, _LONGEST_ID) for name in suspect["ids"][:6])
    ids = first + (", ..." if len(suspect["ids"]) > 6 else "")
    return f"{ids}: {suspect['relation']} (wrong with probability {suspect['probability']:.2f})"


def summarise_pair(
    pipeline: Any, inputs: "Inputs", model: str, warnings: Sequence[str]
) -> "PairSummary":
    """Say what a fit came to."""
    import numpy as np

    classifier = pipeline[-1]
    classes = classifier.classes_.tolist()
    predicted = pipeline.predict(inputs.X)
    interval = getattr(classifier, "error_rate_interval_", None)
    return PairSummary(
        model=model,
        **inputs.counts(),
        chosen_features=classifier.features_,
        alpha=classifier.alpha_,
        classes=classes,
        positive=None if isinstance(classes[0], str) else classifier.positive,
        prior=np.asarray(classifier.prior_).tolist(),
        prior_interval=np.asarray(classifier.prior_interval_).tolist(),
        prior_level=float(classifier.level),
        has_signal=bool(classifier.has_signal_),
        nats_per_pair=classifier.pair_information_.value,
        nats_per_pair_standard_error=classifier.pair_information_.standard_error,
        pairing=classifier.pairing_,
        pairing_test=_facts_of_test(classifier.pairing_test_),
        error_rate=float(getattr(classifier, "error_rate_", 0.0)),
        error_rate_interval=(
            None if classifier.error_rate != "auto" or interval is None else list(interval)
        ),
        suspect_count=len(getattr(classifier, "suspects_", ())),
        suspects=first_suspects(classifier, inputs),
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

    `prior` and `prior_interval` are those of the second class, or lists over the classes where
    there are more than two. `positive` is None where known rows name the classes.
    """

    model: str
    rows: int
    similar_pairs: int
    dissimilar_pairs: int
    groups: int
    features: list[str]
    text_features: list[str]
    chosen_features: str
    alpha: float | None
    classes: list[Any]
    positive: str | None
    prior: Any
    prior_interval: list[Any]
    has_signal: bool
    nats_per_pair: float
    nats_per_pair_standard_error: float
    pairing: str
    pairing_test: dict[str, Any] | None
    error_rate: float
    error_rate_interval: list[float] | None
    suspect_count: int
    suspects: list[dict[str, Any]]
    predicted_shares: list[float]
    warnings: list[str]
    prior_level: float
    method: str = "pair"
    rows_file: str | None = None

    def __str__(self) -> str:
        return aligned(
            [
                ("rows", f"{self.rows:,}"),
                *statements_in_words(self.similar_pairs, self.dissimilar_pairs, self.groups),
                ("columns", columns_in_words(self.features, self.text_features)),
                ("features", self._chosen_features()),
                *self._penalty(),
                *self._priors(),
                ("information", self._information()),
                ("pairing", self._pairing()),
                *self._errors(),
                ("predicted", self._predicted()),
                ("model", self.model),
                *([] if self.rows_file is None else [("rows' classes", self.rows_file)]),
            ]
        )

    def _chosen_features(self) -> str:
        parts = [_in_words(name) for name in self.chosen_features.split(" + ")]
        return parts[0] if len(parts) == 1 else f"a sum of scores: {'; '.join(parts)}"

    def _penalty(self) -> list[tuple[str, str]]:
        if self.chosen_features == _TREES:
            return []
        own = "each score its own" if self.alpha is None else f"{self.alpha:.2g}"
        return [("penalty", own)]

    def _priors(self) -> list[tuple[str, str]]:
        if len(self.classes) == 2:
            prior = self._prior(self.prior, self.prior_interval)
            which = "" if self.positive is None else f"; +1 is the {self.positive} class"
            return [(f"prior of {class_names(self.classes)[1]}", prior + which)]
        shares = zip(self.classes, self.prior, self.prior_interval, strict=True)
        return [(f"prior of {label}", self._prior(*found)) for label, *found in shares]

    def _prior(self, value: float, interval: Sequence[float]) -> str:
        return f"{value:.1%} ({interval_in_words(interval, self.prior_level)})"

    def _information(self) -> str:
        return (
            f"{self.nats_per_pair:.3f} ± {self.nats_per_pair_standard_error:.3f} nats per pair "
            "(held out; 0: the columns tell nothing)"
        )

    def _pairing(self) -> str:
        if self.pairing == "asked":
            return "asked: every answer counts, however rows were chosen"
        if self.pairing_test is None:
            return f"{self.pairing}, not tested"
        is_kept = self.pairing_test["is_rejected"] and self.pairing == "random"
        kept = "; kept since free shares explain held-out pairs no better" if is_kept else ""
        return f"{self.pairing}; {self.pairing_test['verdict']}{kept}"

    def _errors(self) -> list[tuple[str, str]]:
        """Say how many statements are wrong, and which to check first."""
        if not self.error_rate and self.error_rate_interval is None:
            return []
        rate = f"{self.error_rate:.1%} of the statements, as given"
        if self.error_rate_interval is not None:
            interval = interval_in_words(self.error_rate_interval, self.prior_level)
            rate = f"{self.error_rate:.1%} of the statements ({interval})"
        shown = self.suspects[:_SHOWN_SUSPECTS]
        first = "; the first to check again:" if shown else ""
        return [
            ("wrong", rate),
            ("suspects", f"{self.suspect_count:,} statements{first}"),
            *(("", suspect_in_words(suspect)) for suspect in shown),
        ]

    def _predicted(self) -> str:
        if len(self.classes) == 2:
            name = class_names(self.classes)[1]
            return f"{name} for {self.predicted_shares[1]:.1%} of the rows"
        shares = zip(self.classes, self.predicted_shares, strict=True)
        return ", ".join(f"{label} for {share:.1%}" for label, share in shares) + " of the rows"


def _in_words(features: str) -> str:
    if features == _TREES:
        return "gradient boosting"
    kind, *how = features.split()
    if kind == "linear":
        return "linear in few columns" if how else "linear in the columns"
    of_what = " of principal components" if how[1:] else ""
    return f"RBF, bandwidth {how[0]}{of_what}"
