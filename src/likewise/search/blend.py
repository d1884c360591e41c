"""A sum of the scores of several feature maps, weighted by what held-out statements say of each.

What one map sees another misses, and held-out statements that hardly prefer one to the other choose
by luck: a weighted sum of both is better than either (stacking, Wolpert 1992). The weights are
learned from cross-fitted scores by the same likelihood, and are cross-fitted in turn, so that the
sum is judged as its parts were.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from likewise._types import FloatArray
from likewise.beliefs.base import Beliefs, HeldOut, Likelihood, log_probabilities
from likewise.scores.design import Design
from likewise.scores.maps import FeatureMap
from likewise.search.crossfit import Candidate
from likewise.search.sample import Sample

__all__ = ["Entry", "blend", "join"]

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
        Of others in the sum; empty for scores that are no sum.
    offset : float
        What the sum adds.
    """

    features: FeatureMap
    candidate: Candidate
    weights: Mapping["Entry", float] = field(default_factory=dict)
    offset: float = 0.0


def blend(
    entries: Sequence[Entry], likelihood: Likelihood, parts: Sequence[HeldOut]
) -> Entry | None:
    """Add up the scores of two classes that several feature maps gave.

    Parameters
    ----------
    entries : sequence of Entry
        At least two, the best first.
    likelihood : Likelihood
    parts : sequence of HeldOut
        The folds that the entries were cross-fitted on.

    Returns
    -------
    Entry or None
        Its features are those of all entries that have a weight, side by side; its model is not
        learned yet (see `join`). None if fewer than two have a weight.
    """
    columns = np.column_stack(
        [_sign(entry, entries[0]) * entry.candidate.scores[:, 0] for entry in entries]
    )
    size = len(entries)
    sample = Sample(Design(columns, np.zeros(size), np.ones(size)), likelihood)
    own, _ = _weigh(sample, np.append(np.full(size, 1.0 / size), 0.0))
    used = [i for i in range(size) if own[i] > 0]
    if len(used) < 2:
        return None
    scores, evidence, n_judged = np.empty((columns.shape[0], 1)), [], 0.0
    for part in parts:
        weights, beliefs = _weigh(
            Sample(sample.design.take(part.train), part.likelihood), own.copy()
        )
        whole = sample.design.decide(weights[:, None])
        evidence.append(likelihood.evidence(part, log_probabilities(whole), beliefs))
        n_judged += part.n_judged
        scores[part.rows] = whole[part.rows]
    found = Candidate(None, np.zeros((0, 1)), np.array(evidence), n_judged, scores)
    return Entry(
        FeatureMap.side_by_side([entries[i].features for i in used]),
        found,
        {entries[i]: float(_sign(entries[i], entries[0]) * own[i]) for i in used},
        float(own[-1]),
    )


def join(entry: Entry, fitted: Mapping[Entry, Candidate]) -> Candidate:
    """Return a sum with the model that the models of its parts make together.

    Parameters
    ----------
    entry : Entry
        A sum.
    fitted : mapping from Entry to Candidate
        Its parts, learned from the whole sample.

    Returns
    -------
    Candidate
    """
    scaled = [weight * fitted[part].weights for part, weight in entry.weights.items()]
    intercept = entry.offset + sum(one[-1:] for one in scaled)
    found = entry.candidate
    joined = np.vstack([*(one[:-1] for one in scaled), intercept])
    return Candidate(None, joined, found.evidence, found.n_judged, found.scores)


def _sign(entry: Entry, reference: Entry) -> float:
    """Return -1 if an entry has the classes the other way round than another one."""
    ours, theirs = (
        one.candidate.scores[:, 0] - one.candidate.scores[:, 0].mean() for one in (entry, reference)
    )
    return -1.0 if float(ours @ theirs) < 0 else 1.0


def _weigh(sample: Sample, start: FloatArray) -> tuple[FloatArray, Beliefs]:
    """Return the weights, none negative, and the offset that explain the statements best."""
    size = sample.design.n_features
    n_pairs = sample.likelihood.size
    near: list[Beliefs | None] = [None]

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        found, slopes = sample.evaluate(sample.design.decide(vector[:, None]), near[0])
        near[0] = found
        away = np.append(vector[:size] - 1.0 / size, 0.0)
        gradient = _PULL * away - sample.design.pull(slopes)[:, 0]
        value = _PULL / 2 * float(away @ away) - found.value
        return value / n_pairs, gradient / n_pairs

    bounds = [(0.0, None)] * size + [(None, None)]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds)
    weights = np.asarray(found.x)
    return weights, sample.evaluate(sample.design.decide(weights[:, None]), near[0])[0]
