"""Partial derivatives of functions of scalars, one line a function, used by every mode.

Formulas: NIST Digital Library of Mathematical Functions, chapters 4 (elementary), 5 (gamma) and
7 (error function). Forms are chosen to neither cancel nor overflow where another form does not;
where one needs the function's value again, it is `ans`. At kinks the derivative is that of the
branch which the function takes, 0 for `abs` at 0, and the first argument's for a tie.
"""

import cmath
import math
import operator

import numpy as np

from numbad.rules.expression import Const, where
from numbad.rules.registry import HOLOMORPHIC, SCALAR, ScalarRule
from numbad.rules.special import digamma, polygamma, sinc_derivative

LN2, LN10, TWO_OVER_SQRT_PI = math.log(2.0), math.log(10.0), 2.0 / math.sqrt(math.pi)


def _rule(fns, partials, complex_partials=None):
    """The same partials for every spelling of one function."""
    for fn in fns if isinstance(fns, tuple) else (fns,):
        SCALAR[fn] = ScalarRule(fn, partials, complex_partials)


# Arithmetic

_rule((operator.add, operator.iadd, np.add), lambda ans, x, y: (1, 1))
_rule((operator.sub, operator.isub, np.subtract), lambda ans, x, y: (1, -1))
_rule((operator.mul, operator.imul, np.multiply), lambda ans, x, y: (y, x))
_rule((operator.truediv, operator.itruediv, np.divide), lambda ans, x, y: (1 / y, -ans / y))
_rule((operator.neg, np.negative), lambda ans, x: -1)
_rule((operator.pos, np.positive), lambda ans, x: 1)
_rule(
    np.reciprocal, lambda ans, x: -ans / x, lambda ans, x: -(ans * ans)
)  # complex `/` raises at 0
_rule(np.square, lambda ans, x: 2 * x)

# The quotient's integer part is taken from what the function itself returned: floor(x / y) can be
# one off, as for 1.0 % 0.1, where 1.0 / 0.1 rounds up to 10.0.
_rule(
    (operator.mod, operator.imod, np.remainder, np.fmod),
    lambda ans, x, y: (1, -np.rint((x - ans) / y)),
)


# Powers


def _power(ans, x, y):
    """At x == 0, where the general form is 0 * inf:

    by x, y == 0 gives 0 (x**0 is 1 everywhere); by y, y > 0 gives 0, written so that its own
    derivative by x is right as well: that is log(x) = -inf for y <= 1, and 0 for y > 1.
    """
    at_zero = where(y <= 1, -math.sqrt(x), 0)
    by_x = -ans / x if _is_one_over(y) else where((x == 0) & (y == 0), 0, y * x ** (y - 1))
    return by_x, where((x == 0) & (y > 0), at_zero, ans * math.log(x))


def _is_one_over(exponent):
    """Whether a power is 1 / x: its slope 1 / x**2 may be beyond what a float holds, not -ans / x."""
    return isinstance(exponent, Const) and exponent.value == -1


def _complex_power(ans, x, y):
    by_x = where((x == 0) & (y == 0), 0, y * x ** (y - 1))
    return by_x, where((x == 0) & (ans == 0), 0, ans * np.log(x))


POWERS = operator.pow, operator.ipow, pow, math.pow, np.power, np.float_power

_rule(POWERS, _power, _complex_power)
_rule(
    (math.sqrt, np.sqrt, cmath.sqrt),
    lambda ans, x: 0.5 / ans,
    lambda ans, x: where(ans == 0, math.inf, 0.5 / ans),  # complex division has nan there
)
_rule(np.cbrt, lambda ans, x: 1 / (3 * (ans * ans)))
_rule((math.hypot, np.hypot), lambda ans, x, y: (_cosine(x, ans), _cosine(y, ans)))


def _cosine(side, hypotenuse):
    """0 at 0, by a form whose own slope is infinite there: hypot(x, y)**2 has no second derivative 0."""
    return where(hypotenuse == 0, math.sqrt(side), side / hypotenuse)


# Exponentials and logarithms

_rule((math.exp, np.exp, cmath.exp), lambda ans, x: ans)
_rule((math.exp2, np.exp2), lambda ans, x: LN2 * ans)
_rule((math.expm1, np.expm1), lambda ans, x: math.exp(x))  # ans + 1 is 0 for x < -37
_rule((math.log, np.log), lambda ans, x: 1 / x)
_rule((math.log2, np.log2), lambda ans, x: (1 / LN2) / x)
_rule((math.log10, np.log10, cmath.log10), lambda ans, x: (1 / LN10) / x)
_rule((math.log1p, np.log1p), lambda ans, x: 1 / (1 + x))


def _log_to_base(ans, x, base=None):
    if base is None:
        return 1 / x
    return 1 / (x * math.log(base)), -ans / (base * math.log(base))


_rule(cmath.log, _log_to_base)


