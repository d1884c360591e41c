import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from skorch.callbacks import EarlyStopping
from torch import nn

import likewise as lw
from likewise.beliefs.components import ContradictionError
from likewise.nets import PairNetClassifier
from tests.nets.samples import Blobs, blobs

QUICK: dict[str, Any] = {
    "lr": 0.03,
    "max_steps": 60,
    "max_epochs": 3,
    "batch_size": 64,
    "unlabeled_size": 64,
    "random_state": 0,
}


class Net(nn.Module):
    """A small net with something to choose."""

    def __init__(self, n_outputs: int = 3, width: int = 16) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, n_outputs))

    def forward(self, rows: Any) -> Any:
        return self.layers(rows)


@pytest.fixture(scope="module")
def three() -> Blobs:
    return blobs()


@pytest.fixture(scope="module")
def fitted(three: Blobs) -> PairNetClassifier:
    return PairNetClassifier(Net, 3, moves=1, **QUICK).fit(three.X, three.y)


def test_three_classes_are_learned_from_answers(fitted: PairNetClassifier, three: Blobs) -> None:
    assert fitted.score(three.X, three.classes) > 0.93
    assert fitted.pairing_ == "asked"
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert np.all(np.diff(fitted.prior_) <= 0)
    assert fitted.prior_.sum() == pytest.approx(1.0)


def test_rows_are_known_from_features_and_statements(
    fitted: PairNetClassifier, three: Blobs
) -> None:
    assert fitted.row_proba_.sum(axis=1) == pytest.approx(1.0)
    table = np.zeros((3, 3))
    np.add.at(table, (fitted.labels_, three.classes), 1)
    own = table.max(axis=0).sum() / three.classes.size
    assert own >= fitted.score(three.X, three.classes)
    assert fitted.suspects_.size == 0


def test_probabilities_predictions_and_decisions_agree(
    fitted: PairNetClassifier, three: Blobs
) -> None:
    proba = fitted.predict_proba(three.X)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(fitted.predict(three.X), fitted.classes_[proba.argmax(axis=1)])
    decision = fitted.decision_function(three.X)
    assert np.array_equal(decision.argmax(axis=1), proba.argmax(axis=1))


def test_held_out_statements_choose_the_start(fitted: PairNetClassifier) -> None:
    values = [one.log_likelihood for one in fitted.held_out_]
    assert [one.name for one in fitted.held_out_][:2] == ["start 1, from near rows", "start 2"]
    assert fitted.best_restart_ == int(np.argmax(values))
    assert fitted.evidence_ is not None
    assert fitted.evidence_.mean == max(values)
    judged = [epoch for epoch in fitted.history if epoch["stage"].startswith(("start", "move"))]
    assert min(epoch["valid_loss"] for epoch in judged) <= -max(values) + 1e-9
    assert {epoch["stage"] for epoch in fitted.history} >= {"taught", "start 2", "refit"}


@pytest.mark.slow
def test_the_same_random_state_gives_the_same_net(three: Blobs) -> None:
    before = torch.random.get_rng_state()
    one, other = (
        PairNetClassifier(Net, 3, restarts=1, moves=0, **QUICK).fit(three.X, three.y)
        for _ in range(2)
    )
    assert np.array_equal(one.predict_proba(three.X), other.predict_proba(three.X))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("positive", ["majority", "minority"])
def test_two_classes_are_named_by_size(positive: str) -> None:
    sample = blobs(n_classes=2)
    net = PairNetClassifier(
        partial(Net, 1), positive=positive, restarts=1, **{**QUICK, "max_steps": 150}
    ).fit(sample.X, sample.y)
    assert net.classes_.tolist() == [-1, 1]
    assert (net.prior_ > 0.5) == (positive == "majority")
    larger = 2 * np.mean(sample.classes == 0) > 1
    named = np.where((sample.classes == 0) == (larger == (positive == "majority")), 1, -1)
    assert np.mean(net.predict(sample.X) == named) > 0.93
    assert np.mean(net.labels_ == named) > 0.95


