"""Inputs of every special function with a rule, and the function itself in mpmath: the oracle."""

from collections.abc import Callable
from dataclasses import dataclass

import scipy.special as sp
from mpmath import mp, mpf

import numbad.special as ns


@dataclass(frozen=True)
class Case:
    """One function and where it is smooth.

    points: arguments, in which the function is smooth
    constants: positions of arguments that it is not differentiated by
    once: positions of arguments that it is differentiated by once alone
    rtol, second: relative errors of first and second derivatives, beyond what an error of 1e-14 in
        another derivative explains
    """

    fn: Callable
    exact: Callable
    points: tuple
    constants: tuple = ()
    once: tuple = ()
    rtol: float = 1e-12
    second: float = 1e-10

    def __str__(self):
        return self.fn.__name__


CASES = []


def case(fn, exact, *points, **details):
    points = tuple(p if isinstance(p, tuple) else (p,) for p in points)
    CASES.append(Case(fn, exact, points, **details))


def order(fn, exact, *points, **details):
    """A case of a function of an order, which is constant, and a number."""
    case(fn, exact, *points, constants=(0,), **details)


SQRT2 = mp.sqrt(2)


def dawson(x):
    return mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def distribution(x):
    return mp.erfc(-x / SQRT2) / 2


def entropy(x):
    return -x * mp.log(x)


EVERYWHERE = (-3.1, -0.7, 0.0, 1e-9, 0.4, 2.2)

# Error functions

case(sp.erf, mp.erf, *EVERYWHERE, 9.0)
case(sp.erfc, mp.erfc, *EVERYWHERE, 9.0)
case(sp.erfi, mp.erfi, *EVERYWHERE)
case(sp.erfcx, erfcx, *EVERYWHERE, 0.39, 0.41, 7.0, 25.0)
case(sp.dawsn, dawson, *EVERYWHERE, 5.1, 6.4, 6.6, -20.0)
case(sp.erfinv, mp.erfinv, -0.99, -0.3, 0.0, 0.5, 0.999)
case(sp.erfcinv, lambda y: mp.erfinv(1 - y), 0.01, 0.4, 1.0, 1.9)
case(sp.ndtr, distribution, *EVERYWHERE, -9.0, 9.0)
case(sp.log_ndtr, lambda x: mp.log(distribution(x)), *EVERYWHERE, -100.0, 8.0, rtol=3e-12)
case(sp.ndtri, lambda y: SQRT2 * mp.erfinv(2 * y - 1), 0.01, 0.3, 0.5, 0.99)
case(
    sp.owens_t,
    lambda h, a: mp.quad(
        lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t) / (2 * mp.pi), [0, a]
    ),
    *((0.3, 0.7), (-1.2, 2.0), (0.0, 1.0)),
)

# Gamma functions

case(sp.gamma, mp.gamma, 0.3, 1.0, 4.7, 30.2, -0.4, -3.7)
case(sp.gammaln, lambda x: mp.log(abs(mp.gamma(x))), 0.3, 1.0, 4.7, 1e5, -0.4, -3.7)
case(sp.loggamma, mp.loggamma, 0.3, 1.0, 4.7, 1e5)
case(sp.psi, mp.digamma, 0.3, 1.0, 4.7, 1e5, -0.4, -3.7)
order(ns.polygamma, lambda n, x: mp.polygamma(int(n), x), (0, 1.3), (1, 0.4), (3, 4.7), (2.0, 20.5))
case(
    ns.zeta,
    mp.zeta,
    *((1.5, 1.0), (2.0, 0.3), (4.2, 7.5), (1.01, 3.0), (9.5, 30.0)),
    once=(0,),
)
case(sp.rgamma, mp.rgamma, 0.3, 1.0, 4.7, 20.2, -0.4, -3.7, 0.0, -1.0, -2.0)
case(
    sp.poch,
    lambda x, m: mp.gamma(x + m) / mp.gamma(x),
    *((0.7, 2.0), (3.2, 1.7), (-0.6, 0.3), (5.0, -1.5), (2.0, 3.0)),
)
case(sp.poch, mp.rf, (0.0, 3.0), (-1.0, 3.0), (-5.0, 2.0), (-0.0, 2.5), constants=(1,))
case(
    sp.binom,
    mp.binomial,
    *((5.0, 2.0), (7.3, 1.8), (2.5, 4.2), (0.4, 0.3), (3.0, 4.0), (3.0, -1.0)),
)
case(sp.beta, mp.beta, (0.4, 1.7), (3.0, 2.0), (12.5, 0.3))
case(sp.betaln, lambda a, b: mp.log(mp.beta(a, b)), (0.4, 1.7), (3.0, 2.0), (12.5, 0.3))


def lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper_gamma(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


GAMMA_POINTS = (
    (0.4, 0.2),
    (1.0, 0.7),
    (1.3, 4.0),
    (5.0, 4.0),
    (30.2, 25.0),
    (30.2, 40.0),
    (2.0, 0.01),
)
case(sp.gammainc, lower_gamma, *GAMMA_POINTS, once=(0,))
case(sp.gammaincc, upper_gamma, *GAMMA_POINTS, once=(0,))


def _inverse(distribution, start):
    """The inverse of a distribution function by its last argument."""

    def inverse(*arguments):
        *parameters, y = arguments
        guess = start(*map(float, arguments))
        return mp.findroot(lambda x: distribution(*parameters, x) - y, guess)

    return inverse


case(
    sp.gammaincinv,
    _inverse(lower_gamma, sp.gammaincinv),
    *((0.7, 0.3), (3.0, 0.6), (12.0, 0.2)),
    constants=(0,),
)
case(
    sp.gammainccinv,
    _inverse(upper_gamma, sp.gammainccinv),
    *((0.7, 0.3), (3.0, 0.6), (12.0, 0.2)),
    constants=(0,),
)


def lower_beta(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


case(
    sp.betainc,
    lower_beta,
    (0.4, 1.7, 0.3),
    (3.0, 2.0, 0.9),
    (0.5, 0.5, 0.1),
    (1.0, 1.0, 0.5),
    (2.0, 1.0, 0.0),
    constants=(0, 1),
)
case(
    sp.betaincc, lambda *at: 1 - lower_beta(*at), (0.4, 1.7, 0.3), (3.0, 2.0, 0.9), constants=(0, 1)
)
case(
    sp.betaincinv,
    _inverse(lower_beta, sp.betaincinv),
    *((0.4, 1.7, 0.6), (3.0, 2.0, 0.2), (0.5, 0.5, 0.3)),
    constants=(0, 1),
)

case(sp.chdtr, lambda v, x: lower_gamma(v / 2, x / 2), (3.0, 2.5), (7.5, 20.0), once=(0,))
case(sp.chdtrc, lambda v, x: upper_gamma(v / 2, x / 2), (3.0, 2.5), (7.5, 20.0), once=(0,))
order(
    sp.stdtr,
    lambda v, t: 1 - lower_beta(v / 2, mpf(1) / 2, v / (v + t * t)) / 2,
    *((3.0, 0.4), (1.0, 2.0), (60.5, 0.1)),
)

# Bessel functions

REAL_ORDERS = ((0, 0.7), (1, 2.3), (3, 1.1), (0.5, 2.0), (-1.3, 1.7), (2.7, 11.0))
LARGE = {"rtol": 3e-12, "second": 1e-9}

order(sp.jv, mp.besselj, *REAL_ORDERS, (2, -1.5), (0, 0.0), (1, 0.0), (2, 0.0), (4, 30.0))
order(sp.yv, mp.bessely, *REAL_ORDERS)
order(sp.iv, mp.besseli, *REAL_ORDERS, (2, -1.5), (0, 0.0), (1, 0.0))
order(sp.kv, mp.besselk, *REAL_ORDERS)
order(sp.yn, mp.bessely, (0, 0.7), (3, 2.5))
order(sp.kn, mp.besselk, (0, 0.7), (3, 2.5))
order(
    sp.ive,
    lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)),
    *REAL_ORDERS,
    (2, -1.5),
    (2, 55.0),
    (0.5, 1e8),
    **LARGE,
)
order(
    sp.kve,
    lambda v, x: mp.besselk(v, x) * mp.exp(x),
    *REAL_ORDERS,
    (2, 53.0),
    (2, 55.0),
    (0.5, 1e8),
    **LARGE,
)
for _n, _suffix in ((0, "0"), (1, "1")):
    _at = (0.7, 2.3, 11.0)
    case(getattr(sp, f"j{_suffix}"), lambda x, n=_n: mp.besselj(n, x), *_at, -1.4, 0.0)
    case(getattr(sp, f"y{_suffix}"), lambda x, n=_n: mp.bessely(n, x), *_at)
    case(getattr(sp, f"i{_suffix}"), lambda x, n=_n: mp.besseli(n, x), *_at, -1.4, 0.0)
    case(getattr(sp, f"k{_suffix}"), lambda x, n=_n: mp.besselk(n, x), *_at)
    case(
        getattr(sp, f"i{_suffix}e"),
        lambda x, n=_n: mp.besseli(n, x) * mp.exp(-abs(x)),
        *(*_at, -1.4, 1e6),
        **LARGE,
    )
    case(getattr(sp, f"k{_suffix}e"), lambda x, n=_n: mp.besselk(n, x) * mp.exp(x), *_at, **LARGE)
