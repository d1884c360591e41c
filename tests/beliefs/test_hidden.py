"""Answers about all rows, by a model that sees the features of some: against sums written out."""

import numpy as np
import pytest

from likewise.beliefs.hidden import HiddenFeatures, implied_among, names_by
from likewise.beliefs.table import TableLikelihood
from tests.beliefs.brute_force import Said, sum_over_classes
from tests.beliefs.cases import draw_log_p

CHAIN = Said(6, [(0, 1), (1, 2)], [(2, 3), (4, 5)])
SEEN = np.array([True, False, True, True, False, True])


def hidden(log_p: np.ndarray) -> np.ndarray:
    return np.where(SEEN[:, None], log_p, -np.log(log_p.shape[1]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_hidden_rows_may_be_of_any_class(n_classes: int) -> None:
    log_p = draw_log_p(CHAIN, n_classes)
    whole = TableLikelihood(CHAIN.statements, n_classes, "asked", 0.1)
    found = HiddenFeatures(whole, SEEN).evaluate(log_p[SEEN])
    exact = sum_over_classes(hidden(log_p), CHAIN, "asked", 0.1)
    assert found.value == pytest.approx(exact.value, abs=1e-6)
    np.testing.assert_allclose(found.posteriors, exact.posteriors[SEEN], atol=1e-6)


def test_what_right_answers_imply_is_their_likelihood_up_to_a_constant() -> None:
    whole = TableLikelihood(CHAIN.statements, 2, "asked", 0.0)
    statements, known = implied_among(whole._components, None, SEEN)
    assert known is None
    implied = TableLikelihood(statements, 2, "asked", 0.0)
    differences = []
    for seed in range(3):
        log_p = draw_log_p(CHAIN, 2, seed)
        exact = sum_over_classes(hidden(log_p), CHAIN)
        found = implied.evaluate(log_p[SEEN])
        np.testing.assert_allclose(found.posteriors, exact.posteriors[SEEN], atol=1e-9)
        differences.append(found.value - exact.value)
    np.testing.assert_allclose(differences, differences[0], atol=1e-9)


def test_rows_that_are_alike_by_way_of_a_hidden_one_are_said_to_be() -> None:
    whole = TableLikelihood(CHAIN.statements, 2, "asked", 0.0)
    statements, _ = implied_among(whole._components, None, SEEN)
    links = statements.links
    pairs = zip(links.left.tolist(), links.right.tolist(), strict=True)
    said = dict(zip(pairs, links.is_similar.tolist(), strict=True))
    assert said == {(0, 1): True, (0, 2): False}


@pytest.mark.parametrize("row", [0, 1])
def test_the_class_of_a_hidden_row_names_those_that_were_said_to_be_like_it(row: int) -> None:
    known = np.full(6, -1)
    known[row] = 1
    whole = TableLikelihood(CHAIN.statements, 2, "asked", 0.0, known)
    _, of_seen = implied_among(whole._components, whole.known, SEEN)
    assert of_seen is not None
    np.testing.assert_array_equal(of_seen, [1, 1, 0, -1])


def test_folds_of_answers_keep_what_was_said_by_way_of_their_rows() -> None:
    """All answers are about one row, which is held out."""
    said = Said(5, [(0, 1), (0, 2)], [(0, 3)])
    rows = np.arange(5) == 0
    for error_rate in (0.0, 0.1):
        fold = TableLikelihood(said.statements, 2, "asked", error_rate).hold_out(rows)
        log_p = np.log(np.array([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]))
        posteriors = fold.likelihood.evaluate(log_p).posteriors
        assert posteriors[1, 0] > 0.75
        assert posteriors[2, 1] > 0.75


def test_a_fold_whose_baseline_does_not_settle_is_compared_with_even_odds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """These tell nothing more by features; coins for answers that are kept would flatter models."""
    whole = TableLikelihood(CHAIN.statements, 2, "asked", 0.1)
    fold = whole.hold_out(~SEEN)
    even = np.full((6, 2), -np.log(2.0))
    assert whole._gain(fold, even, whole.evaluate(even)) == pytest.approx(0.0, abs=1e-9)
    monkeypatch.setattr(TableLikelihood, "_gain", lambda *_: -np.inf)
    assert whole._gain_without_features(fold) == 0.0


def test_names_are_matched_with_classes_one_to_one() -> None:
    known = np.array([2, -1, 0, -1])
    posteriors = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.5, 0.4, 0.1], [0.0, 0.0, 1.0]])
    assert names_by(known, posteriors).tolist() == [1, 2, 0]  # name 1 gets what the others leave
