"""The table of our own types: every attribute that a fitted classifier has, and what it may be."""

import math
from typing import Any

import numpy as np

from likewise.io.modelfile.common import (
    FITTED_COLUMNS,
    MOST_CLASSES,
    NOTHING,
    POSITIVE,
    SEED,
    SHARE,
)
from likewise.io.modelfile.composites import Brought, Default, Facts, Items, OneOf, Table, Tuple
from likewise.io.modelfile.contract import Kind, expect
from likewise.io.modelfile.nested import (
    PIPELINE,
    TRANSFORMERS,
    is_classifier,
    is_transformer,
    last_of,
)
from likewise.io.modelfile.sklearn_types import CLASSIFIERS
from likewise.io.modelfile.types import Of, Record, Type, Unfitted, Values
from likewise.io.modelfile.values import Array, Flag, Labels, Nothing, Number, Text, Whole

__all__ = ["ESTIMATOR", "OWN_CLASSIFIERS", "is_of_classifier"]

_ANY = Number(any_value=True)
_CLASS_OF_PAIRS = Text(("majority", "minority"))
_ERROR_RATE = OneOf((Text(("auto",)), Number(0.0, math.nextafter(0.5, 0.0))))
_INTERVAL = Tuple((SHARE, SHARE))
_LEVEL = Number(0.0, math.nextafter(1.0, 0.0), above=True)
_FOUND_PAIRING = Text(("asked", "random", "free"))
_PAIRING = Text(("auto", *_FOUND_PAIRING.choices))
_PENALTIES = OneOf(
    (
        Items(POSITIVE, most=1000, least=1),
        Items(POSITIVE, as_tuple=True, most=1000, least=1),
        Array(("alphas",), ("<f8", "<f4", "<i8", "<i4"), low=0.0, above=True, most=1000),
    )
)


class _PenaltiesByName:
    """Penalties for each kind of features, by its name."""

    _pairs = Items(Tuple((Text(), _PENALTIES)), most=100)

    def takes(self, value: Any) -> bool:
        return isinstance(value, dict)

    def pack(self, value: Any, out: Any, scope: Any) -> Any:
        return {"by name": self._pairs.pack(list(map(tuple, value.items())), out, scope)}

    def suits(self, node: Any) -> bool:
        return isinstance(node, dict) and set(node) == {"by name"}

    def read(self, node: Any, source: Any, scope: Any) -> Any:
        expect(self.suits(node), "is no table of penalties")
        return dict(self._pairs.read(node["by name"], source, scope))


def _own(module: str, name: str, **what: Any) -> Type:
    return Type(f"likewise.{module}", name, **what)


def _only(one: Type) -> Of:
    return Of(lambda: (one,))


# --- what is told beside a classifier ------------------------------------------------------------

_TRIED = _own(
    "search.tried",
    "Tried",
    fitted={
        "features": Text(),
        "alpha": OneOf((NOTHING, _ANY)),
        "information": _ANY,
        "standard_error": _ANY,
        "weight": _ANY,
        "chosen": Flag(),
    },
)
_SELECTION = _own(
    "search.tried",
    "Selection",
    fitted={"rows": Items(_only(_TRIED), as_tuple=True, most=10_000, least=1)},
)
_HISTORY = _own(
    "search.em",
    "History",
    fitted={
        "information": Items(_ANY, most=10_000),
        "change": Items(_ANY, most=10_000),
        "best": Whole(),
        "converged": Flag(),
    },
)
_PAIRING_TEST = _own(
    "search.pairing",
    "PairingTest",
    fitted={
        "statistic": _ANY,
        "p_value": SHARE,
        "pair_shares": Items(_ANY, as_tuple=True, most=MOST_CLASSES),
        "expected_shares": Items(_ANY, as_tuple=True, most=MOST_CLASSES),
    },
)


def _without_rows(values: Values) -> Values:
    """Add what was known of single rows: nothing."""
    none = np.zeros(0, dtype=np.intp)
    rows = {"log_p": np.zeros((0, 2)), "is_similar": np.zeros(0, dtype=np.bool_)}
    return {**values, **rows, "left": none, "right": none.copy(), "folds": none.copy()}


