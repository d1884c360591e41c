"""Rows for a classifier that the user brings, and numbers to begin from."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import likewise as lw
from likewise.classifiers.any_model import as_untouched, starting_numbers

TEXTS = np.array(["sea boat", "tree leaf", "sea sail"], dtype=object)


def test_values_are_left_alone_and_columns_are_remembered() -> None:
    clf = lw.PairClassifier()
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    assert as_untouched(clf, frame) is frame
    assert clf.n_features_in_ == 2
    np.testing.assert_array_equal(clf.feature_names_in_, ["a", "b"])
    with pytest.raises(ValueError, match="feature names should match"):
        as_untouched(clf, frame[["b", "a"]], reset=False)


def test_texts_have_no_columns() -> None:
    clf = lw.PairClassifier()
    assert as_untouched(clf, TEXTS).shape == (3,)
    assert not hasattr(clf, "n_features_in_")


@pytest.mark.parametrize(
    ("rows", "words"),
    [(np.arange(3.0), "got a 1D array"), (np.empty((0, 2)), r"0 sample\(s\) \(shape=\(0, 2\)\)")],
)
def test_what_is_no_table_of_rows_is_refused(rows: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        as_untouched(lw.PairClassifier(), rows)


def test_finite_numbers_are_begun_from_as_they_are_and_sparse_ones_stay_sparse() -> None:
    whole = np.array([[1, 2], [3, 4]])
    found = starting_numbers(whole, LogisticRegression())
    np.testing.assert_array_equal(found, whole)
    assert found.dtype == np.float64
    sparse = sp.csr_array(whole.astype(float))
    assert starting_numbers(sparse, LogisticRegression()) is sparse


def test_gaps_and_categories_become_finite_numbers() -> None:
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", "x"]})
    found = np.asarray(starting_numbers(table, LogisticRegression()))
    assert np.isfinite(found).all()
    assert len(np.unique(found[[0, 2]][:, -1])) == 1


@pytest.mark.parametrize("is_sparse", [True, False])
def test_texts_are_begun_from_as_the_first_steps_make_numbers_of_them(is_sparse: bool) -> None:
    steps: list[Any] = [CountVectorizer()]
    if not is_sparse:
        steps.append(FunctionTransformer(sp.csr_matrix.toarray))
    found = starting_numbers(TEXTS, make_pipeline(*steps, MultinomialNB()))
    counts = CountVectorizer().fit_transform(TEXTS)
    if is_sparse:
        np.testing.assert_array_equal(found.toarray(), counts.toarray())
    else:
        assert np.linalg.matrix_rank(found) == np.linalg.matrix_rank(counts.toarray())
    assert starting_numbers(TEXTS, TfidfVectorizer()) is None  # no steps that make numbers
