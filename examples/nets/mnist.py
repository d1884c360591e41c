"""MNIST: ten classes from 5,000 answers, and from 5,000 similar pairs alone. Wants a GPU."""

import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

import likewise as lw
from likewise.nets import PairNetClassifier

N_PAIRS = 5000
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def mlp() -> nn.Module:
    """Return a plain net."""
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )


def cnn() -> nn.Module:
    """Return a small net of convolutions."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        *(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU()),
        *(nn.Conv2d(64, 64, 3, stride=2), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(1600, 128), nn.ReLU(), nn.Linear(128, 10)),
    )


def main(path: Path) -> None:
    """Learn twice, and say what is reached on test rows."""
    with np.load(path, allow_pickle=False) as stored:
        rows, new = ((stored[k] / 255).astype(np.float32) for k in ("X_train", "X_test"))
        hidden, truth = stored["y_train"], stored["y_test"]
    pairs = np.random.default_rng(0).integers(len(rows), size=(20 * N_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]

    asked, answers = pairs[:N_PAIRS], same[:N_PAIRS]
    X, y = lw.pack(rows, similar=asked[answers], dissimilar=asked[~answers])
    net = PairNetClassifier(mlp, 10, device=DEVICE, random_state=0).fit(X, y)
    print(f"{N_PAIRS} answers, new rows right: {net.score(new, truth):.3f}")

    X, y = lw.pack(rows, similar=pairs[same][:N_PAIRS])
    net = PairNetClassifier(cnn, 10, device=DEVICE, random_state=0).fit(X, y)
    print(f"{N_PAIRS} similar pairs alone, new rows right: {net.score(new, truth):.3f}")


if __name__ == "__main__":
    file = Path(os.environ.get("LIKEWISE_DATA", ".")) / "mnist.npz"
    if file.exists():
        main(file)
    else:
        print(f"There is no {file.name} (X_train, y_train, X_test, y_test): nothing to do. Name")
        print("the folder that it is in by the environment variable LIKEWISE_DATA.")
