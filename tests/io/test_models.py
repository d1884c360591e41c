"""Models as files: what comes back, what is refused, what is never run."""

import io
import os
import pickle
import threading
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.io import Features, Model, load_model, save_model
from likewise.prior import KernelMeanPrior, PairMomentPrior
from tests.io.crafted import parts_of, zipped


@pytest.fixture(scope="module")
def model() -> Model:
    X, y = lw.datasets.make_gaussians(2000, random_state=0)
    sample = lw.datasets.sample_su(X, y, 100, 100, random_state=0)
    clf = lw.SUClassifierCV(prior=0.7, cv=lw.PairKFold(3)).fit(*sample.pack())
    return Model(clf, Features(("a", "b")), "key", "spam")


def test_a_model_comes_back_as_it_was(tmp_path: Path, model: Model) -> None:
    save_model(tmp_path / "model.skops", model)
    loaded = load_model(tmp_path / "model.skops")
    assert (loaded.features, loaded.id_column) == (model.features, model.id_column)
    assert (loaded.positive_class, loaded.version) == ("spam", lw.__version__)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    expected = model.estimator.decision_function(rows)
    np.testing.assert_array_equal(loaded.estimator.decision_function(rows), expected)


def test_what_is_not_a_fitted_classifier_is_not_saved(tmp_path: Path) -> None:
    for clf in (lw.PairClassifier(), make_pipeline(StandardScaler(), lw.SUClassifier(prior=0.7))):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            lw.save(clf, tmp_path / "model.skops")
    with pytest.raises(TypeError, match="takes a fitted classifier, but got an object of type int"):
        lw.save(3, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_a_model_comes_through_a_pipe(tmp_path: Path, model: Model) -> None:
    save_model(tmp_path / "model.skops", model)
    os.mkfifo(tmp_path / "pipe")
    content = (tmp_path / "model.skops").read_bytes()
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[content])
    writer.start()
    assert load_model(tmp_path / "pipe").id_column == "key"
    writer.join()


def test_the_same_model_makes_the_same_bytes(tmp_path: Path, model: Model) -> None:
    for name in ("one", "other"):
        save_model(tmp_path / name, model)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("classifier", [lw.SUClassifier, lw.SUClassifierCV])
@pytest.mark.parametrize(
    "estimator", [None, PairMomentPrior(random_state=0), KernelMeanPrior("km1", lambda_left=1.5)]
)
def test_a_model_comes_back_with_the_estimate_of_its_prior(
    tmp_path: Path, classifier: Any, estimator: Any
) -> None:
    X, y = lw.datasets.make_gaussians(2000, separation=4.0, random_state=0)
    sample = lw.datasets.sample_su(X, y, 60, 60, random_state=0)
    fitted = classifier(prior=estimator, positive="minority").fit(*sample.pack())
    save_model(tmp_path / "model.skops", Model(fitted, Features(("a", "b")), "id"))
    loaded = load_model(tmp_path / "model.skops").estimator
    assert loaded.prior_ == fitted.prior_
    assert loaded.prior_interval_ == fitted.prior_interval_
    assert loaded.prior_estimate_ == fitted.prior_estimate_
    assert type(loaded.prior) is type(estimator)
    assert loaded.get_params(deep=False).keys() == fitted.get_params(deep=False).keys()
    if estimator is not None:
        assert loaded.prior.get_params() == estimator.get_params()


