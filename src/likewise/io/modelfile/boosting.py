"""Gradient boosting in model files: all nodes of all trees as a few arrays, one for each field.

Trees with categories of scikit-learn's own are not among them: these come with a preprocessor.
"""

from typing import Any

import numpy as np

from likewise.io.modelfile.common import FITTED_COLUMNS, NOTHING, POSITIVE, SEED
from likewise.io.modelfile.composites import OneOf, Table
from likewise.io.modelfile.contract import Kind, expect
from likewise.io.modelfile.failures import UnfitError
from likewise.io.modelfile.types import Type, Values
from likewise.io.modelfile.values import Array, Flag, Labels, Number, Text, Whole
from likewise.io.trees import hang_together

__all__ = ["GRADIENT_BOOSTING"]

_HOME = "sklearn.ensemble._hist_gradient_boosting"
_MOST_ROUNDS = 10_000
_MOST_TREES = 20_000
"""Each is an object of its own, and is asked about every row."""
_MOST_NODES = 2_000_000
"""Of all trees together: scikit-learn needs several times the memory of the file."""
_LARGEST_COUNT = 2**31 - 1
"""Of nodes or rows in parameters, which scikit-learn holds in four bytes."""
_FIELDS = {
    "value": "<f8",
    "count": "<u4",
    "feature_idx": "<i8",
    "num_threshold": "<f8",
    "missing_go_to_left": "|u1",
    "left": "<u4",
    "right": "<u4",
    "gain": "<f8",
    "depth": "<u4",
    "is_leaf": "|u1",
    "bin_threshold": "|u1",
}
"""Fields of a node; those about categories are zero."""

_TREES = Table(
    {
        "sizes": Array((None, "trees"), ("<i8",), low=1, most=_MOST_TREES),
        **{
            name: Array(("nodes",), (dtype,), any_value=True, most=_MOST_NODES)
            for name, dtype in _FIELDS.items()
        },
    }
)


def _unpacked(model: Any) -> Values:
    """Return the attributes of gradient boosting, with its trees as arrays."""
    values = dict(vars(model))
    expect(values.get("_preprocessor") is None, "has categories of its own")
    rounds = values.pop("_predictors", [])
    trees = [tree for round_ in rounds for tree in round_]
    expect(bool(trees), "has no trees")
    nodes = np.concatenate([tree.nodes for tree in trees])
    expect(not nodes["is_categorical"].any(), "has categories of its own")
    sizes = np.array([[tree.nodes.size for tree in round_] for round_ in rounds], dtype=np.int64)
    fields = {name: nodes[name].astype(dtype) for name, dtype in _FIELDS.items()}
    return {**values, "trees": {"sizes": sizes, **fields}}


def _check(values: Values) -> None:
    trees, n_classes = values["trees"], values["classes_"].size
    n_trees = 1 if n_classes == 2 else n_classes
    expect(n_classes >= 2, "has fewer than two classes")
    expect(trees["sizes"].shape[1] == n_trees, "has another number of trees than of classes")
    expect(values["_baseline_prediction"].shape[1] == n_trees, "has another number of baselines")
    if not hang_together(trees, values["n_features_in_"]):
        raise UnfitError("has trees that do not hang together")


def _finished(values: Values) -> Values:
    """Return all attributes, private ones as a fit without categories leaves them."""
    from sklearn.preprocessing import LabelEncoder

    from likewise._sklearn import boosting_loss

    trees = values["trees"]
    kept = {name: value for name, value in values.items() if name != "trees"}
    encoder = LabelEncoder()
    encoder.classes_ = values["classes_"]
    n_trees = trees["sizes"].shape[1]
    return {
        **kept,
        "n_trees_per_iteration_": n_trees,
        "is_categorical_": None,
        "_preprocessor": None,
        "_is_categorical_remapped": None,
        "_label_encoder": encoder,
        "_n_features": values["n_features_in_"],
        "_loss": boosting_loss(n_trees),
        "_scorer": None,
        "_bin_mapper": _bin_mapper(values["n_features_in_"], values["max_bins"]),
        "_predictors": _predictors(trees),
    }


