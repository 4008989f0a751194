"""log, log1p and the logarithm of the logistic function.

The polynomial is that of fdlibm (Sun Microsystems, 1993; e_log.c, s_log1p.c).
"""

from numbad.elementary.emitted import fma, polynomial, product, select
from numbad.elementary.exponential import (
    LN2_HIGH,
    LN2_LOW,
    NEGLIGIBLE,
    exponential,
    in_two_parts,
    scaled_parts,
)

_SQRT_2 = 1.4142135623730951
_COEFFICIENTS = (
    *(3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01),
    *(1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01),
)
_FIRST = 6.666666666666735130e-01
LEAST_NORMAL, INFINITY = 2.0**-1022, float("inf")


def split_at_root(x):
    """f, k with x = 2**k (1 + f) and 1 + f between the root of 1/2 and that of 2; x positive and normal."""
    mantissa = x.mantissa()
    large = mantissa > _SQRT_2
    f = select(large, mantissa * 0.5, mantissa) - 1.0
    return f, x.exponent() + select(large, x.new(x.constant(1.0)), 0.0)


def _sum(f, k, low=None):
    """log(1 + f) + k log(2) + low."""
    s = f / (2.0 + f)
    z = s * s
    r = polynomial(z, _COEFFICIENTS)
    r = product(z, fma(z, r, _FIRST))
    half = product(0.5 * f, f)
    rest = k * LN2_LOW if low is None else fma(k, LN2_LOW, low)
    return fma(k, LN2_HIGH, f - (half - fma(s, half + r, rest)))


def logarithm(x):
    """log(x) for positive normal x."""
    return _sum(*split_at_root(x))


def logarithm_of_one_more(x, low=0.0):
    """log(1 + x + low) for x above -1, infinity excepted."""
    total = x + 1.0
    lost = (select(x > 1.0, 1.0 - (total - x), x - (total - 1.0)) + low) / total
    f, k = split_at_root(total)
    alone = (x > -0.29289) & (x < 0.41421)
    found = _sum(select(alone, x, f), select(alone, 0.0, k), select(alone, low, lost))
    return select(abs(x) < NEGLIGIBLE, x, found)


def logarithm_of_logistic(x):
    """-log(1 + exp(-x)) = min(x, 0) - log(1 + exp(-|x|))."""
    size = abs(x)
    near = select(size > 60.0, 60.0, size)
    found = logarithm_of_one_more(*scaled_parts(*in_two_parts(-near)))
    far = select(size > 60.0, exponential(-size), found)
    return select(x < 0.0, x, 0.0) - far
