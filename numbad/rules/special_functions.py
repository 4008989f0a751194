"""Partial derivatives of SciPy's special functions, which every mode and order uses.

A table from functions to partials, as in `rules/scalar.py`. Numbers of equations are those of the
NIST Digital Library of Mathematical Functions (DLMF); where there is none, the partial is that of the
function's definition. Forms are chosen that do not cancel; where one does, `docs/special.md` says so.

`Missing` stands where a function of several arguments has no derivative here by one of them.
"""

import math

import numpy as np
import scipy.special as sp

from numbad.rules import auxiliary as aux
from numbad.rules import elementary_functions
from numbad.rules.elementary_functions import sign
from numbad.rules.elliptic import (
    ellipe_of_complement,
    ellipeinc_by_parameter,
    ellipkinc_by_parameter,
)
from numbad.rules.expression import Missing, where
from numbad.rules.functions import ScalarFunction
from numbad.rules.incomplete_beta import beta_density
from numbad.rules.incomplete_gamma import gamma_density, gamma_drawn, gammainc_by_order
from numbad.rules.special import digamma, sinc_derivative
from numbad.rules.special import polygamma as polygamma_of_integer

HALF_SQRT_PI, TWO_OVER_SQRT_PI = math.sqrt(math.pi) / 2.0, 2.0 / math.sqrt(math.pi)
SQRT_HALF, SQRT_2_OVER_PI = math.sqrt(0.5), math.sqrt(2.0 / math.pi)
SQRT_2_PI = math.sqrt(2.0 * math.pi)

BY_ORDER = Missing(
    "keep the order constant, or give a function that calls it a rule (nd.scalar_rule) with a "
    "difference quotient of your choice"
)
BY_PARAMETER = Missing(
    "keep this parameter constant, or give a function that calls it a rule (nd.scalar_rule) with a "
    "difference quotient of your choice"
)
SECOND_BY_PARAMETER = Missing(
    "take one derivative by the parameter, not two", "a function by its parameter twice"
)
SECOND_BY_ORDER = Missing(
    "take one derivative by the order, not two", "an incomplete gamma function by its order twice"
)

PARTIALS = dict(elementary_functions.PARTIALS)


def _rule(fn, partials):
    PARTIALS[fn] = partials


def _output(fn, number, name):
    """Output `number` of a SciPy function of one argument and several results."""

    def output(x):
        return fn(x)[number]

    output.__doc__ = f"Output {number} of scipy.special.{fn.__name__}."
    return ScalarFunction(name, 1, output)


# Error functions and the normal distribution: 7.2.1, 7.2.5, 7.18.4

_rule(sp.erf, lambda ans, x: TWO_OVER_SQRT_PI * math.exp(-(x * x)))
_rule(sp.erfc, lambda ans, x: -TWO_OVER_SQRT_PI * math.exp(-(x * x)))
_rule(sp.erfi, lambda ans, x: TWO_OVER_SQRT_PI * math.exp(x * x))
_rule(sp.erfcx, lambda ans, x: aux.erfcx_derivative(1, x))
_rule(aux.erfcx_derivative, lambda ans, n, x: (0, aux.erfcx_derivative(n + 1, x)))
_rule(sp.dawsn, lambda ans, x: aux.dawsn_derivative(1, x))
_rule(aux.dawsn_derivative, lambda ans, n, x: (0, aux.dawsn_derivative(n + 1, x)))
_rule(sp.erfinv, lambda ans, y: HALF_SQRT_PI * math.exp(ans * ans))
_rule(sp.erfcinv, lambda ans, y: -HALF_SQRT_PI * math.exp(ans * ans))
_rule(sp.ndtr, lambda ans, x: math.exp(-0.5 * (x * x)) / SQRT_2_PI)
_rule(sp.ndtri, lambda ans, y: SQRT_2_PI * math.exp(0.5 * (ans * ans)))
# The density over the distribution function, both times exp(x**2 / 2), which overflows only where
# the quotient is as good as zero.
_rule(sp.log_ndtr, lambda ans, x: SQRT_2_OVER_PI / sp.erfcx(-SQRT_HALF * x))


