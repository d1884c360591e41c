"""How to learn."""

import numpy as np
import pytest

from likewise.beliefs.expansion import Counts
from likewise.beliefs.fresh import FreshLikelihood, in_order
from likewise.beliefs.table import TableLikelihood
from likewise.search.settings import Settings, default_alphas, default_pairing
from tests.search.samples import statements_of


def test_default_penalties_fall_with_the_square_root_of_the_pairs() -> None:
    few, many = default_alphas(100), default_alphas(400)
    np.testing.assert_allclose(np.divide(few, many), 2.0)
    assert max(default_alphas(500)) == 1.0


def test_penalties_can_be_given_for_all_features_or_by_name() -> None:
    assert Settings(alphas=[0.1]).alphas_for("linear", 10) == [0.1]
    assert Settings(alphas={"linear": [0.2]}).alphas_for("linear", 10) == [0.2]
    assert Settings().alphas_for("linear", 500) == default_alphas(500)


def test_statements_that_rows_differ_were_asked_and_others_found() -> None:
    assert default_pairing(statements_of(5, [(0, 1)], [(1, 2)])) == "asked"
    assert default_pairing(statements_of(5, [(0, 1), (1, 2)])) == "random"
    assert default_pairing(in_order(Counts(4, 2, 2))) == "random"


def test_the_likelihood_is_that_of_the_kind_of_statements() -> None:
    fresh = Settings(pairing="free").likelihood(in_order(Counts(4, 2)))
    assert isinstance(fresh, FreshLikelihood)
    assert fresh.has_free_shares
    known = np.array([0, -1, -1, -1, -1])
    settings = Settings(n_classes=3, pairing="asked", error_rate=None)
    table = settings.likelihood(statements_of(5, [(0, 1)], [(1, 2)]), known)
    assert isinstance(table, TableLikelihood)
    assert (table.n_classes, table.pairing, table.error_rate) == (3, "asked", None)
    assert table.is_named


@pytest.mark.parametrize("pairing", ["asked", "random", "free"])
def test_statements_about_one_table_may_have_come_about_any_way(pairing: str) -> None:
    found = Settings(pairing=pairing).likelihood(statements_of(5, [(0, 1)]))
    assert isinstance(found, TableLikelihood)
    assert found.pairing == pairing
