"""The table of scikit-learn's types that hold no others: scalers, encoders, kernels, classifiers.

Private attributes are not written: they are set here, as scikit-learn sets them, from what is.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from likewise.io.modelfile.boosting import GRADIENT_BOOSTING
from likewise.io.modelfile.common import (
    FITTED_COLUMNS,
    MOST_CLASSES,
    MOST_ENCODED_COLUMNS,
    NOTHING,
    OUTPUT,
    POSITIVE,
    SEED,
)
from likewise.io.modelfile.composites import Items, OneOf, Tuple
from likewise.io.modelfile.contract import Kind, expect
from likewise.io.modelfile.types import Type, Values
from likewise.io.modelfile.values import Array, Flag, Labels, Number, Text, Whole

__all__ = ["CLASSIFIERS", "LEAVES", "NYSTROEM"]

_COLUMNS = Array(("columns",))
_SCALES = Array(("columns",), low=0.0, above=True)


def _as_wide(values: Values) -> tuple[int | None, int | None]:
    return values["n_features_in_"], values["n_features_in_"]


def _transformer(
    module: str,
    name: str,
    parameters: Mapping[str, Kind],
    fitted: Mapping[str, Kind],
    **more: Any,
) -> Type:
    return Type(
        f"sklearn.{module}",
        name,
        parameters=parameters,
        fitted={"n_features_in_": FITTED_COLUMNS["n_features_in_"], **fitted},
        optional={"feature_names_in_": FITTED_COLUMNS["feature_names_in_"], **OUTPUT},
        **{"width": _as_wide, **more},
    )


def _check_standard(values: Values) -> None:
    expect(not values["with_mean"] or values["mean_"] is not None, "lacks a part: mean_")
    expect(not values["with_std"] or values["scale_"] is not None, "lacks a part: scale_")


def _check_robust(values: Values) -> None:
    expect(not values["with_centering"] or values["center_"] is not None, "lacks a part: center_")
    expect(not values["with_scaling"] or values["scale_"] is not None, "lacks a part: scale_")


_SCALERS = (
    _transformer(
        "preprocessing._data",
        "StandardScaler",
        {"with_mean": Flag(), "with_std": Flag()},
        {
            "n_samples_seen_": OneOf((Number(0), Array(("columns",), ("<i8", "<f8"), low=0))),
            "mean_": OneOf((NOTHING, _COLUMNS)),
            "var_": OneOf((NOTHING, _COLUMNS)),
            "scale_": OneOf((NOTHING, _SCALES)),
        },
        check=_check_standard,
    ),
    _transformer(
        "preprocessing._data",
        "MinMaxScaler",
        {"feature_range": Tuple((Number(), Number())), "clip": Flag()},
        {
            "n_samples_seen_": Number(0),
            "scale_": _COLUMNS,
            "min_": _COLUMNS,
            "data_min_": _COLUMNS,
            "data_max_": _COLUMNS,
            "data_range_": _COLUMNS,
        },
    ),
    _transformer(
        "preprocessing._data",
        "MaxAbsScaler",
        {},
        {"n_samples_seen_": Number(0), "max_abs_": _COLUMNS, "scale_": _SCALES},
    ),
    _transformer(
        "preprocessing._data",
        "RobustScaler",
        {
            "with_centering": Flag(),
            "with_scaling": Flag(),
            "quantile_range": Tuple((Number(0, 100), Number(0, 100))),
            "unit_variance": Flag(),
        },
        {"center_": OneOf((NOTHING, _COLUMNS)), "scale_": OneOf((NOTHING, _SCALES))},
        check=_check_robust,
    ),
)


def _checked_imputer(imputer: Any) -> Values:
    """Return the attributes of an imputer of numbers."""
    values = dict(vars(imputer))
    for name in ("_fit_dtype", "_fill_dtype"):
        expect(values.get(name, np.dtype(np.float64)) == np.float64, "is an imputer of no numbers")
    expect(values.get("indicator_") is None, "has an indicator")
    return values


def _finished_imputer(values: Values) -> Values:
    number = np.dtype(np.float64)
    return {**values, "_fit_dtype": number, "_fill_dtype": number, "indicator_": None}


def _width_of_imputer(values: Values) -> tuple[int | None, int | None]:
    size = values["n_features_in_"]
    empty = 0 if values["keep_empty_features"] else int(np.isnan(values["statistics_"]).sum())
    return size, size - empty


_IMPUTER = _transformer(
    "impute._base",
    "SimpleImputer",
    {
        "strategy": Text(("mean", "median", "most_frequent", "constant")),
        "fill_value": OneOf((NOTHING, Number())),
        "keep_empty_features": Flag(),
    },
    {"statistics_": Array(("columns",), any_value=True)},
    derived=frozenset({"_fit_dtype", "_fill_dtype", "indicator_"}),
    unpacked=_checked_imputer,
    finish=_finished_imputer,
    width=_width_of_imputer,
)

_COMPONENTS: dict[str, Kind] = {
    name: Array(("components",), low=0.0)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_")
}
_PCA = _transformer(
    "decomposition._pca",
    "PCA",
    {
        "n_components": OneOf((NOTHING, Whole(1), Number(0.0, 1.0), Text(("mle",)))),
        "whiten": Flag(),
        "svd_solver": Text(("auto", "full", "covariance_eigh", "arpack", "randomized")),
        "random_state": SEED,
    },
    {
        "mean_": _COLUMNS,
        "components_": Array(("components", "columns")),
        **_COMPONENTS,
        "noise_variance_": Number(),
        "n_samples_": Whole(),
        "n_components_": Whole(1, name="components"),
        "_fit_svd_solver": Text(("full", "covariance_eigh", "arpack", "randomized")),
    },
    width=lambda values: (values["n_features_in_"], values["n_components_"]),
)


def _finished_kernel(values: Values) -> Values:
    return {**values, "_n_features_out": values["components_"].shape[0]}


NYSTROEM = _transformer(
    "kernel_approximation",
    "Nystroem",
    {
        "kernel": Text(("rbf",)),
        "gamma": OneOf((NOTHING, Number(0.0))),
        "n_components": Whole(1, 10_000_000),
        "random_state": SEED,
    },
    {
        "components_": Array(("components", "columns")),
        "normalization_": Array(("components", "components")),
        "component_indices_": Array(("components",), ("<i8", "<i4"), low=0),
    },
    derived=frozenset({"_n_features_out"}),
    finish=_finished_kernel,
    width=lambda values: (values["n_features_in_"], values["components_"].shape[0]),
)


def _finished_encoder(values: Values) -> Values:
    return {
        **values,
        "_infrequent_enabled": False,
        "_drop_idx_after_grouping": None,
        "drop_idx_": None,
        "_n_features_outs": [one.size for one in values["categories_"]],
    }


_ONE_HOT = _transformer(
    "preprocessing._encoders",
    "OneHotEncoder",
    {"sparse_output": Flag(), "handle_unknown": Text(("error", "ignore"))},
    # Codes of numbers are found by bisection: out of order they would lie outside the table.
    {"categories_": Items(Labels(ascending=True), name="columns", most=MOST_ENCODED_COLUMNS)},
    derived=frozenset(
        {"_infrequent_enabled", "_drop_idx_after_grouping", "drop_idx_", "_n_features_outs"}
    ),
    finish=_finished_encoder,
    width=lambda values: (
        values["n_features_in_"],
        sum(one.size for one in values["categories_"]),
    ),
)

_PASSING = _transformer(
    "preprocessing._function_transformer",
    "FunctionTransformer",
    {
        "validate": Flag(),
        "accept_sparse": Flag(),
        "check_inverse": Flag(),
        "feature_names_out": OneOf((NOTHING, Text(("one-to-one",)))),
    },
    {},
)


def _check_regression(values: Values) -> None:
    n_classes = values["classes_"].size
    expect(n_classes >= 2, "has fewer than two classes")
    n_scores = values["coef_"].shape[0]
    expect(n_scores == (1 if n_classes == 2 else n_classes), "has another number of scores")


_REGRESSION = _transformer(
    "linear_model._logistic",
    "LogisticRegression",
    {
        "C": POSITIVE,
        "tol": POSITIVE,
        "fit_intercept": Flag(),
        "class_weight": OneOf((NOTHING, Text(("balanced",)))),
        "random_state": SEED,
        "solver": Text(("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga")),
        "max_iter": Whole(1, 10_000_000),
    },
    {
        "classes_": Labels("classes"),
        "coef_": Array(("scores", "columns")),
        "intercept_": Array(("scores",)),
        "n_iter_": Array(("iterations",), ("<i4", "<i8"), low=0, most=MOST_CLASSES),
    },
    check=_check_regression,
    width=lambda values: (values["n_features_in_"], None),
)

LEAVES = (*_SCALERS, _IMPUTER, _PCA, NYSTROEM, _ONE_HOT, _PASSING)
"""Transformers that hold no others."""
CLASSIFIERS = (GRADIENT_BOOSTING, _REGRESSION)
