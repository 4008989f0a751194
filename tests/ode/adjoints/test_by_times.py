"""Cotangents of output times beside a mass matrix."""

import math

import numpy as np
import pytest

import numbad as nd


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_times_beside_a_mass_matrix(mode):
    """The slope of an algebraic variable follows from the equations; in forward mode to second order."""

    def following(t, y, rate):
        return -rate * y[0], y[1] - y[0] * y[0] - math.sin(t)

    solve = nd.ode.solver(
        following, method="Rodas5P", rtol=1e-9, atol=1e-11, mass_matrix=np.diag([1.0, 0.0])
    )

    def loss(x):
        return solve((1.0, 1.0 + math.sin(x[0])), (x[0], x[1], x[2]), x[3])[1:].sum()

    def closed(x):
        total = 0.0
        for k in range(1, 3):
            u = math.exp(-x[3] * (x[k] - x[0]))
            total += u + u * u + math.sin(x[k])
        return total

    x, along = np.array([0.1, 0.3, 1.1, 0.7]), np.array([0.4, 1.0, 0.3, -0.2])
    gradient = nd.grad(loss, mode=mode)
    np.testing.assert_allclose(gradient(x), nd.grad(closed)(x), rtol=3e-6)
    if mode == "reverse":
        return
    moved = nd.jvp(gradient)((x,), (along,))[1]
    np.testing.assert_allclose(moved, nd.hvp(closed)((x,), (along,))[0], rtol=3e-5)
