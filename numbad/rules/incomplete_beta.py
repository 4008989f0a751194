"""The density of the beta distribution.

Numbers of equations are those of the NIST Digital Library of Mathematical Functions.
"""

import math

from scipy.special import betaln

from numbad.rules.incomplete_gamma import is_pole, nopython, sign_of_gamma


@nopython
def beta_density(a, b, x):
    """x**(a - 1) * (1 - x)**(b - 1) / beta(a, b): the derivative of betainc(a, b, x) by `x` (8.17.1).

    For a or b that is zero or negative, by continuation.
    """
    if is_pole(a) or is_pole(b):
        return 0.0
    if x == 0.0 or x == 1.0:
        near, far = (a, b) if x == 0.0 else (b, a)
        if near != 1.0:
            return 0.0 if near > 1.0 else math.inf * _sign_of_beta(a, b)
        return far
    logarithm = (a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x)
    if a > 0.0 and b > 0.0:
        return math.exp(logarithm - betaln(a, b))
    if is_pole(a + b):
        return math.inf * _sign_of_beta(a, b)
    beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return _sign_of_beta(a, b) * math.exp(logarithm - beta)


@nopython
def _sign_of_beta(a, b):
    return sign_of_gamma(a) * sign_of_gamma(b) * sign_of_gamma(a + b)
