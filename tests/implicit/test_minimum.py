"""`nd.minimize` and `nd.minimize_scalar` against mpmath and closed forms."""

import math

import mpmath as mp
import numpy as np
import pytest
from numba import njit

import numbad as nd

from .test_root import close


@njit
def well(x, a, b):
    return a * (x - b) ** 2 + (x - b) ** 4 + math.exp(0.1 * x)


def mp_well(a, b):
    slope = mp.diff(lambda x: a * (x - b) ** 2 + (x - b) ** 4 + mp.exp(x / 10), 0.4)
    assert abs(slope) < 1
    return mp.findroot(lambda x: 2 * a * (x - b) + 4 * (x - b) ** 3 + mp.exp(x / 10) / 10, 0.4)


@njit
def from_bracket(a, b):
    return nd.minimize_scalar(well, (-3.0, 4.0), (a, b))


@njit
def from_start(a, b):
    return nd.minimize(well, 2.0, (a, b))


@pytest.mark.dear
@pytest.mark.deep(but=["from_bracket-reverse"])
@pytest.mark.parametrize(
    ("minimum", "mode"),
    [(from_bracket, "forward"), (from_bracket, "reverse"), (from_start, "reverse")],
)
def test_float(minimum, mode):
    point = (1.5, 0.5)
    with mp.workdps(30):
        first = [mp.diff(mp_well, point, n) for n in ((1, 0), (0, 1))]
        second = [mp.diff(mp_well, point, n) for n in ((2, 0), (1, 1))]
    gradient = nd.grad(minimum, (0, 1), mode=mode)
    close(minimum(*point), mp_well(*point))
    close(gradient(*point), first)
    by_a = njit(lambda a, b: gradient(a, b)[0])
    close(nd.grad(by_a, (0, 1), mode=mode)(*point), second)


@njit
def quadratic(x, b, ridge):
    n = x.size
    total = 0.0
    for i in range(n):
        total += 0.5 * (ridge + i) * x[i] * x[i] - b[i] * x[i]
        total += 0.25 * x[i] * x[(i + 1) % n]
    return total


@pytest.mark.deep
def test_quadratic():
    """The minimum is `H^-1 b`, and `dx = H^-1 (db - x dridge)`."""

    @njit
    def weighted(b, ridge):
        x = nd.minimize(quadratic, np.ones(3), (b, ridge))
        return x[0] + 10.0 * x[1] - 3.0 * x[2]

    b, ridge, weights = np.array([1.0, -2.0, 0.5]), 2.0, np.array([1.0, 10.0, -3.0])
    hessian = np.diag(ridge + np.arange(3.0)) + 0.25 * (1.0 - np.eye(3))
    inverse = np.linalg.inv(hessian)
    x = inverse @ b
    by_b, by_ridge = nd.grad(weighted, (0, 1), mode="reverse")(b, ridge)
    close(weighted(b, ridge), weights @ x)
    close(by_b, weights @ inverse)
    close(by_ridge, -weights @ inverse @ x)