def test_similar_pairs_alone_are_enough() -> None:
    sample = blobs(n_pairs=400, similar_only=True)
    net = PairNetClassifier(Net, 3, **{**QUICK, "max_steps": 150}).fit(sample.X, sample.y)
    assert net.pairing_ == "random"
    assert net.score(sample.X, sample.classes) > 0.9


def test_fresh_pairs_are_learned_from() -> None:
    rng = np.random.default_rng(0)
    classes = rng.choice([0, 1], 260, p=[0.35, 0.65])
    rows = (rng.normal(size=(260, 2)) + 4.0 * classes[:, None]).astype(np.float32)
    partners = (rng.normal(size=(120, 2)) + 4.0 * classes[140:, None]).astype(np.float32)
    X, y = lw.pack(rows[:140], similar=(rows[140:], partners))
    net = PairNetClassifier(partial(Net, 2), restarts=1, **QUICK).fit(X, y)
    assert net.score(rows[:140], classes[:140]) > 0.93
    assert net.row_proba_.shape == (380, 2)


@pytest.mark.slow
def test_wrong_answers_are_found() -> None:
    sample = blobs(n_rows=250, n_pairs=900, wrong=0.15)
    net = PairNetClassifier(Net, 3, error_rate="auto", **{**QUICK, "max_steps": 120}).fit(
        sample.X, sample.y
    )
    assert net.score(sample.X, sample.classes) > 0.9
    assert net.error_rate_ == pytest.approx(0.15, abs=0.06)
    links = _links(sample.y)
    truly_same = sample.classes[links.left] == sample.classes[links.right]
    is_wrong = truly_same != links.is_similar
    assert is_wrong[net.suspects_].mean() > 0.7


def _links(y: Any) -> Any:
    from likewise.statements.labels import read_labels

    return read_labels(y).links


def test_contradictions_without_an_error_rate_are_an_error() -> None:
    X, y = lw.pack(np.zeros((4, 2)), similar=[(0, 1), (1, 2)], dissimilar=[(0, 2), (0, 3)])
    with pytest.raises(ContradictionError):
        PairNetClassifier(Net, 3, **QUICK).fit(X, y)


