"""Special functions that derivatives of other functions need, for nopython code.

All are dispatchers that compile at their first use.
"""

import math

import numpy as np
from numba import njit

# Bernoulli numbers B(2k) (NIST DLMF, 24.2(iv))
_BERNOULLI = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
)
_ASYMPTOTIC = 10.0  # from here on ten terms of the asymptotic series leave less than an ulp

# The positive root of digamma in two parts, and polygamma(n, root) / n! for n = 1, 2, ...
_ROOT, _ROOT_TAIL = 1.4616321449683622, 9.549995429965697e-17
_AT_ROOT = (
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
    0.004926781395729853,
    -0.003369801655439328,
    0.002305126326734928,
    -0.0015769367714301972,
)

_nopython = njit(error_model="numpy")  # divisions by zero give infinities


@_nopython
def digamma(x):
    """Derivative of log(gamma(x)); nan at the poles 0, -1, -2, ...

    Accurate to 1e-14 relative, except close to the roots at negative `x`, where it is 1e-14
    absolute. NIST DLMF 5.5.2 (recurrence), 5.5.4 (reflection), 5.11.2 (asymptotic series).

    >>> print(f"{-digamma(1.0):.12f}")  # Euler's constant
    0.577215664902
    """
    if x <= 0.0:
        distance = x - np.rint(x)
        if distance == 0.0:
            return math.nan
        return _digamma_positive(1.0 - x) - math.pi / math.tan(math.pi * distance)
    return _digamma_positive(x)


@_nopython
def _digamma_positive(x):
    from_root = (x - _ROOT) - _ROOT_TAIL
    if abs(from_root) < 0.15:
        total = 0.0
        for k in range(len(_AT_ROOT)):
            total = total * from_root + _AT_ROOT[len(_AT_ROOT) - 1 - k]
        return total * from_root
    shift = 0.0
    while x < _ASYMPTOTIC:
        shift += 1.0 / x
        x += 1.0
    series = 0.0
    square = 1.0 / (x * x)
    for k in range(len(_BERNOULLI), 0, -1):
        series = (series + _BERNOULLI[k - 1] / (2 * k)) * square
    return math.log(x) - 0.5 / x - series - shift


@_nopython
def polygamma(n, x):
    """The `n`-th derivative of digamma, n = 0, 1, 2, ...

    At the poles 0, -1, -2, ... it is infinite for odd `n` and nan for even `n`. Accurate to
    1e-14 relative, for n > 0 and even except close to the roots at negative `x`. NIST DLMF 5.15.2
    and 25.11.1 (as a sum over the poles), 25.11.5 (Euler-Maclaurin).

    >>> import math
    >>> print(f"{polygamma(1, 1.0) * 6 / math.pi**2:.12f}")
    1.000000000000
    """
    if n == 0:
        return digamma(x)
    factor = 1.0 if n % 2 else -1.0
    for k in range(2, n + 1):
        factor *= k
    if x > 0.0:
        return factor * _zeta(n + 1, x)
    distance = x - np.rint(x)
    if distance == 0.0:
        return math.inf if n % 2 else math.nan
    # Every pole on the real line, less those at 1, 2, ..., which polygamma does not have.
    right = _zeta(n + 1, 1.0 - distance) - _zeta(n + 1, 1.0 - x)
    left = 1.0 / distance ** (n + 1) + _zeta(n + 1, 1.0 + distance)
    return factor * (left + right if n % 2 else left - right)


@_nopython
def _zeta(s, x):
    """Hurwitz' zeta function, the sum of (x + k)**-s over k = 0, 1, ..., for s > 1 and x > 0."""
    total = 0.0
    while x < _ASYMPTOTIC + s:
        total += 1.0 / x**s
        x += 1.0
    term = 1.0 / x**s
    total += 1.0 / ((s - 1) * x ** (s - 1)) + 0.5 * term
    term *= s / (2.0 * x)
    for k in range(len(_BERNOULLI)):
        total += term * _BERNOULLI[k]
        term *= (s + 2 * k + 1) * (s + 2 * k + 2) / ((2 * k + 3) * (2 * k + 4) * x * x)
    return total


@_nopython
def sinc_derivative(n, x):
    """The `n`-th derivative of sin(x) / x, n = 0, 1, 2, ...

    It is the integral of s**n * cos(s*x + n*pi/2) over s in [0, 1]: expanded in powers of `x`
    where `x` is small, by parts elsewhere.

    >>> sinc_derivative(0, 0.0), sinc_derivative(1, 0.0)
    (1.0, 0.0)
    """
    if abs(x) <= 2.0 + 0.5 * n:
        total, power = 0.0, 1.0
        for m in range(40 + 2 * n):
            total += power * _quarter_turns(m + n) / (m + n + 1)
            power *= x / (m + 1)
        return total
    value = np.sin(x) / x
    for k in range(1, n + 1):
        wave = _quarter_turns(k) * np.sin(x) + _quarter_turns(k - 1) * np.cos(x)
        value = (wave - k * value) / x
    return value


@_nopython
def _quarter_turns(n):
    """cos(n * pi / 2)."""
    return 0 if n % 2 else 1 - n % 4
