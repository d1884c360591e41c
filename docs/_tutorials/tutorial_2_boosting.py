"""
Text columns and gaps with gradient boosting
============================================

Real tables have empty cells and columns of text. The linear and RBF scores of
`likewise.PairClassifier` need finite numbers, but any scikit-learn classifier with
``predict_proba`` and ``sample_weight`` can take their place. Gradient boosting handles gaps and
categories by itself.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import likewise as lw

rng = np.random.default_rng(0)


def draw(n_rows):
    """Draw people, a tenth of their cells empty, and the hidden classes."""
    hidden = rng.integers(2, size=n_rows)
    job = np.where(rng.random(n_rows) < 0.75, hidden, rng.integers(3, size=n_rows))
    people = pd.DataFrame(
        {
            "age": rng.normal(40 + 12 * hidden, 12).round(),
            "income": rng.lognormal(1 + 0.5 * hidden, 0.5).round(2),
            "job": pd.Categorical(np.array(["nurse", "clerk", "smith"])[job]),
        }
    )
    return people.mask(rng.random(people.shape) < 0.1), hidden


people, hidden = draw(500)
people.head(8)

# %%
# Somebody answered questions about pairs of these people: same kind, or not?

left, right = rng.integers(500, size=(2, 800))
left, right = left[left != right], right[left != right]
same = hidden[left] == hidden[right]
pairs = np.column_stack([left, right])
X, y = lw.pack(people, similar=pairs[same], dissimilar=pairs[~same])

# %%
# The classifier gets the data frame as it is. It learns by expectation maximization: what the
# answers imply about every row becomes a weight, and the trees are fitted to the weighted rows.
# ``verbose=1`` prints one line per round.

trees = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=50)
clf = lw.PairClassifier(estimator=trees, random_state=0, verbose=1).fit(X, y)

# %%
# New people, with the result of the same trees given every label:

others, truth = draw(5000)
accuracy = np.mean((clf.predict(others) == 1) == truth)
labeled = trees.fit(people, hidden).score(others, truth)
print(f"from pairs: {max(accuracy, 1 - accuracy):.3f}; with all labels: {labeled:.3f}")

# %%
# Which columns matter? Permutation importance works as for any scikit-learn classifier. Here it is
# scored by how well the predictions agree with the answers, so it needs no labels.

import matplotlib.pyplot as plt
from sklearn.inspection import permutation_importance


def agreement(model, X, y):
    """Return the share of answers that the predictions agree with."""
    found = model.predict(X)
    return np.mean((found[left] == found[right]) == same)


found = permutation_importance(clf, people, hidden, scoring=agreement, n_repeats=5, random_state=0)
fig, ax = plt.subplots(figsize=(5.6, 2.6), layout="constrained")
ax.barh(people.columns, found.importances_mean, xerr=found.importances_std)
ax.set(xlabel="loss of agreement with the answers when the column is shuffled")
