"""Folds that all hold pairs, and the standard error of a cross-validated risk."""

import numpy as np
import pytest

import likewise as lw
from likewise.su.rewrites import Rewrite
from likewise.su.validation import usable_folds, zero_one_standard_error


@pytest.mark.parametrize(("n_pairs", "n_folds"), [(2, 2), (4, 4), (9, 5)])
def test_there_are_as_many_folds_as_pairs(n_pairs: int, n_folds: int) -> None:
    table = np.zeros((40, 1))
    _, y = lw.pack(table, similar=[(2 * k, 2 * k + 1) for k in range(n_pairs)])
    found = usable_folds(y, random_state=0)
    assert found is not None
    assert found.n_splits == n_folds


def test_one_pair_makes_no_folds() -> None:
    assert usable_folds(lw.pack(np.zeros((9, 1)), similar=[(0, 1)] * 3)[1]) is None


def test_only_kinds_that_are_used_count() -> None:
    similar, dissimilar = [(0, 1), (2, 3), (4, 5)], [(6, 7)]
    _, y = lw.pack(np.zeros((9, 1)), similar=similar, dissimilar=dissimilar)
    assert usable_folds(y) is None
    found = usable_folds(y, rewrite="su", random_state=0)
    assert found is not None
    assert found.n_splits == 3


def test_the_standard_error_is_that_of_the_risk() -> None:
    rng = np.random.default_rng(0)
    left, right, other, another = rng.normal(0.5, 1, size=(4, 50))
    unlabeled = rng.normal(size=80)
    for share in (1.0, 0.0, 0.3):
        expected = lw.risk.su_risk_of_decisions(
            left,
            right,
            unlabeled,
            prior=0.7,
            dissimilar=(other, another),
            rewrite=Rewrite.at(share),
        )
        counts = (80, 50, 50)
        found = zero_one_standard_error(
            unlabeled, (left, right), (other, another), counts=counts, prior=0.7, su_share=share
        )
        assert found == pytest.approx(expected.standard_error)
