"""PairClassifier with rows whose classes are known."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import StatementSample, sample_statements
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here
from tests.classifiers.quick import draw_table, draw_three, quick


@pytest.fixture(scope="module")
def sample() -> StatementSample:
    return draw_table(200, 300)


def known_of(truth: Any, rows: Any, names: dict[int, Any]) -> list[Any]:
    """Return the names of the classes of some rows, None for the others."""
    chosen = set(np.asarray(rows).tolist())
    return [names[int(k)] if row in chosen else None for row, k in enumerate(truth)]


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        ({-1: "no", 1: "yes"}, ["no", "yes"]),
        ({-1: "z", 1: "a"}, ["a", "z"]),
        ({-1: 7, 1: 3}, [3, 7]),
        ({-1: 0.0, 1: 2.0}, [0.0, 2.0]),
        ({-1: False, 1: True}, [False, True]),
    ],
)
def test_known_rows_name_the_classes(
    sample: StatementSample, names: dict[int, Any], classes: list[Any]
) -> None:
    X, y = sample.pack()
    known = known_of(sample.y_table, range(6), names)
    assert len({*known} - {None}) == 2
    clf = quick(cv=3, alphas=[0.03]).fit(X, y, known=known)
    assert clf.classes_.tolist() == classes
    truth = np.array([names[int(k)] for k in sample.y_test])
    assert np.mean(clf.predict(sample.X_test) == truth) > 0.9
    of_known = clf.row_proba_[range(6), np.searchsorted(classes, known[:6])]
    np.testing.assert_allclose(of_known, 1.0)
    own = np.array([names[int(k)] for k in sample.y_table])
    assert np.mean(clf.labels_ == own) > 0.98
    share = np.mean(own == clf.classes_[1])
    assert clf.prior_ == pytest.approx(share, abs=0.04)
    assert clf.prior_interval_[0] < share < clf.prior_interval_[1]
    assert clf.score(sample.X_test, truth) > 0.9


def test_a_class_that_no_row_is_known_of_is_called_other(sample: StatementSample) -> None:
    X, y = sample.pack()
    first = int(np.flatnonzero(sample.y_table == -1)[0])
    known = [None] * 200
    known[first] = "spam"  # type: ignore[call-overload]
    clf = quick(cv=3, alphas=[0.03]).fit(X, y, known=known)
    assert clf.classes_.tolist() == ["spam", "other"]
    assert np.mean((clf.labels_ == "spam") == (sample.y_table == -1)) > 0.98
    assert np.mean((clf.predict(sample.X_test) == "spam") == (sample.y_test == -1)) > 0.9


def test_known_rows_are_evidence_where_statements_are_few() -> None:
    few = draw_table(200, 15, seed=5)
    known = known_of(few.y_table, range(80), {-1: "no", 1: "yes"})
    clf = quick(cv=3).fit(*few.pack(), known=known)
    assert clf.has_signal_
    assert np.mean((clf.predict(few.X_test) == "yes") == (few.y_test == 1)) > 0.9


def test_known_rows_tell_the_classes_of_rows_tied_to_them(rng: np.random.Generator) -> None:
    pairs = [(0, 1), (1, 2), (3, 4)]
    X, y = lw.pack(rng.standard_normal((40, 3)), similar=pairs, dissimilar=[(2, 3)])
    known = [None] * 40
    known[0] = "a"  # type: ignore[call-overload]
    known[39] = "b"  # type: ignore[call-overload]
    with pytest.warns(UserWarning, match="no signal"):
        clf = quick(cv=2).fit(X, y, known=known)
    assert clf.labels_[:5].tolist() == ["a", "a", "a", "b", "b"]
    assert clf.labels_[39] == "b"


def test_three_classes_are_named(rng: np.random.Generator) -> None:
    names = {0: "ash", 1: "beech", 2: "oak"}
    classes = rng.choice(3, 1200, p=[0.2, 0.3, 0.5])
    X = 4.0 * np.eye(3)[classes] + rng.standard_normal((1200, 3))
    sample = sample_statements(X, classes, 200, 300, n_test=500, random_state=0)
    known = known_of(sample.y_table, range(12), names)
    clf = quick(n_classes=3, cv=3, alphas=[0.03]).fit(*sample.pack(), known=known)
    assert clf.classes_.tolist() == ["ash", "beech", "oak"]
    truth = np.array([names[int(k)] for k in sample.y_table])
    assert np.mean(clf.labels_ == truth) > 0.97
    np.testing.assert_allclose(clf.prior_, [0.2, 0.3, 0.5], atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "n_digits", "error_rate"), [(0, 10, 0.0), (1, 10, 0.0), (0, 5, 0.02)]
)
def test_one_known_row_per_class_names_many_classes(
    seed: int, n_digits: int, error_rate: float
) -> None:
    draw = np.random.default_rng(seed)
    digits = load_digits(n_class=n_digits)
    n_rows = 50 * n_digits
    rows = draw.choice(len(digits.target), n_rows, replace=False)
    truth = digits.target[rows]
    pairs = draw.integers(n_rows, size=(120 * n_digits, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    same ^= draw.random(len(pairs)) < error_rate
    X, y = lw.pack(digits.data[rows], similar=pairs[same], dissimilar=pairs[~same])
    named = [int(np.flatnonzero(truth == k)[0]) for k in range(n_digits)]
    known = known_of(truth, named, {k: f"digit {k}" for k in range(n_digits)})
    clf = quick(n_classes=n_digits, cv=3, error_rate=error_rate).fit(X, y, known=known)
    assert np.mean(clf.labels_ == np.array([f"digit {k}" for k in truth])) > 0.85


def test_wrong_answers_about_known_rows_are_suspected() -> None:
    sample = draw_table(100, 500, error_rate=0.15)
    known = known_of(sample.y_table, range(50), {-1: "no", 1: "yes"})
    clf = quick(cv=3, alphas=[0.03], error_rate="auto").fit(*sample.pack(), known=known)
    assert clf.error_rate_ == pytest.approx(0.15, abs=0.05)
    assert np.mean((clf.labels_ == "yes") == (sample.y_table == 1)) > 0.97
    assert sample.wrong[clf.suspects_[:30]].mean() > 0.9


# --- in searches and pipelines ----------------------------------------------------------------


def search(known: Any, sample: StatementSample, n_folds: int = 3) -> Any:
    """Fit a grid search that slices what is known with the rows."""
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler(), quick(cv=2, alphas=[0.03]).set_fit_request(known=True)
        )
        return GridSearchCV(
            pipeline,
            {"pairclassifier__alphas": [[0.03], [1e4]]},
            cv=lw.PairKFold(n_folds),
            scoring=lw.pair_log_likelihood_scorer,
        ).fit(*sample.pack(), known=known)


@pytest.mark.filterwarnings("ignore:The pairs show no signal:UserWarning")
@pytest.mark.parametrize("container", [list, lambda known: np.array(known, dtype=object)])
def test_searches_slice_what_is_known_with_the_rows(
    sample: StatementSample, container: Any
) -> None:
    known = known_of(sample.y_table, range(0, 200, 8), {-1: "no", 1: "yes"})
    found = search(container(known), sample)
    assert found.best_params_ == {"pairclassifier__alphas": [0.03]}
    clf = found.best_estimator_[-1]
    assert clf.classes_.tolist() == ["no", "yes"]
    assert np.mean((clf.labels_ == "yes") == (sample.y_table == 1)) > 0.98


@pytest.mark.filterwarnings("ignore:The pairs show no signal:UserWarning")
def test_a_fold_without_known_rows_is_scored_too(sample: StatementSample) -> None:
    known = known_of(sample.y_table, [3], {-1: "no", 1: "yes"})
    found = search(known, sample)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert known[3] in found.best_estimator_.classes_


# --- bad input --------------------------------------------------------------------------------


def test_a_contradiction_with_what_is_known_names_the_rows(sample: StatementSample) -> None:
    X, y = lw.pack(sample.table, similar=[(0, 1), (1, 2)])
    known = known_of(np.array([0, 0, 1] + [0] * 197), [0, 2], {0: "a", 1: "b"})
    with pytest.raises(ValueError, match=r"known of rows 0 and 2 contradicts.*error_rate='auto'"):
        quick().fit(X, y, known=known)


def test_known_is_refused_beside_fresh_pairs() -> None:
    X, y, _, _ = draw_three(30, 0)
    with pytest.raises(ValueError, match=r"known is for the rows of one table.*fresh pairs"):
        quick().fit(X, y, known=[None] * len(y))


def test_too_many_names_and_other_numbers_of_rows_are_refused(sample: StatementSample) -> None:
    X, y = sample.pack()
    with pytest.raises(ValueError, match=r"names 3 classes.*n_classes=2"):
        quick().fit(X, y, known=["a", "b", "c"] + [None] * 197)
    with pytest.raises(ValueError, match=r"each of the 200 rows; got 3"):
        quick().fit(X, y, known=["a", "b", None])


def test_nothing_known_of_any_row_is_as_if_nothing_was_passed(sample: StatementSample) -> None:
    X, y = sample.pack()
    plain, other = (
        quick(cv=3, alphas=[0.03]).fit(X, y, known=known) for known in (None, [None] * 200)
    )
    np.testing.assert_array_equal(plain.classes_, other.classes_)
    np.testing.assert_array_equal(plain.row_proba_, other.row_proba_)


def test_names_of_an_earlier_fit_are_gone(sample: StatementSample) -> None:
    X, y = sample.pack()
    clf = quick(cv=3, alphas=[0.03])
    clf.fit(X, y, known=known_of(sample.y_table, range(6), {-1: "no", 1: "yes"}))
    assert clf.fit(X, y).classes_.tolist() == [-1, 1]
    assert set(clf.labels_) == {-1, 1}
