"""Rewrites: unbiased whatever the weights, and SDU has the least variance."""

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.engines import MemoryEngine
from likewise.statements.labels import locate
from likewise.su.objective import Summary, summarise
from likewise.su.rewrites import (
    DU,
    REWRITES,
    SD,
    SDU,
    SU,
    Rewrite,
    Spreads,
    choose_rewrite,
    least_variance_share,
)
from tests.su.draws import draw_pairs, draw_table

PRIORS = [0.15, 0.4, 0.7, 0.9]
NAMES = list(REWRITES)


def summary_of(X: Any, y: Any) -> Summary:
    return summarise(MemoryEngine(X, locate(y)), SDU)


def linear_terms(X: Any, y: Any, prior: float) -> np.ndarray:
    """c by every rewrite, (n_rewrites, n_features)."""
    summary = summary_of(X, y)
    return np.array([summary.linear_term(prior, r)[:-1] for r in REWRITES.values()])


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", NAMES)
def test_the_weights_solve_the_two_equations_of_the_class_means(name: str, prior: float) -> None:
    weights = REWRITES[name].weights(prior, Spreads(1.0, 3.0, 0.5))
    similar = np.array([prior**2, (1 - prior) ** 2]) / (prior**2 + (1 - prior) ** 2)
    found = weights.combine(np.array([prior, 1 - prior]), similar, np.array([0.5, 0.5]))
    np.testing.assert_allclose(found, np.array([prior, prior - 1]) / 2, atol=1e-12)


def test_each_rewrite_uses_the_kinds_that_it_names() -> None:
    spreads = Spreads(1.0, 1.0, 1.0)
    used = {name: np.array(REWRITES[name].weights(0.7, spreads)) != 0 for name in NAMES}
    for name, letters in used.items():
        expected = ["u" in name, "s" in name, "d" in name]
        np.testing.assert_array_equal(letters, expected)
        assert REWRITES[name].parts == tuple(
            part for part in ("similar", "dissimilar") if part[0] in name
        )


def test_su_is_the_papers_linear_term() -> None:
    drawn = draw_pairs(np.random.default_rng(0))
    assert drawn.similar is not None
    members = np.vstack(drawn.similar).mean(axis=0)
    expected = (0.58 * members - drawn.unlabeled.mean(axis=0) / 2) / 0.4
    np.testing.assert_allclose(summary_of(*drawn.pack()).linear_term(0.7)[:-1], expected)


@pytest.mark.parametrize(
    "prior", [pytest.param(prior, marks=[pytest.mark.slow] * (prior != 0.7)) for prior in PRIORS]
)
def test_every_rewrite_is_unbiased(prior: float) -> None:
    rng = np.random.default_rng([1, int(100 * prior)])
    n_draws = 1500
    draws = [draw_pairs(rng, prior=prior) for _ in range(n_draws)]
    terms = np.array([linear_terms(*drawn.pack(), prior) for drawn in draws])
    error = terms.mean(axis=0) - draws[0].expected
    standard_error = terms.std(axis=0, ddof=1) / np.sqrt(n_draws)
    # 12 comparisons for each prior; the weights of SDU come from the same rows, which costs less
    # than what can be seen here.
    np.testing.assert_array_less(np.abs(error), 3.5 * standard_error)


def relative_variances(terms: list[np.ndarray], rows: np.ndarray) -> dict[str, float]:
    """Variance of c by every rewrite, in units of the columns' variances, against SDU."""
    seen = (np.var(terms, axis=0) / rows.var(axis=0)).sum(axis=-1)
    return dict(zip(NAMES, (seen / seen[NAMES.index("sdu")]).tolist(), strict=True))


