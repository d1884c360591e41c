import threading
import warnings

import numpy as np
import pytest

from likewise.classifiers.saying import unsaid, warn_of


class _NoSignal:
    class_count_ = None
    n_classes_ = 2
    has_signal_ = False
    pairing = pairing_ = "asked"
    error_rate = 0.0
    prior_ = np.array(0.5)


def test_a_fit_is_silent_inside_and_speaks_again_after() -> None:
    with unsaid():
        warn_of(_NoSignal(), 0.0)
    with pytest.warns(UserWarning, match="no signal"):
        warn_of(_NoSignal(), 0.0)


def test_silence_of_one_thread_leaves_others_and_their_filters_alone() -> None:
    began, may_end = threading.Event(), threading.Event()

    def be_silent() -> None:
        with unsaid():
            began.set()
            may_end.wait()

    filters = list(warnings.filters)
    silent = threading.Thread(target=be_silent)
    silent.start()
    try:
        began.wait()
        assert warnings.filters == filters
        with pytest.warns(UserWarning, match="no signal"):
            warn_of(_NoSignal(), 0.0)
    finally:
        may_end.set()
        silent.join()
