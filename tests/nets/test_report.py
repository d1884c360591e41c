"""The label-free report takes nets as it takes all classifiers."""

import numpy as np
import pytest
from torch import nn

import likewise as lw
from likewise.nets import PairNetClassifier
from tests.nets.samples import blobs


@pytest.mark.slow
def test_the_accuracy_of_a_net_on_images_is_told_without_labels() -> None:
    sample = blobs(n_rows=250, n_pairs=300, n_classes=2)
    images = sample.X.reshape(-1, 1, 1, 2)
    net = PairNetClassifier(
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(2, 2)),
        restarts=1,
        lr=0.05,
        max_steps=60,
        max_epochs=2,
        batch_size=64,
        unlabeled_size=64,
        random_state=0,
    ).fit(images, sample.y)
    report = lw.label_free_report(net, images, sample.y, random_state=0)
    assert report.cross_fitted
    assert abs(report.accuracy.value - net.score(images, sample.classes)) < 0.05
    assert np.isfinite(report.accuracy.interval).all()
