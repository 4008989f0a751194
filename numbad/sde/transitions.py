"""Log densities of transitions: `density(t0, y0, t1, y1, *parameters)`, of `y1` at `t1` given `y0` at `t0`.

Exact ones where they are known, approximations of those of any scalar equation. All are compiled,
differentiable in both modes, and what `nd.fit.fit_sde` takes.
"""

import math

from numba import njit

from numbad.sde.equations import ADDITIVE, DIAGONAL, belongs
from numbad.sde.short_transitions import (
    LOG_2PI,
    ait_sahalia,
    euler,
    log_normal_density,
    ozaki,
    phi1,
)

__all__ = ["ait_sahalia", "cir", "euler", "gbm", "ozaki", "vasicek"]

_LARGE = 1000.0  # from here on three terms of the expansion are exact to 1e-12
_RELATIVE = 1e-17  # terms of a series below this part of their sum are left out


@njit(error_model="numpy")
def vasicek(t0, y0, t1, y1, kappa, theta, sigma):
    """Of dy = kappa (theta - y) dt + sigma dW (Ornstein & Uhlenbeck 1930; Vasicek 1977), exact.

    `kappa` in 1 / time, `theta` in units of y, `sigma` in units of y / sqrt(time).

    >>> from numbad.sde import transitions
    >>> round(transitions.vasicek(0.0, 0.3, 2.0, 1.0, 0.8, 1.2, 0.5), 6)
    0.028902
    """
    dt = t1 - t0
    mean = theta + (y0 - theta) * math.exp(-kappa * dt)
    return log_normal_density(y1, mean, sigma**2 * dt * phi1(-2.0 * kappa * dt))


@njit(error_model="numpy")
def gbm(t0, y0, t1, y1, mu, sigma):
    """Of dy = mu y dt + sigma y dW, exact; `mu` in 1 / time, `sigma` in 1 / sqrt(time), y > 0.

    >>> from numbad.sde import transitions
    >>> round(transitions.gbm(0.0, 1.0, 1.0, 1.1, 0.05, 0.2), 6)
    0.541871
    """
    dt = t1 - t0
    mean = math.log(y0) + (mu - 0.5 * sigma**2) * dt
    return log_normal_density(math.log(y1), mean, sigma**2 * dt) - math.log(y1)


@njit(error_model="numpy")
def cir(t0, y0, t1, y1, kappa, theta, sigma):
    """Of dy = kappa (theta - y) dt + sigma sqrt(y) dW, exact: a non-central chi-square.

    J. C. Cox, J. E. Ingersoll, S. A. Ross, Econometrica 53 (1985) 385. The Bessel function is summed from its
    largest term on, so that nothing overflows and derivatives by its order are those of the sum; where order
    or argument are large, Olver's expansion takes its place (NIST Digital Library of Mathematical Functions,
    10.41.3).

    >>> from numbad.sde import transitions
    >>> round(transitions.cir(0.0, 0.03, 2.0, 0.05, 0.5, 0.06, 0.15), 10)
    2.5594549179
    """
    dt = t1 - t0
    c = 2.0 / (sigma**2 * dt * phi1(-kappa * dt))
    u, v, q = c * y0 * math.exp(-kappa * dt), c * y1, 2.0 * kappa * theta / sigma**2 - 1.0
    w = u * v
    if q < -1.0:  # zero pulls the path below zero, where there is no such process
        return math.nan * q  # of which the derivatives are NaN as well
    if q * q + 4.0 * w > _LARGE * _LARGE:
        return math.log(c) + _cir_by_expansion(u, v, q)
    j = math.floor(max(0.5 * (math.sqrt(q * q + 4.0 * w) - q), 0.0))
    power = (
        j * math.log(w) if j > 0.0 else 0.0
    )  # w is zero where the start is forgotten, or is zero
    largest = power - math.lgamma(j + 1.0) - math.lgamma(j + q + 1.0)
    total, term, k = 1.0, 1.0, j + 0.0
    while term > _RELATIVE * total:
        k += 1.0
        term = term * w / (k * (k + q))
        total += term
    term, k = 1.0, j + 0.0
    while k > 0.0 and term > _RELATIVE * total:
        term = term * k * (k + q) / w
        total += term
        k -= 1.0
    return math.log(c) - u - v + q * math.log(v) + largest + math.log(total)


@njit(error_model="numpy")
def _cir_by_expansion(u, v, q):
    """The logarithm of exp(-u - v) (v / u)^(q / 2) I_q(2 sqrt(u v)), where order or argument are `_LARGE`."""
    r = math.sqrt(q * q + 4.0 * u * v)
    leading = (q * q - (u - v) ** 2) / (u + v + r) + q * math.log(2.0 * v / (q + r))
    p = (q / r) ** 2
    u1 = (3.0 - 5.0 * p) / 24.0
    u2 = (81.0 + p * (-462.0 + 385.0 * p)) / 1152.0
    u3 = (30375.0 + p * (-369603.0 + p * (765765.0 - 425425.0 * p))) / 414720.0
    correction = (u1 + (u2 + u3 / r) / r) / r
    return leading - 0.5 * (LOG_2PI + math.log(r)) + math.log1p(correction)


def _reverting(t, y, kappa, theta, sigma):
    return kappa * (theta - y)


def _constant(t, y, kappa, theta, sigma):
    return sigma


# Steps of CIR's equation may end below zero. "Full truncation" takes zero in their place: R. Lord,
# R. Koekkoek, D. van Dijk, Quantitative Finance 10 (2010) 177-194.
def _reverting_from_zero(t, y, kappa, theta, sigma):
    return kappa * (theta - max(y, 0.0))


def _square_root(t, y, kappa, theta, sigma):
    return sigma * math.sqrt(max(y, 0.0))


def _growing(t, y, mu, sigma):
    return mu * y


def _proportional(t, y, mu, sigma):
    return sigma * y


belongs(vasicek, _reverting, _constant, ADDITIVE)
belongs(cir, _reverting_from_zero, _square_root, lowest=0.0)
belongs(gbm, _growing, _proportional, DIAGONAL)
