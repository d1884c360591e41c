"""Every kind of classifier comes back from a file and decides exactly as before."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

import likewise as lw
from likewise.su.losses import MarginLoss
from tests.candidates import few_draws, no_class_more  # noqa: F401 - used by all tests here


def _world() -> tuple[Any, ...]:
    X, y = lw.datasets.make_gaussians(120, separation=4.0, random_state=0)
    draw = np.random.default_rng(0)
    X = np.hstack([X, draw.normal(size=(120, 1))])
    pairs = draw.choice(120, size=(110, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = y[pairs[:, 0]] == y[pairs[:, 1]]
    asked = lw.pack(X, similar=pairs[alike], dissimilar=pairs[~alike])[1]
    return X, y, asked, lw.pack(X, similar=pairs[alike])[1]


X, Y, ASKED, MET = _world()
WORDS = np.where(Y > 0, "u", "v")
TEXT = np.column_stack([X[:, :2].astype(object), WORDS])
FRAME = pd.DataFrame(X, columns=list("abc"))
TEXT_FRAME = FRAME.assign(c=WORDS)
KNOWN = ["yes" if Y[0] > 0 else "no", *[None] * 118, "yes" if Y[119] > 0 else "no"]


def pair(n_classes: int = 2, **settings: Any) -> lw.PairClassifier:
    given = {"cv": 2, "alphas": [0.03], "random_state": 0, **settings}
    return lw.PairClassifier(n_classes, **given)


def linear(n_classes: int = 2, **settings: Any) -> lw.PairClassifier:
    return pair(n_classes, features="linear", **settings)


def boosting(**settings: Any) -> Any:
    return HistGradientBoostingClassifier(max_iter=5, **settings)


def with_text(encoder: Any) -> ColumnTransformer:
    return ColumnTransformer([("numbers", "passthrough", [0, 1]), ("text", encoder, [2])])


Case = tuple[Callable[[], Any], Any, Any]

CASES: dict[str, Case] = {
    "linear": (linear, X, ASKED),
    "kernels": (lambda: pair(features="rbf"), X, ASKED),
    "a sum": (lambda: pair(alphas=(0.03, 0.3), cv=3), X, ASKED),
    "penalties by name": (lambda: pair(alphas={"linear": [0.1], "rbf 0.9": (0.1,)}), X, ASKED),
    "penalties in an array": (lambda: linear(alphas=np.array([0.1, 0.01])), X, ASKED),
    "principal components": (lambda: pair(alphas={"rbf 0.9 pc": [0.1]}), X, ASKED),
    "three classes": (lambda: linear(3), X, ASKED),
    "three classes, kernels": (lambda: pair(3, features="rbf"), X, ASKED),
    "random": (lambda: linear(pairing="random"), X, MET),
    "free": (lambda: linear(pairing="free"), X, MET),
    "tested": (linear, X, MET),
    "minority": (lambda: linear(positive="minority", calibrate=False), X, ASKED),
    "a known error rate": (lambda: linear(error_rate=0.05), X, ASKED),
    "sparse": (linear, scipy.sparse.csr_matrix(X), ASKED),
    "columns with names": (linear, FRAME, ASKED),
    "auto on numbers": (lambda: pair(estimator="auto"), X, ASKED),
    "auto on text": (lambda: pair(estimator="auto"), TEXT, ASKED),
    "boosting": (lambda: pair(estimator=boosting()), X, ASKED),
    "boosting, three classes": (lambda: pair(3, estimator=boosting()), X, ASKED),
    "boosting, early stopping": (
        lambda: pair(estimator=boosting(early_stopping=True, scoring="loss")),
        FRAME,
        ASKED,
    ),
    "logistic regression": (
        lambda: pair(estimator=make_pipeline(StandardScaler(), LogisticRegression())),
        X,
        ASKED,
    ),
    "logistic regression, three classes": (
        lambda: pair(3, estimator=LogisticRegression()),
        X,
        ASKED,
    ),
    "other features": (lambda: linear().set_params(features=PCA(2)), X, ASKED),
    "a kernel of the user": (
        lambda: pair(features=Nystroem(n_components=9, random_state=0)),
        X,
        ASKED,
    ),
    "steps before": (
        lambda: make_pipeline(
            StandardScaler(),
            MinMaxScaler(),
            "passthrough",
            MaxAbsScaler(),
            RobustScaler(),
            SimpleImputer(strategy="median"),
            PCA(2, whiten=True),
            linear(),
        ),
        X,
        ASKED,
    ),
    "a union": (
        lambda: make_pipeline(
            FeatureUnion([("a", StandardScaler()), ("b", "passthrough"), ("c", "drop")]), linear()
        ),
        X,
        ASKED,
    ),
    "text": (lambda: make_pipeline(with_text(OneHotEncoder()), linear()), TEXT, ASKED),
    "text in a frame": (
        lambda: make_pipeline(
            ColumnTransformer(
                [("numbers", StandardScaler(), ["a", "b"]), ("text", OneHotEncoder(), ["c"])]
            ),
            linear(),
        ),
        TEXT_FRAME,
        ASKED,
    ),
    "the rest passes": (
        lambda: make_pipeline(
            ColumnTransformer([("numbers", StandardScaler(), ["a"])], remainder="passthrough"),
            linear(),
        ),
        FRAME,
        ASKED,
    ),
    "the rest is left out": (
        lambda: make_pipeline(ColumnTransformer([("numbers", MinMaxScaler(), [1, 2])]), linear()),
        X,
        ASKED,
    ),
    "frames inside": (
        lambda: make_pipeline(StandardScaler(), linear()).set_output(transform="pandas"),
        FRAME,
        ASKED,
    ),
    "su": (lambda: lw.SUClassifier(prior=0.7), X, MET),
    "su, one alpha": (lambda: lw.SUClassifier("logistic", prior=0.3, alpha=0.1), FRAME, MET),
    **{
        f"su cv, {loss}, {rewrite}": (
            lambda loss=loss, rewrite=rewrite: lw.SUClassifierCV(  # type: ignore[misc]
                loss, rewrite=rewrite, prior=0.7, cv=2
            ),
            X,
            ASKED,
        )
        for loss in ("squared", "logistic", "double_hinge")
        for rewrite in ("su", "du", "sd", "sdu")
    },
}


def fitted(case: Case) -> tuple[Any, Any]:
    make, rows, labels = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of three classes one is empty
        return make().fit(rows, labels), rows


def last(clf: Any) -> Any:
    return clf.steps[-1][1] if hasattr(clf, "steps") else clf


def check_same(one: Any, other: Any, where: str = "") -> None:
    """Compare objects by all that they hold."""
    one, other = (
        value.item() if isinstance(value, np.generic) else value for value in (one, other)
    )
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        assert one.dtype.kind == other.dtype.kind, where
        np.testing.assert_array_equal(one, other, where)
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for name in one:
            check_same(one[name], other[name], f"{where}.{name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for number, pair_ in enumerate(zip(one, other, strict=True)):
            check_same(*pair_, f"{where}[{number}]")
    elif hasattr(one, "__dict__"):
        check_same(dict(sorted(vars(one).items())), dict(sorted(vars(other).items())), where)
    else:
        assert one == other or (one != one and other != other), where  # noqa: PLR0124


NOT_KEPT = {
    "class_count_",
    "labels_",
    "row_proba_",
    "suspects_",
    "wrong_proba_",
    "pair_information_",
}
"""What is known of single rows."""
IN_TREES = {"estimator_", "feature_map_"}
"""Trees have private attributes that only a fit needs."""


SLOW = {
    "auto on numbers",
    "boosting, three classes",
    "free",
    "logistic regression, three classes",
    "three classes, kernels",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES]
)
def test_a_classifier_comes_back_and_decides_exactly_as_before(tmp_path: Path, name: str) -> None:
    clf, rows = fitted(CASES[name])
    lw.save(clf, tmp_path / "model.skops")
    again = lw.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(rows), clf.predict(rows))
    np.testing.assert_array_equal(again.decision_function(rows), clf.decision_function(rows))
    if hasattr(clf, "predict_proba"):
        np.testing.assert_array_equal(again.predict_proba(rows), clf.predict_proba(rows))
        assert last(again).pair_information_.value == last(clf).pair_information_.value
    left_out = NOT_KEPT | ({"random_state"} if "kernel" in name else set())
    if "boosting" in name or name == "auto on text":
        left_out = left_out | IN_TREES
    compared = set(vars(last(clf))) - left_out
    assert compared <= set(vars(last(again)))
    for attribute in sorted(compared - {"feature_map_"}):
        check_same(getattr(last(clf), attribute), getattr(last(again), attribute), attribute)
    clone(again)


@pytest.mark.parametrize("is_refitted", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["linear", "su cv, squared, sdu"])
def test_what_the_report_says_of_a_loaded_model_is_what_it_said_before(
    tmp_path: Path, name: str, is_refitted: bool
) -> None:
    clf, rows = fitted(CASES[name])
    lw.save(clf, tmp_path / "model.skops")
    reports = [
        lw.label_free_report(
            one, rows, ASKED, trained_on_same_pairs=is_refitted, random_state=0
        ).to_dict()
        for one in (clf, lw.load(tmp_path / "model.skops"))
    ]
    assert reports[0] == reports[1]


@pytest.mark.parametrize(
    ("make", "types"),
    [
        (
            lambda: pair(estimator=RandomForestClassifier(3, max_depth=2)),
            [
                "sklearn.ensemble._forest.RandomForestClassifier",
                "sklearn.tree._classes.DecisionTreeClassifier",
                "sklearn.tree._tree.Tree",
            ],
        ),
        (
            lambda: make_pipeline(PowerTransformer(), linear()),
            [
                "sklearn.preprocessing._data.PowerTransformer",
                "sklearn.preprocessing._data.StandardScaler",
            ],
        ),
        (
            # A type in the table, made in a way that is not.
            lambda: make_pipeline(StandardScaler(copy=False), linear()),
            ["sklearn.preprocessing._data.StandardScaler"],
        ),
    ],
)
def test_a_brought_part_needs_trust_in_every_type_by_its_name(
    tmp_path: Path, make: Any, types: list[str]
) -> None:
    clf = make().fit(X.copy(), ASKED)
    path = tmp_path / "model.skops"
    lw.save(clf, path)
    with pytest.raises(ValueError, match=r"model\.skops is refused.*trust them by name") as refused:
        lw.load(path)
    assert str(refused.value).endswith(
        f"or {' '.join(f'--trust {name}' for name in types)} on the command line."
    )
    for some in (types[:-1], [name + "x" for name in types]):
        with pytest.raises(ValueError, match="is refused"):
            lw.load(path, trusted=some)
    np.testing.assert_array_equal(
        lw.load(path, trusted=types).predict(X.copy()), clf.predict(X.copy())
    )


def _psi(margin: Any) -> Any:
    return (np.sqrt(margin**2 + 1) - margin) / 2


def _psi_derivative(margin: Any) -> Any:
    return (margin / np.sqrt(margin**2 + 1) - 1) / 2


def _psi_curvature(margin: Any) -> Any:
    return (margin**2 + 1) ** -1.5 / 2


def test_a_loss_of_the_user_needs_trust_in_its_functions(tmp_path: Path) -> None:
    loss = MarginLoss("smooth", _psi, _psi_derivative, _psi_curvature)
    clf = lw.SUClassifier(loss, prior=0.7).fit(X, MET)
    lw.save(clf, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"_psi_derivative"):
        lw.load(tmp_path / "model.skops")


def test_folds_that_are_no_number_come_back_as_the_default(tmp_path: Path) -> None:
    folds = list(lw.PairKFold(2).split(X, MET))
    clf = lw.SUClassifierCV(prior=0.7, cv=folds).fit(X, MET)
    lw.save(clf, tmp_path / "model.skops")
    assert lw.load(tmp_path / "model.skops").cv == 5


def test_an_own_classifier_that_is_odd_is_not_saved_as_a_brought_one(tmp_path: Path) -> None:
    clf = make_pipeline(StandardScaler(), lw.SUClassifier(prior=0.7)).fit(X, MET)
    clf[-1].coef_ = clf[-1].coef_ * np.nan
    with pytest.raises(ValueError, match=r"cannot be saved: estimator\.steps.*coef_.*not finite"):
        lw.save(clf, tmp_path / "model.skops")


@pytest.mark.parametrize("cv", [lw.PairKFold(2), lw.PairKFold(2, shuffle=True, random_state=3)])
def test_a_pair_classifier_keeps_its_folds(cv: Any, tmp_path: Path) -> None:
    lw.save(pair(cv=cv).fit(X, ASKED), tmp_path / "model.skops")
    assert repr(lw.load(tmp_path / "model.skops").cv) == repr(cv)


def test_folds_of_others_come_back_as_the_default(tmp_path: Path) -> None:
    clf = pair(cv=KFold(2)).fit(X, ASKED)
    lw.save(clf, tmp_path / "model.skops")
    again = lw.load(tmp_path / "model.skops")
    assert again.cv == 5  # for another fit; this one is as it was
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