_INFORMATION = _own(
    "search.information",
    "PairInformation",
    fitted={"value": _ANY, "standard_error": _ANY},
    derived=frozenset({"log_p", "left", "right", "is_similar", "folds"}),
    finish=_without_rows,
)


def _check_notes(values: Values) -> None:
    expect(isinstance(values["diagnostics"].get("notes", []), list), "has notes that are no list")


_PRIOR_ESTIMATE = _own(
    "prior.base",
    "PriorEstimate",
    fitted={
        "value": OneOf((SHARE, Array(("classes",), low=0.0, high=1.0))),
        "interval": OneOf((NOTHING, _INTERVAL, Array(("classes", 2)))),
        "level": OneOf((NOTHING, _LEVEL)),
        "method": Text(),
        "diagnostics": Facts(),
    },
    check=_check_notes,
)

# --- estimators of the prior, and folds ----------------------------------------------------------

_FITTED_PRIOR = frozenset({"estimate_", "prior_", "n_features_in_", "feature_names_in_"})
_PRIORS = (
    _own(
        "prior.pair_likelihood",
        "PairLikelihoodPrior",
        parameters={
            "n_classes": Whole(2, 2),  # of a classifier that knows two
            "pairing": _PAIRING,
            "error_rate": _ERROR_RATE,
            "level": _LEVEL,
            "random_state": SEED,
        },
        derived=_FITTED_PRIOR,
    ),
    _own(
        "prior.pair_moments",
        "PairMomentPrior",
        parameters={"level": _LEVEL, "random_state": SEED},
        derived=_FITTED_PRIOR,
    ),
    _own(
        "prior.kernel_mean",
        "KernelMeanPrior",
        parameters={
            "variant": Text(("km1", "km2")),
            "lambda_left": Number(1.0, 1e6),
            "lambda_right": Number(1.0, 1e6),
            "tol": Number(1e-12),
            "standardize": Flag(),
        },
        derived=_FITTED_PRIOR | {"progress", "estimates_", "kappa_", "result_", "n_iter_"},
    ),
)
_FOLDS = _own(
    "statements.folds",
    "PairKFold",
    parameters={"n_splits": Whole(2, 100_000), "shuffle": Flag(), "random_state": SEED},
)

# --- scores --------------------------------------------------------------------------------------


def _check_class_scores(values: Values) -> None:
    inner = last_of(values["estimator"])
    expect(is_classifier(inner), "holds no classifier")
    if isinstance(inner, Record):
        classes = inner.values["classes_"]
        is_number = classes.dtype.kind in "iu" and bool((np.diff(classes) > 0).all())
        expect(is_number, "has classes that are no numbers")
        expect(
            classes.min() >= 0 and classes.max() < values["n_classes"], "has classes out of range"
        )


def _width_of_class_scores(values: Values) -> tuple[int | None, int | None]:
    inner = values["estimator"]
    before = inner.width[0] if isinstance(inner, Record) else None
    return before, 1 if values["n_classes"] == 2 else values["n_classes"]


_CLASS_SCORES = _own(
    "scores.models",
    "ClassScores",
    fitted={
        "estimator": Brought(Of(lambda: (*CLASSIFIERS, PIPELINE))),
        "n_classes": Whole(2, MOST_CLASSES),
        "smallest": Number(0.0, 1.0),
    },
    check=_check_class_scores,
    width=_width_of_class_scores,
)


def _check_map(values: Values) -> None:
    inner = values["transformer"]
    is_right = is_transformer(inner) or inner.type is _CLASS_SCORES
    expect(is_right, "holds no transformer")
    given = inner.width[1] if isinstance(inner, Record) else None
    expect(given in (None, values["mean"].size), "gives another number of columns than it has")


def _width_of_map(values: Values) -> tuple[int | None, int | None]:
    inner, size = values["transformer"], values["mean"].size
    if inner is None:
        return size, size
    return (inner.width[0] if isinstance(inner, Record) else None), size


_MAP = _own(
    "scores.maps",
    "FeatureMap",
    fitted={
        "name": Text(),
        "transformer": OneOf(
            (NOTHING, Brought(Of(lambda: (_CLASS_SCORES, *TRANSFORMERS, PIPELINE))))
        ),
        "mean": Array(("columns",)),
        "scale": Array(("columns",), low=0.0, above=True),
    },
    check=_check_map,
    width=_width_of_map,
)

