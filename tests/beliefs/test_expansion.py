"""The likelihood of fresh pairs, against definitions, generic optimisers and simulation."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_softmax, softmax

from likewise._types import FloatArray
from likewise.beliefs.base import log_probabilities
from likewise.beliefs.expansion import Counts, expand, share_covariance
from tests.search.gaussians import Gaussians

KINDS = [Counts(7, 6, 0), Counts(7, 0, 5), Counts(6, 5, 4)]
"""Similar pairs, dissimilar pairs, and both."""


def draw_scores(rng: np.random.Generator, counts: Counts, n_classes: int) -> FloatArray:
    return np.asarray(rng.normal(size=(counts.rows, n_classes)))


def draw_agreeing(
    rng: np.random.Generator, counts: Counts, n_classes: int, size: float
) -> FloatArray:
    """Scores with which similar pairs agree: else free shares of a class that no row is of win."""
    scores = rng.uniform(-size, size, size=(counts.rows, n_classes))
    scores[counts.right] = scores[counts.left] + rng.normal(size=(counts.similar, n_classes))
    return np.asarray(scores)


def uneven_shares(n_classes: int) -> FloatArray:
    weights = np.arange(1.0, n_classes + 1)
    return np.asarray(weights / weights.sum())


def value_of(scores: FloatArray, counts: Counts, pair_shares: FloatArray | None = None) -> float:
    return expand(log_softmax(scores, axis=1), counts, pair_shares).value


def log_densities(
    eta: FloatArray, counts: Counts, q: FloatArray, pair_shares: FloatArray | None
) -> FloatArray:
    """The module's three formulas, one number per pair."""
    rates = np.full(q.size, 1 / (q @ q)) if pair_shares is None else pair_shares / q**2
    similar = (eta[counts.left] * eta[counts.right]) @ rates
    agreement = (eta[counts.dissimilar_left] * eta[counts.dissimilar_right]).sum(axis=1)
    return np.concatenate([np.log(similar), np.log((1 - agreement) / (1 - q @ q))])


# --- what the rows are ------------------------------------------------------------------------


def test_counts_name_the_rows_in_the_order_of_pack() -> None:
    counts = Counts(4, 3, 2)
    parts = [counts.alone, counts.left, counts.right]
    parts += [counts.dissimilar_left, counts.dissimilar_right]
    rows = np.arange(counts.rows)
    np.testing.assert_array_equal(np.concatenate([rows[part] for part in parts]), rows)
    assert [rows[part].size for part in parts] == [4, 3, 3, 2, 2]
    np.testing.assert_array_equal(rows[counts.members], rows[4:])
    assert (counts.pairs, counts.rows) == (5, 14)


def test_scores_of_two_classes_are_log_odds_of_the_second() -> None:
    scores = np.array([-800.0, -1.0, 0.0, 30.0])
    log_p = log_probabilities(scores)
    np.testing.assert_allclose(np.exp(log_p[:, 1]), expit(scores))
    np.testing.assert_allclose(log_p[0], [0.0, -800.0])
    np.testing.assert_allclose(
        log_p, log_probabilities(np.column_stack([np.zeros(4), scores])), atol=1e-12
    )


def test_scores_of_more_classes_are_those_of_a_softmax(rng: np.random.Generator) -> None:
    scores = 300 * rng.normal(size=(5, 4))
    np.testing.assert_allclose(log_probabilities(scores), log_softmax(scores, axis=1))


# --- the value --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_a_constant_probability_carries_no_information(counts: Counts, n_classes: int) -> None:
    for probabilities in (np.full(n_classes, 1 / n_classes), uneven_shares(n_classes)):
        found = expand(np.tile(np.log(probabilities), (counts.rows, 1)), counts)
        assert found.value == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(found.shares, probabilities)
        np.testing.assert_allclose(found.weights, 1 / counts.rows)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_the_value_is_the_log_density_of_pairs_with_the_weights_of_rows(
    rng: np.random.Generator, counts: Counts, n_classes: int, free: bool
) -> None:
    pair_shares = uneven_shares(n_classes) if free else None
    scores = draw_scores(rng, counts, n_classes)
    found = expand(log_softmax(scores, axis=1), counts, pair_shares)
    pairs = log_densities(softmax(scores, axis=1), counts, found.shares, pair_shares).sum()
    rows = np.log(counts.rows * found.weights).sum()
    assert found.value == pytest.approx(-(pairs + rows) / counts.pairs)


