"""Sensitivity to the prior: against plain refits, and what it says and draws."""

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.datasets import SUSample
from likewise.report.sensitivity import PriorSensitivity, prior_sensitivity
from likewise.su.objective import minimise_su_risk
from tests.su.draws import draw_table

mpl.use("Agg")


@pytest.fixture
def packed(draw_waveform: Callable[..., SUSample]) -> tuple[Any, Any]:
    return draw_waveform().pack()


@pytest.fixture
def closed_pictures() -> Iterator[None]:
    """Close what the test has drawn."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def refit(clf: Any, X: Any, y: Any, prior: float) -> Any:
    return clone(clf).set_params(prior=prior).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge"])
@pytest.mark.parametrize("regularize_intercept", [True, False])
def test_it_is_what_plain_refits_give(packed: Any, loss: str, regularize_intercept: bool) -> None:
    X, y = packed
    clf = lw.SUClassifier(
        loss, prior=0.7, alpha=1e-2, regularize_intercept=regularize_intercept
    ).fit(X, y)
    priors = [0.3, 0.6, 0.7, 0.8]
    moved = prior_sensitivity(clf, X, y, priors=priors)
    unlabeled = X[y == 0]
    for i, prior in enumerate(priors):
        expected = refit(clf, X, y, prior)
        np.testing.assert_allclose(moved.coef[i], expected.coef_[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(moved.intercept[i], expected.intercept_[0], rtol=1e-6, atol=1e-8)
        predicted = expected.predict(unlabeled)
        assert moved.share_positive[i] == np.mean(predicted == 1)
        assert moved.agreement[i] == np.mean(predicted == clf.predict(unlabeled))
    assert moved.agreement[2] == 1.0
    assert moved.reference == 0.7


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("rewrite", ["auto", "sd", "su"])
def test_dissimilar_pairs_and_statements_about_one_table_count(loss: str, rewrite: str) -> None:
    rows, _, alike, different, _ = draw_table(np.random.default_rng(0), 200, 300)
    X, y = lw.pack(rows / rows.std(axis=0), similar=alike, dissimilar=different)
    clf = lw.SUClassifier(loss, prior=0.7, alpha=1e-2, rewrite=rewrite)
    moved = prior_sensitivity(clf, X, y, priors=[0.3, 0.8])
    for i, prior in enumerate(moved.priors):
        expected = refit(clf, X, y, prior)
        np.testing.assert_allclose(moved.coef[i], expected.coef_[0], rtol=1e-6, atol=1e-8)


def test_an_unfitted_classifier_does_as_well_and_stays_unfitted(packed: Any) -> None:
    clf = lw.SUClassifier(prior=0.7)
    moved = prior_sensitivity(clf, *packed)
    assert not hasattr(clf, "coef_")
    again = prior_sensitivity(clone(clf).fit(*packed), *packed)
    np.testing.assert_array_equal(moved.coef, again.coef)


@pytest.mark.parametrize("fit_before", [True, False])
def test_cross_validation_keeps_the_alpha_it_chose(packed: Any, fit_before: bool) -> None:
    X, y = packed
    clf = lw.SUClassifierCV(prior=0.7, alphas=(10.0, 0.3))
    alpha = clone(clf).fit(X, y).alpha_
    moved = prior_sensitivity(clf.fit(X, y) if fit_before else clf, X, y, priors=[0.65])
    expected = lw.SUClassifier(prior=0.65, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(moved.coef[0], expected.coef_[0], rtol=1e-8)


def test_the_squared_loss_is_fitted_only_once(packed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []

    def counting(*args: Any, **kwargs: Any) -> Any:
        fits.append(kwargs["prior"])
        return minimise_su_risk(*args, **kwargs)

    monkeypatch.setattr("likewise.classifiers.su.minimise_su_risk", counting)
    clf = lw.SUClassifier(prior=0.7).fit(*packed)
    prior_sensitivity(clf, *packed)
    assert fits == [0.7, 0.7]  # ours above, and the reference


@pytest.mark.parametrize("prior", [0.51, 0.55, 0.7, 0.95, 0.995, 0.3, 0.05])
def test_the_default_grid_holds_the_reference_and_keeps_to_its_side(
    packed: Any, prior: float
) -> None:
    moved = prior_sensitivity(lw.SUClassifier(prior=prior), *packed)
    assert prior in moved.priors
    assert np.all(np.diff(moved.priors) > 0)
    assert np.all((moved.priors > 0) & (moved.priors < 1) & (moved.priors != 0.5))
    assert np.all((moved.priors > 0.5) == (prior > 0.5))
    assert moved.priors.size == 25
    assert moved.agreement[moved.priors == prior] == 1.0


@pytest.mark.parametrize(
    ("interval", "ends"), [((0.62, 0.81), (0.62, 0.81)), ((0.5, 1.0), (0.51, 0.99))]
)
def test_the_default_grid_spans_the_interval(
    packed: Any, interval: tuple[float, float], ends: tuple[float, float]
) -> None:
    clf = lw.SUClassifier(prior=0.7).fit(*packed)
    clf.prior_interval_ = interval
    moved = prior_sensitivity(clf, *packed)
    np.testing.assert_allclose(moved.priors[[0, -1]], ends)
    assert 0.7 in moved.priors


def test_an_estimated_prior_and_its_interval_are_the_default(packed: Any) -> None:
    clf = lw.SUClassifier(prior=lw.prior.PairMomentPrior(random_state=0)).fit(*packed)
    moved = prior_sensitivity(clf, *packed)
    assert moved.reference == clf.prior_
    low, high = clf.prior_interval_
    np.testing.assert_allclose(moved.priors[[0, -1]], (max(low, 0.51), min(high, 0.99)))


def test_sparse_rows_and_frames_are_taken(packed: Any) -> None:
    X, y = packed
    expected = prior_sensitivity(lw.SUClassifier(prior=0.7), X, y)
    sparse = prior_sensitivity(lw.SUClassifier(prior=0.7), sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef, expected.coef, rtol=1e-8, atol=1e-10)
    frame = pd.DataFrame(X, columns=[f"wave {i}" for i in range(X.shape[1])])
    framed = prior_sensitivity(lw.SUClassifier("logistic", prior=0.7), frame, y, priors=[0.6, 0.7])
    assert framed.feature_names[:2] == ("wave 0", "wave 1")
    assert expected.feature_names[:2] == ("feature 0", "feature 1")


@pytest.mark.parametrize("priors", [[0.5], [0.6, 1.0], [0.6, float("nan")], []])
def test_impossible_priors_are_refused(packed: Any, priors: list[float]) -> None:
    with pytest.raises(ValueError, match="prior"):
        prior_sensitivity(lw.SUClassifier(prior=0.7), *packed, priors=priors)


def test_a_pipeline_is_refused_in_words(packed: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), lw.SUClassifier(prior=0.7))
    with pytest.raises(TypeError, match=r"not of a Pipeline; of a pipeline, pass the last step"):
        prior_sensitivity(pipeline, *packed)


def made_up(agreement: list[float], coef: list[list[float]]) -> PriorSensitivity:
    return PriorSensitivity(
        priors=np.array([0.62, 0.7, 0.78]),
        coef=np.array(coef),
        intercept=np.zeros(3),
        share_positive=np.array([0.9, 0.7, 0.61]),
        agreement=np.array(agreement),
        reference=0.7,
        feature_names=("a", "b"),
    )


def test_the_summary_is_in_words() -> None:
    moved = made_up([0.97, 1.0, 0.98], [[1.0, -1.0], [1.0, 1.0], [1.0, 2.0]])
    assert str(moved) == (
        "predictions agree on at least 97 % of rows from prior 0.62 to 0.78 (reference 0.70); "
        "the share predicted +1 goes from 61 % to 90 %; 1 of 2 coefficients changes its sign"
    )


def test_a_notebook_shows_a_row_for_every_prior() -> None:
    shown = made_up([0.97, 1.0, 0.98], [[1.0, -1.0], [1.0, 1.0], [1.0, 2.0]])._repr_html_()
    assert shown.count("<tr>") == 1 + 3
    assert "<tr><th>0.700</th><td>70 %</td><td>100 %</td></tr>" in shown


def test_the_summary_does_not_round_up_to_all_rows() -> None:
    moved = made_up([0.9999, 1.0, 1.0], [[1.0, 1.0]] * 3)
    assert str(moved).startswith("predictions agree on at least 99.9 % of rows")
    assert str(moved).endswith("no coefficient changes its sign")


@pytest.mark.usefixtures("closed_pictures")
def test_the_picture_has_two_panels_with_the_curves(packed: Any) -> None:
    moved = prior_sensitivity(lw.SUClassifier(prior=0.7), *packed)
    left, right = moved.plot()
    labels = [text.get_text() for text in left.get_legend().get_texts()]
    assert labels[-1] == "15 smaller"
    assert len(labels) == 7
    drawn = {line.get_label(): line.get_ydata() for line in right.get_lines()}
    np.testing.assert_allclose(drawn["predicted as at prior 0.70"], 100 * moved.agreement)
    np.testing.assert_allclose(drawn["predicted +1"], 100 * moved.share_positive)


@pytest.mark.usefixtures("closed_pictures")
def test_the_picture_goes_on_given_axes_of_which_there_must_be_two(packed: Any) -> None:
    import matplotlib.pyplot as plt

    moved = prior_sensitivity(lw.SUClassifier(prior=0.7), *packed)
    axes = plt.subplots(1, 2)[1]
    assert list(moved.plot(axes)) == list(axes)
    with pytest.raises(ValueError, match="two panels, but 1"):
        moved.plot(axes[:1])