# --- classifiers ---------------------------------------------------------------------------------


def _check_pair_parameters(values: Values) -> None:
    expect(is_transformer(values["features"]), "has features that are no transformer")
    estimator = values["estimator"]
    is_right = estimator in (None, "auto") or is_classifier(estimator)
    expect(is_right, "has an estimator that is no classifier")


def is_of_classifier(value: Any) -> bool:
    """Tell whether a record is of a classifier by another one's probabilities."""
    if not isinstance(value, Record) or value.type is not _PAIR_CLASSIFIER:
        return False
    inner = value.values["feature_map_"].values["transformer"]
    return isinstance(inner, Record) and inner.type is _CLASS_SCORES


def _check_pair_classifier(values: Values) -> None:
    n_classes, weights = values.get("n_classes_", values["n_classes"]), values["weights_"]
    expect(n_classes != "auto", "lacks a number of classes")
    expect(n_classes == values["classes_"].size, "has another number of classes")
    n_scores = 1 if n_classes == 2 else n_classes
    columns, width = values["feature_map_"].width
    expect(weights.shape == (width + 1, n_scores), f"has weights of the shape {weights.shape}")
    n_columns = values.get("n_features_in_")
    expect(columns in (None, n_columns), "has features of another number of columns")
    is_number = isinstance(values["prior_"], float)
    expect(is_number == (n_classes == 2), "has a prior of another number of classes")
    expect(
        isinstance(values["prior_interval_"], tuple) == is_number,
        "has an interval of another number of classes",
    )
    if "coef_" in values or "intercept_" in values:
        expect("coef_" in values and "intercept_" in values, "lacks a part: coef_ or intercept_")
        expect(values["coef_"].shape[0] == n_scores, "has coefficients of another number of scores")


def _finished_pair_classifier(values: Values) -> Values:
    scores = values["feature_map_"].transformer
    is_other = type(scores).__name__ == "ClassScores"
    return {**values, "estimator_": scores.estimator if is_other else None}


_PAIR_CLASSIFIER = _own(
    "classifiers.pair",
    "PairClassifier",
    parameters={
        "n_classes": OneOf((Text(("auto",)), Whole(2, MOST_CLASSES))),
        "features": OneOf(
            (
                Text(("auto", "linear", "rbf")),
                Brought(Unfitted(Of(lambda: (*TRANSFORMERS, PIPELINE)))),
            )
        ),
        "alphas": OneOf((Text(("auto",)), _PENALTIES, _PenaltiesByName())),
        "positive": _CLASS_OF_PAIRS,
        "pairing": _PAIRING,
        "error_rate": _ERROR_RATE,
        "cv": Default(OneOf((Whole(2, 1000), Unfitted(_only(_FOLDS)))), 5),
        "calibrate": Flag(),
        "level": _LEVEL,
        "estimator": OneOf(
            (
                NOTHING,
                Text(("auto",)),
                Brought(Unfitted(Of(lambda: (*CLASSIFIERS, PIPELINE)))),
            )
        ),
        "random_state": SEED,
    },
    fitted={
        "pairing_test_": OneOf((NOTHING, _only(_PAIRING_TEST))),
        "pairing_": _FOUND_PAIRING,
        "feature_map_": _only(_MAP),
        "features_": Text(),
        "alpha_": OneOf((NOTHING, POSITIVE)),
        "selection_": _only(_SELECTION),
        "has_signal_": Flag(),
        "pair_information_": _only(_INFORMATION),
        "classes_": Labels("classes"),
        "prior_": OneOf((SHARE, Array(("classes",), low=0.0, high=1.0))),
        "prior_interval_": OneOf((_INTERVAL, Array(("classes", 2), low=0.0, high=1.0))),
        "weights_": Array(("weights", "scores")),
        "n_passes_": OneOf((NOTHING, Whole())),
    },
    optional={
        **FITTED_COLUMNS,
        "n_classes_": Whole(2, MOST_CLASSES, "classes"),
        "error_rate_": SHARE,
        "error_rate_interval_": _INTERVAL,
        "coef_": Array(("scores", "columns")),
        "intercept_": Array(("scores",)),
        "history_": _only(_HISTORY),
    },
    derived=frozenset(
        {"class_count_", "estimator_", "labels_", "row_proba_", "suspects_", "wrong_proba_"}
    ),
    check_parameters=_check_pair_parameters,
    check=_check_pair_classifier,
    finish=_finished_pair_classifier,
    width=lambda values: (values.get("n_features_in_"), None),
)

