"""Inputs, domains and kinks of every scalar rule; the tests of every mode read them.

`exact` is the function itself in mpmath, never its derivative, so that a case is an oracle that
does not know the rule.
"""

import cmath
import math
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
from mpmath import mp

from numbad.rules.special import digamma, polygamma, sinc_derivative

INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Case:
    """One function of scalars, as called with `len(domain)` arguments.

    domain: `(low, high)` of each argument, within which the function is smooth almost everywhere
    points: further arguments at which it is smooth
    kinks: arguments -> the partials that the documentation promises there
    integers: positions of arguments that are integers, and constants
    holomorphic: whether the same holds for complex arguments in this call
    atol: what an error of one ulp in `ans` may do to a partial
    """

    fn: Callable
    exact: Callable
    domain: tuple
    points: tuple = ()
    kinks: tuple = ()
    integers: tuple = ()
    holomorphic: bool = False
    atol: float = 0.0

    def __str__(self):
        fn = getattr(self.fn, "py_func", self.fn)
        module = getattr(fn, "__module__", None) or "numpy"
        return f"{module}.{fn.__name__}/{len(self.domain)}"

    def samples(self, count=6):
        """`count` seeded random arguments within the domain, then the special points."""
        draw = random.Random(f"{self}")
        drawn = tuple(self._draw(draw) for _ in range(count))
        return drawn + self.points

    def complex_samples(self, count=6):
        """`count` seeded random complex arguments off the branch cuts."""
        draw = random.Random(f"complex {self}")
        return tuple(
            tuple(complex(draw.uniform(0.1, 1.9), draw.uniform(0.1, 2.0)) for _ in self.domain)
            for _ in range(count)
        )

    def _draw(self, draw):
        return tuple(
            draw.randint(low, high) if k in self.integers else draw.uniform(low, high)
            for k, (low, high) in enumerate(self.domain)
        )


CASES = []


def _case(fns, exact, *domain, holomorphic=False, **details):
    """The same case for every spelling of one function; those of `math` take no complex number."""
    for fn in fns if isinstance(fns, tuple) else (fns,):
        takes_complex = holomorphic and getattr(fn, "__module__", None) != "math"
        CASES.append(Case(fn, exact, domain, holomorphic=takes_complex, **details))


ANY, POSITIVE, UNIT = (-10.0, 10.0), (0.01, 10.0), (-0.99, 0.99)

# Arithmetic

_case((operator.add, operator.iadd, np.add), operator.add, ANY, ANY, holomorphic=True)
_case((operator.sub, operator.isub, np.subtract), operator.sub, ANY, ANY, holomorphic=True)
_case(
    (operator.mul, operator.imul, np.multiply),
    operator.mul,
    *(ANY, ANY),
    points=((0.0, 0.0), (0.0, 3.0), (1e200, 1e100)),
    holomorphic=True,
)
_case(
    (operator.truediv, operator.itruediv, np.divide),
    operator.truediv,
    *(ANY, POSITIVE),
    points=((0.0, -2.0), (2.0**-990, 2.0**-490), (1e200, 2.0**500)),
    kinks=(((1.0, 0.0), (INF, -INF)),),
    holomorphic=True,
)
_case((operator.neg, np.negative), operator.neg, ANY, points=((0.0,),), holomorphic=True)
_case((operator.pos, np.positive), operator.pos, ANY, points=((0.0,),), holomorphic=True)
_case(np.reciprocal, lambda x: 1 / x, POSITIVE, points=((-3.0,), (1e150,)), holomorphic=True)
_case(np.square, lambda x: x * x, ANY, points=((0.0,), (1e-170,)), holomorphic=True)
_case(
    (operator.mod, operator.imod, np.remainder),
    lambda x, y: x - y * mp.floor(x / y),
    *(ANY, POSITIVE),
    points=((7.3, -2.0), (-7.3, 2.0), (-7.3, -2.0), (1.0, 0.1), (0.3, 0.1), (1e15 + 0.5, 3.0)),
)
_case(
    np.fmod,
    lambda x, y: x - y * _truncated(x / y),
    *(ANY, POSITIVE),
    points=((7.3, -2.0), (-7.3, 2.0), (-7.3, -2.0), (1.0, 0.1), (-1.0, 0.1)),
)


def _truncated(x):
    return mp.sign(x) * mp.floor(abs(x))


# Powers

