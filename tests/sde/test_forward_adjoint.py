"""Reverse mode by forward mode along the path."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.sde.test_stochastic_adjoint import KEY, _differences, _gradient


@pytest.mark.dear
def test_forward_mode_along_the_path():
    found = _gradient(adjoint="forward")
    assert _differences(found, 2.0**-4, paths=3).max() < 1e-13


@njit
def _two(t, y, k, s):
    return -k[0] * y[0] + math.sin(y[1]) * t, -k[1] * y[1]


@njit
def _matrix(t, y, k, s):
    return (s * math.cos(y[0]), 0.1 * y[1]), (0.2 * y[0], 0.5 * s * y[1])


@pytest.mark.deep
def test_general_noise_and_parameters_in_arrays():
    at = 0.8, np.array([0.5, 0.7]), 0.3
    gradients = []
    for options in ({}, {"adjoint": "stochastic"}, {"adjoint": "forward"}):
        solve = nd.sde.solver(_two, _matrix, method="Heun", noise="general", dt=2.0**-10, **options)

        @njit
        def f(y0, k, s, key, solve=solve):
            ys = solve((y0, 1.0), (0.0, 0.33, 1.0), (k, s), key)
            return ys[1, 0] * ys[2, 1] + ys[2, 0]

        found = nd.grad(f, (0, 1, 2), mode="reverse")(*at, KEY)
        gradients.append(np.concatenate([np.ravel(x) for x in found]))
    np.testing.assert_allclose(gradients[2], gradients[0], rtol=1e-12)
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=2e-2)
    assert not np.allclose(gradients[1], gradients[0], rtol=1e-6)


@pytest.mark.deep
def test_forward_mode_around_it():
    """Differences of first derivatives give the second ones."""
    solve = nd.sde.solver(
        lambda t, y, a, b: a * math.sin(y), lambda t, y, a, b: b * math.cos(y), dt=0.1, adjoint="forward"
    )  # fmt: skip

    @njit
    def end(q):
        return solve(q[0], (0.0, 1.0), (q[1], q[2]), KEY)[-1, 0]

    q, step = np.array([0.5, 1.0, 0.3]), 1e-5
    gradient = nd.grad(end, mode="reverse")
    found = nd.jacobian(gradient)(q)
    for k, along in enumerate(step * np.eye(3)):
        central = (gradient(q + along) - gradient(q - along)) / (2.0 * step)
        np.testing.assert_allclose(found[:, k], central, rtol=1e-7, atol=1e-8)
