"""Models as files: what comes back, what is refused, what is never run."""

import copy
import io
import json
import os
import pickle
import warnings
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.io import Features, Model, load_model, save_model
from likewise.prior import KernelMeanPrior, PairMomentPrior


@pytest.fixture
def model() -> Model:
    X, y = lw.datasets.make_gaussians(2000, random_state=0)
    sample = lw.datasets.sample_su(X, y, 100, 100, random_state=0)
    clf = lw.SUClassifierCV(prior=0.7, cv=lw.PairKFold(3)).fit(*sample.pack())
    return Model(clf, Features(("a", "b"), frozenset({"b"})), "key", "spam")


def test_a_model_comes_back_as_it_was(tmp_path: Path, model: Model) -> None:
    save_model(tmp_path / "model.skops", model)
    loaded = load_model(tmp_path / "model.skops")
    assert (loaded.features, loaded.id_column) == (model.features, model.id_column)
    assert (loaded.positive_class, loaded.version) == ("spam", lw.__version__)
    rows = np.random.default_rng(0).normal(size=(20, 2))
    expected = model.estimator.decision_function(rows)
    np.testing.assert_array_equal(loaded.estimator.decision_function(rows), expected)


@pytest.mark.parametrize("classifier", [lw.SUClassifier, lw.SUClassifierCV])
def test_every_classifier_is_trusted_when_it_comes_back(tmp_path: Path, classifier: Any) -> None:
    X, y = lw.pack(np.arange(40.0).reshape(20, 2), similar=[(i, i + 1) for i in range(0, 20, 2)])
    fitted = classifier(prior=0.7).fit(X, y)
    save_model(tmp_path / "model.skops", Model(fitted, Features(("a", "b")), "id"))
    assert type(load_model(tmp_path / "model.skops").estimator) is classifier


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
    """Writes a file when a pickle of it is loaded."""

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


def test_a_model_with_a_foreign_type_is_refused_by_the_name_of_the_type(
    tmp_path: Path, model: Model
) -> None:
    path = tmp_path / "model.skops"
    save_model(path, Model(os.mkdir, model.features, "id"))
    with pytest.raises(ValueError, match=r"model\.skops is refused.*mkdir"):
        load_model(path)


