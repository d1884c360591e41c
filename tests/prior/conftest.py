"""What tests of prior estimators share."""

from typing import Any

import numpy as np
import pytest

from likewise.learner.learn import feature_maps
from likewise.prior import scores


@pytest.fixture
def linear_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try linear features only: kernels take most of the time, and few tests need them."""

    def linear(features: Any, X: Any, random_state: np.random.RandomState) -> Any:
        return feature_maps("linear", X, random_state)

    monkeypatch.setattr(scores, "feature_maps", linear)
