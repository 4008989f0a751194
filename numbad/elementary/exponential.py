"""exp, expm1, tanh, the logistic function: x = n log 2 + r, |r| <= log(2) / 2, a polynomial for exp(r).

The method is that of P. T. P. Tang, "Table-driven implementation of the exponential function in IEEE
floating-point arithmetic", ACM TOMS 15 (1989) 144, without its table. The coefficients are those of the
Chebyshev interpolant of (exp(r) - 1 - r) / r**2, whose first is 1/2, on |r| <= 0.3466, within 1.4e-18 of it.
"""

from numbad.elementary.emitted import (
    fast_two_sum,
    fma,
    select,
    split_polynomial,
    two_sum,
)

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG2_E = 1.4426950408889634
_OVER_CUBE = (
    *(0.1666666666666667, 0.04166666666666667, 0.008333333333326136),
    *(0.001388888888888375, 0.00019841269874815834, 2.480158732554432e-05),
    *(2.7557255406285044e-06, 2.7557273647451087e-07, 2.5105214474751413e-08),
    2.0914685161418067e-09,
)
NEGLIGIBLE = 2.0**-54  # below it expm1(x), log1p(x) and tanh(x) are x, signed zeros included


def _reduced(x, low=None):
    """n in the form of `shifted`, n itself, and exp(x) / 2**n as 1 + high + low."""
    shifted = (x * _LOG2_E).shifted()
    n = shifted.rounded()
    nearly = fma(-n, LN2_HIGH, x)
    lost = n * LN2_LOW
    r = nearly - lost
    rest = (nearly - r) - lost
    cubic = fma(r * r * r, split_polynomial(r, _OVER_CUBE), rest)
    tail = fma(0.5 * r, r, cubic)  # of r**2 / 2, its largest part, nothing is rounded
    return n, r, tail if low is None else tail + fma(low, r + tail, low)


def _scaled(y, n):
    """y * 2**n for integers |n| <= 2000, rounded once."""
    half = (n * 0.5).shifted()
    other = (n - half.rounded()).shifted()
    return y * half.power_of_two() * other.power_of_two()


def _clamped(x, least, largest):
    """NaN stays NaN."""
    x = select(x > largest, largest, x)
    return select(x < least, least, x)


def exponential(x, low=None):
    """exp(x); of x + low, where that is given."""
    n, r, tail = _reduced(_clamped(x, -746.0, 710.0), low)
    high, lost = fast_two_sum(r.new(r.constant(1.0)), r)
    return _scaled(high + (lost + tail), n)


def _less_one(x):
    """(exp(x) - 1) / 2 as high + low, for -60 < x <= 710."""
    n, r, tail = _reduced(x)
    power = (n - 1.0).shifted().power_of_two()
    start, lost = two_sum(power, power.new(power.constant(-0.5)))
    high, lost_by_r = two_sum(start, power * r)
    return high, fma(power, tail, lost + lost_by_r)


def exponential_less_one(x):
    """exp(x) - 1."""
    high, low = _less_one(_clamped(x, -50.0, 710.0))
    return select(abs(x) < NEGLIGIBLE, x, (high + low) * 2.0)


def tangent(x):
    """tanh(x) = (exp(2 |x|) - 1) / (exp(2 |x|) + 1), the quotient corrected once."""
    size = abs(x)
    high, low = fast_two_sum(*_less_one(_clamped(size, -1.0, 20.0) * 2.0))
    below, lost = two_sum(high.new(high.constant(1.0)), high)
    lost = lost + low
    inverse = 1.0 / below
    quotient = high * inverse
    left = fma(-quotient, lost, fma(-quotient, below, high) + low)
    found = fma(left, inverse, quotient).with_sign_of(x)
    return select(size < NEGLIGIBLE, x, found)


def in_two_parts(x):
    """n and exp(x) / 2**n as high + low, for -746 <= x <= 710."""
    n, r, tail = _reduced(x)
    high, lost = fast_two_sum(r.new(r.constant(1.0)), r)
    return n, *fast_two_sum(high, lost + tail)


def scaled_parts(n, high, low):
    """(high + low) * 2**n in two parts, of 2**-100 where it is less than that."""
    power = select(n < -100.0, -100.0, n).shifted().power_of_two()
    return high * power, low * power


def logistic(x):
    """1 / (1 + exp(-x)), the quotient corrected once: of e = exp(-|x|), 1 / (1 + e) or e / (1 + e)."""
    n, high, low = in_two_parts(_clamped(-abs(x), -746.0, 0.0))
    e, e_low = scaled_parts(n, high, low)
    below, lost = fast_two_sum(e.new(e.constant(1.0)), e)
    lost, inverse, negative = lost + e_low, 1.0 / below, x < 0.0
    above, above_low = select(negative, high, 1.0), select(negative, low, 0.0)
    quotient = above * inverse
    left = fma(-quotient, lost, fma(-quotient, below, above) + above_low)
    return _scaled(fma(left, inverse, quotient), select(negative, n, 0.0))
