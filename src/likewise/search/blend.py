"""A sum of the scores of several feature maps, weighted by what held-out pairs say of each.

What one map sees another misses, and held-out pairs that hardly prefer one to the other choose by
luck: a weighted sum of both is better than either (stacking, Wolpert 1992). The weights are
learned from cross-fitted scores by the same pair likelihood, and are cross-fitted in turn, so that
the sum is judged as its parts were.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from likewise._types import FloatArray
from likewise.beliefs.fresh import Counts
from likewise.scores.design import Design, Sample
from likewise.scores.maps import FeatureMap
from likewise.search.crossfit import Candidate, judge, parts_of
from likewise.search.model import PairModel, evaluate

__all__ = ["Entry", "blend"]

_PULL = 10.0
"""Curvature, in nats, of the penalty that draws the weights towards equal ones."""


@dataclass(frozen=True, eq=False)
class Entry:
    """Scores that were tried: of one feature map at one penalty, or a sum over several such.

    Attributes
    ----------
    features : FeatureMap
    candidate : Candidate
    weights : mapping from Entry to float
        Of others in the sum, together one; empty for scores that are no sum.
    """

    features: FeatureMap
    candidate: Candidate
    weights: Mapping["Entry", float] = field(default_factory=dict)


def blend(parts: Sequence[Entry], counts: Counts, folds: NDArray[np.intp]) -> Entry | None:
    """Add up the scores of two classes that several feature maps gave.

    Parameters
    ----------
    parts : sequence of Entry
        At least two, the best first.
    counts : Counts
    folds : integer array of shape (n_rows,)
        The folds that the parts were cross-fitted on.

    Returns
    -------
    Entry or None
        Its features are those of all parts that have a weight, side by side; None if fewer than
        two have one.
    """
    best, size = parts[0].candidate, len(parts)
    turned = [_turned(part.candidate, best) for part in parts]
    columns = np.column_stack([one.scores[:, 0] for one in turned])
    sample = Sample(Design(columns, np.zeros(size), np.ones(size)), counts)
    equal = np.append(np.full(size, 1.0 / size), 0.0)[:, None]
    own = _weigh(sample, PairModel(equal, best.model.pair_shares))
    weights, offset = own.weights[:-1, 0], own.weights[-1:]
    used = [i for i in range(size) if weights[i] > 0]
    if len(used) < 2:
        return None
    found = judge(sample, parts_of(sample, folds), None, own, lambda part: _weigh(part.train, own))
    scaled = [weights[i] * turned[i].model.weights for i in used]
    joined = np.vstack([*(one[:-1] for one in scaled), offset + sum(one[-1:] for one in scaled)])
    return Entry(
        FeatureMap.side_by_side([parts[i].features for i in used]),
        Candidate(None, PairModel(joined, own.pair_shares), found.held_out, found.scores),
        {parts[i]: float(weights[i] / weights.sum()) for i in used},
    )


def _turned(candidate: Candidate, reference: Candidate) -> Candidate:
    """Exchange the names of the classes if another candidate has them the other way round."""
    ours, theirs = (one.scores[:, 0] - one.scores[:, 0].mean() for one in (candidate, reference))
    if float(ours @ theirs) >= 0:
        return candidate
    return replace(candidate, model=candidate.model.turned(), scores=-candidate.scores)


def _weigh(sample: Sample, start: PairModel) -> PairModel:
    """Return the weights, none negative, and the offset that explain the pairs best.

    Pair shares, if the start has them, are learned too: a fold must not know those of its pairs.
    """
    size = sample.design.n_features
    pull = _PULL / sample.counts.pairs
    is_free = start.pair_shares is not None

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        model = start.at(vector)
        found, slopes = evaluate(sample.design.decide(model.weights), sample, model.pair_shares)
        away = np.append(vector[:size] - 1.0 / size, 0.0)
        gradient = sample.design.pull(slopes)[:, 0] + pull * away
        value = found.value + pull / 2 * float(away @ away)
        return value, np.concatenate([gradient, found.pair_gradient]) if is_free else gradient

    vector = start.flat()
    bounds = [(0.0, None)] * size + [(None, None)] * (vector.size - size)
    found = minimize(objective, vector, jac=True, method="L-BFGS-B", bounds=bounds)
    return start.at(np.asarray(found.x))
