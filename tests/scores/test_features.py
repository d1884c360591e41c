"""Feature maps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from likewise.scores import features
from likewise.scores.features import RadialFeatures, column_scale


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_columns_get_unit_deviation_but_rare_dummies_stay_small(
    rng: np.random.Generator, container: Callable[[np.ndarray], Any]
) -> None:
    rare = (np.arange(100) == 0).astype(float)
    rows = np.column_stack([rng.normal(size=100), rare, 2 * rare - 1, 1 - rare, np.ones(100)])
    mean, scale = column_scale(container(rows))
    np.testing.assert_allclose(mean, rows.mean(axis=0))
    deviation = np.sqrt(0.01 * 0.99)
    assert scale[0] == pytest.approx(rows[:, 0].std())
    assert scale[1] == pytest.approx(np.sqrt(deviation * 0.5))
    assert scale[2] == pytest.approx(2 * scale[1])
    assert scale[3] == pytest.approx(scale[1])
    assert scale[4] == 1.0
    # The rare value is nearer than the ten deviations that standardising would make of it.
    assert (1 - mean[1]) / scale[1] < 5 < (1 - mean[1]) / deviation


def test_an_even_dummy_has_its_deviation_as_scale() -> None:
    assert column_scale(np.array([[0.0], [1.0]] * 5))[1][0] == pytest.approx(0.5)


@pytest.mark.parametrize("width", [0.5, 0.9])
def test_with_every_row_a_landmark_products_of_features_are_the_kernel(
    rng: np.random.Generator, width: float
) -> None:
    rows = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1]
    made = RadialFeatures(width, n_components=30, random_state=0).fit_transform(rows)
    squashed = np.arcsinh((rows - rows.mean(axis=0)) / rows.std(axis=0))
    distances = ((squashed[:, None] - squashed[None]) ** 2).sum(axis=2)
    kernel = rbf_kernel(squashed, gamma=1 / (2 * width**2 * distances.mean()))
    np.testing.assert_allclose(made @ made.T, 100 * kernel, atol=1e-6)


def test_radial_features_of_sparse_rows_are_those_of_dense_ones(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.5)
    fitted = clone(RadialFeatures(n_components=10, random_state=1)).fit(rows)
    sparse = RadialFeatures(n_components=10, random_state=1).fit(sp.csr_matrix(rows))
    np.testing.assert_allclose(fitted.transform(rows), sparse.transform(sp.csr_matrix(rows)))


def test_principal_components_are_found_among_noise(rng: np.random.Generator) -> None:
    hidden = rng.normal(size=(300, 2))
    loadings = rng.normal(size=(2, 40))
    rows = hidden @ loadings + rng.normal(size=(300, 40))
    fitted = RadialFeatures(0.9, principal=True, random_state=0).fit(rows)
    assert np.asarray(fitted.directions_).shape == (40, 2)
    # Both hidden numbers can be read off the two components.
    seen = fitted._squash(rows) - fitted._squash(rows).mean(axis=0)
    explained = seen @ np.linalg.lstsq(seen, hidden)[0]
    assert ((hidden - hidden.mean(axis=0) - explained) ** 2).sum() < 0.2 * (hidden**2).sum()


def test_noise_has_few_principal_components(rng: np.random.Generator) -> None:
    fitted = RadialFeatures(principal=True, random_state=0).fit(rng.normal(size=(500, 30)))
    assert np.asarray(fitted.directions_).shape[1] <= 2


def test_one_column_or_equal_rows_have_one_principal_component() -> None:
    for rows in (np.arange(6.0)[:, None], np.ones((5, 3))):
        made = RadialFeatures(principal=True, n_components=3, random_state=0).fit_transform(rows)
        assert made.shape[1] == 3
        assert np.isfinite(made).all()


def test_there_are_no_more_radial_features_than_rows(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(7, 2))
    assert RadialFeatures(random_state=0).fit_transform(rows).shape == (7, 7)


def test_rows_that_are_all_alike_have_finite_radial_features() -> None:
    made = RadialFeatures(n_components=3, random_state=0).fit_transform(np.ones((5, 2)))
    np.testing.assert_allclose(made @ made.T, 100.0)


def test_many_rows_are_represented_by_some(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "_MOST_LEARNING_ROWS", 50)
    rows = rng.normal(size=(500, 2))
    fitted = RadialFeatures(n_components=20, random_state=0).fit(rows)
    assert fitted.transform(rows).shape == (500, 20)
    assert not np.allclose(fitted.mean_, rows.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(fitted.mean_, rows.mean(axis=0), atol=0.6)
