"""sin and cos: x = n pi / 2 + r, and fdlibm's polynomials of r (Sun Microsystems, 1993; k_sin.c, k_cos.c).

pi / 2 is taken in three parts (W. J. Cody, W. Waite, "Software manual for the elementary functions",
1980): the first product cancels exactly, the second leaves its rounding error.
"""

from numbad.elementary.emitted import fma, polynomial, select, two_product, two_sum

LARGEST = 2.0**20
"""Where the three parts of pi / 2 are enough; beyond, pi has to be known to a thousand bits."""

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
SINE = (
    *(-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04),
    *(2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),
)
COSINE = (
    *(4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05),
    *(-2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11),
)


def _reduced(x):
    """n in the form of `shifted`, and r as high + low."""
    shifted = (x * _TWO_OVER_PI).shifted()
    n = shifted.rounded()
    first = fma(-n, _HALF_PI[0], x)
    second, lost = two_product(-n, first.new(first.constant(_HALF_PI[1])))
    high, low = two_sum(first, second)
    return shifted, high, fma(-n, _HALF_PI[2], low + lost)


def _both(high, low):
    """sin and cos of high + low, within pi / 4 of 0."""
    z = high * high
    cube = z * high
    s = polynomial(z, SINE[1:])
    sine = high - (fma(z, fma(0.5, low, -(cube * s)), -low) - cube * SINE[0])
    half = 0.5 * z
    near = 1.0 - half
    c = z * polynomial(z, COSINE)
    return sine, near + (((1.0 - near) - half) + fma(z, c, -(high * low)))


def _turned(x, quarters):
    shifted, high, low = _reduced(x)
    sine, cosine = _both(high, low)
    shifted = shifted + float(quarters)
    found = select(shifted.has_bit(1), cosine, sine)
    return select(shifted.has_bit(2), -found, found)


def sine(x):
    """sin(x) for |x| <= LARGEST."""
    return _turned(x, 0)


def cosine(x):
    """cos(x) for |x| <= LARGEST."""
    return _turned(x, 1)
