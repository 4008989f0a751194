"""Solvers that switch between an explicit and a stiff method."""

import math

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.errors import ArgumentError


@numba.njit
def van_der_pol(t, y, mu):
    x, v = y
    return v, mu * (1.0 - x * x) * v - x


# F. Mazzia, C. Magherini, "Test Set for Initial Value Problem Solvers", release 2.4 (2008), II-9, at t = 2 in
# its time, which is t / mu with mu = 1000.
SLOW_END = 1.706167732170483, -0.8928097010247975e-3


def solved(mu, end, **options):
    return nd.ode.solve_ivp(van_der_pol, (0.0, end), [2.0, 0.0], args=(mu,), **options)


@pytest.mark.dear
def test_it_takes_the_stiff_method_and_comes_back():
    """Each jump of the oscillator is fast, and the time between them stiff."""
    found = solved(1000.0, 2000.0, method="LSODA", rtol=1e-8, atol=1e-10, max_steps=5000)
    assert found.success
    np.testing.assert_allclose(found.y[:, -1], SLOW_END, rtol=1e-7)
    steps = len(found.t) - 1
    assert 0.2 * steps < found.njev < 0.8 * steps
    assert found.njev <= found.nlu


@pytest.mark.dear
def test_what_is_not_stiff_is_solved_explicitly():
    auto, explicit = (
        solved(1.0, 20.0, method=method, rtol=1e-8, atol=1e-10, max_steps=5000)
        for method in ("AutoTsit5", "Tsit5")
    )
    np.testing.assert_array_equal(auto.y, explicit.y)
    assert (auto.nfev, auto.njev, auto.nlu) == (explicit.nfev, 0, 0)


def pulled(t, y, rate):
    return -rate * (y - math.cos(t))


def pulled_sum(rate):
    """y(0.4) + y(1) for y(0) = 0; the transient has died out."""
    times = 0.4, 1.0
    return sum((rate**2 * math.cos(t) + rate * math.sin(t)) / (1.0 + rate**2) for t in times)


@pytest.mark.dear
@pytest.mark.deep(but=["reverse"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_go_through_the_switch(mode):
    solve = nd.ode.solver(pulled, method="AutoTsit5", rtol=1e-7, atol=1e-9, max_steps=200)

    @numba.njit
    def total(rate):
        ys = solve(0.0, (0.0, 0.4, 1.0), rate)
        return ys[1, 0] + ys[2, 0]

    value, slope = nd.value_and_grad(total, mode=mode)(1e4)
    step = 1e-30
    assert value == pytest.approx(pulled_sum(1e4), abs=1e-6)
    assert slope == pytest.approx(pulled_sum(1e4 + step * 1j).imag / step, rel=1e-3)
    fixed = nd.ode.solver(pulled, method="AutoTsit5", max_steps=1000)
    assert math.isfinite(fixed(0.0, (0.0, 1.0), 1e7)[-1, 0])  # Tsit5 would take three million


@pytest.mark.deep
def test_sparse_jacobians_go_with_it():
    n, times = 40, np.array([0.0, 0.02, 0.1])
    matrix = (n + 1) ** 2 * (np.eye(n, k=1) + np.eye(n, k=-1) - 2.0 * np.eye(n))

    def heat(t, y, dy, speed):
        scale = speed * (len(y) + 1) ** 2
        for i in range(len(y)):
            left = y[i - 1] if i else 0.0
            right = y[i + 1] if i + 1 < len(y) else 0.0
            dy[i] = scale * (left - 2.0 * y[i] + right)

    solve = nd.ode.solver(
        heat,
        method="AutoTsit5",
        inplace=True,
        jac_sparsity=matrix,
        rtol=1e-8,
        atol=1e-10,
        max_steps=400,
    )
    x = np.linspace(0.0, 1.0, n + 2)[1:-1]
    rate = 2.0 * (n + 1) ** 2 * (1.0 - math.cos(math.pi / (n + 1)))  # of this mode of the matrix
    start = np.sin(math.pi * x) + np.sin(math.pi * n * x) * 1e-3
    found = solve(start, times, (1.0,))
    expected = np.exp(-rate * times)[1:, None] * np.sin(math.pi * x)
    np.testing.assert_allclose(found[1:], expected, atol=1e-7)


def test_what_does_not_go_with_it():
    with pytest.raises(ArgumentError, match="not go with AutoTsit5, .* Ways out: method='Rodas5P'"):
        nd.ode.solver(pulled, method="AutoTsit5", mass_matrix=[[0.0]])
