"""The published KM1/KM2 procedure, restated with CVXOPT, as a reference for tests and timings.

Written from the description of Ramaswamy, Scott and Tewari (2016) and of their implementation: the
kernel's width among five multiples of the median distance, one dense cone program per point of the
distance curve, forward differences, bisection. Two things differ. The accuracy of the cone
program can be set: the solver's default leaves an error of 3e-4 in d(1), which is zero, and KM2
divides d(1.05) - d(1) by 0.05. And a squared distance that rounding makes negative counts as zero.
"""

from math import sqrt

import numpy as np
from cvxopt import matrix, solvers, spmatrix
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

TIGHT = 1e-13


def published_kappas(
    mixture: FloatArray,
    component: FloatArray,
    *,
    lambda_left: float = 2.0,
    lambda_right: float = 8.0,
    tol: float = 0.04,
    accuracy: float | None = TIGHT,
) -> tuple[float, float]:
    """Return KM1's and KM2's share of the component in the mixture.

    With ``accuracy=None`` the cone solver stops by its default tolerances, as published.
    """
    n, m = len(mixture), len(component)
    kernel = _kernel(mixture, component)
    contrast = np.concatenate([np.full(n, 1 / n), np.full(m, -1 / m)])
    sample_distance = sqrt(contrast @ kernel @ contrast)

    def distance(value: float) -> float:
        point = np.concatenate([np.full(n, value / n), np.full(m, (1 - value) / m)])
        return sqrt(max(squared_distance_to_simplex(kernel, point, accuracy), 0.0))

    def search(threshold: float) -> float:
        left, right = lambda_left, lambda_right
        while right - left > tol:
            middle = (left + right) / 2
            slope = (distance(middle + tol / 2) - distance(middle)) * 2 / tol
            if slope > threshold:
                right = middle
            else:
                left = middle
        return (left + right) / 2

    first_slope = (distance(1.05) - distance(1.0)) / 0.05
    threshold2 = 0.8 * first_slope + 0.2 * sample_distance
    threshold1 = 1 / sqrt(min(n, m))
    if threshold1 > 0.9 * sample_distance:
        threshold1 = threshold2
    return 1 - 1 / search(threshold1), 1 - 1 / search(threshold2)


def squared_distance_to_simplex(
    kernel: FloatArray, point: FloatArray, accuracy: float | None = TIGHT
) -> float:
    """Return ``min (u - v)' K (u - v)`` over the simplex."""
    n = len(point)
    options: dict[str, object] = {"show_progress": False}
    if accuracy is not None:
        options |= {"abstol": accuracy, "reltol": accuracy, "feastol": accuracy}
    solution = solvers.coneqp(
        matrix(2 * kernel),
        matrix(-2 * kernel @ point),
        spmatrix(-1.0, range(n), range(n)),
        matrix(0.0, (n, 1)),
        {"l": n, "q": [], "s": []},
        matrix(1.0, (1, n)),
        matrix(1.0),
        options=options,
    )
    return float(solution["primal objective"] + point @ kernel @ point)


def _kernel(mixture: FloatArray, component: FloatArray) -> FloatArray:
    rows = np.concatenate([mixture, component])
    distances = np.square(rows[:, None, :] - rows[None, :, :]).sum(axis=2)
    median = sqrt(np.median(distances))
    contrast = np.concatenate(
        [np.full(len(mixture), 1 / len(mixture)), np.full(len(component), -1 / len(component))]
    )
    kernels = [np.exp(-distances / (2 * width**2)) for width in np.logspace(-1, 1, 5) * median]
    return max(kernels, key=lambda kernel: float(contrast @ kernel @ contrast))