# Variances of 800 draws have a relative standard error of sqrt(2 / 800) = 0.05 for one column, and
# those of different rewrites go up and down together.
@pytest.mark.parametrize(
    "prior",
    [
        pytest.param(0.3, marks=pytest.mark.slow),
        0.6,
        pytest.param(0.85, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "counts",
    [(100, 100, 1000), (400, 20, 100), (20, 300, 100)],
    ids=["few", "similar", "different"],
)
def test_sdu_has_the_least_variance(prior: float, counts: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(2)
    draws = [draw_pairs(rng, *counts, prior=prior) for _ in range(800)]
    terms = [linear_terms(*drawn.pack(), prior) for drawn in draws]
    against = relative_variances(terms, np.vstack([drawn.unlabeled for drawn in draws]))
    assert min(against.values()) > 0.97
    assert max(against.values()) > 1.3


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2000, 150), (500, 250), (400, 800)], ids=str)
def test_with_statements_about_one_table_it_nearly_has(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    terms, expected = [], np.zeros(3)
    for _ in range(800):
        rows, _, alike, different, expected = draw_table(rng, *shape)
        terms.append(linear_terms(*lw.pack(rows, similar=alike, dissimilar=different), 0.7))
    assert min(relative_variances(terms, rows).values()) > 0.95
    error = np.mean(terms, axis=0) - expected
    np.testing.assert_array_less(np.abs(error), 3.5 * np.std(terms, axis=0) / np.sqrt(800))


def test_the_place_on_the_line_minimises_the_variance_of_independent_means() -> None:
    spreads = Spreads(unlabeled=0.3, similar=1.1, dissimilar=0.7)
    places = np.linspace(0, 1, 10_001)
    variances = [np.square(Rewrite.at(t).weights(0.65)) @ np.array(spreads) for t in places]
    best = places[int(np.argmin(variances))]
    assert least_variance_share(0.65, spreads) == pytest.approx(best, abs=1e-4)
    assert least_variance_share(0.65, Spreads(0.0, 0.0, 0.0)) == 0.5


def test_scales_of_columns_and_constant_columns_leave_the_weights_alone() -> None:
    X, y = draw_pairs(np.random.default_rng(4)).pack()
    wide = np.column_stack([X * [1e3, 1.0, 1e-3], np.full(len(X), 7.1), np.zeros(len(X))])
    share = SDU.place(0.7, summary_of(X, y).spreads)
    assert 0 < share < 1
    assert SDU.place(0.7, summary_of(wide, y).spreads) == pytest.approx(share)


def test_spreads_are_the_variances_of_means_with_pairs_as_units() -> None:
    drawn = draw_pairs(np.random.default_rng(5))
    assert drawn.similar is not None
    assert drawn.dissimilar is not None
    spreads = summary_of(*drawn.pack()).spreads
    assert spreads is not None
    variance = drawn.unlabeled.var(axis=0)
    for found, (left, right) in (
        (spreads.similar, drawn.similar),
        (spreads.dissimilar, drawn.dissimilar),
    ):
        of_pairs = ((left + right) / 2).var(axis=0) / len(left)
        assert found == pytest.approx((of_pairs / variance).sum())
    assert spreads.unlabeled == pytest.approx(3 / len(drawn.unlabeled))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [(("similar",), SU), (("dissimilar",), DU), (("similar", "dissimilar"), SDU)],
)
def test_auto_takes_all_pairs(parts: Any, expected: Rewrite) -> None:
    assert choose_rewrite("auto", parts, "It") is expected


def test_missing_pairs_are_named() -> None:
    with pytest.raises(ValueError, match="It needs at least one pair"):
        choose_rewrite("auto", (), "It")
    with pytest.raises(ValueError, match="It needs at least one dissimilar pair for rewrite='sd'"):
        choose_rewrite("sd", SU.parts, "It")
    assert choose_rewrite(SD, SDU.parts, "It") is SD


def test_one_half_has_no_weights_and_sdu_needs_rows() -> None:
    for rewrite in REWRITES.values():
        with pytest.raises(ValueError, match=r"prior=0\.5"):
            rewrite.weights(0.5, Spreads(1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="depend on the rows"):
        SDU.weights(0.7)


def test_a_place_is_a_rewrite() -> None:
    assert (Rewrite.at(1.0), Rewrite.at(0.0)) == (SU, DU)
    assert Rewrite.at(0.5).weights(0.7) == SD.weights(0.7)
