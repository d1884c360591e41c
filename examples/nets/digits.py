"""Ten classes of digits from 2,000 answers "same" or "different", by a small net on a CPU."""

from time import perf_counter

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import likewise as lw
from likewise.nets import PairNetClassifier

torch.set_num_threads(1)  # these matrices are too small to be shared among cores
digits = load_digits()
rows, hidden = (digits.data / 16).astype(np.float32), digits.target
rng = np.random.default_rng(0)
order = rng.permutation(len(rows))
train, test = order[:1300], order[1300:]

left, right = rng.integers(len(train), size=(2, 2050))
left, right = (side[left != right][:2000] for side in (left, right))
pairs = np.column_stack([left, right])
same = hidden[train][left] == hidden[train][right]
X, y = lw.pack(rows[train], similar=pairs[same], dissimilar=pairs[~same])


def make_net() -> nn.Module:
    """Return a fresh net."""
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )


start = perf_counter()
# A small table: smaller batches and fewer steps than the defaults are enough.
net = PairNetClassifier(
    make_net, 10, batch_size=128, unlabeled_size=128, max_steps=500, moves=2, random_state=0
).fit(X, y)
for verdict in net.held_out_:
    print(f"{verdict.name}: {verdict.log_likelihood:.3f} nats per held-out answer")
print(f"{perf_counter() - start:.0f} seconds")
print(f"new rows right: {net.score(rows[test], hidden[test]):.3f}")
