"""What the pictures show, read from the axes rather than from pixels."""

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
import polars as pl
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise import plots

Sample = tuple[Any, Any]


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    settings = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == settings


@pytest.fixture
def sample() -> Sample:
    """Weak labels over two features with 30 similar pairs, 10 dissimilar ones, 50 other rows."""
    rng = np.random.default_rng(0)
    return lw.pack(
        rng.normal(size=(50, 2)),
        similar=rng.normal(size=(30, 2, 2)),
        dissimilar=rng.normal(size=(10, 2, 2)),
    )


class Slope:
    """A fitted classifier whose decision value is the first feature."""

    def decision_function(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


def labels(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_losses_are_drawn_by_name_against_the_margin() -> None:
    ax: Any = plots.plot_losses()
    lines = {line.get_label(): line.get_xydata() for line in ax.lines}
    assert set(lines) == {"squared", "logistic", "double-hinge", "hinge", "zero-one"}
    assert labels(ax) == list(lines)
    margin, loss = lines["squared"].T
    np.testing.assert_allclose(loss, (margin - 1) ** 2 / 4)
    margin, loss = lines["logistic"].T
    np.testing.assert_allclose(loss, np.log1p(np.exp(-margin)))
    assert (margin.min(), margin.max()) == (-3, 3)
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_su_losses_have_a_panel_for_each_loss() -> None:
    panels = plots.plot_su_losses(0.7, ("squared", "logistic", "double_hinge"))
    assert [panel.get_title() for panel in panels] == [
        "squared loss",
        "logistic loss",
        "double-hinge loss",
    ]
    for panel in panels:
        similar = panel.lines[1]
        assert similar.get_label().startswith("$L_S$")
        z = similar.get_xdata()
        np.testing.assert_allclose(similar.get_ydata(), -z / 0.4)
    unlabeled = panels[0].lines[2].get_ydata()
    np.testing.assert_allclose(unlabeled, (0.7 * (z + 1) ** 2 - 0.3 * (z - 1) ** 2) / 4 / 0.4)


def test_su_losses_need_a_prior_and_as_many_axes_as_losses() -> None:
    with pytest.raises(ValueError, match="prior"):
        plots.plot_su_losses(0.5)
    with pytest.raises(ValueError, match="2 losses but 1 axes"):
        plots.plot_su_losses(0.7, axes=[Figure().subplots()])


def test_histograms_count_members_and_unlabeled_rows_apart(sample: Sample) -> None:
    ax: Any = plots.plot_score_histograms(Slope(), *sample)
    assert labels(ax) == [
        "unlabeled rows (50)",
        "members of similar pairs (60)",
        "members of dissimilar pairs (20)",
    ]
    bars = ax.containers[0]
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
    low, high = bars[0].get_x(), bars[-1].get_x() + bars[-1].get_width()
    assert (low, high) == pytest.approx((sample[0][:, 0].min(), sample[0][:, 0].max()))


def test_histograms_leave_out_what_is_not_there(sample: Sample) -> None:
    X, y = sample
    ax: Any = plots.plot_score_histograms(Slope(), X[y >= 0], y[y >= 0])
    assert len(labels(ax)) == 2


def test_the_map_shows_values_boundary_rows_and_pairs(sample: Sample) -> None:
    X, y = sample
    ax: Any = plots.plot_decision_map(Slope(), X, y)
    assert labels(ax) == [
        "decision boundary",
        "unlabeled rows (50)",
        "similar pairs (30)",
        "dissimilar pairs (10)",
    ]
    similar, dissimilar = (c for c in ax.collections if isinstance(c, LineCollection))
    ends = np.stack([X[y > 0][:30], X[y > 0][30:]], axis=1)
    np.testing.assert_array_equal(np.array(similar.get_segments()), ends)
    assert len(dissimilar.get_segments()) == 10
    (unlabeled,) = (c for c in ax.collections if len(c.get_offsets()) == 50)
    np.testing.assert_array_equal(unlabeled.get_offsets(), X[y == 0])
    filled, boundary = (c for c in ax.collections if hasattr(c, "levels"))
    assert filled.levels[0] == -filled.levels[-1]
    assert 0.0 in filled.levels
    (path,) = boundary.get_paths()
    np.testing.assert_allclose(path.vertices[:, 0], 0, atol=1e-9)
    low, high = ax.get_xlim()
    assert low < X[:, 0].min()
    assert high > X[:, 0].max()


def test_the_map_draws_no_more_pairs_than_asked(sample: Sample) -> None:
    ax: Any = plots.plot_decision_map(Slope(), *sample, max_pairs=7)
    assert "similar pairs (7 of 30)" in labels(ax)
    lines = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert [len(c.get_segments()) for c in lines] == [7, 7]


def test_the_map_needs_no_weak_labels_and_no_boundary(sample: Sample) -> None:
    X = np.abs(sample[0]) + 1
    ax: Any = plots.plot_decision_map(Slope(), X)
    assert labels(ax) == ["unlabeled rows (130)"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_pipelines_are_drawn_with_their_names(frame: Any) -> None:
    X, y = lw.datasets.make_gaussians(2000, random_state=0)
    sample = lw.datasets.sample_su(X, y, 50, 50, random_state=0)
    X, y = sample.pack()
    rows = frame({"height": X[:, 0], "weight": X[:, 1]})
    clf = make_pipeline(StandardScaler(), lw.SUClassifier(prior=0.7)).fit(rows, y)
    ax: Any = plots.plot_decision_map(clf, rows, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")
    assert len(labels(plots.plot_score_histograms(clf, rows, y))) == 2


@pytest.mark.parametrize("columns", [1, 3])
def test_the_map_refuses_other_than_two_features(columns: int) -> None:
    with pytest.raises(ValueError, match=f"exactly 2 features, but X has {columns}"):
        plots.plot_decision_map(Slope(), np.zeros((4, columns)))


def test_the_map_refuses_text() -> None:
    with pytest.raises(ValueError, match="not of text"):
        plots.plot_decision_map(Slope(), np.array([["a", 1.0]], dtype=object))


def test_given_axes_are_drawn_on_and_returned_and_no_figure_is_opened(sample: Sample) -> None:
    axes = Figure().subplots(2, 3).ravel()
    assert plots.plot_losses(axes[0]) is axes[0]
    assert list(plots.plot_su_losses(0.7, axes=axes[1:3])) == list(axes[1:3])
    assert plots.plot_score_histograms(Slope(), *sample, ax=axes[3]) is axes[3]
    assert plots.plot_decision_map(Slope(), *sample, ax=axes[4]) is axes[4]
    assert plt.get_fignums() == []


@pytest.mark.parametrize("width", [4.3, 5.6])
def test_the_legend_of_histograms_is_not_cut_and_leaves_them_room(
    sample: Sample, width: float
) -> None:
    figure = Figure(figsize=(width, 4.0), layout="constrained")
    ax: Any = plots.plot_score_histograms(Slope(), *sample, ax=figure.subplots())
    figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert figure.bbox.x0 <= legend.x0
    assert legend.x1 <= figure.bbox.x1
    assert ax.get_window_extent().width > 0.7 * figure.bbox.width


def test_legends_below_cover_no_data(sample: Sample) -> None:
    ax: Any = plots.plot_decision_map(Slope(), *sample)
    ax.figure.canvas.draw()
    legend, panel, label = (
        part.get_window_extent() for part in (ax.get_legend(), ax, ax.xaxis.label)
    )
    assert not legend.overlaps(panel)
    assert not legend.overlaps(label)
    assert legend.y0 >= 0


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"likewise\[plots\]"):
        plots.plot_losses()
