"""Belief propagation over couples of unknowns that are likelier alike, or likelier different.

An edge has a weight ``on_k`` if both ends are of class k and a weight ``off`` if they differ, so a
cavity belief b becomes the message ``on b + off (1 - b)``: linear in the number of classes, all
edges at once. On trees the result is exact, and small groups with cycles are summed over exactly
(`likewise.beliefs.enumeration`); elsewhere the value is the Bethe free energy. Its gradient in the
fields is the belief. Nothing here knows what the unknowns are.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise._types import FloatArray
from likewise.beliefs.enumeration import Cycles

__all__ = ["HARD", "Edges", "Propagated", "propagate", "sweep_two_classes"]

IntArray = NDArray[np.intp]

_MOST_SWEEPS = 200
_TOL = 1e-6
"""Change of a belief, or of log-odds, that counts as none."""
_STUBBORN = 30
"""Sweeps after which messages are damped: what has not settled by then goes to and fro."""
_DAMPING = 0.5
_CLIP = 40.0
"""Log-odds beyond which nothing changes any more."""
_TINY = 1e-300
HARD = 1e-6
"""Weight of what cannot be: at zero, messages that have not settled could rule out all classes."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Couples of unknowns.

    Attributes
    ----------
    left, right : integer arrays of shape (n_edges,)
    count : int
        Number of unknowns.
    """

    left: IntArray
    right: IntArray
    count: int

    @cached_property
    def ends(self) -> IntArray:
        """All left ends, then all right ones, (2 n_edges,)."""
        return np.concatenate([self.left, self.right])

    @cached_property
    def is_matching(self) -> bool:
        """Whether no unknown has two edges: then nothing has to be sent on."""
        return bool(np.bincount(self.ends, minlength=1).max() < 2)

    def parted(self, n_classes: int) -> tuple[Cycles | None, "Edges"]:
        """Return the groups that are summed over exactly, if there are any, and all other edges."""
        if n_classes not in self._parted:
            cycles = Cycles.among(self.left, self.right, self.count, n_classes)
            rest = Edges(self.left[~cycles.is_edge], self.right[~cycles.is_edge], self.count)
            self._parted[n_classes] = (cycles, rest) if cycles.sizes.size else (None, self)
        return self._parted[n_classes]

    @cached_property
    def _parted(self) -> "dict[int, tuple[Cycles | None, Edges]]":
        return {}

    def totals(self, fields: FloatArray, sent: FloatArray) -> FloatArray:
        """Add to fields, (n_classes, count), what was sent to all ends, (n_classes, 2 n_edges)."""
        places = self.ends + self.count * np.arange(fields.shape[0])[:, None]
        found = np.bincount(places.ravel(), weights=sent.ravel(), minlength=fields.size)
        return np.asarray(fields + found.reshape(fields.shape))


@dataclass(frozen=True)
class Propagated:
    """Where propagation ended.

    Attributes
    ----------
    value : float
        Logarithm of the sum over all assignments, by the Bethe free energy.
    beliefs : array of shape (count, n_classes)
    alike : array of shape (n_edges, n_classes)
        Probability that both ends of an edge are of a class.
    messages : array of shape (2, n_classes, n_sent)
        Logarithms, to the left and to the right ends; of edges that messages were sent along.
    converged : bool
    """

    value: float
    beliefs: FloatArray
    alike: FloatArray
    messages: FloatArray
    converged: bool


def propagate(
    fields: FloatArray,
    edges: Edges,
    on: FloatArray,
    off: FloatArray,
    messages: FloatArray | None = None,
) -> Propagated:
    """Return beliefs and value.

    Parameters
    ----------
    fields : array of shape (count, n_classes)
        Log-weights of the unknowns' classes.
    edges : Edges
    on : array of shape (n_edges, n_classes)
    off : array of shape (n_edges,)
    messages : array of shape (2, n_classes, n_sent), optional
        Where to begin: those of the same edges before.

    Returns
    -------
    Propagated
    """
    if edges.is_matching:
        return _sent_along(fields, edges, on, off, messages)
    cycles, rest = edges.parted(fields.shape[1])
    if cycles is None:
        return _sent_along(fields, edges, on, off, messages)
    among, others, own = cycles.is_edge, ~cycles.is_edge, fields[cycles.unknowns]
    found = _sent_along(fields, rest, on[others], off[others], messages)
    exact = cycles.sum(own, on[among], off[among])
    alike = np.empty_like(on)
    alike[others], alike[among] = found.alike, exact.alike
    found.beliefs[cycles.unknowns] = exact.beliefs
    alone = float(_normalised(own.T)[0].sum())
    return replace(found, value=found.value - alone + exact.value, alike=alike)


def _sent_along(
    fields: FloatArray, edges: Edges, on: FloatArray, off: FloatArray, messages: FloatArray | None
) -> Propagated:
    """Send messages along all edges until they settle, or once if that is all there is to do."""
    # Class by class in memory: sums over a few classes are then sums of long vectors.
    fields, on = np.ascontiguousarray(fields.T), np.ascontiguousarray(on.T)
    if edges.is_matching:
        return _matched(fields, edges, on, off)
    if messages is None:
        messages = np.zeros((2, fields.shape[0], edges.left.size))
    settle = _settle_two if fields.shape[0] == 2 else _settle_many
    return _finish(fields, edges, on, off, *settle(fields, edges, on, off, messages))


def _matched(fields: FloatArray, edges: Edges, on: FloatArray, off: FloatArray) -> Propagated:
    """Sum over couples that share no unknown in closed form: the inner loop of small tables."""
    nodes, beliefs = _normalised(fields)
    of_left, of_right = beliefs[:, edges.left], beliefs[:, edges.right]
    slope = on - off
    told = off + slope * of_right, off + slope * of_left
    weights = of_left * told[0]
    between = np.maximum(weights.sum(axis=0), _TINY)
    beliefs[:, edges.left] = weights / between
    beliefs[:, edges.right] = of_right * told[1] / between
    value = float(nodes.sum() + np.log(between).sum())
    alike = on * of_left * of_right / between
    messages = np.log(np.maximum(told, _TINY))
    return Propagated(value, beliefs.T, alike.T, messages, True)


def _finish(
    fields: FloatArray,
    edges: Edges,
    on: FloatArray,
    off: FloatArray,
    messages: FloatArray,
    converged: bool,
) -> Propagated:
    """Take beliefs, and the value with messages on the scale of the cavity beliefs."""
    sent = messages.transpose(1, 0, 2).reshape(fields.shape[0], -1)
    cavities = np.take(edges.totals(fields, sent), edges.ends, axis=1) - sent
    n_classes, n_edges = on.shape
    shares = _normalised(cavities)[1]
    of_left, of_right = shares[:, :n_edges], shares[:, n_edges:]
    sent = np.concatenate([_sent(of_right, on, off), _sent(of_left, on, off)], axis=1)
    nodes, beliefs = _normalised(edges.totals(fields, sent))
    both = of_left * of_right
    alike = on * both
    between = np.maximum(alike.sum(axis=0) + off * (1.0 - both.sum(axis=0)), _TINY)
    value = float(nodes.sum() - np.log(between).sum())
    scaled = sent.reshape(n_classes, 2, n_edges).transpose(1, 0, 2)
    return Propagated(value, beliefs.T, (alike / between).T, scaled, converged)


def _normalised(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return logarithms of the sums over classes, and the classes' shares of them."""
    highest = logs.max(axis=0)
    weights = np.exp(logs - highest)
    total = weights.sum(axis=0)
    weights /= total
    return np.log(total) + highest, weights


