"""Gradient boosting on a table with gaps and categories, from answers about its rows."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import likewise as lw

rng = np.random.default_rng(0)


def draw(n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw people, a tenth of their cells empty, and the classes that nobody is told."""
    hidden = rng.integers(2, size=n_rows)
    job = np.where(rng.random(n_rows) < 0.75, hidden, rng.integers(3, size=n_rows))
    people = pd.DataFrame(
        {
            "age": rng.normal(40 + 12 * hidden, 12),
            "income": rng.lognormal(1 + 0.5 * hidden, 0.5),
            "job": pd.Categorical(np.array(["nurse", "clerk", "smith"])[job]),
        }
    )
    return people.mask(rng.random(people.shape) < 0.1), hidden


people, hidden = draw(500)
left, right = rng.integers(500, size=(2, 1000))
left, right = left[left != right], right[left != right]
pairs, same = np.column_stack([left, right]), hidden[left] == hidden[right]

X, y = lw.pack(people, similar=pairs[same], dissimilar=pairs[~same])
trees = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=50)
clf = lw.PairClassifier(estimator=trees, random_state=0, verbose=1).fit(X, y)

others, truth = draw(5000)
right = np.mean((clf.predict(others) == 1) == truth)
labeled = trees.fit(people, hidden).score(others, truth)
print(f"new rows right: {max(right, 1 - right):.3f}; with all labels: {labeled:.3f}")