_case(
    (operator.pow, operator.ipow, pow, math.pow, np.power, np.float_power),
    operator.pow,
    *(POSITIVE, (-3.0, 3.0)),
    points=((2.0, 0.0), (1.0, 0.0), (1.0, 2.0), (3.0, 1.0), (1e-3, 2.0), (1e100, 2.5)),
    kinks=(
        ((0.0, 0.0), (0.0, -INF)),
        ((0.0, 0.5), (INF, 0.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        ((0.0, 1.5), (0.0, 0.0)),
        ((0.0, 2.0), (0.0, 0.0)),
        ((0.0, 3.0), (0.0, 0.0)),
        ((-2.0, 3.0), (12.0, NAN)),
        ((-2.0, -1.0), (-0.25, NAN)),
        ((-2.0, 0.0), (0.0, NAN)),
    ),
    holomorphic=True,
)
_case(
    (math.sqrt, np.sqrt, cmath.sqrt),
    mp.sqrt,
    POSITIVE,
    points=((1e-300,), (1e300,)),
    kinks=(((0.0,), (INF,)),),
    holomorphic=True,
)
_case(
    np.cbrt,
    lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    ANY,
    points=((-8.0,), (1e-290,), (1e300,)),
    kinks=(((0.0,), (INF,)),),
)
_case(
    (math.hypot, np.hypot),
    mp.hypot,
    *(ANY, ANY),
    points=((0.0, 3.0), (-3.0, 0.0), (3e200, 4e200), (3e-200, 4e-200)),
    kinks=(((0.0, 0.0), (0.0, 0.0)),),
)

# Exponentials and logarithms

FAR = ((0.0,), (1e-20,), (-30.0,), (30.0,))

_case((math.exp, np.exp, cmath.exp), mp.exp, ANY, points=FAR, holomorphic=True)
_case((math.exp2, np.exp2), lambda x: mpmath.mpf(2) ** x, ANY, points=FAR, holomorphic=True)
_case((math.expm1, np.expm1), mp.expm1, ANY, points=(*FAR, (-60.0,)), holomorphic=True)
_case(
    (math.log, np.log, cmath.log),
    mp.log,
    POSITIVE,
    points=((1.0,), (1e-300,), (1e300,)),
    kinks=(((0.0,), (INF,)),),
    holomorphic=True,
)
_case(cmath.log, mp.log, POSITIVE, (1.1, 9.0), holomorphic=True)
_case((math.log2, np.log2), lambda x: mp.log(x, 2), POSITIVE, holomorphic=True)
_case((math.log10, np.log10, cmath.log10), mp.log10, POSITIVE, holomorphic=True)
_case(
    (math.log1p, np.log1p),
    mp.log1p,
    (-0.99, 10.0),
    points=((1e-20,), (-1 + 2.0**-50,)),
    kinks=(((-1.0,), (INF,)),),
    holomorphic=True,
)
_case(
    np.logaddexp,
    lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
    *(ANY, ANY),
    points=((1.0, 1.0), (1000.0, 990.0), (-1000.0, -999.0), (30.0, -30.0)),
    kinks=(
        ((INF, 1.0), (1.0, 0.0)),
        ((1.0, INF), (0.0, 1.0)),
        ((-INF, 1.0), (0.0, 1.0)),
        ((-INF, -INF), (0.5, 0.5)),
        ((INF, INF), (0.5, 0.5)),
    ),
)
_case(
    np.logaddexp2,
    lambda x, y: mp.log(mpmath.mpf(2) ** x + mpmath.mpf(2) ** y, 2),
    *(ANY, ANY),
    points=((1.0, 1.0), (1000.0, 990.0), (-1000.0, -999.0)),
    kinks=(((INF, 1.0), (1.0, 0.0)), ((-INF, -INF), (0.5, 0.5))),
)

# Trigonometric and hyperbolic functions

_case((math.sin, np.sin, cmath.sin), mp.sin, ANY, points=((0.0,), (1e5,)), holomorphic=True)
_case((math.cos, np.cos, cmath.cos), mp.cos, ANY, points=((1e-9,), (1e5,)), holomorphic=True)
_case((math.tan, np.tan, cmath.tan), mp.tan, ANY, points=((0.0,), (1.57,)), holomorphic=True)
_case((math.sinh, np.sinh, cmath.sinh), mp.sinh, ANY, points=FAR, holomorphic=True)
_case((math.cosh, np.cosh, cmath.cosh), mp.cosh, ANY, points=FAR, holomorphic=True)
_case((math.tanh, np.tanh, cmath.tanh), mp.tanh, ANY, points=FAR, holomorphic=True, atol=4e-16)
_case(
    (math.asin, np.arcsin, cmath.asin),
    mp.asin,
    UNIT,
    points=((0.0,), (1 - 2.0**-50,), (-1 + 2.0**-50,)),
    kinks=(((1.0,), (INF,)), ((-1.0,), (INF,))),
    holomorphic=True,
)
_case(
    (math.acos, np.arccos, cmath.acos),
    mp.acos,
    UNIT,
    points=((0.0,), (1 - 2.0**-50,), (-1 + 2.0**-50,)),
    kinks=(((1.0,), (-INF,)), ((-1.0,), (-INF,))),
    holomorphic=True,
)
_case((math.atan, np.arctan, cmath.atan), mp.atan, ANY, points=((0.0,), (1e9,)), holomorphic=True)
_case(
    (math.asinh, np.arcsinh, cmath.asinh),
    mp.asinh,
    ANY,
    points=(*FAR, (1e200,), (-1e200,)),
    holomorphic=True,
)
_case(
    (math.acosh, np.arccosh, cmath.acosh),
    mp.acosh,
    (1.01, 10.0),
    points=((1 + 2.0**-50,), (1e200,)),
    kinks=(((1.0,), (INF,)),),
    holomorphic=True,
)
_case(
    (math.atanh, np.arctanh, cmath.atanh),
    mp.atanh,
    UNIT,
    points=((0.0,), (1 - 2.0**-50,), (-1 + 2.0**-50,)),
    kinks=(((1.0,), (INF,)), ((-1.0,), (INF,))),
    holomorphic=True,
)
_case(
    (math.atan2, np.arctan2),
    mp.atan2,
    *(ANY, ANY),
    points=((0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (3e200, 4e200), (3e-200, 4e-200)),
    kinks=(((0.0, 0.0), (NAN, NAN)), ((0.0, -2.0), (-0.5, 0.0))),
)
_case((math.degrees, np.degrees, np.rad2deg), mp.degrees, ANY)
_case((math.radians, np.radians, np.deg2rad), mp.radians, ANY)


def exact_sinc_derivative(n, x):
    """Expanded in powers of `x`, with digits enough for the terms to cancel."""
    with mp.workdps(mp.dps + 20 + int(abs(x))):
        quarter = (1, 0, -1, 0)
        return mp.nsum(
            lambda m: x**m / mp.factorial(m) * quarter[int(m + n) % 4] / (m + n + 1),
            [0, 40 + 4 * int(abs(x)) + mp.dps],
        )


_case(np.sinc, mp.sincpi, ANY, points=((0.0,), (1e-9,), (0.1,), (-1e-3,)), holomorphic=True)
_case(
    sinc_derivative,
    exact_sinc_derivative,
    *((0, 4), (-8.0, 8.0)),
    points=((0, 1e-9), (1, 1e-9), (2, 0.0), (3, 2.5)),
    integers=(0,),
    atol=1e-15,
)

# Special functions

GAMMA = ((0.5,), (1.0,), (-0.5,), (-3.7,), (1e-5,), (30.5,))


def exact_gamma(x):
    """The gamma function, as far as floats go: of 1e12, say, mpmath makes all digits."""
    if x > 1000:
        raise OverflowError("math range error")
    return mp.gamma(x)


_case(math.erf, mp.erf, (-4.0, 4.0), points=((0.0,), (1e-20,), (5.0,)))
_case(math.erfc, mp.erfc, (-4.0, 4.0), points=((0.0,), (8.0,)))
_case(math.gamma, exact_gamma, POSITIVE, points=GAMMA)
_case(math.lgamma, lambda x: mp.re(mp.loggamma(x)), POSITIVE, points=(*GAMMA, (1e10,)))
_case(digamma, mp.digamma, POSITIVE, points=GAMMA)
_case(
    polygamma,
    lambda n, x: mp.psi(int(n), x),
    *((0, 4), POSITIVE),
    points=((0, 0.5), (1, -0.3), (3, -2.6), (1, 60.0)),
    integers=(0,),
)

# Piecewise functions

_case(
    (abs, math.fabs, np.absolute, np.fabs),
    abs,
    ANY,
    points=((1e-300,), (-1e300,)),
    kinks=(((0.0,), (0.0,)), ((-0.0,), (0.0,))),
)
_case(np.sign, mp.sign, ANY, kinks=(((0.0,), (0.0,)),))
_case(
    (math.copysign, np.copysign),
    lambda x, y: abs(x) * mp.sign(y),
    *(ANY, ANY),
    points=((2.0, -3.0), (-2.0, -3.0)),
    kinks=(((0.0, 1.0), (0.0, 0.0)), ((2.0, -0.0), (-1.0, 0.0))),
)
TIES = (((1.0, 1.0), (1.0, 0.0)), ((0.0, -0.0), (1.0, 0.0)), ((-0.0, 0.0), (1.0, 0.0)))
ONE_NAN = (((NAN, 1.0), (0.0, 1.0)), ((1.0, NAN), (1.0, 0.0)))

_case(np.maximum, max, ANY, ANY, kinks=TIES)
_case(np.minimum, min, ANY, ANY, kinks=TIES)
_case(np.fmax, max, ANY, ANY, kinks=TIES + ONE_NAN)
_case(np.fmin, min, ANY, ANY, kinks=TIES + ONE_NAN)
_case(np.nan_to_num, lambda x: x, ANY, kinks=(((INF,), (0.0,)), ((NAN,), (0.0,))))
_case((math.nextafter, np.nextafter), lambda x, y: x, ANY, ANY, kinks=(((1.0, 1.0), (1.0, 0.0)),))
_case(
    (math.ldexp, np.ldexp),
    lambda x, i: x * mpmath.mpf(2) ** i,
    *(ANY, (-40, 40)),
    points=((0.0, 3), (-1.5, -1000)),
    integers=(1,),
)