def test_a_foreign_class_is_refused_before_it_is_built(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    foreign = Foreign()
    save_model(path, Model(foreign, model.features, "id"))
    Foreign.built = 0
    with pytest.raises(ValueError, match=r"Foreign"):
        load_model(path)
    assert Foreign.built == 0


class Foreign:
    """Counts how often it is made, by whatever way."""

    built = 0

    def __new__(cls) -> "Foreign":
        """Count."""
        cls.built += 1
        return super().__new__(cls)


def rewrite_schema(path: Path, change: Any) -> None:
    """Change the description of the objects in a skops file, leaving the archive sound."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    change(schema)
    parts["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_model_that_names_a_function_to_call_is_refused(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)

    def smuggle(schema: dict[str, Any]) -> None:
        schema["content"]["estimator"].update(
            {"__class__": "mkdir", "__module__": "os", "__loader__": "FunctionNode"}
        )

    rewrite_schema(path, smuggle)
    with pytest.raises(ValueError, match=r"model\.skops is refused.*mkdir"):
        load_model(path)


def zipped(**parts: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("_json", ".json"), content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 and nothing more", "cut short"),
        (zipped(readme="hello"), "an archive, but not a model"),
        (zipped(schema_json="{}"), "is damaged"),
        (zipped(schema_json="not json"), "is damaged"),
        (zipped(schema_json="[1, 2]"), "is damaged"),
        (skops.io.dumps(LinearRegression()), "not a model that likewise saved"),
        (skops.io.dumps({"format": "likewise-model", "format_version": 1}), "lacks a part"),
        (
            skops.io.dumps(
                {"format": "likewise-model", "format_version": 2, "likewise_version": "9.0"}
            ),
            r"saved by likewise 9\.0 in a format that this version",
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
    with pytest.raises(ValueError, match=r"model\.skops is damaged \(in schema\.json\)"):
        load_model(path)


def test_a_model_that_cannot_be_saved_leaves_the_old_one(tmp_path: Path, model: Model) -> None:
    path = tmp_path / "model.skops"
    save_model(path, model)
    old = path.read_bytes()
    with pytest.raises(Exception, match="generator"):
        save_model(path, Model((i for i in range(3)), model.features, "id"))
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def damaged(estimator: Any, name: str, value: Any) -> Any:
    """Return an estimator with another value for an attribute, or without it for None."""
    found = copy.deepcopy(estimator)
    if value is None:
        delattr(found, name)
    else:
        setattr(found, name, value)
    return found


def check_refused(path: Path, estimator: Any, features: Features) -> None:
    save_model(path, Model(estimator, features, "id"))
    message = r"model\.skops is damaged.*lacks a part, or its parts do not fit.*fit the model again"
    with pytest.raises(ValueError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", None),
        ("coef_", np.zeros((1, 3))),
        ("coef_", np.zeros((3, 0))),
        ("coef_", "text"),
        ("intercept_", None),
        ("intercept_", np.zeros(0)),
        ("intercept_", np.zeros((2, 2))),
        ("classes_", None),
        ("classes_", np.array([-1])),
        ("classes_", np.array([-1, 0, 1])),
        ("n_features_in_", 3),
    ],
)
def test_a_classifier_of_the_paper_that_cannot_decide_is_refused(
    tmp_path: Path, model: Model, name: str, value: Any
) -> None:
    estimator = damaged(model.estimator, name, value)
    check_refused(tmp_path / "model.skops", estimator, model.features)


@pytest.fixture(scope="module")
def pair_classifiers() -> dict[int, lw.PairClassifier]:
    """Return fitted classifiers of rows of two columns, by the number of classes."""
    X, y = lw.datasets.make_gaussians(2000, separation=4.0, random_state=0)
    sample = lw.datasets.sample_su(X, y, 60, 60, random_state=0)
    with warnings.catch_warnings():  # of three classes one is empty
        warnings.simplefilter("ignore")
        return {
            n_classes: lw.PairClassifier(
                n_classes,
                features="linear",
                alphas=[0.1],
                pairing="random",
                cv=2,
                random_state=0,
            ).fit(*sample.pack())
            for n_classes in (2, 3)
        }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights_", None),
        ("weights_", np.zeros((4, 3))),
        ("weights_", np.zeros((3, 0))),
        ("weights_", "text"),
        ("feature_map_", None),
        ("feature_map_", "linear"),
        ("classes_", None),
        ("classes_", np.arange(4)),
    ],
)
def test_a_pair_classifier_that_cannot_decide_is_refused(
    tmp_path: Path,
    pair_classifiers: dict[int, lw.PairClassifier],
    n_classes: int,
    name: str,
    value: Any,
) -> None:
    estimator = damaged(pair_classifiers[n_classes], name, value)
    check_refused(tmp_path / "model.skops", estimator, Features(("a", "b")))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_sound_pair_classifier_comes_back(
    tmp_path: Path, pair_classifiers: dict[int, lw.PairClassifier], n_classes: int
) -> None:
    path = tmp_path / "model.skops"
    save_model(path, Model(pair_classifiers[n_classes], Features(("a", "b")), "id"))
    assert load_model(path).estimator.classes_.size == n_classes


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
    with zipfile.ZipFile(path) as archive:
        sizes = [
            np.load(io.BytesIO(archive.read(name))).size
            for name in archive.namelist()
            if name.endswith(".npy")
        ]
    assert max(sizes) < 20


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c"), ()])
def test_a_model_of_other_columns_than_it_names_is_refused(
    tmp_path: Path, model: Model, names: tuple[str, ...]
) -> None:
    check_refused(tmp_path / "model.skops", model.estimator, Features(names))


@pytest.mark.parametrize("step", ["scaler", "encoder"])
def test_a_pipeline_with_a_damaged_step_is_refused(tmp_path: Path, model: Model, step: str) -> None:
    rows = np.array([[0.5, "x"], [1.5, "y"], [2.5, "y"]], dtype=object)
    scaler, encoder = StandardScaler(), OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("numbers", scaler, [0]), ("text", encoder, [1])]).fit(rows)
    classifier = lw.SUClassifier(prior=0.7).fit(
        *lw.pack(np.vstack([columns.transform(rows)] * 4), similar=[(0, 1), (1, 2)])
    )
    path = tmp_path / "model.skops"
    sound = Model(make_pipeline(columns, classifier), Features(("a", "b"), frozenset("b")), "id")
    save_model(path, sound)
    np.testing.assert_array_equal(
        load_model(path).estimator.decision_function(rows), sound.estimator.decision_function(rows)
    )
    if step == "scaler":
        del columns.named_transformers_["numbers"].mean_
    else:
        del columns.named_transformers_["text"].categories_
    check_refused(path, sound.estimator, sound.features)
