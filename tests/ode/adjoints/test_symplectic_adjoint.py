"""Sweeps back through steps of symplectic methods, against sensitivities of the same steps."""

import math

import numpy as np
import pytest

import numbad as nd
from tests.ode.adjoints.test_discrete import flat

METHODS = ["VelocityVerlet", "McLachlanAtela4"]
TIMES = np.array([0.05, 1.02, 1.9, 2.05])  # within steps and at their ends, of 0.1
X = np.array([0.2, 0.4, 2.5, 0.5])


def driven(t, y, stiffness, strength):
    """A hardening spring that a force shakes."""
    position, momentum = y
    return 1.3 * momentum, strength * math.cos(2.0 * t) - stiffness * position**3


def loss_of(method, **options):
    solve = nd.ode.solver(driven, method=method, first_step=0.1, **options)

    def loss(x, times):
        ys = solve((x[0], x[1]), times, (x[2], x[3]))
        return (ys[:, 0] ** 2).sum() + 3.0 * ys[1, 1] + ys[3, 1]

    return loss


@pytest.mark.dear
@pytest.mark.deep(but=["None-VelocityVerlet", "3-McLachlanAtela4"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("checkpoints", [None, 3])
def test_the_same_as_sensitivities(method, checkpoints):
    by = nd.grad(loss_of(method, checkpoints=checkpoints), argnums=(0, 1), mode="reverse")
    expected = nd.grad(loss_of(method), argnums=(0, 1), mode="forward")(X, TIMES)
    np.testing.assert_allclose(flat(by(X, TIMES)), flat(expected), rtol=1e-12)


@pytest.mark.deep
@pytest.mark.parametrize("method", METHODS)
def test_second_order(method):
    loss, along = loss_of(method), np.array([1.0, 0.5, -0.3, 0.8])
    moved = nd.jvp(nd.grad(loss, mode="reverse"), 0)((X, TIMES), (along,))[1]
    expected = nd.jvp(nd.grad(loss, mode="forward"), 0)((X, TIMES), (along,))[1]
    np.testing.assert_allclose(moved, expected, rtol=1e-11)


@pytest.mark.deep
@pytest.mark.parametrize("method", METHODS)
def test_an_orbit_in_arrays(method):
    def orbit(t, y, dy, pull):
        cube = (y[0] * y[0] + y[1] * y[1]) ** 1.5
        dy[0], dy[1] = y[2], y[3]
        dy[2], dy[3] = 0.1 * math.sin(t) - pull[0] * y[0] / cube, -pull[1] * y[1] / cube

    found, given = [], (np.array([0.6, 0.0, 0.1, 1.5]), np.array([1.0, 1.1]))
    for adjoint in ("forward", "discrete"):
        solve = nd.ode.solver(orbit, method=method, first_step=0.05, inplace=True, adjoint=adjoint)

        def loss(y0, pull, solve=solve):
            return (solve(y0, (0.0, 0.33, 2.0), (pull,))[1:] ** 2).sum()

        found.append(flat(nd.grad(loss, argnums=(0, 1), mode="reverse")(*given)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-11)