def _sent(cavity: FloatArray, on: FloatArray, off: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(on * cavity + off * (1.0 - cavity), _TINY)))


def _settle_many(
    fields: FloatArray, edges: Edges, on: FloatArray, off: FloatArray, messages: FloatArray
) -> tuple[FloatArray, bool]:
    """Settle any number of classes; both directions and all classes are one array."""
    n_classes, n_edges = fields.shape[0], edges.left.size
    ends = edges.ends
    places = (ends + edges.count * np.arange(n_classes)[:, None]).ravel()
    on, off = np.concatenate([on, on], axis=1), np.concatenate([off, off])
    slope = on - off
    sent = messages.transpose(1, 0, 2).reshape(n_classes, -1)
    before: FloatArray | None = None
    converged = False
    for sweep in range(_MOST_SWEEPS):
        totals = np.bincount(places, weights=sent.ravel(), minlength=fields.size)
        cavities = np.take(fields + totals.reshape(fields.shape), ends, axis=1)
        cavities -= sent
        cavities -= cavities.max(axis=0)
        np.exp(cavities, out=cavities)
        cavities /= cavities.sum(axis=0)
        if before is not None and sweep >= _STUBBORN:
            cavities = (1.0 - _DAMPING) * cavities + _DAMPING * before
        # What one end believes is what the other is told.
        told = np.concatenate([cavities[:, n_edges:], cavities[:, :n_edges]], axis=1)
        told *= slope
        told += off
        sent = np.log(np.maximum(told, _TINY, out=told), out=told)
        if before is not None and np.abs(cavities - before).max(initial=0.0) < _TOL:
            converged = True
            break
        before = cavities
    return sent.reshape(n_classes, 2, n_edges).transpose(1, 0, 2), converged


def _settle_two(
    fields: FloatArray, edges: Edges, on: FloatArray, off: FloatArray, messages: FloatArray
) -> tuple[FloatArray, bool]:
    """Settle two classes on log-odds of the second one, half the numbers."""
    field = fields[1] - fields[0]
    odds = messages[:, 1] - messages[:, 0]
    converged = False
    for sweep in range(_MOST_SWEEPS):
        fresh = sweep_two_classes(field, edges, on, off, odds)
        change = np.abs(fresh - odds).max(initial=0.0)
        odds = (1.0 - _DAMPING) * fresh + _DAMPING * odds if sweep >= _STUBBORN else fresh
        if change < _TOL:
            converged = True
            break
    return np.stack([np.zeros_like(odds), odds], axis=1), converged


def sweep_two_classes(
    field: FloatArray, edges: Edges, on: FloatArray, off: FloatArray, odds: FloatArray
) -> FloatArray:
    """Return all messages after one sweep, for two classes.

    Parameters
    ----------
    field : array of shape (count,)
        Log-odds of the second class.
    edges : Edges
    on : array of shape (2, n_edges)
    off : array of shape (n_edges,)
        As in `propagate`, class by class.
    odds : array of shape (2, n_edges)
        Log-odds that edges send to their left and right ends.

    Returns
    -------
    array of shape (2, n_edges)
    """
    ends, size = edges.ends, edges.left.size
    totals: FloatArray = field + np.bincount(ends, odds.ravel(), edges.count)
    cavity = totals[ends]
    cavity -= odds.ravel()
    np.maximum(cavity, -_CLIP, out=cavity)
    np.minimum(cavity, _CLIP, out=cavity)
    np.exp(cavity, out=cavity)
    # What one end believes is what the other is told.
    cavity = cavity.reshape(2, size)[::-1]
    fresh: FloatArray = on[1] * cavity
    fresh += off
    cavity *= off
    cavity += on[0]
    fresh /= cavity
    return np.asarray(np.log(np.maximum(fresh, _TINY, out=fresh), out=fresh))
