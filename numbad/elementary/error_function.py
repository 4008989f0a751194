"""erf: x plus x times a polynomial of x**2 up to 1, and 1 - exp(-x**2 + a polynomial of x) beyond.

The first is the Chebyshev interpolant of erf(x) / x - 1 as a function of x**2, within 1.4e-19 of it. The
second approximates log(erfc(x)) + x**2 on [1, 5.95], fitted so that erfc is within 6.6e-18 there.
"""

from numbad.elementary.emitted import fast_two_sum, fma, select, split_polynomial, two_product
from numbad.elementary.exponential import exponential

_NEAR = (
    *(0.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792),
    *(0.0052239776248180145, -0.000854832698083379, 0.0001205533111164271),
    *(-1.4925595266831182e-05, 1.6461000484121368e-06, -1.6350312701054695e-07),
    *(1.4659775274047436e-08, -1.1372848856791674e-09, 5.957176147748911e-11),
)
_FIRST_LOW = -1.2550489881249748e-17  # what the first lacks of the interpolant's
_CENTRE, _END = 2.25, 5.95
_FAR = (
    *(-1.4649598963658217, -0.38291381054452767, 0.0651324331223539, -0.013312548393632672),
    *(0.0027713368258254377, -0.000554840924794088, 0.00010263780668310421),
    *(-1.660382025143733e-05, 2.0482947379818097e-06, -7.223904376563904e-08),
    *(-6.170244560761831e-08, 2.6746826586026602e-08, -7.2477477051517235e-09),
    *(1.5161904615091547e-09, -3.021549641302139e-10, 3.3597359589506425e-11),
    *(1.5943556927371245e-11, -4.865015295457165e-12),
)


def error_function(x):
    """erf(x)."""
    size = abs(x)
    z, (first, second, *others) = x * x, _NEAR
    rest = fma(z, z * split_polynomial(z, others), _FIRST_LOW)
    slope = fma(z, second, first) + rest  # the largest last
    near = fma(x, slope, x)
    inner = select(size > _END, _END, size)
    square, lost = two_product(inner, inner)
    exponent, low = fast_two_sum(-square, split_polynomial(inner - _CENTRE, _FAR))
    far = 1.0 - exponential(exponent, low - lost)
    far = select(size > _END, 1.0, far).with_sign_of(x)
    return select(size < 1.0, near, far)
