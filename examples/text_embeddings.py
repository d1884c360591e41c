"""Frozen text embeddings, or any vectors: one column each, and answers about some of the texts.

Any model that turns texts into vectors will do; here a tf-idf with a truncated SVD stands in for
it, so that the example needs no download.
"""

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import likewise as lw

rng = np.random.default_rng(0)
topics = [
    "boat sea sail wind harbour wave anchor crew",
    "leaf moss tree root forest seed branch soil",
    "bread oven flour salt butter knead crust yeast",
]
common = "the a of very old new small was in on with and"


def write(topic: int) -> str:
    """Write ten words, two of them of the topic."""
    words = [*rng.choice(topics[topic].split(), 2), *rng.choice(common.split(), 8)]
    return " ".join(rng.permutation(words))


hidden = rng.integers(3, size=600)
texts = [write(topic) for topic in hidden]
embed = make_pipeline(TfidfVectorizer(), TruncatedSVD(20, random_state=0))
vectors = embed.fit_transform(texts)

table, rest = vectors[:300], vectors[300:]
pairs = rng.integers(300, size=(500, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
X, y = lw.pack(table, similar=pairs[same], dissimilar=pairs[~same])
clf = lw.PairClassifier(n_classes=3, features="linear", random_state=0).fit(X, y)

for found in clf.classes_:
    members = np.flatnonzero(clf.labels_ == found)
    share = np.bincount(hidden[members], minlength=3).max() / members.size
    print(f"class {found}: {members.size} texts, {share:.0%} of one topic; {texts[members[0]]!r}")
found = clf.predict(rest)
right = sum(np.bincount(hidden[300:][found == k], minlength=3).max() for k in clf.classes_)
print(f"new texts right: {right / found.size:.3f}")
