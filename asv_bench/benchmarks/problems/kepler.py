"""P6: Kepler's equation by Newton's method in a `while` loop, for 100,000 pairs; the sum of E.

By every eccentricity e and mean anomaly M.
"""

import math

import numpy as np
from numba import njit

ARGNUMS = (0, 1)


@njit
def primal(e, M):
    s = 0.0
    for i in range(e.shape[0]):
        ei = e[i]
        Mi = M[i]
        E = Mi + ei * math.sin(Mi)
        while True:
            dE = (E - ei * math.sin(E) - Mi) / (1.0 - ei * math.cos(E))
            E = E - dE
            if not abs(dE) > 1e-10:
                break
        s += E
    return s


@njit
def anomaly(e, M):
    """E of one pair."""
    E = M + e * math.sin(M)
    while True:
        dE = (E - e * math.sin(E) - M) / (1.0 - e * math.cos(E))
        E = E - dE
        if not abs(dE) > 1e-10:
            break
    return E


def batched():
    """`primal` by `nd.batch`, in lanes within `nd.vector_math()`."""
    import numbad as nd

    anomalies = nd.batch(anomaly)

    @njit
    def total(e, M):
        s = 0.0
        for E in anomalies(e, M):
            s += E
        return s

    return total


def gradients():
    """`(E, gradient)` of each pair, by `nd.batch` within `nd.vector_math()`."""
    import numbad as nd

    with nd.vector_math():
        return nd.batch(nd.value_and_grad(anomaly, argnums=ARGNUMS))


@njit
def adjoint(e, M):
    """Reverse through the unrolled iteration: stores (sin E, cos E) of each iterate in a
    small per-element trace, so the reverse sweep calls no transcendental function."""
    n = e.shape[0]
    ge = np.empty(n)
    gM = np.empty(n)
    tr = np.empty((64, 3))
    tot = 0.0
    for i in range(n):
        ei = e[i]
        Mi = M[i]
        s0 = math.sin(Mi)
        E = Mi + ei * s0
        it = 0
        while True:
            sn = math.sin(E)
            cs = math.cos(E)
            q = 1.0 / (1.0 - ei * cs)
            dE = (E - ei * sn - Mi) * q
            tr[it, 0] = sn
            tr[it, 1] = cs
            tr[it, 2] = dE
            it += 1
            E = E - dE
            if not abs(dE) > 1e-10:
                break
        tot += E
        bE = 1.0
        be = 0.0
        bM = 0.0
        while it > 0:
            it -= 1
            sn = tr[it, 0]
            cs = tr[it, 1]
            dE = tr[it, 2]
            q = 1.0 / (1.0 - ei * cs)
            # E' = E - dE, dE = num*q ;  d(dE)/dE = 1 - dE*q*e*sn
            b = bE * q
            be += b * (sn - dE * cs)
            bM += b
            bE = bE * dE * q * ei * sn
        # E0 = M + e sin M
        be += bE * s0
        bM += bE * (1.0 + ei * math.cos(Mi))
        ge[i] = be
        gM[i] = bM
    return tot, (ge, gM)


def draw(rng, pairs=100_000):
    """The arguments of `primal`."""
    return rng.uniform(0.0, 0.9, pairs), rng.uniform(0.0, 2 * np.pi, pairs)


def shorten(arguments):
    """A small case for tests."""
    e, M = arguments
    return e[:40], M[:40]