order(sp.struve, mp.struveh, (0, 0.7), (1.5, 2.3), (2, 5.0))
order(sp.modstruve, mp.struvel, (0, 0.7), (1.5, 2.3), (2, 5.0))


def spherical(function, sign=1):
    return lambda n, x: sign * mp.sqrt(mp.pi / (2 * x)) * function(n + mpf(1) / 2, x)


AT_INTEGERS = ((0, 0.7), (1, 2.3), (3, 4.0))
order(ns.spherical_jn, spherical(mp.besselj), *AT_INTEGERS)
order(ns.spherical_yn, spherical(mp.bessely), *AT_INTEGERS)
order(ns.spherical_in, spherical(mp.besseli), *AT_INTEGERS)
order(ns.spherical_kn, spherical(mp.besselk), *AT_INTEGERS)

case(ns.airy_ai, mp.airyai, -2.5, 0.0, 0.4, 3.0)
case(ns.airy_aip, lambda x: mp.airyai(x, derivative=1), -2.5, 0.0, 0.4, 3.0)
case(ns.airy_bi, mp.airybi, -2.3, 0.0, 0.4, 3.0)
case(ns.airy_bip, lambda x: mp.airybi(x, derivative=1), -2.5, 0.0, 0.4, 3.0)

# Elliptic integrals

PARAMETERS = (-30.0, -0.6, -0.4, 0.0, 1e-9, 0.3, 0.49, 0.51, 0.9, 0.999999)
case(sp.ellipk, mp.ellipk, *PARAMETERS)
case(sp.ellipe, mp.ellipe, *PARAMETERS)
case(sp.ellipkm1, lambda p: mp.pi / 2 / mp.agm(1, mp.sqrt(p)), 1e-30, 1e-6, 0.1, 0.6, 1.0, 1.3, 5.0)
INCOMPLETE = ((0.3, 0.7), (-1.2, 0.0), (1.5, -4.0), (4.0, 0.3), (0.7, 1.0), (-8.0, 0.9), (0.0, 0.5))
case(sp.ellipkinc, mp.ellipf, *INCOMPLETE, once=(1,))
case(sp.ellipeinc, mp.ellipe, *INCOMPLETE, once=(1,))

# Integrals and hypergeometric functions

