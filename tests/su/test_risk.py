"""The unbiased risk, its variance, and the error bound."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.su import losses, risk
from likewise.su.rewrites import REWRITES, SD, SDU, SU, Spreads

PRIORS = [0.1, 0.3, 0.7, 0.9]
LOSSES = list(losses.LOSSES)
# A fixed classifier f(x) = SCALE * x + SHIFT on two unit Gaussians at +1 and -1.
SCALE, SHIFT = 0.8, 0.3


def decide(rng: np.random.Generator, labels: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.asarray(SCALE * (labels + rng.standard_normal(labels.shape)) + SHIFT)


def draw_pairs(rng: np.random.Generator, n: int, prior: float, same: bool) -> NDArray[np.int_]:
    """Draw two labels independently and keep those that agree (or differ)."""
    kept = np.empty((0, 2), dtype=int)
    while len(kept) < n:
        labels = np.where(rng.random((8 * n, 2)) < prior, 1, -1)
        kept = np.vstack([kept, labels[(labels[:, 0] == labels[:, 1]) == same]])
    return np.asarray(kept[:n])


def true_risk(loss: losses.Loss, prior: float) -> float:
    """Integrate the risk over both Gaussians by the rectangle rule on a fine grid."""
    grid = np.linspace(-9, 9, 200_001)
    density = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi)
    step = grid[1] - grid[0]
    parts = [
        share * np.sum(density * loss.value(SCALE * (grid + label) + SHIFT, label)) * step
        for share, label in ((prior, 1), (1 - prior, -1))
    ]
    return float(sum(parts))


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", LOSSES)
def test_su_risk_is_unbiased_and_its_standard_error_is_right(name: str, prior: float) -> None:
    rng = np.random.default_rng([LOSSES.index(name), int(10 * prior)])
    estimates = []
    for _ in range(400):
        left, right = decide(rng, draw_pairs(rng, 100, prior, same=True)).T
        unlabeled = decide(rng, np.where(rng.random(150) < prior, 1, -1))
        estimates.append(risk.su_risk_of_decisions(left, right, unlabeled, prior=prior, loss=name))
    values = np.array([estimate.value for estimate in estimates])
    spread = values.std(ddof=1)
    assert abs(values.mean() - true_risk(losses.LOSSES[name], prior)) < 3 * spread / np.sqrt(400)
    stated = np.sqrt(np.mean([estimate.standard_error**2 for estimate in estimates]))
    # The ratio of deviations has itself a standard error of about 1 / sqrt(2 * 400) = 0.035.
    assert 0.88 < stated / spread < 1.12


@pytest.mark.parametrize("prior", [0.3, 0.8])
@pytest.mark.parametrize("rewrite", list(REWRITES))
@pytest.mark.parametrize("name", ["zero_one", "logistic"])
def test_the_risk_is_unbiased_with_dissimilar_pairs_too(
    name: str, rewrite: str, prior: float
) -> None:
    rng = np.random.default_rng([7, int(10 * prior)])
    estimates = []
    for _ in range(400):
        left, right = decide(rng, draw_pairs(rng, 60, prior, same=True)).T
        first, second = decide(rng, draw_pairs(rng, 60, prior, same=False)).T
        unlabeled = decide(rng, np.where(rng.random(150) < prior, 1, -1))
        estimates.append(
            risk.su_risk_of_decisions(
                left,
                right,
                unlabeled,
                prior=prior,
                loss=name,
                dissimilar=(first, second),
                rewrite=rewrite,
            )
        )
    values = np.array([estimate.value for estimate in estimates])
    spread = values.std(ddof=1)
    assert abs(values.mean() - true_risk(losses.LOSSES[name], prior)) < 3.5 * spread / np.sqrt(400)
    stated = np.sqrt(np.mean([estimate.standard_error**2 for estimate in estimates]))
    assert 0.88 < stated / spread < 1.12


def test_the_risk_of_all_pairs_has_the_least_standard_error() -> None:
    rng = np.random.default_rng(8)
    left, right = decide(rng, draw_pairs(rng, 200, 0.7, same=True)).T
    others = tuple(decide(rng, draw_pairs(rng, 100, 0.7, same=False)).T)
    unlabeled = decide(rng, np.where(rng.random(300) < 0.7, 1, -1))
    errors = {
        name: risk.su_risk_of_decisions(
            left, right, unlabeled, prior=0.7, dissimilar=others, rewrite=name
        ).standard_error
        for name in ("auto", *REWRITES)
    }
    assert errors["auto"] == errors["sdu"] == min(errors.values())


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7])
@pytest.mark.parametrize("name", LOSSES)
def test_psd_risk_is_unbiased_at_one_half_too(name: str, prior: float) -> None:
    rng = np.random.default_rng([LOSSES.index(name), int(10 * prior)])
    estimates = np.array(
        [
            risk.psd_risk(
                decide(rng, np.ones(80, dtype=int)),
                *decide(rng, draw_pairs(rng, 80, prior, same=True)).T,
                *decide(rng, draw_pairs(rng, 80, prior, same=False)).T,
                prior=prior,
                loss=name,
            ).value
            for _ in range(400)
        ]
    )
    error = estimates.mean() - true_risk(losses.LOSSES[name], prior)
    assert abs(error) < 3 * estimates.std(ddof=1) / np.sqrt(400)


@pytest.mark.parametrize("weight", [0.0, 0.2, 0.5, 1.0])
def test_every_weight_of_the_members_gives_an_unbiased_risk(weight: float) -> None:
    rng = np.random.default_rng(5)
    values = []
    for _ in range(500):
        left, right = decide(rng, draw_pairs(rng, 60, 0.7, same=True)).T
        unlabeled = decide(rng, np.where(rng.random(60) < 0.7, 1, -1))
        values.append(
            risk.su_risk_of_decisions(
                left, right, unlabeled, prior=0.7, loss="logistic", weight=weight
            ).value
        )
    expected = true_risk(losses.logistic, 0.7)
    assert abs(np.mean(values) - expected) < 3 * np.std(values, ddof=1) / np.sqrt(500)


def test_variance_of_the_similar_term_is_what_repeated_draws_show_and_least_at_one_half() -> None:
    rng = np.random.default_rng(2)
    weights = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    n, prior = 200, 0.7
    terms, stated = [], []
    for _ in range(1500):
        left, right = decide(rng, draw_pairs(rng, n, prior, same=True)).T
        means = [risk.similar_loss("logistic", side, prior).mean() for side in (left, right)]
        terms.append(
            risk.similar_pair_share(prior) * (weights * means[0] + (1 - weights) * means[1])
        )
        stated.append(
            risk.similar_term_variance(left, right, prior=prior, loss="logistic", weight=weights)
        )
    seen = np.var(terms, axis=0, ddof=1)
    # The variance of 1500 draws has a relative standard error of sqrt(2 / 1500) = 0.037.
    np.testing.assert_allclose(np.mean(stated, axis=0), seen, rtol=0.12)
    assert np.argmin(np.mean(stated, axis=0)) == 2
    # Members of a pair are dependent: independence would halve the variance at one half.
    assert seen[2] > 1.15 * seen[0] / 2


def test_l_s_and_l_u_follow_the_papers_definitions() -> None:
    z = np.linspace(-3, 3, 13)
    for loss in losses.LOSSES.values():
        plus, minus = loss.value(z, 1), loss.value(z, -1)
        np.testing.assert_allclose(
            risk.similar_loss(loss, z, 0.75), (plus - minus) / 0.5, atol=1e-12
        )
        np.testing.assert_allclose(
            risk.unlabeled_loss(loss, z, 0.75), (-0.25 * plus + 0.75 * minus) / 0.5, atol=1e-12
        )


@pytest.mark.parametrize("name", ["squared", "logistic", "double_hinge"])
@pytest.mark.parametrize("prior", [0.2, 0.8])
def test_the_reduced_objective_equals_the_papers_risk(name: str, prior: float) -> None:
    rng = np.random.default_rng(0)
    left, right, unlabeled = rng.standard_normal((3, 40, 4))
    w = rng.standard_normal(4)
    full = risk.su_risk_of_decisions(
        left @ w, right @ w, unlabeled @ w, prior=prior, loss=name
    ).value
    members = np.vstack([left, right]).mean(axis=0)
    c = SU.weights(prior).combine(unlabeled.mean(axis=0), members, None)
    loss = losses.LOSSES[name]
    assert isinstance(loss, losses.MarginLoss)
    assert full == pytest.approx(loss.even(unlabeled @ w).mean() - c @ w, abs=1e-12)


@pytest.mark.parametrize("rewrite", [SU, SD, SDU.settle(0.3, Spreads(1.0, 2.0, 3.0))])
def test_zero_one_risk_of_shares_agrees_with_the_risk_of_decisions(rewrite: Any) -> None:
    rng = np.random.default_rng(1)
    left, right, first, second, unlabeled = rng.standard_normal((5, 30))
    expected = risk.su_risk_of_decisions(
        left, right, unlabeled, prior=0.3, dissimilar=(first, second), rewrite=rewrite
    ).value
    found = risk.zero_one_risk_of_shares(
        {
            "unlabeled": np.mean(unlabeled > 0),
            "similar": np.mean(np.append(left, right) > 0),
            "dissimilar": np.mean(np.append(first, second) > 0),
        },
        rewrite.weights(0.3),
    )
    assert found == pytest.approx(expected)


def test_a_negative_estimate_is_not_clipped() -> None:
    estimate = risk.su_risk_of_decisions([1.0] * 9, [1.0] * 9, [-1.0, 1.0, 1.0], prior=0.7)
    assert estimate.value < 0


def test_error_bound_is_the_theorem_evaluated_by_hand() -> None:
    bound = risk.error_bound(
        50, 400, prior=0.75, lipschitz=1.0, complexity=2.0, loss_bound=3.0, delta=0.1
    )
    constant = (4 * 1 * 2 + np.sqrt(2 * 9 * np.log(40))) / 0.5
    assert bound == pytest.approx(constant * (2 * 0.625 / 10 + 1 / 20))


def test_error_bound_halves_when_both_samples_grow_fourfold() -> None:
    constants = {"prior": 0.2, "lipschitz": 1.0, "complexity": 1.0, "loss_bound": 1.0}
    assert risk.error_bound(400, 800, **constants) == pytest.approx(
        risk.error_bound(100, 200, **constants) / 2
    )


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 0.5, np.nan])
def test_priors_without_a_risk_are_refused(prior: float) -> None:
    with pytest.raises(ValueError, match="prior"):
        risk.su_risk_of_decisions([1.0], [1.0], [1.0], prior=prior)


@pytest.mark.parametrize(
    ("left", "unlabeled", "message"),
    [([], [1.0], "non-empty"), ([np.nan], [1.0], "finite"), ([1.0, 2.0], [1.0], "2 left")],
)
def test_bad_decision_values_are_named(
    left: list[float], unlabeled: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        risk.su_risk_of_decisions(left, [1.0], unlabeled, prior=0.7)
