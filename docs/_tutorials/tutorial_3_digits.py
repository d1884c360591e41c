"""
Ten classes of digits
=====================

Nobody says which digit an image shows. Two thousand times somebody says only whether two images
show the same digit. That is enough for all ten classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix

import likewise as lw

digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.data))
train, test = order[:800], order[800:]
images, hidden = digits.data[train] / 16, digits.target[train]

# %%
# Most random pairs show different digits: there are nine ways to differ and one to agree.

pairs = np.random.default_rng(1).integers(len(images), size=(2000, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
print(f"{same.sum()} pairs of one digit, {(~same).sum()} of two")

fig, axes = plt.subplots(2, 6, figsize=(7, 2.6), layout="constrained")
shown = [*np.flatnonzero(same)[:3], *np.flatnonzero(~same)[:3]]
for column, number in zip(axes.T, shown, strict=True):
    for ax, row in zip(column, pairs[number], strict=True):
        ax.imshow(images[row].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    column[0].set_title("same" if same[number] else "different", fontsize=9)

# %%
# Learn ten classes. ``features="linear"`` keeps this page quick; the default also tries RBF
# features.

X, y = lw.pack(images, similar=pairs[same], dissimilar=pairs[~same])
clf = lw.PairClassifier(n_classes=10, features="linear", random_state=0).fit(X, y)
print("class prior:", clf.prior_.round(2))

# %%
# What are the classes? Look at the mean image of each: you would name them at a glance.

fig, axes = plt.subplots(1, 10, figsize=(8, 1.1), layout="constrained")
for ax, number in zip(axes, clf.classes_, strict=True):
    ax.imshow(images[clf.labels_ == number].mean(axis=0).reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[], title=f"{number}")

# %%
# To compare with the truth, match the classes found with the digits one to one.

found = clf.predict(digits.data[test] / 16)
counts = confusion_matrix(digits.target[test], found, labels=range(10))
digit_of = np.argsort(linear_sum_assignment(-counts.T)[1])
matched = counts[:, digit_of]
print(f"new images classified correctly: {np.trace(matched) / matched.sum():.3f}")

fig, ax = plt.subplots(figsize=(4.4, 4), layout="constrained")
ax.imshow(matched, cmap="Blues")
for (row, column), count in np.ndenumerate(matched):
    if count:
        color = "white" if count > 50 else "black"
        ax.text(column, row, count, ha="center", va="center", fontsize=8, color=color)
ax.set(xlabel="class found, matched", ylabel="digit", xticks=range(10), yticks=range(10))
