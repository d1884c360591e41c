"""What tests of prior estimators share."""

from typing import Any

import pytest

from likewise.prior import scores
from likewise.scores.maps import feature_maps


@pytest.fixture
def linear_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try linear features only: kernels take most of the time, and few tests need them."""

    def linear(features: Any, *settings: Any, **others: Any) -> Any:
        return feature_maps("linear", *settings, **others)

    monkeypatch.setattr(scores, "feature_maps", linear)
