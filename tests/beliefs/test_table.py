"""Statements about one table, against sums over all classes of all rows."""

from dataclasses import replace

import numpy as np
import pytest

from likewise.beliefs.base import log_probabilities
from likewise.beliefs.table import Pairing
from tests.beliefs.brute_force import Said, sum_over_classes
from tests.beliefs.cases import (
    CYCLES,
    RING,
    TREE,
    draw_aligned,
    draw_answers,
    draw_log_p,
    likelihood,
    slope_error,
)

PAIRINGS: list[Pairing] = ["asked", "random", "free"]
KNOWN = {9: [-1, 1, -1, -1, 0, -1, -1, 1, -1], 7: [0, -1, -1, -1, -1, 1, -1]}
HARD_TOLERANCE = 5e-5
"""Three classes that must differ do with weight 1 - 1e-6; unlikely ones make more of the rest."""


# --- answers without errors -------------------------------------------------------------------


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("said", [CYCLES, TREE])
def test_two_classes_without_errors_are_exact(said: Said, is_known: bool) -> None:
    known = KNOWN[said.n_rows] if is_known and said is CYCLES else None
    log_p = draw_log_p(said, 2)
    exact = sum_over_classes(log_p, said, known=known)
    found = likelihood(said, known=known).evaluate(log_p)
    assert found.value == pytest.approx(exact.value, abs=1e-10)
    np.testing.assert_allclose(found.posteriors, exact.posteriors, atol=1e-10)
    np.testing.assert_allclose(found.shares, exact.posteriors.mean(axis=0), atol=1e-10)
    np.testing.assert_array_equal(found.wrong, 0)
    assert found.converged


@pytest.mark.parametrize("is_known", [False, True])
def test_three_classes_that_differ_along_trees_are_exact(is_known: bool) -> None:
    known = KNOWN[TREE.n_rows] if is_known else None
    for seed in range(3):
        log_p = draw_log_p(TREE, 3, seed, 0.7)
        exact = sum_over_classes(log_p, TREE, known=known)
        found = likelihood(TREE, 3, known=known).evaluate(log_p)
        assert found.value == pytest.approx(exact.value, abs=HARD_TOLERANCE)
        np.testing.assert_allclose(found.posteriors, exact.posteriors, atol=HARD_TOLERANCE)