def _predictors(trees: Values) -> list[list[Any]]:
    from likewise._sklearn import boosting_tree

    tree_predictor, node = boosting_tree()
    nodes = np.zeros(trees["value"].size, dtype=node)
    for name in _FIELDS:
        nodes[name] = trees[name]
    no_categories = np.zeros((0, 8), dtype=np.uint32)
    ends = np.cumsum(trees["sizes"])
    starts = (ends - trees["sizes"].ravel()).reshape(trees["sizes"].shape)
    ends = ends.reshape(starts.shape)
    return [
        [
            tree_predictor(nodes[start:end].copy(), no_categories, no_categories)
            for start, end in zip(*of_round, strict=True)
        ]
        for of_round in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _bin_mapper(n_columns: int, max_bins: int) -> Any:
    """Return what tells trees that no column has categories; bins are needed in a fit only."""
    from likewise._sklearn import bin_mapper

    mapper = bin_mapper(max_bins + 1)
    mapper.is_categorical_ = np.zeros(n_columns, dtype=np.uint8)
    mapper.bin_thresholds_ = [np.zeros(0)] * n_columns
    mapper.n_bins_non_missing_ = np.ones(n_columns, dtype=np.uint32)
    mapper.missing_values_bin_idx_ = max_bins
    return mapper


_PARAMETERS: dict[str, Kind] = {
    "learning_rate": POSITIVE,
    "max_iter": Whole(1, _MOST_ROUNDS),
    "max_leaf_nodes": OneOf((NOTHING, Whole(2, _LARGEST_COUNT))),
    "max_depth": OneOf((NOTHING, Whole(1, _LARGEST_COUNT))),
    "min_samples_leaf": Whole(1, _LARGEST_COUNT),
    "l2_regularization": Number(0.0),
    "max_features": Number(0.0, 1.0, above=True),
    "max_bins": Whole(2, 255),
    "categorical_features": OneOf((NOTHING, Text(("from_dtype",)))),
    "early_stopping": OneOf((Text(("auto",)), Flag())),
    "scoring": OneOf((NOTHING, Text(("loss",)))),
    "validation_fraction": OneOf((NOTHING, Number(0.0, above=True))),
    "n_iter_no_change": Whole(1, 10_000),
    "tol": Number(0.0),
    "random_state": SEED,
    "class_weight": OneOf((NOTHING, Text(("balanced",)))),
}

GRADIENT_BOOSTING = Type(
    f"{_HOME}.gradient_boosting",
    "HistGradientBoostingClassifier",
    parameters=_PARAMETERS,
    fitted={
        "n_features_in_": FITTED_COLUMNS["n_features_in_"],
        "classes_": Labels("classes"),
        "do_early_stopping_": Flag(),
        "_use_validation_data": OneOf((NOTHING, Flag())),
        "_baseline_prediction": Array((1, "trees")),
        "train_score_": Array((None,), any_value=True, most=_MOST_ROUNDS + 1),
        "validation_score_": Array((None,), any_value=True, most=_MOST_ROUNDS + 1),
        "trees": _TREES,
    },
    optional={
        "feature_names_in_": FITTED_COLUMNS["feature_names_in_"],
        "_fitted_with_sw": Flag(),
    },
    derived=frozenset(
        {
            "n_trees_per_iteration_",
            "is_categorical_",
            "_preprocessor",
            "_is_categorical_remapped",
            "_label_encoder",
            "_n_features",
            "_loss",
            "_scorer",
            "_bin_mapper",
            "_random_seed",
            "_feature_subsample_rng",
        }
    ),
    check=_check,
    unpacked=_unpacked,
    finish=_finished,
    width=lambda values: (values["n_features_in_"], None),
)