def _owens_t(ans, h, a):
    """D. B. Owen, Ann. Math. Statist. 27 (1956), equation 2.1 and its derivative by `h`."""
    by_h = -0.5 / SQRT_2_PI * math.exp(-0.5 * (h * h)) * sp.erf(SQRT_HALF * a * h)
    return by_h, math.exp(-0.5 * (h * h) * (1 + a * a)) / (2 * math.pi * (1 + a * a))


_rule(sp.owens_t, _owens_t)

# Gamma functions: 5.2.2, 5.15.1, 5.5.3, 25.11.17


def _rgamma_slope(x):
    """The derivative of 1 / gamma, for x < 1/2 by reflection, which has no poles."""
    reflected = math.cos(math.pi * x) - digamma(1 - x) * math.sin(math.pi * x) / math.pi
    return where(x < 0.5, sp.gamma(1 - x) * reflected, -sp.rgamma(x) * digamma(x))


def _is_pole(x):
    """Whether gamma(x) is infinite."""
    return (x <= 0) & (x == np.rint(x))


def _poch(ans, x, m):
    """Where gamma(x) or gamma(x + m) is infinite, by 5.5.3 for both."""
    by_x = ans * (digamma(x + m) - digamma(x))
    at_pole = sp.gamma(x + m) * (_rgamma_slope(x) + digamma(x + m) * sp.rgamma(x))
    both = ans * (digamma(1 - x - m) - digamma(1 - x))
    by_x = where(_is_pole(x), where(_is_pole(x + m), both, at_pole), by_x)
    return by_x, ans * digamma(x + m)


def _binom(ans, n, k):
    """Where the value is zero, as a factor 1 / gamma is, by the derivatives of the factors."""
    first, last = sp.rgamma(k + 1), sp.rgamma(n - k + 1)
    slope = _rgamma_slope(n - k + 1)
    zero_n = sp.gamma(n + 1) * first * (slope + digamma(n + 1) * last)
    zero_k = sp.gamma(n + 1) * (_rgamma_slope(k + 1) * last - first * slope)
    by_n = where(ans == 0, zero_n, ans * (digamma(n + 1) - digamma(n - k + 1)))
    return by_n, where(ans == 0, zero_k, ans * (digamma(n - k + 1) - digamma(k + 1)))


polygamma = ScalarFunction("polygamma", 2, sp.polygamma)
zeta = ScalarFunction("zeta", 2, sp.zeta)

_rule(sp.gamma, lambda ans, x: ans * digamma(x))
_rule(sp.gammaln, lambda ans, x: digamma(x))
_rule(sp.loggamma, lambda ans, x: where(x < 0, math.nan, digamma(x)))
_rule(sp.psi, lambda ans, x: polygamma_of_integer(1, x))
_rule(polygamma, lambda ans, n, x: (BY_ORDER, polygamma(n + 1, x)))
_rule(zeta, lambda ans, s, q: (aux.zeta_by_exponent(s, q), -s * zeta(s + 1, q)))
_rule(
    aux.zeta_by_exponent,
    lambda ans, s, q: (SECOND_BY_PARAMETER, -zeta(s + 1, q) - s * aux.zeta_by_exponent(s + 1, q)),
)
_rule(sp.rgamma, lambda ans, x: _rgamma_slope(x))
_rule(sp.poch, _poch)
_rule(sp.binom, _binom)


def _with_sum(a, b):
    """The partials of log(beta(a, b)): 5.12.1."""
    return digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)


_rule(sp.betaln, lambda ans, a, b: _with_sum(a, b))
_rule(sp.beta, lambda ans, a, b: tuple(ans * partial for partial in _with_sum(a, b)))

# Incomplete gamma and beta functions: 8.8.13, 8.17.1


def _density_by_order(ans, a, x):
    """ans * (log(x) - psi(a)), near the poles of psi by the derivative of 1 / gamma(a)."""
    near = math.exp(sp.xlogy(a - 1, x) - x) * _rgamma_slope(a)
    return sp.xlogy(ans, x) + where(a < 0.5, near, -ans * digamma(a))


def _beta_density_by_x(a, b, x):
    """At an end by densities of other orders, which cancel where a + b = 1 and are infinite for a < 1."""
    at_end = (a + b - 1) * (beta_density(a - 1, b, x) - beta_density(a, b - 1, x))
    within = beta_density(a, b, x) * ((a - 1) / x - (b - 1) / (1 - x))
    return where(x == 0, at_end, where(x == 1, at_end, within))