def test_three_classes_that_differ_along_a_cycle_are_nearly_exact() -> None:
    for seed in range(5):
        log_p = draw_log_p(RING, 3, seed)
        exact = sum_over_classes(log_p, RING)
        found = likelihood(RING, 3).evaluate(log_p)
        assert found.value == pytest.approx(exact.value, abs=0.05)
        np.testing.assert_allclose(found.posteriors, exact.posteriors, atol=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_nothing_is_said_about_stay_as_they_are(n_classes: int) -> None:
    said = Said(5, [(0, 1)])
    log_p = draw_log_p(said, n_classes)
    for error_rate in (0.0, 0.1):
        found = likelihood(said, n_classes, error_rate=error_rate).evaluate(log_p)
        np.testing.assert_allclose(found.posteriors[2:], np.exp(log_p[2:]), atol=1e-12)
        np.testing.assert_allclose(found.gradient[2:], 0, atol=1e-12)


def test_a_known_row_is_worth_its_log_probability() -> None:
    said = Said(4, [(0, 1)])
    log_p = draw_log_p(said, 2)
    found = likelihood(said, known=[-1, -1, 1, -1]).evaluate(log_p)
    plain = likelihood(said).evaluate(log_p)
    assert found.value - plain.value == pytest.approx(log_p[2, 1])
    np.testing.assert_allclose(found.posteriors[2], [0, 1], atol=1e-12)


# --- derivatives ------------------------------------------------------------------------------

MIXED = Said(14, [(0, 1), (1, 2), (3, 4, 5), (8, 9)], [(2, 3), (6, 7)])


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("error_rate", [0.0, 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_gradient_is_the_slope_of_the_value(
    pairing: Pairing, n_classes: int, error_rate: float, is_known: bool
) -> None:
    known = [-1] * MIXED.n_rows
    if is_known:
        known[0], known[6] = 1, 0
    scores = np.random.default_rng(3).normal(size=(MIXED.n_rows, n_classes))
    model = likelihood(MIXED, n_classes, pairing, error_rate, known)
    # The shares are settled to 1e-8, so the value is good to about 1e-7.
    assert slope_error(model, scores) < 5e-4


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_gradient_holds_where_the_error_rate_is_learned(
    pairing: Pairing, n_classes: int
) -> None:
    rng = np.random.default_rng(5)
    labels, scores = draw_aligned(rng, 40, n_classes)
    said = draw_answers(rng, labels, 80, 0.15)
    model = likelihood(said, n_classes, pairing, None)
    assert 0.01 < model.evaluate(log_probabilities(scores)).error_rate < 0.4
    assert slope_error(model, scores) < 2e-3


def test_the_gradient_holds_for_a_class_that_no_free_pair_is_of() -> None:
    said = Said(40, [(0, 1), (2, 3), (4, 5, 6), (8, 9)])
    scores = np.random.default_rng(6).normal(size=(40, 3))
    scores[:10, 0] -= 6
    model = likelihood(said, 3, "free")
    found = model.evaluate(log_probabilities(scores))
    assert found.pair_shares is not None
    assert found.pair_shares[0] < 0.02
    assert slope_error(model, scores) < 5e-4


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_slope_that_climbs_take_is_that_of_beliefs(
    m: int, pairing: Pairing, error_rate: float
) -> None:
    scores = np.random.default_rng(4).normal(size=(CYCLES.n_rows, m))
    scores[0] *= 200  # as far as scores go
    model = likelihood(CYCLES if m < 3 else Said(9, CYCLES.same), max(m, 2), pairing, error_rate)
    value, gradient, _ = model.slope(scores)
    found = model.evaluate(log_probabilities(scores))
    assert value == pytest.approx(found.value, abs=1e-9)
    expected = found.gradient[:, 1:] if m == 1 else found.gradient
    np.testing.assert_allclose(gradient, expected, atol=1e-9)


# --- symmetry and starts ----------------------------------------------------------------------


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_the_names_of_the_classes_do_not_matter(
    pairing: Pairing, n_classes: int, error_rate: float
) -> None:
    rng, order = np.random.default_rng(7), np.roll(np.arange(n_classes), 1)
    labels, scores = draw_aligned(rng, 60, n_classes)
    model = likelihood(draw_answers(rng, labels, 40), n_classes, pairing, error_rate)
    found = model.evaluate(log_probabilities(scores))
    renamed = model.evaluate(log_probabilities(scores[:, order]))
    assert renamed.value == pytest.approx(found.value, abs=1e-6)
    np.testing.assert_allclose(renamed.posteriors, found.posteriors[:, order], atol=1e-5)
    np.testing.assert_allclose(renamed.shares, found.shares[order], atol=1e-6)


@pytest.mark.parametrize("error_rate", [0.0, 0.02, None])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("pairing", PAIRINGS)
def test_where_the_search_begins_does_not_matter(
    pairing: Pairing, n_classes: int, error_rate: float | None
) -> None:
    rng = np.random.default_rng(8)
    labels, scores = draw_aligned(rng, 120, n_classes)
    said = draw_answers(rng, labels, 200, 0.1 if error_rate is None else 0.0)
    model = likelihood(said, n_classes, pairing, error_rate)
    cold = model.evaluate(log_probabilities(scores))
    nearby = scores + 0.2 * rng.normal(size=scores.shape)
    for start in (nearby, scores[:, ::-1], np.zeros_like(scores)):
        warm = model.evaluate(
            log_probabilities(scores), model.evaluate(log_probabilities(np.array(start)))
        )
        assert warm.value == pytest.approx(cold.value, abs=1e-4)
        np.testing.assert_allclose(warm.posteriors, cold.posteriors, atol=1e-3)
        assert warm.error_rate == pytest.approx(cold.error_rate, abs=1e-4)


# --- parts of the rows ------------------------------------------------------------------------


def test_the_likelihood_of_some_rows_is_that_of_their_statements() -> None:
    chosen = np.array([True, True, False, True, True, True, False, True, True])
    part = Said(7, [(0, 1), (2, 3, 4)], [(4, 0)])
    log_p = draw_log_p(CYCLES, 2)
    known = [-1, -1, -1, 1, -1, -1, -1, 0, -1]
    found = likelihood(CYCLES, known=known).among(chosen).evaluate(log_p[chosen])
    exact = sum_over_classes(log_p[chosen], part, known=np.array(known)[chosen].tolist())
    assert found.value == pytest.approx(exact.value)


def test_simulated_pairs_join_alike_rows_and_respect_what_is_known() -> None:
    rng = np.random.default_rng(9)
    # The second class is rare: it must not be asked for pairs that it does not have.
    log_p = log_probabilities(np.where(np.arange(30) < 2, 3.0, -3.0))
    known = np.where(np.arange(30) % 5 == 0, 0, -1)
    model = likelihood(Said(30, [(0, 5), (10, 15), (1, 2)]), pairing="random", known=known.tolist())
    for _ in range(50):
        rows, drawn = model.simulate(log_p, model.evaluate(log_p), rng)
        np.testing.assert_array_equal(rows, np.arange(30))
        assert drawn.links.left.size == 3
        assert np.all(drawn.links.left != drawn.links.right)
        assert drawn.links.right.max() < 30


# --- held-out rows ----------------------------------------------------------------------------


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
def test_evidence_is_what_the_features_of_the_fold_add(
    error_rate: float,
) -> None:
    log_p = draw_log_p(TREE, 2)
    model = likelihood(TREE, error_rate=error_rate)
    rows = np.array([False, True, False, False, True, False, False])
    fold = model.hold_out(rows)
    assert fold.n_judged == 3  # the group, a pair of the fold's rows, and one half of it
    np.testing.assert_array_equal(fold.train, ~rows)

    def gain(log_p: np.ndarray) -> float:
        hidden = np.where(rows[:, None], -np.log(2.0), log_p)
        whole, without = (
            sum_over_classes(one, TREE, "asked", error_rate).value for one in (log_p, hidden)
        )
        return whole - without

    trained = fold.likelihood.evaluate(log_p[~rows])
    constant = np.tile(fold.likelihood.constant()[0], (7, 1))
    same_shares = np.tile(np.log(np.exp(log_p).mean(axis=0)), (7, 1))
    found = model.evidence(fold, log_p, trained)
    # The constants have a ripple of 1e-3 in them, so that two classes are never in balance.
    baseline = max(gain(constant), gain(same_shares))
    assert found == pytest.approx(gain(log_p) - baseline, abs=5e-3)


@pytest.mark.parametrize("pairing", PAIRINGS[:2])
def test_shares_that_suit_a_fold_by_luck_are_no_evidence(pairing: Pairing) -> None:
    rng = np.random.default_rng(11)
    labels = (rng.random(80) < 0.7).astype(int)
    model = likelihood(draw_answers(rng, labels, 60, is_found=pairing == "random"), pairing=pairing)
    fold = model.hold_out(np.arange(80) < 16)
    for offset in np.linspace(-2, 2, 9):
        log_p = log_probabilities(np.full(80, offset))
        trained = fold.likelihood.evaluate(log_p[fold.train])
        assert model.evidence(fold, log_p, trained) < 0.05


def test_the_best_constant_is_the_best_of_a_grid() -> None:
    rng = np.random.default_rng(10)
    labels = (rng.random(60) < 0.75).astype(int)
    for pairing in PAIRINGS[:2]:
        said = draw_answers(rng, labels, 40, is_found=pairing == "random")
        model = likelihood(said, pairing=pairing)
        row, found = model.constant()
        grid = [log_probabilities(np.full(60, offset)) for offset in np.linspace(-3, 3, 61)]
        # With a prior that is worth a row of either class.
        best = max(model.evaluate(log_p).value + log_p[0].sum() for log_p in grid)
        assert found.value + row.sum() > best - 0.01


def test_the_best_constant_with_a_learned_error_rate_is_the_best_of_a_grid() -> None:
    rng = np.random.default_rng(12)
    labels = (rng.random(60) < 0.75).astype(int)
    model = likelihood(draw_answers(rng, labels, 90), pairing="asked", error_rate=None)
    row, found = model.constant()
    assert found.error_rate > 0.0
    grid = [log_probabilities(np.full(60, offset)) for offset in np.linspace(-2, 2, 41)]
    rates = [model.held(replace(found, error_rate=rate)) for rate in np.linspace(0.002, 0.4, 20)]
    best = max(
        held.evaluate(log_p).value + log_p[0].sum()
        for log_p in grid
        for held in rates
        if held.evaluate(log_p).converged
    )
    assert found.value + row.sum() > best - 0.05


def test_a_fold_that_nothing_was_said_about_is_no_evidence() -> None:
    log_p = draw_log_p(CYCLES, 2)
    model = likelihood(CYCLES)
    fold = model.hold_out(np.arange(9) == 8)
    assert fold.n_judged == 0
    trained = fold.likelihood.evaluate(log_p[fold.train])
    assert model.evidence(fold, log_p, trained) == pytest.approx(0, abs=1e-10)


def test_a_fold_of_all_rows_is_judged_without_any_statements() -> None:
    log_p = draw_log_p(CYCLES, 2)
    model = likelihood(CYCLES)
    fold = model.hold_out(np.arange(9) < 8)
    assert fold.n_judged == CYCLES.statements.count
    trained = fold.likelihood.evaluate(log_p[fold.train])
    assert np.isfinite(model.evidence(fold, log_p, trained))


@pytest.mark.parametrize(
    ("pairing", "error_rate", "n_statements"),
    [("asked", 0.0, 60), ("random", 0.0, 60), ("free", 0.0, 60), ("asked", None, 200)],
)
def test_scores_that_know_nothing_do_not_gain_on_average(
    pairing: Pairing, error_rate: float | None, n_statements: int
) -> None:
    gains: dict[str, list[float]] = {"noise": [], "signal": []}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        labels, scores = draw_aligned(rng, 60, 2)
        wrong = 0.0 if error_rate == 0.0 else 0.1
        said = draw_answers(rng, labels, n_statements, wrong, is_found=pairing != "asked")
        model = likelihood(said, 2, pairing, error_rate)
        rows = rng.permutation(60) < 15
        fold = model.hold_out(rows)
        for name, given in (("noise", rng.permutation(scores)), ("signal", scores)):
            log_p = log_probabilities(given)
            trained = fold.likelihood.evaluate(log_p[fold.train])
            gains[name].append(model.evidence(fold, log_p, trained))
    assert np.mean(gains["noise"]) < 0
    assert np.mean(gains["signal"]) > 3 * np.std(gains["signal"]) / np.sqrt(6)
