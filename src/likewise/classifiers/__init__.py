"""Scikit-learn estimators: they check input, call the mathematics, and keep what it returns."""

from likewise.classifiers.su import SUClassifier, SUClassifierCV

__all__ = ["SUClassifier", "SUClassifierCV"]
