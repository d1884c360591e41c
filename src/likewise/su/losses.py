"""Margin losses as small objects: value, derivative, curvature, even and odd part.

A margin loss is ``l(z, t) = psi(t * z)`` for a decision value z and a class t in {-1, +1}. The
losses that can be *learned* with are convex and linear-odd, ``l(z, +1) - l(z, -1) = -z`` (the
condition of the paper's theorem on convexity); `MarginLoss` checks that when it is made. The
losses here are computed by the library of the array that they are given, so that rows on a device
stay there. Nothing here knows of pairs, priors or models.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likewise._types import FloatArray
from likewise.engines.arrays import like, namespace_of, to_numpy

Elementwise = Callable[[Any], Any]

__all__ = [
    "LOSSES",
    "MarginLoss",
    "ZeroOneLoss",
    "double_hinge",
    "get_loss",
    "logistic",
    "squared",
    "zero_one",
]

_PROBES = np.linspace(-30.0, 30.0, 1201)
"""Margins at which a new loss is checked: multiples of 0.05, the kinks at -1, 0, 1 among them."""


@dataclass(frozen=True)
class MarginLoss:
    """A convex margin loss with ``psi(m) - psi(-m) = -m``, ready for the SU risk.

    Parameters
    ----------
    name : str
    psi, psi_derivative, psi_curvature : callables
        The loss as a function of the margin ``m = t * z`` and its first two derivatives, each
        mapping a float array to a float array of the same shape.
    any_library : bool, default False
        Whether these functions take arrays of any library, torch tensors among them, as functions
        made of operators and of the array API standard do. If not, they are given numpy arrays:
        where rows are on a device, decision values come to the host for them in every pass.

    Raises
    ------
    ValueError
        If the functions do not form a convex, linear-odd loss; the message says which condition
        fails, and where.

    Examples
    --------
    A smoothed double hinge, as one's own loss:

    >>> import numpy as np
    >>> from likewise.su.losses import MarginLoss
    >>> smooth = MarginLoss(
    ...     name="pseudo_huber",
    ...     psi=lambda m: (np.sqrt(m**2 + 1) - m) / 2,
    ...     psi_derivative=lambda m: (m / np.sqrt(m**2 + 1) - 1) / 2,
    ...     psi_curvature=lambda m: (m**2 + 1) ** -1.5 / 2,
    ... )
    >>> float(smooth.value(0.0, +1))
    0.5
    """

    name: str
    psi: Elementwise
    psi_derivative: Elementwise
    psi_curvature: Elementwise
    any_library: bool = False

    def __post_init__(self) -> None:
        _check_linear_odd(self)
        _check_convex(self)
        _check_derivative(self)

    def value(self, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """Return ``l(z, t)``."""
        return np.asarray(self.psi(np.multiply(t, z)), dtype=np.float64)

    def derivative(self, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """Return the derivative of ``l(z, t)`` in z."""
        return np.asarray(t * self.psi_derivative(np.multiply(t, z)), dtype=np.float64)

    def curvature(self, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """Return the second derivative of ``l(z, t)`` in z."""
        return np.asarray(self.psi_curvature(np.multiply(t, z)), dtype=np.float64)

    def odd(self, z: ArrayLike) -> FloatArray:
        """Return ``l(z, +1) - l(z, -1)``, which is ``-z`` for every loss of this class."""
        return -np.asarray(z, dtype=np.float64)

    def even(self, z: Any) -> Any:
        """Return the even part ``(l(z, +1) + l(z, -1)) / 2``, an array of the library of `z`."""
        z = _floats(z)
        return self._apply(self.psi, z) + 0.5 * z

    def even_derivative(self, z: Any) -> Any:
        """Return the derivative of the even part, an array of the library of `z`."""
        return self._apply(self.psi_derivative, _floats(z)) + 0.5

    def even_curvature(self, z: Any) -> Any:
        """Return the second derivative of the even part, an array of the library of `z`."""
        return self._apply(self.psi_curvature, _floats(z))

    def _apply(self, function: Elementwise, z: Any) -> Any:
        """Call a function where the values are if it can be called there, or else on the host."""
        if self.any_library or isinstance(z, np.ndarray):
            return function(z)
        return like(z, np.asarray(function(to_numpy(z))))


def _floats(z: Any) -> Any:
    """Return numbers as an array of numpy, and an array of another library as it is."""
    return np.asarray(z, dtype=np.float64) if namespace_of(z) is np else z


class ZeroOneLoss:
    """One for a wrong decision, zero for a right one; ``z <= 0`` decides for class -1.

    It measures and selects; it cannot be learned with, being flat almost everywhere.

    Examples
    --------
    >>> from likewise.su.losses import zero_one
    >>> zero_one.value([2.0, -0.5], [1, 1]).tolist()
    [0.0, 1.0]
    """

    name = "zero_one"

    def value(self, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """Return 1.0 where the decision ``z > 0`` and the class `t` disagree."""
        wrong = (np.asarray(z) > 0) != (np.asarray(t) > 0)
        return np.asarray(wrong, dtype=np.float64)

    def derivative(self, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """Return zero, the derivative almost everywhere."""
        return np.zeros(np.broadcast_shapes(np.shape(z), np.shape(t)))

    def curvature(self, z: ArrayLike, t: ArrayLike) -> FloatArray:
        """Return zero, the second derivative almost everywhere."""
        return self.derivative(z, t)

    def odd(self, z: ArrayLike) -> FloatArray:
        """Return ``l(z, +1) - l(z, -1)``: -1 for a positive decision, +1 for a negative one."""
        return np.where(np.asarray(z) > 0, -1.0, 1.0)

    def even(self, z: ArrayLike) -> FloatArray:
        """Return one half: of the two classes, exactly one is decided wrongly."""
        return np.full(np.shape(z), 0.5)

    def __repr__(self) -> str:
        return "ZeroOneLoss()"


Loss = MarginLoss | ZeroOneLoss


def _check_linear_odd(loss: MarginLoss) -> None:
    odd = np.asarray(loss.psi(_PROBES)) - np.asarray(loss.psi(-_PROBES))
    error = np.abs(odd + _PROBES)
    worst = int(np.argmax(error)) if np.isfinite(error).all() else int(np.argmin(np.isfinite(odd)))
    if not error[worst] <= 1e-8 * (1.0 + abs(_PROBES[worst])):
        raise ValueError(
            f"Loss {loss.name!r} is not linear-odd: psi(m) - psi(-m) must be -m, but at "
            f"m = {_PROBES[worst]:g} it is {odd[worst]:g}; scale the loss, or learn with "
            "'squared', 'logistic' or 'double_hinge'."
        )


def _check_convex(loss: MarginLoss) -> None:
    values = np.asarray(loss.psi(_PROBES))
    chord = (values[:-2] + values[2:]) / 2 - values[1:-1]
    below = chord < -1e-9 * (1.0 + np.abs(values[1:-1]))
    if below.any() or np.any(np.asarray(loss.psi_curvature(_PROBES)) < 0):
        at = _PROBES[1:-1][np.argmax(below)] if below.any() else 0.0
        raise ValueError(
            f"Loss {loss.name!r} is not convex near m = {at:g}; the SU risk has one minimum only "
            "for convex losses."
        )


def _check_derivative(loss: MarginLoss) -> None:
    step = 1e-6
    between = _PROBES[:-1] + 0.017  # away from the kinks, where no derivative exists
    slope = (np.asarray(loss.psi(between + step)) - np.asarray(loss.psi(between - step))) / (
        2 * step
    )
    error = np.abs(slope - np.asarray(loss.psi_derivative(between)))
    worst = int(np.argmax(error))
    if not error[worst] <= 1e-5 * (1.0 + abs(slope[worst])):
        raise ValueError(
            f"Loss {loss.name!r}: psi_derivative does not match psi at m = {between[worst]:g}, "
            f"where a finite difference gives {slope[worst]:g}."
        )


def _squared(m: Any) -> Any:
    return 0.25 * (m - 1.0) ** 2


def _squared_derivative(m: Any) -> Any:
    return 0.5 * (m - 1.0)


def _squared_curvature(m: Any) -> Any:
    return 0.5 * namespace_of(m).ones_like(m)


def _logistic(m: Any) -> Any:
    xp = namespace_of(m)
    return xp.clip(-m, 0.0, None) + xp.log1p(_fading(m))


def _logistic_derivative(m: Any) -> Any:
    fading = _fading(m)
    return -namespace_of(m).where(m > 0, fading, 1.0) / (1.0 + fading)


def _logistic_curvature(m: Any) -> Any:
    fading = _fading(m)
    return fading / (1.0 + fading) ** 2


def _fading(m: Any) -> Any:
    """Return ``exp(-|m|)``, which cannot overflow."""
    return namespace_of(m).exp(-abs(m))


def _double_hinge(m: Any) -> Any:
    xp = namespace_of(m)
    return xp.where(m < -1.0, -m, xp.clip(0.5 - 0.5 * m, 0.0, None))


def _double_hinge_derivative(m: Any) -> Any:
    xp = namespace_of(m)
    steep = xp.where(m < -1.0, -1.0, -0.5 * xp.ones_like(m))
    return xp.where(m < 1.0, steep, 0.0)


def _double_hinge_curvature(m: Any) -> Any:
    return namespace_of(m).zeros_like(m)


squared = MarginLoss("squared", _squared, _squared_derivative, _squared_curvature, any_library=True)
logistic = MarginLoss(
    "logistic", _logistic, _logistic_derivative, _logistic_curvature, any_library=True
)
double_hinge = MarginLoss(
    "double_hinge",
    _double_hinge,
    _double_hinge_derivative,
    _double_hinge_curvature,
    any_library=True,
)
zero_one = ZeroOneLoss()

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (squared, logistic, double_hinge, zero_one)}


def get_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the loss object itself.

    Examples
    --------
    >>> from likewise.su.losses import get_loss
    >>> get_loss("logistic").name
    'logistic'
    """
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise ValueError(f"There is no loss {loss!r}; choose one of {', '.join(LOSSES)}.")
    return LOSSES[loss]