case(ns.fresnel_s, mp.fresnels, *EVERYWHERE)
case(ns.fresnel_c, mp.fresnelc, *EVERYWHERE)
case(ns.sici_si, mp.si, *EVERYWHERE, 20.0)
case(ns.sici_ci, mp.ci, 0.1, 1.0, 7.0)
case(ns.shichi_shi, mp.shi, *EVERYWHERE)
case(ns.shichi_chi, mp.chi, 0.1, 1.0, 7.0)
case(sp.expi, lambda x: mp.ei(x).real, -4.0, -0.3, 0.1, 2.0, 20.0)
case(sp.exp1, mp.e1, 0.1, 2.0, 20.0)
order(sp.expn, mp.expint, (0, 0.7), (1, 2.0), (2, 0.3), (5, 1.5))
case(sp.spence, lambda z: mp.polylog(2, 1 - z).real, 0.01, 0.5, 0.999999, 1.0, 1.5, 1.999)
case(
    sp.hyp2f1,
    mp.hyp2f1,
    *((0.5, 1.2, 2.3, 0.4), (1.0, 2.0, 3.5, -0.7), (-2.0, 1.5, 0.5, 0.3)),
    constants=(0, 1, 2),
)
case(
    sp.hyp1f1,
    mp.hyp1f1,
    *((0.5, 1.2, 0.4), (1.0, 2.0, -3.5), (-2.0, 1.5, 0.5)),
    constants=(0, 1),
)
order(sp.hyp0f1, mp.hyp0f1, (0.5, 0.4), (2.0, -3.5))
case(ns.lambertw, lambda x: mp.lambertw(x).real, -0.35, -0.2, 0.0, 1e-9, 1.0, 30.0)
case(sp.wrightomega, lambda x: mp.lambertw(mp.exp(x)), -3.0, 0.0, 1.0, 10.0)

case(sp.expm1, mp.expm1, *EVERYWHERE)
case(sp.log1p, mp.log1p, -0.7, 0.0, 1e-9, 4.0)
case(sp.exp2, lambda x: mpf(2) ** x, *EVERYWHERE)
case(sp.exp10, lambda x: mpf(10) ** x, *EVERYWHERE)
case(sp.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), -2.5, 1e-9, 0.4)

# Logistic function, entropy, losses, power transforms

case(sp.expit, lambda x: 1 / (1 + mp.exp(-x)), *EVERYWHERE, -50.0, 50.0)
case(sp.log_expit, lambda x: -mp.log1p(mp.exp(-x)), *EVERYWHERE, -50.0, 50.0)
case(sp.logit, lambda p: mp.log(p / (1 - p)), 1e-9, 0.2, 0.5, 0.999)
case(sp.xlogy, lambda x, y: x * mp.log(y), (0.7, 2.0), (-1.2, 0.3), (0.0, 2.0))
case(sp.xlog1py, lambda x, y: x * mp.log1p(y), (0.7, 2.0), (-1.2, -0.3), (0.0, 2.0), (2.0, 1e-9))
case(sp.entr, entropy, 1e-9, 0.3, 1.0, 5.0)
case(sp.rel_entr, lambda x, y: x * mp.log(x / y), (0.7, 2.0), (1.2, 0.3), (1.0, 1 + 1e-9))
case(
    sp.kl_div,
    lambda x, y: x * mp.log(x / y) - x + y,
    *((0.7, 2.0), (1.2, 0.3), (1.0, 1 + 1e-9), (0.7, 0.6)),
)
case(sp.exprel, lambda x: mp.expm1(x) / x if x else mpf(1), *EVERYWHERE[:2], 1e-9, 0.4, 20.0, -70.0)
case(sp.cosm1, lambda x: mp.cos(x) - 1, *EVERYWHERE)
case(
    sp.huber,
    lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
    *((1.0, 0.3), (1.0, -0.3), (0.5, 2.0), (0.5, -2.0)),
)
case(
    sp.pseudo_huber,
    lambda d, r: d * (mp.hypot(d, r) - d),
    *((1.0, 0.3), (1.0, -0.3), (0.5, 2.0), (3.0, 1e-7), (0.5, 0.0), (0.0, 2.0)),
)


def boxcox(x, power):
    return mp.expm1(power * mp.log(x)) / power if power else mp.log(x)


def inv_boxcox(y, power):
    return mp.exp(mp.log1p(power * y) / power) if power else mp.exp(y)


POWERS = ((0.7, 2.0), (2.5, -0.5), (3.0, 1e-9), (0.2, 0.4))
case(sp.boxcox, boxcox, *POWERS, (1.0, 0.3))
case(sp.boxcox1p, lambda x, power: boxcox(1 + x, power), *POWERS, (1e-9, 0.3))
case(sp.inv_boxcox, inv_boxcox, (0.7, 2.0), (-0.5, -0.5), (3.0, 1e-9), (0.2, 0.4))
case(
    sp.inv_boxcox1p,
    lambda y, power: inv_boxcox(y, power) - 1,
    *((0.7, 2.0), (-0.5, -0.5), (3.0, 1e-9), (0.2, 0.4)),
)
