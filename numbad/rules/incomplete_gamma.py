"""The density of the gamma distribution, and the incomplete gamma function by its order.

Numbers of equations are those of the NIST Digital Library of Mathematical Functions.
"""

import math

import numpy as np
from numba import njit

from numbad.rules.special import _BERNOULLI, digamma

nopython = njit(error_model="numpy")

_STIRLING = 20.0  # from here on five terms of 5.11.1 leave less than an ulp


@nopython
def gamma_density(a, x):
    """x**(a - 1) * exp(-x) / gamma(a): the derivative of gammainc(a, x) by `x` (8.8.13).

    Accurate to 1e-14 relative for a < 20, beyond that to 1e-14 in its logarithm.
    """
    if x == 0.0:
        return _density_at_zero(a)
    if x == math.inf:
        return 0.0
    if a >= _STIRLING:
        return _density_by_stirling(a, x)
    if a > 0.0 and x > 50.0:
        return math.exp((a - 1.0) * math.log(x) - x - math.lgamma(a))
    if is_pole(a):
        return 0.0
    return x ** (a - 1.0) * math.exp(-x) / math.gamma(a)


@nopython
def _density_at_zero(a):
    if a == 1.0:
        return 1.0
    if a > 1.0 or is_pole(a):
        return 0.0
    return math.copysign(math.inf, math.gamma(a))


@nopython
def _density_by_stirling(a, x):
    u = (x - a) / a
    if abs(u) < 0.3:  # log(1 + u) - u, from log(1 + u) = 2 * atanh(s)
        s = u / (2.0 + u)
        total = 0.0
        for k in range(12, 0, -1):
            total = (total + 1.0 / (2 * k + 1)) * s * s
        exponent = a * (2.0 * s * total - u * s)
    else:
        exponent = a * (math.log(x / a) - u)
    correction = 0.0
    for k in range(5, 0, -1):
        correction = correction / (a * a) + _BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return math.sqrt(a / (2.0 * math.pi)) / x * math.exp(exponent - correction / a)


@nopython
def is_pole(a):
    """Whether gamma(a) is infinite."""
    return a <= 0.0 and a == np.rint(a)


@nopython
def sign_of_gamma(a):
    return 1.0 if a > 0.0 or math.floor(a) % 2 == 0 else -1.0


@nopython
def gammainc_by_order(a, x):
    """The derivative of gammainc(a, x) by `a` >= 0, for x >= 0.

    The series 8.7.1 and the continued fraction 8.9.2, differentiated term by term, each where its
    terms do not cancel. Accurate to 1e-11 relative, for a > 1e4 to 1e-9.

    >>> print(f"{gammainc_by_order(1.0, 1.0):.10f}")
    -0.4317297106
    """
    if not (a >= 0.0 and x >= 0.0) or (a == 0.0 and x == 0.0):
        return math.nan
    power = gamma_density(a + 1.0, x) if max(a, x) < math.inf else 0.0
    if power == 0.0:
        return 0.0
    return _by_series(a, x, power) if x < a + 1.0 else _by_fraction(a, x, power)


@nopython
def gamma_drawn(x, a):
    """The number `x` itself, drawn of the gamma distribution of shape `a` and scale 1.

    As a function of `a` it goes where gammainc(a, x) stays what it is.
    """
    return x


@nopython
def _by_series(a, x, power):
    """power * (the sum of x**k / (a + 1)_k), differentiated by `a`."""
    term, harmonic, total, weighted, k = 1.0, 0.0, 1.0, 0.0, 0
    while term * harmonic >= 1e-17 * weighted and term > 0.0:
        k += 1
        term *= x / (a + k)
        harmonic += 1.0 / (a + k)
        total += term
        weighted += term * harmonic
    return power * (total * (math.log(x) - digamma(a + 1.0)) - weighted)


@nopython
def _by_fraction(a, x, power):
    """As gammainc is 1 - a * power * F(a, x); the depth of the fraction F is doubled till it holds."""
    depth, before = 16, math.inf
    value, slope = _fraction(a, x, depth)
    while abs(slope - before) > 1e-15 * slope and depth < 10**7:
        depth *= 2
        before = slope
        value, slope = _fraction(a, x, depth)
    return -power * (value * (a * (math.log(x) - digamma(a + 1.0)) + 1.0) + a * slope)


@nopython
def _fraction(a, x, depth):
    """The fraction 1 / (x + 1 - a - (1 - a) / (x + 3 - a - ...)) and its derivative by `a`."""
    value, slope = x + 2 * depth + 1.0 - a, -1.0
    for k in range(depth, 0, -1):
        ratio = k * (k - a) / value
        slope = -1.0 + (k + ratio * slope) / value
        value = x + 2 * k - 1.0 - a - ratio
    return 1.0 / value, -slope / (value * value)
