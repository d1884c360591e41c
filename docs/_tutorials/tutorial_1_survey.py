"""
A survey about a question nobody wants to answer
================================================

How did you vote? Many people would rather not say. Fewer object to a question about two people:
"do you and your neighbor vote for the same party?" An answer reveals no vote, and yet answers about
enough pairs determine a classifier, the class prior and the accuracy.

We use the American National Election Study of 1996, which comes with statsmodels: 944 people, their
views, and their vote (Clinton or Dole). The vote is hidden from the classifier. It serves only to
simulate the answers about pairs, and to check the result at the end.
"""

import numpy as np
from statsmodels.datasets import anes96

import likewise as lw

survey = anes96.load_pandas().data
vote = np.where(survey.pop("vote") == 1, "Dole", "Clinton")
people = survey.drop(columns="logpopul")
people.head()

# %%
# The columns are the population of the place of residence, days of TV news per week, where people
# place themselves, Clinton and Dole between left and right, party identification, age,
# education and income.
#
# Draw the pairs
# --------------
# We ask about 400 random pairs: the two people either voted alike or they did not.

rng = np.random.default_rng(1996)
pairs = rng.integers(len(people), size=(400, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
alike = vote[pairs[:, 0]] == vote[pairs[:, 1]]
print(f"{alike.sum()} must-links, {(~alike).sum()} cannot-links")

# %%
# Learn
# -----
# `likewise.pack` puts the table and the statements about its rows into the ``X`` and ``y`` that
# scikit-learn knows. No row is copied.

X, y = lw.pack(people, similar=pairs[alike], dissimilar=pairs[~alike])
clf = lw.PairClassifier(random_state=0).fit(X, y)
print("features:", clf.features_)
low, high = clf.prior_interval_
print(f"majority class: {clf.prior_:.1%} of the people (95 % interval {low:.1%} to {high:.1%})")

# %%
# How accurate is it?
# -------------------
# The report needs no vote either. It refits the classifier without some of the pairs in turn, and
# judges every person by a model that did not see them.

report = lw.label_free_report(clf, X, y, random_state=0)
print(report)

# %%
# Give the classes names
# ----------------------
# Pairs cannot tell which class is which. One volunteer of each side who tells their vote is enough.

known = np.full(len(people), None, dtype=object)
for party in ("Clinton", "Dole"):
    known[np.flatnonzero(vote == party)[0]] = party
clf.fit(X, y, known=known)
print(f"classes: {clf.classes_}, estimated share of {clf.classes_[1]}: {clf.prior_:.3f}")

# %%
# Check with the hidden votes
# ---------------------------
# Now we open the envelope. ``labels_`` uses the features and the answers about a person,
# ``predict`` the features alone, as for somebody new.

print(f"people of the survey classified correctly: {np.mean(clf.labels_ == vote):.3f}")
print(f"the same from their features alone:        {np.mean(clf.predict(people) == vote):.3f}")
print(f"the report estimated, for new people:      {report.accuracy}")
print(f"share of Dole voters:                      {np.mean(vote == 'Dole'):.3f}")

# %%
# How certain are the predictions? The probabilities are calibrated on pairs that were held out.

import matplotlib.pyplot as plt

proba = clf.predict_proba(people)[:, list(clf.classes_).index("Dole")]
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for party, color in (("Clinton", "tab:blue"), ("Dole", "tab:red")):
    ax.hist(proba[vote == party], 20, range=(0, 1), alpha=0.6, color=color, label=party)
ax.set(xlabel="probability of a vote for Dole", ylabel="people")
ax.legend(title="hidden vote", frameon=False)