class Bomb:
    """Makes a folder when a pickle of it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "boom")))
    with pytest.raises(ValueError, match=r"model\.skops is not a likewise model.*never pickles"):
        load_model(path)
    assert not (tmp_path / "boom").exists()
    pickle.loads(path.read_bytes())  # noqa: S301  (it would have gone off)
    assert (tmp_path / "boom").exists()


def test_what_is_no_estimator_needs_trust_by_its_name(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, Model(os.mkdir, model.features, "id"))
    with pytest.raises(ValueError, match=r"model\.skops is refused.*--trust posix\.mkdir"):
        load_model(path)


def test_what_is_no_classifier_is_refused_though_it_is_trusted(
    tmp_path: Path, model: Model
) -> None:
    path = tmp_path / "model.skops"
    save_model(path, Model(StandardScaler().fit(np.eye(2)), model.features, "id"))
    with pytest.raises(ValueError, match=r"model\.skops is refused.*no classifier"):
        load_model(path, trusted="sklearn.preprocessing._data.StandardScaler")


class Foreign:
    """Counts how often it is made, by whatever way."""

    built = 0

    def __new__(cls) -> "Foreign":
        """Count."""
        cls.built += 1
        return super().__new__(cls)


def test_a_foreign_class_is_refused_before_it_is_built(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, Model(Foreign(), model.features, "id"))
    Foreign.built = 0
    with pytest.raises(ValueError, match=r"Foreign"):
        load_model(path)
    assert Foreign.built == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 and nothing more", "cut short"),
        (b"PK\x03\x04" + bytes(100), "cut short"),
        (zipped({"readme": b"hello"}), "an archive, but not a model"),
        (zipped({"model.json": b"{}"}), "is no likewise model"),
        (zipped({"model.json": b"not json"}), "no JSON text"),
        (zipped({"model.json": b"[1, 2]"}), "is no likewise model"),
        (zipped({"model.json": b"NaN"}), "no JSON text"),
        (zipped({"model.json": b'{"format": 1, "format": 2}'}), "says one thing twice"),
        (zipped({"model.json": b'{"format": "likewise-model", "format_version": 3}'}), "a format"),
        (
            zipped({"model.json": b'{"format": "likewise-model", "format_version": 2}'}),
            "lacks a part: brought",
        ),
        (skops.io.dumps(LinearRegression()), "a skops file, but not a model that likewise saved"),
        (
            skops.io.dumps({"format": "likewise-model", "format_version": 1}),
            "if an earlier likewise saved it, fit the model again",
        ),
        (skops.io.dumps(OrderedDict(a=1)), "not a model that likewise saved"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"model\.skops.*{message}"):
        load_model(path)


def test_a_model_cut_short_anywhere_is_refused(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    whole = path.read_bytes()
    for length in range(1, len(whole), len(whole) // 20):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.skops"):
            load_model(path)


def test_a_flipped_byte_is_noticed(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"SUClassifierCV")] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"model\.skops is damaged.*in its member 'model\.json'"):
        load_model(path)


def test_a_model_that_cannot_be_saved_leaves_the_old_one(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    old = path.read_bytes()
    with pytest.raises(Exception, match="generator"):
        save_model(path, Model((i for i in range(3)), model.features, "id"))
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c"), ()])
def test_a_model_of_other_columns_than_it_names_is_not_saved(
    tmp_path: Path, model: Model, names: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match=rf"names {len(names)} columns.*takes 2"):
        save_model(tmp_path / "model.skops", Model(model.estimator, Features(names), "id"))


def test_names_of_classes_survive_and_what_is_known_of_rows_is_not_written(tmp_path: Path) -> None:
    X, y = lw.datasets.make_gaussians(120, separation=5.0, random_state=0)
    rng = np.random.default_rng(0)
    pairs = rng.choice(120, size=(150, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    alike = y[pairs[:, 0]] == y[pairs[:, 1]]
    rows, labels = lw.pack(X, similar=pairs[alike], dissimilar=pairs[~alike])
    known = [
        "größer" if y[0] == 1 else "klein",
        *[None] * 118,
        "größer" if y[119] == 1 else "klein",
    ]
    fitted = lw.PairClassifier(features="linear", alphas=[0.01], cv=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(), fitted)
    pipeline.fit(rows, labels, pairclassifier__known=known)
    path = tmp_path / "model.skops"
    save_model(path, Model(pipeline, Features(("a", "b")), "id", "klein"))
    assert hasattr(fitted, "labels_")  # the fitted classifier keeps what it has
    assert fitted.pair_information_.log_p.shape[0] == 120
    loaded = load_model(path).estimator
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    np.testing.assert_array_equal(loaded.predict(X), pipeline.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), pipeline.predict_proba(X))
    for name in ("labels_", "row_proba_", "suspects_", "wrong_proba_"):
        assert not hasattr(loaded[-1], name)
    information = loaded[-1].pair_information_
    assert information.value == fitted.pair_information_.value
    assert information.log_p.size == information.left.size == information.folds.size == 0
    arrays = [content for name, content in parts_of(path.read_bytes()).items() if ".npy" in name]
    assert max(np.load(io.BytesIO(array)).size for array in arrays) < 20


def test_parameters_that_act_do_not_come_back(tmp_path: Path, model: Model) -> None:
    X, y = lw.pack(np.arange(40.0).reshape(20, 2), similar=[(i, i + 1) for i in range(0, 20, 2)])
    pipeline = make_pipeline(
        StandardScaler(), lw.SUClassifier(prior=0.7), memory=str(tmp_path / "cache"), verbose=True
    )
    pipeline.set_params(memory=None).fit(X, y)
    pipeline.set_params(memory=str(tmp_path / "cache"))
    lw.save(pipeline, tmp_path / "model.skops")
    assert b"cache" not in (tmp_path / "model.skops").read_bytes()
    loaded = lw.load(tmp_path / "model.skops")
    assert (loaded.memory, loaded.verbose) == (None, False)


def test_nothing_in_a_model_is_compressed(tmp_path: Path, model: Model) -> None:
    save_model(tmp_path / "model.skops", model)
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_STORED}
