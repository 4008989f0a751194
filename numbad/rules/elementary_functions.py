"""Partial derivatives of SciPy's elementary functions, entropies, losses and power transforms.

Those of the functions' definitions, in forms that do not cancel; a part of the table in
`rules/special_functions.py`.
"""

import math

import scipy.special as sp

from numbad.rules import auxiliary as aux
from numbad.rules.expression import where

PARTIALS = {}


def _rule(fn, partials):
    PARTIALS[fn] = partials


def sign(x):
    """-1 for negative `x`, else 1."""
    return where(x < 0, -1, 1)


# Elementary functions that NumPy has too

_rule(sp.expm1, lambda ans, x: math.exp(x))
_rule(sp.log1p, lambda ans, x: 1 / (1 + x))
_rule(sp.exp2, lambda ans, x: math.log(2.0) * ans)
_rule(sp.exp10, lambda ans, x: math.log(10.0) * ans)
_rule(sp.cbrt, lambda ans, x: 1 / (3 * (ans * ans)))

# Logistic function and entropy

_rule(sp.expit, lambda ans, x: ans * sp.expit(-x))
_rule(sp.log_expit, lambda ans, x: sp.expit(-x))
_rule(sp.logit, lambda ans, p: 1 / (p * (1 - p)))
_rule(sp.xlogy, lambda ans, x, y: (math.log(y), _ratio(x, y)))
_rule(sp.xlog1py, lambda ans, x, y: (math.log1p(y), _ratio(x, 1 + y)))
_rule(sp.entr, lambda ans, x: -1 - math.log(x))
_rule(sp.rel_entr, lambda ans, x, y: (1 + _log_ratio(x, y), -_ratio(x, y)))
_rule(sp.kl_div, lambda ans, x, y: (_log_ratio(x, y), (y - x) / y))


def _ratio(x, y):
    """x / y, and 0 for 0 / 0: only there, so that its own derivative by `x` is right as well."""
    return where((x == 0) & (y == 0), 0, x / y)


def _log_ratio(x, y):
    """log(x / y), with all digits where it is small."""
    ratio = x / y
    return where((ratio > 0.5) & (ratio < 2), math.log1p((x - y) / y), math.log(ratio))


_rule(sp.exprel, lambda ans, x: aux.exprel_derivative(1, x))
_rule(aux.exprel_derivative, lambda ans, n, x: (0, aux.exprel_derivative(n + 1, x)))
_rule(aux.log1prel_derivative, lambda ans, n, x: (0, aux.log1prel_derivative(n + 1, x)))
_rule(sp.cosm1, lambda ans, x: -math.sin(x))

# Losses and power transforms


def _huber(ans, delta, r):
    inside = abs(r) <= delta
    return where(inside, 0, abs(r) - delta), where(inside, r, delta * sign(r))


def _pseudo_huber(ans, delta, r):
    """With h = hypot(delta, r) the function is delta * (h - delta), and h - delta = r**2 / (h + delta)."""
    h = math.hypot(delta, r)
    rest = r * (r / (h + delta))
    return where(h == 0, 0, rest * (rest / h)), where(h == 0, 0, delta * (r / h))


def _boxcox_by_power(log, base, power):
    """The derivative of (base**power - 1) / power by the power.

    At a base of 0 by its definition, of which a term is left out that matters at power 1 alone.
    """
    slope = log * log * aux.exprel_derivative(1, power * log)
    at_zero = (1 - base**power) / (power * power) + where(power == 1, sp.xlogy(base, base), 0)
    return where((base == 0) & (power > 0), at_zero, slope)


def _inv_boxcox_by_power(y, power):
    """The derivative of log(1 + power * y) / power by the power."""
    return y * y * aux.log1prel_derivative(1, power * y)


_rule(sp.huber, _huber)
_rule(sp.pseudo_huber, _pseudo_huber)
_rule(
    sp.boxcox,
    lambda ans, x, power: (x ** (power - 1), _boxcox_by_power(math.log(x), x, power)),
)
_rule(
    sp.boxcox1p,
    lambda ans, x, power: ((1 + x) ** (power - 1), _boxcox_by_power(math.log1p(x), 1 + x, power)),
)
_rule(
    sp.inv_boxcox,
    lambda ans, y, power: (ans / (1 + power * y), ans * _inv_boxcox_by_power(y, power)),
)
_rule(
    sp.inv_boxcox1p,
    lambda ans, y, power: ((1 + ans) / (1 + power * y), (1 + ans) * _inv_boxcox_by_power(y, power)),
)
