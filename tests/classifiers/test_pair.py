"""PairClassifier on fresh pairs and unlabeled rows."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.datasets import SUSample
from tests.candidates import no_class_more  # noqa: F401 - used by all tests here
from tests.classifiers.quick import THREE, draw_three, quick

SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
Draw = Callable[..., SUSample]


class Waveform:
    """Rows of the waveform generator by class, dealt out without replacement."""

    def __init__(self, seed: int) -> None:
        X, y = lw.datasets.make_waveform(10_000, random_state=seed)
        self._rng = np.random.default_rng(seed)
        self._stock = {label: list(np.flatnonzero(y == label)) for label in (-1, 1)}
        self._X = X

    def labels(self, size: int, share: float) -> np.ndarray:
        return np.where(self._rng.random(size) < share, 1, -1)

    def rows(self, labels: np.ndarray) -> np.ndarray:
        return np.asarray(self._X[[self._stock[int(label)].pop() for label in labels]])


def draw_pairs(
    prior: float, pair_share: float, seed: int, n_similar: int = 400, n_dissimilar: int = 0
) -> tuple[Any, Any, Any, Any]:
    """Draw pairs of both kinds, 400 unlabeled rows and 2000 test rows."""
    source = Waveform(seed)
    same, other = source.labels(n_similar, pair_share), source.labels(n_dissimilar, 0.5)
    X, y = lw.pack(
        source.rows(source.labels(400, prior)),
        similar=(source.rows(same), source.rows(same)),
        dissimilar=(source.rows(other), source.rows(-other)),
    )
    y_test = source.labels(2000, prior)
    return X, y, source.rows(y_test), y_test


def agreement(clf: Any, X: Any, y: Any) -> float:
    """Accuracy, whichever class got which name."""
    accuracy = clf.score(X, y)
    return float(max(accuracy, 1 - accuracy))


# --- what it learns ---------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.5, 0.7, 0.9])
def test_it_comes_near_the_labeled_fit_at_any_prior(draw_waveform: Draw, prior: float) -> None:
    sample = draw_waveform(600, 600, prior, 1)
    clf = lw.PairClassifier(features="linear", random_state=0).fit(*sample.pack())
    labeled = LogisticRegression(max_iter=2000).fit(sample.unlabeled, sample.y_unlabeled)
    X, y = sample.X_test, sample.y_test
    reached = agreement(clf, X, y) if prior == 0.5 else clf.score(X, y)
    assert reached > labeled.score(X, y) - 0.03
    assert clf.prior_ == pytest.approx(prior, abs=0.06)
    assert clf.prior_interval_[0] <= clf.prior_ <= clf.prior_interval_[1]
    assert clf.pairing_ == "random"
    assert clf.has_signal_


def test_gaussians_are_told_apart_as_well_as_by_the_best_rule() -> None:
    X, y = lw.datasets.make_gaussians(8000, separation=3.0, random_state=0)
    sample = lw.datasets.sample_su(X, y, 500, 500, n_test=2000, random_state=0)
    clf = quick().fit(*sample.pack())
    labeled = LogisticRegression().fit(X, y)
    # The labeled fit knows a prior of one half; its threshold is moved to 0.7.
    decision = labeled.decision_function(sample.X_test)
    best = np.mean(
        np.where(decision + np.log(7 / 3) - np.log(np.mean(y == 1) / np.mean(y == -1)) > 0, 1, -1)
        == sample.y_test
    )
    assert clf.score(sample.X_test, sample.y_test) > best - 0.015


def test_probabilities_are_calibrated(draw_waveform: Draw) -> None:
    sample = draw_waveform(1000, 1000, 0.7, 2)
    probabilities = quick().fit(*sample.pack()).predict_proba(sample.X_test)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    positive = sample.y_test == 1
    for low, high in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0)):
        inside = (probabilities[:, 1] >= low) & (probabilities[:, 1] <= high)
        assert positive[inside].mean() == pytest.approx(probabilities[inside, 1].mean(), abs=0.08)


def test_at_one_half_either_class_may_be_the_majority_class(draw_waveform: Draw) -> None:
    clf = quick().fit(*draw_waveform(400, 400, 0.5, 0).pack())
    low, high = clf.prior_interval_
    assert 0.4 < low < 0.5 < clf.prior_ < high < 0.6
    assert clf.prior_ < 0.6


def test_predictions_decisions_and_probabilities_agree(draw_waveform: Draw) -> None:
    sample = draw_waveform(150, 150)
    clf = quick().fit(*sample.pack())
    decision, probabilities = clf.decision_function(sample.X_test), clf.predict_proba(sample.X_test)
    np.testing.assert_allclose(
        decision, np.log(probabilities[:, 1] / probabilities[:, 0]), atol=1e-6
    )
    np.testing.assert_array_equal(clf.predict(sample.X_test), np.where(decision > 0, 1, -1))
    linear = sample.X_test @ clf.coef_[0] + clf.intercept_[0]
    np.testing.assert_allclose(decision, linear, atol=1e-8)


def test_the_minority_class_as_positive_mirrors_everything(draw_waveform: Draw) -> None:
    sample = draw_waveform(300, 300, 0.75)
    larger, smaller = (
        quick(positive=side).fit(*sample.pack()) for side in ("majority", "minority")
    )
    X = sample.X_test
    np.testing.assert_allclose(smaller.decision_function(X), -larger.decision_function(X))
    np.testing.assert_allclose(smaller.predict_proba(X), larger.predict_proba(X)[:, ::-1])
    np.testing.assert_allclose(smaller.coef_, -larger.coef_)
    np.testing.assert_allclose(smaller.intercept_, -larger.intercept_)
    assert smaller.prior_ == pytest.approx(1 - larger.prior_)
    low, high = larger.prior_interval_
    assert smaller.prior_interval_ == pytest.approx((1 - high, 1 - low))
    assert larger.score(X, sample.y_test) > 0.85


@pytest.mark.slow
def test_without_calibration_the_model_of_all_rows_is_used_as_it_is(draw_waveform: Draw) -> None:
    sample = draw_waveform(300, 300)
    plain, raw = (quick(calibrate=flag).fit(*sample.pack()) for flag in (True, False))
    decisions = [clf.decision_function(sample.X_test) for clf in (plain, raw)]
    # A line turns one into the other.
    assert np.corrcoef(decisions[0], decisions[1])[0, 1] == pytest.approx(1)
    assert np.ptp(decisions[0] - decisions[1]) > 0.1
    assert raw.prior_ == plain.prior_
    assert raw.score(sample.X_test, sample.y_test) > 0.8


def test_rings_are_told_apart_with_radial_features(rng: np.random.Generator) -> None:
    def rings(radius: np.ndarray) -> np.ndarray:
        angle = rng.uniform(0, 2 * np.pi, radius.size)
        points = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
        return np.asarray(points + 0.2 * rng.standard_normal(points.shape))

    labels = np.where(rng.random((3, 300)) < [[0.845], [0.7], [0.7]], 1, -1)
    pairs, rows, test = (2.0 - label for label in labels)
    clf = lw.PairClassifier(alphas=[0.03], pairing="random", random_state=0)
    clf.fit(*lw.pack(rings(rows), similar=(rings(pairs), rings(pairs))))
    assert clf.features_.startswith("rbf")
    assert not hasattr(clf, "coef_")
    assert clf.score(rings(test), labels[2]) > 0.97


# --- pairs of other kinds ---------------------------------------------------------------------


@pytest.mark.parametrize("alphas", [[0.1, 0.01], pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:The pairs show no signal:UserWarning")
def test_dissimilar_pairs_help(alphas: Any) -> None:
    similar: list[float] = []
    both: list[float] = []
    for seed in range(2):
        # So few similar pairs that some samples show no signal without the dissimilar ones.
        X, y, X_test, y_test = draw_pairs(0.6, 0.36 / 0.52, seed, 40, 200)
        for found, kept in ((similar, y >= 0), (both, np.full(len(y), True))):
            clf = quick(pairing="random", alphas=alphas).fit(X[kept], y[kept])
            found.append(agreement(clf, X_test, y_test))
    assert min(both) > 0.84
    assert np.mean(both) > np.mean(similar) + 0.03


def test_dissimilar_pairs_alone_are_enough() -> None:
    X, y, X_test, y_test = draw_pairs(0.7, 0.5, 0, 0, 400)
    clf = quick().fit(X, y)
    assert clf.score(X_test, y_test) > 0.86
    assert clf.pairing_test_ is None
    assert clf.prior_ == pytest.approx(0.7, abs=0.08)


@pytest.mark.parametrize(
    ("prior", "pair_share"), [pytest.param(0.9, 0.5, marks=pytest.mark.slow), (0.7, 0.3)]
)
def test_pairs_that_were_not_formed_at_random_are_noticed_and_used(
    prior: float, pair_share: float
) -> None:
    X, y, X_test, y_test = draw_pairs(prior, pair_share, 0)
    clf = quick(alphas=[0.03], cv=3)
    with pytest.warns(UserWarning, match="not formed at random"):
        clf.fit(X, y)
    assert clf.pairing_ == "free"
    assert clf.pairing_test_.p_value < 0.05
    assert clf.prior_ == pytest.approx(prior, abs=0.08)
    assumed = quick(pairing="random", alphas=[0.03], cv=3).fit(X, y)
    assert clf.score(X_test, y_test) > 0.86
    assert clf.score(X_test, y_test) > assumed.score(X_test, y_test) + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.5, 0.7])
def test_free_pairing_costs_little_where_pairs_were_formed_at_random(
    draw_waveform: Draw, prior: float
) -> None:
    sample = draw_waveform(400, 400, prior, 3)
    clf = lw.PairClassifier(features="linear", pairing="free", random_state=0)
    clf.fit(*sample.pack())
    assert clf.pairing_ == "free"
    assert clf.pairing_test_ is None
    accuracy = agreement(clf, sample.X_test, sample.y_test)
    assert accuracy > 0.84
    if prior != 0.5:
        assert clf.score(sample.X_test, sample.y_test) == accuracy


def test_pairing_that_is_given_is_not_tested(draw_waveform: Draw) -> None:
    X, y = draw_waveform(100, 100).pack()
    assert quick(pairing="random").fit(X, y).pairing_test_ is None
    tested = quick().fit(X, y)
    assert 0 <= tested.pairing_test_.p_value <= 1


# --- more than two classes --------------------------------------------------------------------


@pytest.mark.parametrize("positive", ["majority", "minority"])
def test_three_classes_are_numbered_by_size(positive: str) -> None:
    X, y, X_test, y_test = draw_three(600, 0)
    clf = quick(n_classes=3, positive=positive).fit(X, y)
    order = [0, 1, 2] if positive == "majority" else [2, 1, 0]
    np.testing.assert_array_equal(clf.classes_, [0, 1, 2])
    np.testing.assert_allclose(clf.prior_, THREE[order], atol=0.05)
    assert (clf.prior_interval_[:, 0] < clf.prior_).all()
    assert (clf.prior_ < clf.prior_interval_[:, 1]).all()
    assert np.mean(np.array(order)[clf.predict(X_test)] == y_test) > 0.9
    assert clf.coef_.shape == (3, 3)
    np.testing.assert_allclose(
        clf.decision_function(X_test), X_test @ clf.coef_.T + clf.intercept_, atol=1e-8
    )
    np.testing.assert_allclose(clf.predict_proba(X_test).sum(axis=1), 1)


def test_three_classes_without_signal_are_predicted_to_be_the_largest(
    rng: np.random.Generator,
) -> None:
    X, y = lw.pack(rng.normal(size=(60, 2)), similar=tuple(rng.normal(size=(2, 60, 2))))
    for positive, largest in (("majority", 0), ("minority", 2)):
        clf = quick(n_classes=3, positive=positive)
        with pytest.warns(UserWarning, match="no signal"):
            clf.fit(X, y)
        np.testing.assert_array_equal(clf.predict(X), largest)
        np.testing.assert_allclose(clf.predict_proba(X), np.tile(clf.prior_, (len(X), 1)))


# --- no signal --------------------------------------------------------------------------------


@pytest.mark.parametrize(("positive", "larger"), [("majority", 1), ("minority", -1)])
def test_pairs_without_signal_are_warned_of_and_the_majority_class_is_predicted(
    rng: np.random.Generator, positive: str, larger: int
) -> None:
    X, y = lw.pack(rng.normal(size=(100, 3)), similar=tuple(rng.normal(size=(2, 100, 3))))
    clf = quick(positive=positive)
    with pytest.warns(UserWarning, match=r"no signal.*majority class.*Collect more pairs"):
        clf.fit(X, y)
    assert not clf.has_signal_
    np.testing.assert_array_equal(clf.predict(X), larger)
    np.testing.assert_array_equal(clf.coef_, 0.0)
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], clf.prior_)
    assert clf.pairing_test_ is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The pairs show no signal")
def test_three_classes_of_few_rows_with_many_columns_are_learned_in_seconds() -> None:
    X, y = lw.pack(
        np.random.default_rng(0).standard_normal((12, 40)), similar=[(0, 1), (2, 3), (4, 5), (6, 7)]
    )
    start = time.process_time()
    lw.PairClassifier(3, pairing="free", features="rbf", random_state=0).fit(X, y)
    assert time.process_time() - start < 20.0  # a few, where the machine has no other work


def test_constant_columns_alone_show_no_signal() -> None:
    X, y = lw.pack(np.ones((20, 2)), similar=(np.ones((20, 2)), np.ones((20, 2))))
    clf = quick()
    with pytest.warns(UserWarning, match="no signal"):
        clf.fit(X, y)
    assert (clf.predict(X) == 1).all()


@pytest.mark.slow
def test_seven_datasets_are_learned_without_choosing_anything(real_data: object) -> None:
    reached = {}
    for name in ("adult", "cod-rna", "ijcnn1", "magic", "phishing", "phoneme", "spambase"):
        X, y = lw.datasets.load(name, return_X_y=True)
        sample = lw.datasets.sample_su(X, y, 500, 500, n_test=200, random_state=0)
        clf = lw.PairClassifier(random_state=0).fit(*sample.pack())
        reached[name] = clf.score(sample.X_test, sample.y_test)
    assert min(reached.values()) > 0.7, reached


def three_classes(rng: np.random.Generator, n_rows: int) -> tuple[Any, Any]:
    labels = rng.choice(3, size=n_rows, p=[0.5, 0.3, 0.2])
    means = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    return means[labels] + rng.standard_normal((n_rows, 2)), labels


def test_linear_scores_tell_three_classes_apart(rng: np.random.Generator) -> None:
    """A large penalty takes two of them for one, and a path that stays there ends there."""
    U, _ = three_classes(rng, 400)
    rows, labels = three_classes(rng, 2000)
    pairs = rng.permutation(2000).reshape(1000, 2)
    pairs = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]][:250]
    X, y = lw.pack(U, similar=(rows[pairs[:, 0]], rows[pairs[:, 1]]))
    clf = lw.PairClassifier(3, features="linear", pairing="random", cv=3, random_state=0).fit(X, y)
    new, truth = three_classes(rng, 2000)
    assert np.mean(clf.predict(new) == truth) > 0.93
    np.testing.assert_allclose(clf.prior_, [0.5, 0.3, 0.2], atol=0.08)


def test_a_class_without_rows_is_told(draw_waveform: Draw) -> None:
    X, y = draw_waveform(300, 300).pack()
    with pytest.warns(UserWarning, match="do not show 4 classes"):
        clf = lw.PairClassifier(
            4, features="linear", alphas=[0.1], pairing="random", random_state=0
        ).fit(X, y)
    empty = int(np.argmin(clf.prior_))
    assert clf.prior_interval_[empty, 1] >= 0.009  # three of 300 rows could be unseen
