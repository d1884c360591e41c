"""Nets from statements: losses, batches and a skorch estimator. Needs the extra `torch`."""

try:
    import skorch  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "likewise.nets needs torch and skorch: pip install 'likewise[torch]'"
    ) from error

from likewise.nets.classifier import PairNetClassifier
from likewise.nets.consistency import adversarial_consistency, augmented_consistency
from likewise.nets.losses import PairLoss
from likewise.nets.sampler import PairBatchSampler, PairDataset, split_batch
from likewise.nets.su_loss import SULoss

__all__ = [
    "PairBatchSampler",
    "PairDataset",
    "PairLoss",
    "PairNetClassifier",
    "SULoss",
    "adversarial_consistency",
    "augmented_consistency",
    "split_batch",
]