_rule(
    gamma_density,
    lambda ans, a, x: (_density_by_order(ans, a, x), gamma_density(a - 1, x) - ans),
)
_rule(
    gammainc_by_order,
    lambda ans, a, x: (SECOND_BY_ORDER, _density_by_order(gamma_density(a, x), a, x)),
)
_rule(sp.gammainc, lambda ans, a, x: (gammainc_by_order(a, x), gamma_density(a, x)))
_rule(sp.gammaincc, lambda ans, a, x: (-gammainc_by_order(a, x), -gamma_density(a, x)))
_rule(
    sp.gammaincinv,
    lambda ans, a, y: (
        -gammainc_by_order(a, ans) / gamma_density(a, ans),
        1 / gamma_density(a, ans),
    ),
)
_rule(
    gamma_drawn,
    lambda ans, x, a: (
        1,
        where(ans == 0, 0, -gammainc_by_order(a, ans) / gamma_density(a, ans)),
    ),
)
_rule(
    sp.gammainccinv,
    lambda ans, a, y: (
        -gammainc_by_order(a, ans) / gamma_density(a, ans),
        -1 / gamma_density(a, ans),
    ),
)
_rule(
    beta_density,
    lambda ans, a, b, x: (BY_PARAMETER, BY_PARAMETER, _beta_density_by_x(a, b, x)),
)
_rule(sp.betainc, lambda ans, a, b, x: (BY_PARAMETER, BY_PARAMETER, beta_density(a, b, x)))
_rule(sp.betaincc, lambda ans, a, b, x: (BY_PARAMETER, BY_PARAMETER, -beta_density(a, b, x)))
_rule(
    sp.betaincinv,
    lambda ans, a, b, y: (BY_PARAMETER, BY_PARAMETER, 1 / beta_density(a, b, ans)),
)

# Distribution functions: chi-square is gammainc(v / 2, x / 2), Student's has a beta density


def _student_density(v, t):
    return math.exp(-0.5 * (v + 1) * math.log1p(t * t / v) - sp.betaln(0.5 * v, 0.5)) / v**0.5


def _chi_square(fn, direction):
    def partials(ans, v, x):
        a, y = 0.5 * v, 0.5 * x
        return direction * 0.5 * gammainc_by_order(a, y), direction * 0.5 * gamma_density(a, y)

    _rule(fn, partials)


_chi_square(sp.chdtr, 1)
_chi_square(sp.chdtrc, -1)
_rule(sp.stdtr, lambda ans, v, t: (BY_PARAMETER, _student_density(v, t)))

# Bessel functions: 10.6.1, 10.29.1, 10.51.1, 10.51.4; Struve functions: 11.4.23, 11.4.25 to 11.4.26


def _cylinder(fn, first, second):
    """The rule of a function whose derivative is a sum of its neighbours in order."""
    _rule(fn, lambda ans, v, x: (BY_ORDER, first * fn(v - 1, x) + second * fn(v + 1, x)))


_cylinder(sp.jv, 0.5, -0.5)
_cylinder(sp.yv, 0.5, -0.5)
_cylinder(sp.iv, 0.5, 0.5)
_cylinder(sp.kv, -0.5, -0.5)
_rule(sp.yn, lambda ans, n, x: (BY_ORDER, 0.5 * (sp.yv(n - 1, x) - sp.yv(n + 1, x))))
_rule(sp.kn, lambda ans, n, x: (BY_ORDER, -0.5 * (sp.kv(n - 1, x) + sp.kv(n + 1, x))))
_rule(sp.j0, lambda ans, x: -sp.j1(x))
_rule(sp.y0, lambda ans, x: -sp.y1(x))
_rule(sp.i0, lambda ans, x: sp.i1(x))
_rule(sp.k0, lambda ans, x: -sp.k1(x))
_rule(sp.j1, lambda ans, x: 0.5 * (sp.j0(x) - sp.jv(2, x)))
_rule(sp.y1, lambda ans, x: 0.5 * (sp.y0(x) - sp.yv(2, x)))
_rule(sp.i1, lambda ans, x: 0.5 * (sp.i0(x) + sp.iv(2, x)))
_rule(sp.k1, lambda ans, x: -0.5 * (sp.k0(x) + sp.kv(2, x)))

