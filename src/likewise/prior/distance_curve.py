"""How far a mixture, with more and more of a component taken away, is from all mixtures of rows.

The curve whose bend tells the largest share of the component. This module knows nothing of how the
bend is searched for, nor of what the samples are.
"""

from math import exp, log, sqrt

import numpy as np

from likewise._types import FloatArray
from likewise.prior.embedding import Embedding
from likewise.prior.simplex import Projection, project_on_simplex

__all__ = ["DistanceCurve"]

_PROBE = 1.05
"""Where the slope at the beginning of the distance curve is taken."""
_ACCURACY = 1e-6
"""Error of a distance, relative to the distance of the two samples, at which a solver stops."""
_PROBE_ACCURACY = 1e-5
"""The same for the probe; half of it moves the threshold of KM2 by less than a two-thousandth."""


class DistanceCurve:
    """The convex curve d(lambda); every point is computed once, from the nearest one known."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        gram = embedding.gram
        self._component_image = gram.times(embedding.samples.target(0.0))
        self._mixture_image = gram.times(embedding.samples.target(1.0))
        self._contrast = embedding.samples.contrast()
        self._known: dict[float, Projection] = {}

    def at(self, value: float, accuracy: float = _ACCURACY) -> Projection:
        """Return the point of the convex hull that is nearest to the target of `value`."""
        if value not in self._known:
            self._known[value] = project_on_simplex(
                self._embedding.gram,
                self._embedding.samples.target(value),
                self._image(value),
                tol=accuracy * self._embedding.sample_distance,
                start=self._start(value),
            )
        return self._known[value]

    def _start(self, value: float) -> FloatArray:
        """Return the solution of the nearest value known; that of one is the mixture itself.

        Fewer points carry weight at larger values, and to drop points takes less than to find them.
        """

        def effort(known: float) -> float:
            return log(value / known) if value > known else 2.0 * log(known / value)

        nearest = min([1.0, *self._known], key=effort)
        return (
            self._known[nearest].weights if nearest > 1.0 else self._embedding.samples.target(1.0)
        )

    def first_slope(self) -> float:
        """Return ``d(1.05) / 0.05``, from the middle between the bounds of the distance."""
        probe = self.at(_PROBE, _PROBE_ACCURACY)
        return (probe.distance - probe.distance_error / 2.0) / (_PROBE - 1.0)

    def guess(self, slope: float) -> float | None:
        """Guess where the curve has a slope, from the points known; None if they do not tell.

        Between two of them the slope is nearly linear in ``1 / lambda``; before the first and
        beyond the last the curve is taken for a power of ``lambda - 1``.
        """
        known = sorted(value for value in self._known if value > _PROBE)
        slopes = np.array([self.slope(value) for value in known])
        if not known or slopes.min() <= 0.0:
            return None
        if slopes[0] < slope < slopes[-1]:
            return 1.0 / float(np.interp(slope, slopes, 1.0 / np.array(known)))
        end = 0 if slope <= slopes[0] else -1
        reach = known[end] - 1.0
        power = slopes[end] * reach / self._known[known[end]].distance - 1.0
        return 1.0 + reach * exp(min(log(slope / slopes[end]) / max(power, 1e-3), 10.0))

    def _image(self, value: float) -> FloatArray:
        return value * self._mixture_image + (1.0 - value) * self._component_image

    def rises_faster(self, value: float, ahead: float, threshold: float) -> bool:
        """Tell whether ``(d(value + ahead) - d(value)) / ahead`` is above the threshold.

        The curve is convex, so the difference is at least the slope of any point known up to
        `value` and at most that of any from ``value + ahead`` on; the envelope theorem gives
        slopes. Only where those known do not decide is `value` solved for; the point found also
        bounds ``d(value + ahead)`` from above. Where that does not decide either, the difference
        itself is computed.
        """
        if self._decided(value, ahead, threshold) is None:
            self.at(value)
        decided = self._decided(value, ahead, threshold)
        if decided is not None:
            return decided
        here = self._known[value]
        bound = here.squared_distance + ahead * (
            2.0 * self._descent(here) + ahead * self._embedding.sample_distance**2
        )
        if sqrt(max(bound, 0.0)) - here.distance <= ahead * threshold:
            return False
        return self.at(value + ahead).distance - here.distance > ahead * threshold

    def _decided(self, value: float, ahead: float, threshold: float) -> bool | None:
        """Tell whether the curve rises faster if the points known say so, else None."""
        for known, point in self._known.items():
            # The solution is within the root of the gap of the point found.
            error = sqrt(point.gap) * self._embedding.sample_distance
            surplus = self._descent(point) - threshold * point.distance
            if known <= value and surplus > error:
                return True
            if known >= value + ahead and surplus <= -error - threshold * point.distance_error:
                return False
        return None

    def _descent(self, point: Projection) -> float:
        """Return half the derivative of the squared distance."""
        return -float(self._contrast @ point.gradient)

    def slope(self, value: float) -> float:
        """Return the derivative of the curve, by the envelope theorem."""
        here = self.at(value)
        return self._descent(here) / here.distance if here.distance > 0.0 else 0.0

    def slope_near(self, value: float) -> float:
        """Return the slope at the known point that is nearest to `value`."""
        return self.slope(min(self._known, key=lambda known: abs(known - value)))

    @property
    def largest_error(self) -> float:
        """Largest error of a distance that was computed."""
        return max(point.distance_error for point in self._known.values())

    @property
    def n_projections(self) -> int:
        """Number of quadratic programs solved."""
        return len(self._known)

    @property
    def n_iter(self) -> int:
        """Iterations that all of them took."""
        return sum(point.n_iter for point in self._known.values())
