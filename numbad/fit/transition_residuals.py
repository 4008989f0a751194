"""Residuals of a fit by transitions: standard normal numbers, where the model holds.

The probability that a transition ends above what was observed is uniform, and independent of the others: M.
Rosenblatt, Ann. Math. Statist. 23 (1952) 470-472, doi:10.1214/aoms/1177729394; for diffusions Y. Hong, H. Li,
Review of Financial Studies 18 (2005) 37-84, doi:10.1093/rfs/hhh006.
"""

import math

import numpy as np
from scipy.special import ndtri_exp

from numbad.compilation.caching import jit
from numbad.errors import ModelError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
# Where a density has fallen by exp(-60), it is left out.
_DROP = 60.0
# Halvings towards the edge of a support, at which a density may be infinite: as many as floats have.
_MOST = 1100
# Beside the mean change from one observation to the next, the shortest step in search of the largest density.
_SHORTEST = 1e-4
# Where the search for the largest density is lost.
_FARTHEST = 1e100


def transition_residuals(density, times, values, parameters):
    """For each transition minus the standard normal quantile of what was observed, shape (k - 1,).

    ModelError where a density does not fall to zero on both sides, so that it has no quantiles.
    """
    below, above = _log_tails(density, times, values, tuple(parameters))
    lost = np.isnan(below)
    if lost.any():
        time = times[1:][lost][0]
        raise ModelError(
            f"the density of the transition to t = {time:g} does not fall to zero on both sides, so that "
            "there are no residuals"
        )
    whole = np.logaddexp(below, above)
    # of the smaller tail, which has all its digits
    return np.where(above < below, ndtri_exp(above - whole), -ndtri_exp(below - whole))


@jit
def _log_tails(density, times, values, parameters):
    """Of each transition the logarithms of the probabilities to end below and above what was observed."""
    below, above = np.empty(len(times) - 1), np.empty(len(times) - 1)
    spread = np.abs(np.diff(values)).mean()
    spread = spread if spread > 0.0 else 1e-3 * (1.0 + abs(values[0]))  # a constant series
    for i in range(len(times) - 1):
        given, y = (times[i], values[i], times[i + 1]), values[i + 1]
        top, largest, width = _top(density, given, y, spread, parameters)
        low = _end(density, given, top, largest, -width, parameters)
        high = _end(density, given, top, largest, width, parameters)
        if not (low <= top <= high and abs(top) < _FARTHEST):
            below[i] = above[i] = math.nan
            continue
        for side in (-1.0, 1.0):
            within = 1e-3 * width  # beside an end next to nothing is left out
            start, edges = min(max(y, low + within), high - within), (low, high)
            size, reference = width, largest
            if y <= low if side < 0.0 else y >= high:  # beyond all but next to nothing
                start, size = y, 0.125 * width
                reference = _log_density(density, given, y, parameters)
                end = _end(density, given, y, reference, side * size, parameters)
                edges = (end, math.inf) if side < 0.0 else (-math.inf, end)
            elif low < y < high:
                start = y
            found = _mass(density, given, start, side, edges, size, reference, parameters)
            (below if side < 0.0 else above)[i] = math.log(found) + reference
    return below, above


@jit
def _log_density(density, given, y, parameters):
    """It, or minus infinity where there is none."""
    t0, y0, t1 = given
    found = density(t0, y0, t1, y, *parameters)
    return found if found < math.inf else -math.inf


@jit
def _top(density, given, y, spread, parameters):
    """About where a density is largest, what its logarithm is there, and a step that it falls little in."""
    largest, step = _log_density(density, given, y, parameters), spread
    for _ in range(_MOST):
        if not step > _SHORTEST * spread:
            step = 0.25 * spread  # it has no top but the edge
            break
        right = _log_density(density, given, y + step, parameters)
        left = _log_density(density, given, y - step, parameters)
        if max(left, right) > largest:
            y += step if right > left else -step
            largest = max(left, right)
            step *= 2.0
        elif largest - min(left, right) < 1.0:
            break
        else:
            step *= 0.5
    return y, largest, step


@jit
def _end(density, given, top, largest, step, parameters):
    """Where a density has fallen to next to nothing, or its support ends, in the direction of a step.

    NaN where it does not.
    """
    inside, outside = top, top + step
    while largest - _log_density(density, given, outside, parameters) <= _DROP:
        inside = outside
        step *= 2.0
        outside += step
        if not abs(outside) < math.inf:
            return math.nan
    for _ in range(_MOST):
        middle = 0.5 * (inside + outside)
        if not min(inside, outside) < middle < max(inside, outside):
            break
        if largest - _log_density(density, given, middle, parameters) > _DROP:
            outside = middle
        else:
            inside = middle
    return inside


@jit
def _mass(density, given, y, side, edges, width, reference, parameters):
    """The integral of a density, over exp(reference), from y to one side.

    Panels are `width` at most, and half as long as it is to an edge, where the density may be infinite.
    """
    (low, high), total = edges, 0.0
    for _ in range(_MOST):
        size = min(width, 0.5 * min(y - low, high - y))
        part = _panel(density, given, y, y + side * size, reference, parameters)
        total += part
        y += side * size
        if size == 0.0 or part <= 1e-17 * total:
            break
    return total


@jit
def _panel(density, given, a, b, reference, parameters):
    total = 0.0
    for k in range(len(_NODES)):
        y = 0.5 * (a + b) + 0.5 * (b - a) * _NODES[k]
        total += _WEIGHTS[k] * math.exp(_log_density(density, given, y, parameters) - reference)
    return 0.5 * abs(b - a) * total
