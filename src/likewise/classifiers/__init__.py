"""Scikit-learn estimators: they check input, call the mathematics, and keep what it returns."""

from likewise.classifiers.pair import PairClassifier
from likewise.classifiers.su import SUClassifier, SUClassifierCV

__all__ = ["PairClassifier", "SUClassifier", "SUClassifierCV"]
