"""Resampling that is a smooth function of particles and weights, so that a particle filter has derivatives.

Weighted particles are replaced by equal ones, quantiles of a smooth density: that of a kernel at each
particle, moved towards the mean so that mean and covariance stay (M. West, J. Roy. Statist. Soc. B 55 (1993)
409-422). Its distribution functions, each component's given those before it, are inverted at fixed numbers
(M. Rosenblatt, Ann. Math. Statist. 23 (1952) 470-472). With one component and kernels of no width that is the
smooth resampling of S. Malik, M. Pitt, J. Econometrics 165 (2011) 190-209, but for its kinks.
"""

import math

import numpy as np
from numba import njit

from numbad.operators.stop import as_constant, stop_gradient
from numbad.random import uniform
from numbad.sde.grid import constant

_DEGENERATE = 1e-13  # a variance given the other components, in parts of the whole
_ROUNDING = 1e-14  # of a mean, in parts of it
_CLOSE = 1e-6  # in parts of a probability: two steps of Newton's method from there are exact
_GOLDEN = 1.32471795724474602596  # x**3 = x + 1


@njit(error_model="numpy")
def normalized(logs):
    """Weights that sum to 1, and the logarithm of the mean of exp(logs)."""
    top = stop_gradient(logs.max())
    weights = np.exp(logs - top)
    total = weights.sum()
    return weights / total, top + math.log(total / logs.size)


@njit(error_model="numpy")
def mean_and_cov(x, weights):
    """Mean (n,) and covariance (n, n) of particles x, shape (n, count)."""
    n, count = x.shape
    mean, cov = np.zeros(n), np.zeros((n, n))
    for c in range(n):
        for i in range(count):
            mean[c] += weights[i] * x[c, i]
    for c in range(n):
        for d in range(c + 1):
            total = 0.0
            for i in range(count):
                total += weights[i] * (x[c, i] - mean[c]) * (x[d, i] - mean[d])
            cov[c, d] = total
            cov[d, c] = total
    return mean, cov


@njit(error_model="numpy")
def resampled(x, weights, width, key):
    """Particles of equal weight in place of weighted ones, shape (n, count).

    `width` is the standard deviation of a kernel in those of the particles.
    """
    n, count = x.shape
    mean, cov = mean_and_cov(x, weights)
    root = _root(cov, mean)
    centres = _whitened(x, mean, root)
    for c in range(n):
        for i in range(count):
            centres[c, i] = math.sqrt(1.0 - width * width) * centres[c, i]
    drawn = _quantiles(centres, weights, 2.0 * width, key)
    out = np.empty((n, count))
    for c in range(n):
        for i in range(count):
            total = mean[c]
            for d in range(c + 1):
                total += root[c, d] * drawn[d, i]
            out[c, i] = total
    return out


@njit(error_model="numpy")
def _root(a, mean):
    """The lower triangular L with L L^T = a; a column of zeros where a component follows from others."""
    n = a.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= out[i, k] * out[j, k]
            if i == j:
                if total > _DEGENERATE * a[i, i] + (_ROUNDING * mean[i]) ** 2:
                    out[i, i] = math.sqrt(total)
            elif out[j, j] > 0.0:
                out[i, j] = total / out[j, j]
    return out


@njit(error_model="numpy")
def _whitened(x, mean, root):
    n, count = x.shape
    out = np.zeros((n, count))
    for c in range(n):
        if root[c, c] > 0.0:
            for i in range(count):
                total = x[c, i] - mean[c]
                for d in range(c):
                    total -= root[c, d] * out[d, i]
                out[c, i] = total / root[c, c]
    return out


@njit(error_model="numpy")
def _quantiles(centres, weights, scale, key):
    """Of each component given those before it, at numbers that fill the unit cube evenly."""
    n, count = centres.shape
    out = np.empty((n, count))
    plain, orders = as_constant(centres), np.empty((n, count), np.int64)
    for c in range(n):
        orders[c] = np.argsort(plain[c])
    near, step = weights.copy(), 1.0 / count
    for c in range(n):
        shift = uniform(key, c)
        for i in range(count):
            if c > 0:
                near = _given(out, centres, weights, scale, c, i)
            level = ((i + 0.5) * step + shift) % 1.0
            start = _search(plain[c], as_constant(near), orders[c], scale, level)
            out[c, i] = _polished(start, centres[c], near, scale, level)
        step = 1.0 / _GOLDEN ** (c + 1)
    return out


@njit(error_model="numpy")
def _given(out, centres, weights, scale, c, i):
    """Weights of the kernels, given the components before c of particle i."""
    near, total = weights.copy(), 0.0
    for j in range(near.size):
        for d in range(c):
            z = (out[d, i] - centres[d, j]) / scale
            square = 1.0 / (1.0 + z * z)
            near[j] = near[j] * square * square * square * math.sqrt(square)
        total += near[j]
    return near / total


@njit(error_model="numpy", fastmath={"reassoc", "nsz"})
def _distribution(x, centres, weights, scale):
    """The distribution function of the kernels, Student's of 6 degrees of freedom, and its slope."""
    below, slope = 0.0, 0.0
    for j in range(centres.size):
        z = (x - centres[j]) / scale
        square = 1.0 / (1.0 + z * z)
        root = math.sqrt(square)
        below += weights[j] * z * root * (1.0 + square * (0.5 + 0.375 * square))
        slope += weights[j] * square * square * square * root
    return 0.5 + 0.5 * below, 0.9375 / scale * slope


@njit(error_model="numpy")
def _polished(start, centres, weights, scale, level):
    """Where the distribution function is `level`, with derivatives: two steps of Newton have the second's."""
    x = start + 0.0 * centres[0]
    for _ in range(2):
        below, slope = _distribution(x, centres, weights, scale)
        x = x - (below - level) / slope
    return x


@constant
def _search(centres, weights, order, scale, level):
    """The same without derivatives: Newton's method on its log odds, which bend less."""
    x, below = centres[order[-1]], 0.0
    for j in order:
        below += weights[j]
        if below > level:
            x = centres[j]
            break
    low, high = -math.inf, math.inf
    for _ in range(60):
        below, slope = _distribution(x, centres, weights, scale)
        if below < level:
            low = x
        else:
            high = x
        if abs(below - level) < _CLOSE * min(level, 1.0 - level):
            break
        odds = math.log(below / (1.0 - below) * (1.0 - level) / level)
        new = x - odds * below * (1.0 - below) / slope
        if not low < new < high:
            new = (
                0.5 * (low + high) if high - low < math.inf else x + (scale if x == low else -scale)
            )
        x = new
    return x
