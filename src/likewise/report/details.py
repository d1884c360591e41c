"""What a report tells beyond rates: confusion, ranking, calibration, baseline, what would help."""

from typing import Any

import numpy as np

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs
from likewise.report.checks import Check
from likewise.report.curves import areas as areas_of
from likewise.report.curves import calibration_curve, threshold_curve
from likewise.report.estimates import Estimate
from likewise.report.judgement import Judgement, judge
from likewise.report.predictions import Predicted
from likewise.report.suggestions import suggest
from likewise.search.calibration import of_majority
from likewise.search.class_count import is_one_more_likely, look_for_more
from likewise.search.learn import Learned
from likewise.search.settings import Settings

__all__ = ["check_classes", "details_of"]


def details_of(
    judged: Judgement,
    beliefs: Beliefs,
    draws: FloatArray,
    predicted: Predicted,
    rates: dict[str, Any],
    level: float,
) -> dict[str, Any]:
    """Return the fields of a report that go beyond rates.

    Parameters
    ----------
    judged : Judgement
    beliefs : Beliefs
    draws : array of shape (n_draws, 4 + 2 n_classes)
        As `likewise.report.judgement.draw_values` makes them.
    predicted : Predicted
    rates : dict
        The fields with rates.
    level : float
    """
    lag = float(judged.lag(beliefs)[0])
    accuracy: Estimate = rates["accuracy"]
    return {
        "confusion": judged.confusion(beliefs),
        "baseline": _baseline(rates["prior"]),
        "suggestions": suggest(
            accuracy.value,
            accuracy.interval,
            lag,
            judged.attainable(beliefs),
            judged.likelihood.statements.count,
        ),
        **_curves(judged, beliefs, draws, predicted, level),
    }


def _baseline(prior: Any) -> Estimate:
    """Return the accuracy of always predicting the majority class."""
    if isinstance(prior, dict):
        found: list[Estimate] = list(prior.values())
        return max(found, key=lambda one: one.value)
    return Estimate(max(prior.value, 1.0 - prior.value), of_majority(*prior.interval))


def _curves(
    judged: Judgement, beliefs: Beliefs, draws: FloatArray, predicted: Predicted, level: float
) -> dict[str, Any]:
    """Return threshold and calibration curves of a classifier that ranks rows, or Nones.

    Rows are judged by what its own scores tell of the classes, once statements have calibrated
    them, and by the statements: by the reference score alone, a better ranking would look worse.
    """
    scores = predicted.scores
    found: dict[str, Any] = {}
    given = scores.ranks[:, None] if scores.ranks is not None else None
    if given is None and scores.probabilities is not None:
        given = np.log(scores.probabilities.clip(1e-12))
    if given is None:
        return found
    own, own_beliefs = judge(
        _unit(given), judged.predictions, judged.likelihood, judged.population, scores.ranks
    )
    weights, probabilities = own.known(own_beliefs)
    if scores.ranks is not None:
        found["curve"] = threshold_curve(scores.ranks, weights, probabilities[:, 1])
        values = areas_of(scores.ranks, weights, probabilities[:, 1])
        values = np.clip(values + _area_lag(judged, beliefs, predicted), 0.0, 1.0)
        center = judged.areas(beliefs)
        for column, name in enumerate(("roc_auc", "average_precision")):
            apart = draws[:, column - 2] - center[column]
            found[name] = _estimate(float(values[column]), apart, level)
    if scores.probabilities is not None:
        found["calibration"] = calibration_curve(
            scores.probabilities, weights, probabilities, judged.predictions
        )
    return found


def _area_lag(judged: Judgement, beliefs: Beliefs, predicted: Predicted) -> FloatArray:
    """Return how far the clones, which saw fewer rows, fall behind in the areas (Burman, 1989)."""
    if predicted.all_ranks is None:
        return np.zeros(2)
    weights, known = judged.known(beliefs)
    probabilities = np.exp(judged.log_p)
    # The column that `known` calls the second class.
    column = int(np.argmax([float(np.sum(p * known[:, 1])) for p in probabilities.T]))
    own, *clones = (areas_of(one, weights, probabilities[:, column]) for one in predicted.all_ranks)
    return np.asarray(own - np.mean(clones, axis=0))


def _unit(scores: FloatArray) -> FloatArray:
    """Return scores with a deviation of two, as those of usual log-odds: a scale is fitted to."""
    centered = scores - scores.mean(axis=0)
    spread = float(centered.std())
    return np.asarray(centered * (2.0 / spread if spread > 0 else 1.0))


def _estimate(value: float, apart: FloatArray, level: float) -> Estimate:
    low, high = np.quantile(apart, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        value, (max(value + min(float(low), 0.0), 0.0), min(value + max(float(high), 0.0), 1.0))
    )


def check_classes(
    learned: Learned, settings: Settings, random_state: np.random.RandomState
) -> Check:
    """Test whether held-out statements favor one class more than the classifier has.

    Parameters
    ----------
    learned : Learned
        The reference score.
    settings : Settings
    random_state : RandomState
    """
    count = settings.n_classes
    name = f"{count} classes"
    found = look_for_more(learned, settings, random_state)
    if found is None:
        return Check(name, True, "one more would hardly explain the pairs better.")
    gain, error = found.gain(count + 1, count)
    nats = f"{gain:.1f} nats (standard error {error:.1f})"
    if is_one_more_likely(found, count):
        return Check(
            name,
            False,
            f"there are probably more: with {count + 1}, held-out pairs are more probable by "
            f"{nats}. So a class above is probably several classes in one.",
        )
    return Check(name, True, f"with one more, held-out pairs are more probable by {nats} only.")