def _weights(exp, x, y):
    """exp(x) and exp(y) over their sum, by the difference: the logarithm of a large sum has lost digits.

    The last selects are for infinite x and y.
    """
    distance = x - y
    is_above = distance >= 0
    smaller = exp(where(is_above, -distance, distance))
    weights = (
        where(is_above, part, other) / (1 + smaller) for part, other in ((1, smaller), (smaller, 1))
    )
    return tuple(where(distance == distance, w, where(x == y, 0.5, 1)) for w in weights)


_rule(np.logaddexp, lambda ans, x, y: _weights(math.exp, x, y))
_rule(np.logaddexp2, lambda ans, x, y: _weights(np.exp2, x, y))

# Trigonometric and hyperbolic functions

_rule((math.sin, np.sin, cmath.sin), lambda ans, x: math.cos(x))
_rule((math.cos, np.cos, cmath.cos), lambda ans, x: -math.sin(x))
_rule((math.tan, np.tan, cmath.tan), lambda ans, x: 1 + ans * ans)
_rule((math.sinh, np.sinh, cmath.sinh), lambda ans, x: math.cosh(x))
_rule((math.cosh, np.cosh, cmath.cosh), lambda ans, x: math.sinh(x))
_rule((math.tanh, np.tanh, cmath.tanh), lambda ans, x: 1 - ans * ans)

# Complex: `x - -1` instead of `x + 1` keeps the sign of a zero imaginary part, which says on which
# side of a branch cut a number lies (Kahan, "Branch cuts for complex elementary functions", 1987).
# Real: that sign of a zero would be wrong at 1.
_rule(
    (math.asin, np.arcsin, cmath.asin),
    lambda ans, x: 1 / math.sqrt((1 - x) * (1 + x)),
    lambda ans, x: 1 / np.sqrt(-((x - 1) * (x - -1))),
)
_rule(
    (math.acos, np.arccos, cmath.acos),
    lambda ans, x: -1 / math.sqrt((1 - x) * (1 + x)),
    lambda ans, x: -1 / np.sqrt(-((x - 1) * (x - -1))),
)
_rule((math.atan, np.arctan, cmath.atan), lambda ans, x: 1 / (1 + x * x))
_rule(
    (math.asinh, np.arcsinh, cmath.asinh),
    lambda ans, x: 1 / math.hypot(x, 1.0),
    lambda ans, x: 1 / np.sqrt(x * x - -1),
)
_rule(
    (math.acosh, np.arccosh, cmath.acosh),
    lambda ans, x: 1 / (math.sqrt(x - 1) * math.sqrt(x - -1)),
)
_rule((math.atanh, np.arctanh, cmath.atanh), lambda ans, x: 1 / ((1 - x) * (1 + x)))


def _angle(ans, y, x):
    radius = math.hypot(x, y)
    return x / radius / radius, -y / radius / radius


_rule((math.atan2, np.arctan2), _angle)
_rule((math.degrees, np.degrees, np.rad2deg), lambda ans, x: 180 / math.pi)
_rule((math.radians, np.radians, np.deg2rad), lambda ans, x: math.pi / 180)
_rule(np.sinc, lambda ans, x: math.pi * sinc_derivative(1, math.pi * x))
_rule(sinc_derivative, lambda ans, n, x: (0, sinc_derivative(n + 1, x)))

# Special functions

_rule(math.erf, lambda ans, x: TWO_OVER_SQRT_PI * math.exp(-(x * x)))
_rule(math.erfc, lambda ans, x: -TWO_OVER_SQRT_PI * math.exp(-(x * x)))
_rule(math.gamma, lambda ans, x: ans * digamma(x))
_rule(math.lgamma, lambda ans, x: digamma(x))
_rule(digamma, lambda ans, x: polygamma(1, x))
_rule(polygamma, lambda ans, n, x: (0, polygamma(n + 1, x)))

# Piecewise functions

_rule((abs, math.fabs, np.absolute, np.fabs), lambda ans, x: np.sign(x))
_rule(np.sign, lambda ans, x: 0)  # no constant, for it has a derivative by complex numbers
_rule(
    (math.copysign, np.copysign),
    lambda ans, x, y: (np.sign(x) * math.copysign(1.0, y), 0),
)
_rule(
    (np.maximum, np.minimum, np.fmax, np.fmin),
    lambda ans, x, y: (where(ans == x, 1, 0), where(ans == x, 0, 1)),
)
_rule(np.nan_to_num, lambda ans, x: where(ans == x, 1, 0))
_rule((math.nextafter, np.nextafter), lambda ans, x, y: (1, 0))
_rule((math.ldexp, np.ldexp), lambda ans, x, i: (math.ldexp(1.0, i), 0))

HOLOMORPHIC.update(
    {
        **{getattr(math, name): getattr(np, name) for name in ("exp", "log", "sqrt")},
        **{getattr(math, name): getattr(np, name) for name in ("sin", "cos", "sinh", "cosh")},
        operator.truediv: np.divide,  # complex `/` raises at 0, where a root has an infinite slope
    }
)
