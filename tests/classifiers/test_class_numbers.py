"""How many classes: chosen by held-out statements, or doubted where there are more."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

import likewise as lw
from likewise.exceptions import ClassesWarning

from .quick import quick


def wine(kind: str, n_pairs: int = 120) -> tuple[Any, Any, Any]:
    """Rows of three wines, statements about them, and their classes."""
    X, classes = load_wine(return_X_y=True)
    random = np.random.default_rng(0)
    pairs = random.integers(classes.size, size=(20 * n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    if kind == "asked":
        asked, alike = pairs[:n_pairs], same[:n_pairs]
        said = lw.pack(scale(X), similar=asked[alike], dissimilar=asked[~alike])
    else:
        rows = scale(X)
        left, right = pairs[same][:n_pairs].T
        said = lw.pack(rows, similar=(rows[left], rows[right]))
    return *said, classes


@pytest.mark.parametrize("kind", ["asked", "fresh"])
def test_three_classes_are_found_by_held_out_statements(kind: str) -> None:
    X, y, classes = wine(kind)
    clf = quick(n_classes="auto", alphas=[0.01], cv=3).fit(X, y)
    assert clf.n_classes_ == clf.class_count_.chosen == 3
    assert clf.classes_.tolist() == [0, 1, 2]
    found = clf.predict(X)[: classes.size]
    table = np.zeros((3, 3))
    np.add.at(table, (found, classes), 1)
    assert table.max(axis=1).sum() / classes.size > 0.9
    assert "<- chosen" in str(clf.class_count_)
    assert clf.class_count_.to_dict()["chosen"] == 3


def test_three_classes_taken_as_two_are_warned_of() -> None:
    X, y, _ = wine("fresh")
    with pytest.warns(ClassesWarning, match=r"probably more than 2 classes: with 3, .* nats"):
        clf = quick(alphas=[0.01], cv=3).fit(X, y)
    assert clf.class_count_.counts == (2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(n_classes=3, alphas=[0.01], cv=3).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_are_found_and_not_doubted(seed: int) -> None:
    X, y = lw.datasets.make_gaussians(3000, separation=2.5, random_state=seed)
    sample = lw.datasets.sample_su(X, y, 200, 200, prior=0.7, random_state=seed)
    clf = quick(n_classes="auto", alphas=[0.1]).fit(*sample.pack())
    assert clf.n_classes_ == 2
    assert clf.classes_.tolist() == [-1, 1]
    fixed = quick(alphas=[0.1]).fit(*sample.pack())  # a warning would be an error
    np.testing.assert_array_equal(fixed.coef_, clf.coef_)


@pytest.mark.slow
def test_a_chosen_number_survives_clones_of_a_report_and_a_file(tmp_path: Any) -> None:
    X, y, _ = wine("asked")
    clf = quick(n_classes="auto", alphas=[0.01]).fit(X, y)
    report = lw.label_free_report(clf, X, y, random_state=0)
    assert list(report.recall) == [0, 1, 2]
    lw.save(clf, tmp_path / "model.skops")
    loaded = lw.load(tmp_path / "model.skops")
    assert loaded.n_classes_ == 3
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


@pytest.mark.parametrize(
    ("settings", "known", "words"),
    [
        ({"estimator": LogisticRegression()}, None, "pass a number with estimator"),
        ({}, "yes", "pass a number with known"),
    ],
)
def test_a_number_is_needed_where_classes_have_names_or_a_model_of_their_own(
    settings: Any, known: Any, words: str
) -> None:
    X, y, classes = wine("asked", 20)
    known = None if known is None else [known] * classes.size
    with pytest.raises(ValueError, match=words):
        quick(n_classes="auto", **settings).fit(X, y, known=known)


@pytest.mark.parametrize("n_classes", [1, 2.5, "three", None])
def test_a_number_that_cannot_be_is_refused(n_classes: Any) -> None:
    X, y, _ = wine("asked", 20)
    with pytest.raises(ValueError, match="'n_classes' parameter"):
        quick(n_classes=n_classes).fit(X, y)