@pytest.mark.parametrize("size", [1.0, 50.0])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_weights_sum_to_one_and_give_back_the_shares(
    rng: np.random.Generator, counts: Counts, n_classes: int, free: bool, size: float
) -> None:
    scores = draw_agreeing(rng, counts, n_classes, size)
    found = expand(log_softmax(scores, axis=1), counts, uneven_shares(n_classes) if free else None)
    assert (found.weights > 0).all()
    assert found.weights.sum() == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(found.weights @ softmax(scores, axis=1), found.shares, atol=1e-8)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", [Counts(12, 3, 0), Counts(12, 0, 3), Counts(12, 2, 2)])
def test_the_rows_distribution_is_the_likeliest_one(
    rng: np.random.Generator, counts: Counts, n_classes: int, free: bool
) -> None:
    pair_shares = uneven_shares(n_classes) if free else None
    scores = draw_scores(rng, counts, n_classes)
    eta = softmax(scores, axis=1)

    def negative(weights: FloatArray) -> float:
        pairs = log_densities(eta, counts, weights @ eta, pair_shares).sum()
        return float(-pairs - np.log(counts.rows * weights).sum()) / counts.pairs

    direct = minimize(
        negative,
        np.full(counts.rows, 1 / counts.rows),
        method="SLSQP",
        bounds=[(1e-6, 1.0)] * counts.rows,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    found = expand(np.log(eta), counts, pair_shares)
    assert direct.success
    assert found.value == pytest.approx(direct.fun, abs=1e-7)
    np.testing.assert_allclose(found.weights, direct.x, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_the_names_of_the_classes_do_not_matter(
    rng: np.random.Generator, counts: Counts, n_classes: int
) -> None:
    scores, order = draw_scores(rng, counts, n_classes), np.roll(np.arange(n_classes), 1)
    for pair_shares in (None, uneven_shares(n_classes)):
        found = expand(log_softmax(scores, axis=1), counts, pair_shares)
        shares = None if pair_shares is None else pair_shares[order]
        renamed = expand(log_softmax(scores[:, order], axis=1), counts, shares)
        assert renamed.value == pytest.approx(found.value)
        np.testing.assert_allclose(renamed.shares, found.shares[order])
        np.testing.assert_allclose(renamed.gradient, found.gradient[:, order], atol=1e-10)
        np.testing.assert_allclose(renamed.weights, found.weights)


def test_the_two_members_of_a_pair_are_alike(rng: np.random.Generator) -> None:
    counts = Counts(6, 5, 4)
    log_p = log_softmax(draw_scores(rng, counts, 3), axis=1)
    swapped = log_p.copy()
    for left, right in (
        (counts.left, counts.right),
        (counts.dissimilar_left, counts.dissimilar_right),
    ):
        swapped[left], swapped[right] = log_p[right], log_p[left]
    assert expand(swapped, counts).value == pytest.approx(expand(log_p, counts).value)


def test_where_the_search_for_shares_begins_does_not_matter(rng: np.random.Generator) -> None:
    counts = Counts(7, 6, 3)
    log_p = log_softmax(draw_scores(rng, counts, 3), axis=1)
    first, second = (expand(log_p, counts, start=start) for start in (None, np.array([1, 0, 0.0])))
    np.testing.assert_allclose(first.shares, second.shares, atol=1e-9)


# --- freely formed pairs ----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_best_free_shares_explain_pairs_no_worse_than_chance(
    rng: np.random.Generator, n_classes: int
) -> None:
    counts = Counts(20, 15)
    scores = 2 * draw_scores(rng, counts, n_classes)
    best = minimize(
        lambda logs: value_of(scores, counts, softmax(logs)), np.zeros(n_classes), method="BFGS"
    )
    assert best.fun < value_of(scores, counts)


# --- derivatives ------------------------------------------------------------------------------


def central_difference(
    function: Callable[[FloatArray], float], point: FloatArray, step: float
) -> FloatArray:
    slopes = np.empty_like(point)
    for index in np.ndindex(point.shape):
        nudge = np.zeros_like(point)
        nudge[index] = step
        slopes[index] = (function(point + nudge) - function(point - nudge)) / (2 * step)
    return slopes


@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_the_gradient_in_scores_matches_central_differences(
    rng: np.random.Generator, counts: Counts, n_classes: int, free: bool, size: float
) -> None:
    pair_shares = uneven_shares(n_classes) if free else None
    scores = draw_agreeing(rng, counts, n_classes, size)
    slopes = central_difference(lambda z: value_of(z, counts, pair_shares), scores, 1e-4)
    found = expand(log_softmax(scores, axis=1), counts, pair_shares)
    np.testing.assert_allclose(found.gradient, slopes, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_the_gradient_in_pair_shares_matches_central_differences(
    rng: np.random.Generator, counts: Counts, n_classes: int, size: float
) -> None:
    scores = draw_agreeing(rng, counts, n_classes, size)
    logs = np.log(uneven_shares(n_classes))
    slopes = central_difference(lambda v: value_of(scores, counts, softmax(v)), logs, 1e-4)
    found = expand(log_softmax(scores, axis=1), counts, softmax(logs))
    np.testing.assert_allclose(found.pair_gradient, slopes, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("counts", KINDS)
def test_the_gradient_holds_for_pairs_that_disagree_by_hundreds_of_nats(
    rng: np.random.Generator, counts: Counts, n_classes: int
) -> None:
    scores = rng.uniform(-500, 500, size=(counts.rows, n_classes))
    slopes = central_difference(lambda z: value_of(z, counts), scores, 1e-4)
    found = expand(log_softmax(scores, axis=1), counts)
    np.testing.assert_allclose(found.gradient, slopes, rtol=1e-4, atol=1e-6)


def test_pairs_that_disagree_by_hundreds_of_nats_have_a_finite_value_and_gradient() -> None:
    counts = Counts(2, 2)
    scores = np.array([-500.0, 500.0, -500.0, 500.0, 500.0, -500.0])
    found = expand(log_probabilities(scores), counts)
    # Either pair disagrees by 500 nats up to log 2; the share of either class is one half.
    assert found.value == pytest.approx(500 - np.log(2) + np.log(0.5), rel=1e-9)
    assert np.isfinite(found.gradient).all()


# --- against simulation -----------------------------------------------------------------------

N_DRAWS = 300


def test_free_shares_that_chance_would_give_are_random_pairing(rng: np.random.Generator) -> None:
    counts = Counts(300, 200)
    scores = Gaussians().log_odds(Gaussians().draw(rng, counts))

    def expected_shares(offset: float) -> FloatArray:
        q = expand(log_probabilities(scores + offset), counts).shares
        return np.asarray(q**2 / (q @ q))

    def excess(offset: float) -> float:
        """Share of the second class among pairs by their scores, less that of random pairing."""
        probabilities = expit(scores + offset)
        both = probabilities[counts.left] * probabilities[counts.right]
        neither = (1 - probabilities[counts.left]) * (1 - probabilities[counts.right])
        return float((both / (both + neither)).mean() - expected_shares(offset)[1])

    # With scores given, pairs need not have the shares of random pairing; at this offset they do.
    offset = brentq(excess, -1, 1, xtol=1e-13)
    log_p = log_probabilities(scores + offset)
    random, free = expand(log_p, counts), expand(log_p, counts, expected_shares(offset))
    assert free.value == pytest.approx(random.value, abs=1e-12)
    np.testing.assert_allclose(free.shares, random.shares, atol=1e-9)
    np.testing.assert_allclose(free.gradient, random.gradient, atol=1e-9)
    np.testing.assert_allclose(free.pair_gradient, 0, atol=1e-9)


def expected_value(model: Gaussians, counts: Counts) -> float:
    """Log-density of similar pairs, less that of all rows drawn from one distribution."""
    x, step = np.linspace(-8, 8, 801, retstep=True)
    rows = model.density(x, model.prior)
    members = model.density(x, model.pair_share)
    mixed = (counts.unlabeled * rows + 2 * counts.similar * members) / counts.rows
    divergence = float((mixed * np.log(mixed / rows)).sum() * step)
    return model.similar_information() - counts.rows * divergence / counts.similar


@pytest.mark.parametrize("prior", [0.5, 0.7, 0.9])
def test_with_true_probabilities_the_value_is_the_information_in_pairs(prior: float) -> None:
    model, counts = Gaussians(prior=prior), Counts(2000, 2000)
    rng = np.random.default_rng(0)
    found = np.array(
        [
            -expand(log_probabilities(model.log_odds(model.draw(rng, counts))), counts).value
            for _ in range(60)
        ]
    )
    error = found.std(ddof=1) / np.sqrt(found.size)
    # The profile is fitted to every draw: half a nat per sample in expectation.
    expected = expected_value(model, counts) + 0.5 / counts.similar
    assert found.mean() == pytest.approx(expected, abs=3 * error)
    assert error < 0.05 * expected


@pytest.mark.parametrize(
    ("counts", "pair_share"),
    [
        (Counts(300, 300), None),
        (Counts(300, 300, 200), None),
        (Counts(300, 0, 300), None),
        (Counts(300, 300), 0.3),
        (Counts(300, 300, 200), 0.3),
    ],
)
def test_the_covariance_of_shares_is_that_over_repeated_draws(
    counts: Counts, pair_share: float | None
) -> None:
    rng, model = np.random.default_rng(1), Gaussians()
    pair_shares = None if pair_share is None else np.array([1 - pair_share, pair_share])
    shares, covariances = [], []
    for _ in range(N_DRAWS):
        log_p = log_probabilities(model.log_odds(model.draw(rng, counts, pair_share)))
        found = expand(log_p, counts, pair_shares)
        shares.append(found.shares[1])
        covariances.append(share_covariance(log_p, counts, found, pair_shares))
    mean = np.mean(covariances, axis=0)
    assert np.mean(shares) == pytest.approx(model.prior, abs=4 * np.std(shares) / np.sqrt(N_DRAWS))
    assert mean[1, 1] == pytest.approx(np.var(shares), rel=0.2)
    np.testing.assert_allclose(mean, mean[1, 1] * np.array([[1, -1], [-1, 1]]), atol=1e-12)


@pytest.mark.parametrize("pair_share", [None, 0.3])
def test_shares_of_rows_that_are_all_alike_are_those_of_the_calibration(
    pair_share: float | None,
) -> None:
    counts = Counts(100, 100)
    pair_shares = None if pair_share is None else np.array([1 - pair_share, pair_share])
    for share in np.linspace(0.2, 0.995, 30):
        log_p = np.tile(np.log([1.0 - share, share]), (counts.rows, 1))
        found = expand(log_p, counts, pair_shares)
        covariance = share_covariance(log_p, counts, found, pair_shares)
        np.testing.assert_allclose(covariance, 0.0, atol=1e-12)


def test_the_covariance_of_three_shares_is_that_over_repeated_draws() -> None:
    rng, counts = np.random.default_rng(2), Counts(300, 300)
    prior, middles = np.array([0.5, 0.3, 0.2]), np.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    shares, covariances = [], []
    for _ in range(N_DRAWS):
        pairs = rng.choice(3, counts.similar, p=prior**2 / (prior @ prior))
        labels = np.concatenate([rng.choice(3, counts.unlabeled, p=prior), pairs, pairs])
        rows = middles[labels] + rng.standard_normal((counts.rows, 2))
        scores = rows @ middles.T - 0.5 * (middles**2).sum(axis=1) + np.log(prior)
        log_p = log_probabilities(scores)
        found = expand(log_p, counts)
        shares.append(found.shares)
        covariances.append(share_covariance(log_p, counts, found))
    observed, predicted = np.cov(np.array(shares).T), np.mean(covariances, axis=0)
    np.testing.assert_allclose(np.diag(predicted), np.diag(observed), rtol=0.2)
    np.testing.assert_allclose(predicted, observed, atol=0.2 * observed.max())
    np.testing.assert_allclose(predicted.sum(axis=1), 0, atol=1e-12)
