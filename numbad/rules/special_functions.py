"""Partial derivatives of SciPy's special functions, which every mode and order uses.

A table from functions to partials, as in `rules/scalar.py`; numbers of equations are those of the
NIST Digital Library of Mathematical Functions.
"""

import math

import scipy.special as sp

from numbad.rules.expression import Missing
from numbad.rules.special import digamma

TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)

BY_ORDER = Missing("keep the order constant")

PARTIALS = {
    sp.erf: lambda ans, x: TWO_OVER_SQRT_PI * math.exp(-(x * x)),
    sp.gammaln: lambda ans, x: digamma(x),
    sp.jv: lambda ans, v, x: (BY_ORDER, 0.5 * (sp.jv(v - 1, x) - sp.jv(v + 1, x))),  # 10.6.1
}
