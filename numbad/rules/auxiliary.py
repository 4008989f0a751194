"""Derivatives of any order that have a form without cancellation, for nopython code.

All are dispatchers that compile at their first use; the rule of each is itself, one order up. Numbers
of equations are those of the NIST Digital Library of Mathematical Functions.
"""

import math

from numba import njit
from scipy.special import dawsn, erfcx

from numbad.rules.special import _ASYMPTOTIC, _BERNOULLI

_nopython = njit(error_model="numpy")


@_nopython
def exprel_derivative(n, x):
    """The `n`-th derivative of (exp(x) - 1) / x: the integral of s**n * exp(s*x) over s in [0, 1].

    A series of positive terms (13.6.1, 13.2.2, and 13.2.39 for x < 0), by parts where it is long.
    """
    if abs(x) > 40.0 + 2.0 * n:
        if math.exp(x) == math.inf:
            return math.inf
        value = math.expm1(x) / x
        for k in range(1, n + 1):
            value = (math.exp(x) - k * value) / x
        return value
    total, term, k = 0.0, 1.0, 0
    if x >= 0.0:  # x**k / k! / (n + k + 1)
        while term > 1e-17 * total * (n + k + 1):
            total += term / (n + k + 1)
            k += 1
            term *= x / k
        return total
    term = math.exp(x) / (n + 1)  # exp(x) * |x|**k * n! / (n + k + 1)!
    while term > 1e-17 * total:
        total += term
        k += 1
        term *= -x / (n + k + 1)
    return total


@_nopython
def log1prel_derivative(n, x):
    """The `n`-th derivative of log(1 + x) / x: of the integral of 1 / (1 + s*x) over s in [0, 1].

    15.8.1 makes of it (-1)**n * n! / (1 + x)**(n + 1) times the sum of z**k / (n + k + 1), with
    z = x / (1 + x), which is a logarithm less its first terms.
    """
    if x <= -1.0:
        return (math.inf if n == 0 else math.inf * (-1.0) ** n) if x == -1.0 else math.nan
    z = x / (1.0 + x)
    total, power = 0.0, 1.0
    if abs(z) < 0.5 + 0.04 * n:
        k = 0
        while k < 60 + 20 * n:
            total += power / (n + k + 1)
            power *= z
            k += 1
    else:
        total = math.log1p(x)
        for k in range(1, n + 1):
            power *= z
            total -= power / k
        total /= power * z
    scale = 1.0 / (1.0 + x)
    for k in range(1, n + 1):
        scale *= -k / (1.0 + x)
    return scale * total


@_nopython
def erfcx_derivative(n, x):
    """The `n`-th derivative of exp(x*x) * erfc(x): 7.18.4.

    By the recurrence 7.18.7: upwards for small and negative `x`, where nothing cancels, else by the
    continued fraction of the ratios of its minimal solution.
    """
    value = erfcx(x)
    if x > 0.4:
        last = n + 20 + int(100.0 / (x * x))
        ratio = 0.5 * (math.sqrt(x * x + 2.0 * last) - x) if x < 1e3 else 0.0
        for k in range(last, 0, -1):
            ratio = 0.5 * k / (x + ratio)
            if k <= n:
                value *= -2.0 * ratio
        return value
    before = 0.0
    for k in range(n):
        inner = 2.0 * k * before if k else -2.0 / math.sqrt(math.pi)
        before, value = value, 2.0 * x * value + inner
    return value


@_nopython
def dawsn_derivative(n, x):
    """The `n`-th derivative of Dawson's integral, D' = 1 - 2*x*D (7.2.5), n = 0, 1, 2, ...

    For large `x` its asymptotic series (7.12.1) by terms. The first derivative has 13 digits except
    at its root; every further order may lose two.
    """
    if abs(x) > 6.5:
        square, power = 1.0 / (2.0 * x * x), 0.5 / x
        for k in range(n):
            power *= -(k + 1) / x
        total, odd = 0.0, 1
        for _ in range(30):
            total += power
            power *= odd * square * (odd + n + 1) * (odd + n) / (odd * (odd + 1))
            odd += 2
        return total
    before, value = 0.0, dawsn(x)
    for k in range(n):
        before, value = value, (-2.0 * k * before if k else 1.0) - 2.0 * x * value
    return value


@_nopython
def zeta_by_exponent(s, x):
    """The derivative of Hurwitz' zeta by s > 1, for x > 0: 25.11.5, term by term; to 1e-14.

    >>> print(f"{zeta_by_exponent(2.0, 1.0):.12f}")
    -0.937548254316
    """
    if not (s > 1.0 and x > 0.0):
        return math.nan
    total = 0.0
    while x < _ASYMPTOTIC + s:
        total -= math.log(x) / x**s
        x += 1.0
    log = math.log(x)
    total -= x ** (1.0 - s) / (s - 1.0) * (log + 1.0 / (s - 1.0)) + 0.5 * log / x**s
    term, slope = (
        s / (2.0 * x) / x**s,
        1.0 / s - log,
    )  # slope: the derivative of the term's logarithm
    for k in range(len(_BERNOULLI)):
        total += _BERNOULLI[k] * term * slope
        first, second = s + 2 * k + 1, s + 2 * k + 2
        term *= first * second / ((2 * k + 3) * (2 * k + 4) * x * x)
        slope += 1.0 / first + 1.0 / second
    return total


@_nopython
def scaled_bessel_derivative(n, v, x, sign):
    """The `n`-th derivative of exp(-x) * iv(v, x) (sign -1) or exp(x) * kv(v, x) (sign 1), x large.

    By the asymptotic series 10.40.1 and 10.40.2, term by term; to 1e-15 for x > 50 + v * v.
    """
    total, power = 0.0, 1.0 / math.sqrt(x)
    for k in range(n):
        power *= -(0.5 + k) / x
    for k in range(30):
        total += power
        factor = sign * (4.0 * v * v - (2.0 * k + 1.0) ** 2) / (8.0 * (k + 1) * x)
        power *= factor * (k + n + 0.5) / (k + 0.5)
    return total * (math.sqrt(0.5 * math.pi) if sign > 0 else 1.0 / math.sqrt(2.0 * math.pi))


@_nopython
def lambertw_real(x):
    """The principal branch of Lambert's W for real `x` >= -1/e, nan below (4.13); by Halley's method."""
    if math.isnan(x) or x == math.inf or x == 0.0:
        return x
    to_branch = (x + 0.36787944117144233) - 1.2428753672788363e-17  # 1/e in two parts
    if to_branch <= 0.0:
        return -1.0 if to_branch > -1e-16 else math.nan
    if x < -0.25:
        p = math.sqrt(2.0 * math.e * to_branch)
        w = -1.0 + p * (1.0 + p * (-1.0 / 3.0 + p * (11.0 / 72.0 - p * 43.0 / 540.0)))
        if p < 1e-3:
            return w
    elif x < 3.0:
        w = math.log1p(x) * (1.0 - math.log1p(math.log1p(x)) / (2.0 + math.log1p(x)))
    else:
        w = math.log(x) - math.log(math.log(x))
    for _ in range(20):
        excess = w - x * math.exp(-w)
        step = excess / (w + 1.0 - 0.5 * (w + 2.0) * excess / (w + 1.0))
        w -= step
        if abs(step) < 1e-15 * abs(w):
            break
    return w