class Named(nn.Module):
    """A net that takes rows by name."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(2, 3)

    def forward(self, rows: Any, kind: Any) -> Any:
        return self.net(rows) + 0.0 * kind[:, None]


class OwnData(torch.utils.data.Dataset[Any]):
    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        return self.rows[number], -1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tensor", "dict", "dataset", "images"])
def test_rows_may_have_many_forms(three: Blobs, kind: str) -> None:
    rows: dict[str, Any] = {
        "tensor": torch.as_tensor(three.X),
        "dict": {"rows": three.X, "kind": np.zeros(len(three.X), dtype=np.int64)},
        "dataset": OwnData(three.X),
        "images": three.X.reshape(-1, 1, 2, 1),
    }
    module = {"dict": Named, "images": lambda: nn.Sequential(nn.Flatten(), Net())}.get(kind, Net)
    quick = {**QUICK, "max_steps": 30}
    net = PairNetClassifier(module, 3, restarts=1, moves=0, **quick).fit(rows[kind], three.y)
    assert net.score(rows[kind], three.classes) > 0.6
    assert net.predict_proba(rows[kind]).shape == (300, 3)


@pytest.mark.slow
@pytest.mark.parametrize("consistency", [None, lambda rows: rows + 0.1 * torch.randn_like(rows)])
def test_consistency_may_be_another(three: Blobs, consistency: Any) -> None:
    net = PairNetClassifier(Net, 3, consistency=consistency, restarts=1, moves=0, **QUICK)
    assert net.fit(three.X, three.y).score(three.X, three.classes) > 0.9


@pytest.mark.slow
def test_mixed_precision_learns_too(three: Blobs) -> None:
    net = PairNetClassifier(Net, 3, amp="bfloat16", restarts=1, moves=0, **QUICK)
    assert net.fit(three.X, three.y).score(three.X, three.classes) > 0.9


def test_a_module_that_is_passed_stays_as_it_is(three: Blobs) -> None:
    module = Net()
    before = [one.clone() for one in module.parameters()]
    net = PairNetClassifier(module, 3, restarts=1, moves=0, **QUICK).fit(three.X, three.y)
    assert all(map(torch.equal, before, module.parameters()))
    assert net.module_ is not module


def test_searches_clones_and_parameters_are_those_of_skorch(three: Blobs) -> None:
    net = PairNetClassifier(Net, 3, restarts=1, moves=0, **{**QUICK, "max_steps": 20})
    assert clone(net).set_params(module__width=4, lr=0.01).get_params()["module__width"] == 4
    search = GridSearchCV(
        net,
        {"module__width": [2, 16]},
        cv=lw.PairKFold(2),
        scoring=lw.pair_log_likelihood_scorer,
        error_score="raise",
    ).fit(three.X, three.y)
    assert search.best_estimator_.module_.layers[0].out_features in (2, 16)


def test_saved_parameters_bring_predictions_back(
    fitted: PairNetClassifier, three: Blobs, tmp_path: Path
) -> None:
    files = {"f_params": tmp_path / "net.pt", "f_criterion": tmp_path / "loss.pt"}
    fitted.save_params(**files)
    again = PairNetClassifier(Net, 3, moves=1, **QUICK).initialize()
    again.load_params(**files)
    assert np.array_equal(again.predict_proba(three.X), fitted.predict_proba(three.X))
    copied = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own
    assert np.array_equal(copied.predict(three.X), fitted.predict(three.X))


def test_callbacks_end_a_start(three: Blobs) -> None:
    stop = EarlyStopping(monitor="train_loss", patience=1, threshold=10.0, threshold_mode="abs")
    net = PairNetClassifier(
        Net, 3, restarts=2, moves=0, neighbors=0, refit=False, callbacks=[stop], **QUICK
    ).fit(three.X, three.y)
    assert len(net.held_out_) == 2
    assert len(net.history) < 6


def test_without_held_out_statements_the_last_epoch_is_kept(three: Blobs) -> None:
    net = PairNetClassifier(Net, 3, validation=None, restarts=1, **QUICK).fit(three.X, three.y)
    assert net.evidence_ is None
    assert net.score(three.X, three.classes) > 0.9


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"restarts": 0}, "restarts must be"),
        ({"error_rate": 0.7}, "error_rate must be"),
        ({"consistency": "strong"}, "consistency must be"),
        ({"amp": "float16"}, "amp must be"),
        ({"positive": "first"}, "positive must be"),
        ({"neighbors": -1}, "neighbors must be"),
        ({"validation": 0.9}, "validation must be"),
        ({"validation": None, "restarts": 2}, "nothing chooses"),
        ({"pairing": "met"}, "pairing must be"),
        ({"module": partial(Net, 4)}, "must return scores"),
    ],
)
def test_wrong_parameters_are_named(three: Blobs, parameters: dict[str, Any], words: str) -> None:
    net = PairNetClassifier(**{"module": Net, "n_classes": 3, **QUICK, **parameters})
    with pytest.raises(ValueError, match=words):
        net.fit(three.X, three.y)


def test_weak_labels_are_not_scored_as_classes(fitted: PairNetClassifier, three: Blobs) -> None:
    with pytest.raises(ValueError, match="true classes"):
        fitted.score(three.X, np.arange(300))


def test_sparse_rows_and_gaps_are_refused(three: Blobs) -> None:
    net = PairNetClassifier(Net, 3, **QUICK)
    with pytest.raises(TypeError, match="dense rows"):
        net.fit(sp.csr_matrix(three.X), three.y)
    gaps = three.X.copy()
    gaps[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        net.fit(gaps, three.y)
