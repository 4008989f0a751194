"""x**y = exp(y log(x)), the logarithm in two parts.

log(1 + f) = 2 atanh(s), s = f / (2 + f): its first two terms in two parts each, from the third on the
Chebyshev interpolant of (2 atanh(s) - 2 s - 2/3 s**3) / s**5, within 1.9e-18 of it.
"""

from numbad.elementary.emitted import fast_two_sum, fma, polynomial, two_product, two_sum
from numbad.elementary.exponential import LN2_HIGH, LN2_LOW, exponential
from numbad.elementary.logarithm import INFINITY, LEAST_NORMAL, split_at_root

_THIRD_HIGH, _THIRD_LOW = 0.6666666666666666, 3.700743415417188e-17  # 2/3
_REST = (
    *(0.4, 0.28571428571429364, 0.22222222221655885, 0.18181818335392802),
    *(0.1538459496251843, 0.1333480469384731, 0.11706236339491206, 0.11723178623876518),
)


def _ratio(f):
    """f / (2 + f) in two parts."""
    below, lost = fast_two_sum(f.new(f.constant(2.0)), f)
    inverse = 1.0 / below
    s = f * inverse
    return s, fma(-s, lost, fma(-s, below, f)) * inverse


def _logarithm(x):
    """log(x) in two parts, for positive normal x."""
    f, k = split_at_root(x)
    s, s_low = _ratio(f)
    u, u_low = two_product(s, s)
    u_low = fma(2.0 * s, s_low, u_low)
    w, w_low = fast_two_sum(u.new(u.constant(_THIRD_HIGH)), u * polynomial(u, _REST))
    w_low = w_low + _THIRD_LOW
    t, t_low = two_product(u, w)
    t_low = fma(u, w_low, fma(u_low, w, t_low))
    p, p_low = two_product(s, t)
    p_low = fma(s, t_low, fma(s_low, t, p_low))
    high, lost = fast_two_sum(2.0 * s, p)
    low = fma(2.0, s_low, p_low) + lost
    high, lost = two_sum(k * LN2_HIGH, high)
    return high, fma(k, LN2_LOW, low) + lost


def power(x, y):
    """x**y, and where it is: for positive normal x, and a result far from overflow and underflow."""
    high, low = _logarithm(x)
    exponent, lost = two_product(y, high)
    is_plain = (x >= LEAST_NORMAL) & (x < INFINITY) & (abs(exponent) <= 708.0)
    return exponential(*fast_two_sum(exponent, fma(y, low, lost))), is_plain
