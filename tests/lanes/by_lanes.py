"""Holds a function in lanes against the same function, element by element, differentiated in forward mode."""

import math

import numba
import numpy as np

import numbad as nd
from numbad.source import define
from tests.lanes import lane_programs

COUNT = 7  # with four lanes a last block that is not full


def arguments():
    rng = np.random.default_rng(1)
    return (
        rng.normal(size=COUNT),
        rng.normal(size=COUNT),
        rng.normal(size=(COUNT, 3)),
        rng.normal(size=3),
    )


def compare(f):
    """`f(x, y, a, p)` of numbers x and y and an array a of each element, and an array p of all."""
    batch = nd.batch(f, (0, 0, 0, None), lanes=4)
    f = numba.njit(f)

    @numba.njit
    def in_lanes(x, y, a, p):
        total = 0.0
        for k, value in enumerate(batch(x, y, a, p)):
            total += (k + 0.5) * value
        return total

    @numba.njit
    def by_loop(x, y, a, p):
        total = 0.0
        for k in range(x.size):
            total += (k + 0.5) * f(x[k], y[k], a[k], p)
        return total

    x, y, a, p = given = arguments()
    expected = [f(x[k], y[k], a[k], p) for k in range(COUNT)]
    np.testing.assert_array_equal(batch(*given), expected)  # to the last bit
    every = 0, 1, 2, 3
    found = nd.grad(in_lanes, every, mode="reverse")(*given)
    for mine, other in zip(found, nd.grad(by_loop, every, mode="forward")(*given), strict=True):
        np.testing.assert_allclose(
            mine, other, rtol=1e-9, atol=1e-10 * max(1.0, np.abs(other).max())
        )


def program(seed):
    """A random function, compiled from its source."""
    names = {name: getattr(lane_programs, name) for name in ("softened", "pour", "made", "dot")}
    source = lane_programs.lane_program(seed)
    return define(source, {"np": np, "math": math, **names})