# Scaled by exp(-|x|) or exp(x): for large x the sums cancel, and the asymptotic series serves


def _scaled_i(ans, v, x, neighbours):
    far = aux.scaled_bessel_derivative(1, v, x, -1)
    return where(x > 50 + v * v, far, neighbours - sign(x) * ans)


def _scaled_k(ans, v, x, neighbours):
    far = aux.scaled_bessel_derivative(1, v, x, 1)
    return where(x > 50 + v * v, far, ans - neighbours)


def _mean(fn, v, x):
    return 0.5 * (fn(v - 1, x) + fn(v + 1, x))


_rule(
    aux.scaled_bessel_derivative,
    lambda ans, n, v, x, sign: (0, BY_ORDER, aux.scaled_bessel_derivative(n + 1, v, x, sign), 0),
)
_rule(sp.ive, lambda ans, v, x: (BY_ORDER, _scaled_i(ans, v, x, _mean(sp.ive, v, x))))
_rule(sp.kve, lambda ans, v, x: (BY_ORDER, _scaled_k(ans, v, x, _mean(sp.kve, v, x))))
_rule(sp.i0e, lambda ans, x: _scaled_i(ans, 0, x, sp.i1e(x)))
_rule(sp.i1e, lambda ans, x: _scaled_i(ans, 1, x, 0.5 * (sp.i0e(x) + sp.ive(2, x))))
_rule(sp.k0e, lambda ans, x: _scaled_k(ans, 0, x, sp.k1e(x)))
_rule(sp.k1e, lambda ans, x: _scaled_k(ans, 1, x, 0.5 * (sp.k0e(x) + sp.kve(2, x))))


def _struve(fn, sign):
    def partials(ans, v, x):
        power = (0.5 * x) ** v * sp.rgamma(v + 1.5) / math.sqrt(math.pi)
        return BY_ORDER, 0.5 * (fn(v - 1, x) + sign * fn(v + 1, x) + power)

    _rule(fn, partials)


_struve(sp.struve, -1)
_struve(sp.modstruve, 1)


def _spherical(name, fn, below, above):
    """j, y, i and k of integer order; `below` and `above` are the signs of the neighbours."""
    made = ScalarFunction(name, 2, fn)

    def partials(ans, n, x):
        next_ = above * made(n + 1, x)
        both = (below * n * made(n - 1, x) + (n + 1) * next_) / (2 * n + 1)
        return BY_ORDER, where(n == 0, next_, both)

    _rule(made, partials)
    return made


spherical_jn = _spherical("spherical_jn", sp.spherical_jn, 1, -1)
spherical_yn = _spherical("spherical_yn", sp.spherical_yn, 1, -1)
spherical_in = _spherical("spherical_in", sp.spherical_in, 1, 1)
spherical_kn = _spherical("spherical_kn", sp.spherical_kn, -1, -1)

# Airy functions: 9.2.1

airy_ai, airy_aip = _output(sp.airy, 0, "airy_ai"), _output(sp.airy, 1, "airy_aip")
airy_bi, airy_bip = _output(sp.airy, 2, "airy_bi"), _output(sp.airy, 3, "airy_bip")
_rule(airy_ai, lambda ans, x: airy_aip(x))
_rule(airy_aip, lambda ans, x: x * airy_ai(x))
_rule(airy_bi, lambda ans, x: airy_bip(x))
_rule(airy_bip, lambda ans, x: x * airy_bi(x))

# Elliptic integrals, by the parameter m = k**2: 19.4.1, 19.4.2, 19.5.1, 19.5.2, 19.2.4, 19.2.5


def _is_small(m):
    return (m < 0.5) & (m > -0.5)


def _ellipk_slope(m, p):
    """By m = 1 - p; near m == 0, where the closed form is 0 / 0, by the hypergeometric function."""
    closed = (ellipe_of_complement(p) / p - sp.ellipkm1(p)) / (2 * m)
    near = 0.125 * math.pi * sp.hyp2f1(1.5, 1.5, 2, m)
    return where(_is_small(m), near, where(p == 0, math.inf, closed))


