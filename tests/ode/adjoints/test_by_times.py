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


@pytest.mark.dear
@pytest.mark.deep(but=["discrete"])
@pytest.mark.parametrize("adjoint", ["discrete", "interpolating"])
def test_times_of_complex_states(adjoint):
    """y = exp((i a - 1/4) (t - t0)) y0; the derivatives by the times follow from the slope."""
    rate, start = 1.5j - 0.25, 1.0 + 0.5j
    solve = nd.ode.solver(
        lambda t, y, a: (1j * a - 0.25) * y, rtol=1e-10, atol=1e-10, adjoint=adjoint
    )

    def loss(t0, t1, t2):
        ys = solve(start, (t0, t1, t2), (1.5,))
        return ys[1, 0].real * ys[2, 0].imag

    y1, y2 = (np.exp(rate * t) * start for t in (0.5, 1.2))
    by_t1, by_t2 = (rate * y1).real * y2.imag, y1.real * (rate * y2).imag
    for mode in ("forward", "reverse"):
        found = nd.grad(loss, (0, 1, 2), mode=mode)(0.1, 0.6, 1.3)
        np.testing.assert_allclose(found, [-by_t1 - by_t2, by_t1, by_t2], rtol=1e-7)
    by_both = nd.hessian(loss, (1, 2))(0.1, 0.6, 1.3)
    assert by_both[0][1] == pytest.approx((rate * y1).real * (rate * y2).imag, rel=1e-8)