_SU_PARAMETERS: dict[str, Kind] = {
    "loss": OneOf((Text(("squared", "logistic", "double_hinge")), Brought())),
    "prior": OneOf((NOTHING, SHARE, Brought(Unfitted(Of(lambda: _PRIORS))))),
    "positive": _CLASS_OF_PAIRS,
    "rewrite": OneOf((Text(("auto", "su", "du", "sd", "sdu")), Brought())),
    "regularize_intercept": Flag(),
    "tol": Number(1e-20),
    "max_iter": Whole(1, 1_000_000),
}
_SU_FITTED: dict[str, Kind] = {
    "n_features_in_": FITTED_COLUMNS["n_features_in_"],
    "prior_estimate_": OneOf((NOTHING, _only(_PRIOR_ESTIMATE))),
    "prior_interval_": OneOf((NOTHING, _INTERVAL)),
    "prior_": SHARE,
    "su_share_": Number(),
    "coef_": Array((1, "columns")),
    "intercept_": Array((1,)),
    "classes_": Array((2,), ("<i8", "<i4"), low=-1, high=1),
    "objective_": _ANY,
    "duality_gap_": _ANY,
    "n_iter_": Whole(),
    "n_passes_": Whole(),
}


def _check_su(values: Values) -> None:
    expect(values["classes_"].tolist() == [-1, 1], "has classes other than -1 and 1")


_SU = _own(
    "classifiers.su",
    "SUClassifier",
    parameters={**_SU_PARAMETERS, "alpha": POSITIVE},
    fitted=_SU_FITTED,
    optional={"feature_names_in_": FITTED_COLUMNS["feature_names_in_"]},
    check=_check_su,
    width=lambda values: (values["n_features_in_"], None),
)


def _split_results(classifier: Any) -> Values:
    """Return the attributes, with the scores of all splits as one table."""
    values = dict(vars(classifier))
    results = dict(values.get("cv_results_", {}))
    results.pop("params", None)
    splits = [results.pop(name) for name in list(results) if name.startswith("split")]
    return {**values, "cv_results_": {**results, "splits": np.array(splits)}}


def _joined_results(values: Values) -> Values:
    results = dict(values["cv_results_"])
    splits = results.pop("splits")
    alphas = results.pop("param_alpha")
    return {
        **values,
        "cv_results_": {
            "params": [{"alpha": alpha} for alpha in alphas.tolist()],
            "param_alpha": alphas,
            **{f"split{k}_test_score": row.copy() for k, row in enumerate(splits)},
            **results,
        },
    }


_SU_CV = _own(
    "classifiers.su",
    "SUClassifierCV",
    parameters={
        **_SU_PARAMETERS,
        "alphas": _PENALTIES,
        "cv": Default(OneOf((Nothing(), Whole(2, 100_000), Unfitted(_only(_FOLDS)))), 5),
    },
    fitted={
        **_SU_FITTED,
        "alpha_": POSITIVE,
        "best_score_": _ANY,
        "cv_results_": Table(
            {
                "param_alpha": Array(("penalties",), low=0.0, above=True),
                "splits": Array(("splits", "penalties"), any_value=True, most=10_000_000),
                "mean_test_score": Array(("penalties",), any_value=True),
                "std_test_score": Array(("penalties",), any_value=True),
                "rank_test_score": Array(("penalties",), ("<i8", "<i4")),
            }
        ),
    },
    optional={"feature_names_in_": FITTED_COLUMNS["feature_names_in_"]},
    check=_check_su,
    unpacked=_split_results,
    finish=_joined_results,
    width=lambda values: (values["n_features_in_"], None),
)

OWN_CLASSIFIERS = (_PAIR_CLASSIFIER, _SU, _SU_CV)
ESTIMATOR = Brought(Of(lambda: (*OWN_CLASSIFIERS, PIPELINE)))
"""What a model file may hold."""
