"""Crafted model files and folders of mixed Parquet files, made and checked beside their tests."""

import random
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from tests.engines.mixed_folders import check_engines_agree, mixed_folder
from tests.io.crafted import check_crafted, crafted_models

__all__ = ["fuzz_engines", "fuzz_models"]


def fuzz_models(draw: random.Random, folder: Path) -> None:
    """Load a model file that somebody has tampered with."""
    sound = draw.choice(_sound_models())
    _, content = next(crafted_models(draw.randrange(2**32), sound))
    path = folder / "crafted.skops"
    path.write_bytes(content)
    check_crafted(path)


def fuzz_engines(draw: random.Random, folder: Path) -> None:
    """Learn from a folder of Parquet files whose schemas differ, by every engine."""
    check_engines_agree(*mixed_folder(draw.randrange(2**32), folder / "mixed"))


@cache
def _sound_models() -> tuple[bytes, ...]:
    """Return models of either method as they are saved."""
    X, classes = lw.datasets.make_gaussians(60, separation=4.0, random_state=0)
    couples = [(i, i + 1) for i in range(0, 58, 2)]
    similar = [pair for pair in couples if classes[pair[0]] == classes[pair[1]]]
    X, y = lw.pack(X, similar=similar)
    su = lw.SUClassifier(prior=0.7)
    models = (
        lw.PairClassifier(cv=2, features="linear", alphas=(1.0,), random_state=0),
        lw.PairClassifier(cv=2, features="rbf", alphas=(1.0,), random_state=0),
        make_pipeline(StandardScaler(), su),
        lw.SUClassifierCV(prior=0.7, cv=2),
    )
    saved = []
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        for model in models:
            path = Path(folder) / "model.skops"
            lw.save(model.fit(X, y), path)
            saved.append(path.read_bytes())
    return tuple(saved)