def _ellipe_slope(ans, m, p):
    near = -0.125 * math.pi * sp.hyp2f1(0.5, 1.5, 2, m)
    return where(_is_small(m), near, (ans - sp.ellipkm1(p)) / (2 * m))


_rule(sp.ellipk, lambda ans, m: _ellipk_slope(m, 1 - m))
_rule(sp.ellipkm1, lambda ans, p: -_ellipk_slope(1 - p, p))
_rule(sp.ellipe, lambda ans, m: _ellipe_slope(ans, m, 1 - m))
_rule(ellipe_of_complement, lambda ans, p: -_ellipe_slope(ans, 1 - p, p))


def _delta(phi, m):
    return math.sqrt(1 - m * math.sin(phi) * math.sin(phi))


_rule(sp.ellipkinc, lambda ans, phi, m: (1 / _delta(phi, m), ellipkinc_by_parameter(phi, m)))
_rule(sp.ellipeinc, lambda ans, phi, m: (_delta(phi, m), ellipeinc_by_parameter(phi, m)))
_rule(
    ellipkinc_by_parameter,
    lambda ans, phi, m: (0.5 * math.sin(phi) ** 2 / _delta(phi, m) ** 3, SECOND_BY_PARAMETER),
)
_rule(
    ellipeinc_by_parameter,
    lambda ans, phi, m: (-0.5 * math.sin(phi) ** 2 / _delta(phi, m), SECOND_BY_PARAMETER),
)

# Exponential, trigonometric and related integrals: 6.2.1 to 6.2.16, 7.2.7, 7.2.8, 8.19.13, 25.12.2

fresnel_s, fresnel_c = _output(sp.fresnel, 0, "fresnel_s"), _output(sp.fresnel, 1, "fresnel_c")
sici_si, sici_ci = _output(sp.sici, 0, "sici_si"), _output(sp.sici, 1, "sici_ci")
shichi_shi, shichi_chi = _output(sp.shichi, 0, "shichi_shi"), _output(sp.shichi, 1, "shichi_chi")
_rule(fresnel_s, lambda ans, x: math.sin(0.5 * math.pi * (x * x)))
_rule(fresnel_c, lambda ans, x: math.cos(0.5 * math.pi * (x * x)))
_rule(sici_si, lambda ans, x: sinc_derivative(0, x))
_rule(sici_ci, lambda ans, x: math.cos(x) / x)
_rule(
    shichi_shi,
    lambda ans, x: 0.5 * (aux.exprel_derivative(0, x) + aux.exprel_derivative(0, -x)),
)
_rule(shichi_chi, lambda ans, x: math.cosh(x) / x)
_rule(sp.expi, lambda ans, x: math.exp(x) / x)
_rule(sp.exp1, lambda ans, x: -math.exp(-x) / x)
_rule(
    sp.expn,
    lambda ans, n, x: (BY_ORDER, where(n == 0, -ans * (1 + 1 / x), -sp.expn(n - 1, x))),
)
_rule(
    sp.spence,
    lambda ans, z: where(z < 0.5, np.log(z) / (1 - z), -aux.log1prel_derivative(0, z - 1)),
)

# Hypergeometric functions: 15.5.1, 13.3.15, 16.3.1

_rule(
    sp.hyp2f1,
    lambda ans, a, b, c, z: (
        *(BY_PARAMETER, BY_PARAMETER, BY_PARAMETER),
        a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z),
    ),
)
_rule(
    sp.hyp1f1,
    lambda ans, a, b, z: (BY_PARAMETER, BY_PARAMETER, a / b * sp.hyp1f1(a + 1, b + 1, z)),
)
_rule(sp.hyp0f1, lambda ans, b, z: (BY_PARAMETER, sp.hyp0f1(b + 1, z) / b))

# Lambert's W: 4.13.4


def _real_lambertw(x):
    """The principal branch of Lambert's W of real numbers, as real numbers; nan below -1/e."""
    w = sp.lambertw(x)
    return np.where(w.imag == 0, w.real, np.nan)[()]


lambertw = ScalarFunction("lambertw", 1, _real_lambertw)
_rule(lambertw, lambda ans, x: math.exp(-ans) / (1 + ans))
_rule(sp.wrightomega, lambda ans, x: ans / (1 + ans))
