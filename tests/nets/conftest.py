"""Everything here needs torch and skorch; on a machine without them it is skipped, and says so."""

import pytest

torch = pytest.importorskip("torch", reason="nets need torch: pip install 'likewise[torch]'")
pytest.importorskip("skorch", reason="nets need skorch: pip install 'likewise[torch]'")


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Tests run side by side: more threads would wait for each other."""
    torch.set_num_threads(1)
