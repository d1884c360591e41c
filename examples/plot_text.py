"""
Texts by topic
==============

Texts become vectors (here tf-idf and a truncated SVD; embeddings of any model will do), and 500
answers "same topic" or "another topic" sort them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import make_pipeline

import likewise as lw

rng = np.random.default_rng(0)
topics = ["boat sea sail wind wave", "leaf moss tree root seed", "bread oven flour salt"]
common = ["the", "a", "of", "very", "old", "new", "small", "was", "in", "on", "with", "and"]
hidden = rng.integers(3, size=300)
texts = [" ".join([*rng.choice(topics[k].split(), 2), *rng.choice(common, 8)]) for k in hidden]
vectors = make_pipeline(TfidfVectorizer(), TruncatedSVD(20, random_state=0)).fit_transform(texts)
pairs = rng.integers(300, size=(500, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
X, y = lw.pack(vectors, similar=pairs[same], dissimilar=pairs[~same])
clf = lw.PairClassifier(n_classes=3, features="linear", random_state=0).fit(X, y)

counts = confusion_matrix(clf.labels_, hidden)
plt.figure(figsize=(4.6, 3.6), layout="constrained")
plt.imshow(counts, cmap="Blues")
for (i, j), count in np.ndenumerate(counts):
    plt.text(j, i, count, ha="center", va="center", color="white" if count > 50 else "black")
plt.xticks(range(3), ["boats", "plants", "baking"])
plt.yticks(range(3), [f"class {k}" for k in range(3)])
