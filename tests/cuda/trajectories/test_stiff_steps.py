"""Rosenbrock methods on the GPU: the kernels run on the CPU, against the solvers and closed forms."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_seeds import without_spills

RATES = np.linspace(0.03, 0.05, 3)
START, ENDS, WITHIN = (1.0, 0.0, 0.0), (0.0, 100.0), (0.0, 1e-3, 1.0, 100.0)


def robertson(t, y, a, b, c):
    """H. H. Robertson (1966), as in Hairer & Wanner, II, (IV.1.4)."""
    slow, back, fast = a * y[0], b * y[1] * y[2], c * y[1] * y[1]
    return -slow + back, slow - back - fast, fast


def robertson_solver(method, tol=1e-8):
    return nd.ode.solver(robertson, method=method, rtol=tol, atol=tol * 1e-4)


@pytest.mark.dear
def test_trajectories_are_those_of_the_solver(twin):
    solve = robertson_solver("Rosenbrock23")
    found = device.ensemble(solve, START, WITHIN, (RATES, 1e4, 3e7), derivatives=0)
    for i, a in enumerate(RATES):
        value = solve(START, WITHIN, (a, 1e4, 3e7))
        np.testing.assert_allclose(found.ys[i], value, rtol=1e-11, atol=1e-14)
    without_spills(twin)
    np.testing.assert_allclose(found.derivatives.sum(axis=2), 0.0, atol=1e-12)  # mass is kept


def oscillator(t, y, mu):
    """B. van der Pol (1926), driven."""
    return y[1], mu * (1.0 - y[0] * y[0]) * y[1] - y[0] + math.sin(t)


@pytest.mark.dear
def test_derivatives_are_those_of_the_steps():
    """Of few steps, all as long as they may be: differences see what the matrix of a step contributes."""
    loose = {"rtol": 1.0, "atol": 1.0, "first_step": 0.25, "max_step": 0.25}
    solve = nd.ode.solver(oscillator, method="Rosenbrock23", **loose)
    x, v, mu, h = np.array([2.0, -1.0]), 0.5, np.array([3.0, 1.0]), 1e-5
    found = device.ensemble(solve, (x, v), (0.0, 1.0), mu, derivatives=("y0", "args"))
    for k, (dx, dv, dmu) in enumerate(h * np.eye(3)):
        more = device.ensemble(solve, (x + dx, v + dv), (0.0, 1.0), mu + dmu).ys
        less = device.ensemble(solve, (x - dx, v - dv), (0.0, 1.0), mu - dmu).ys
        slopes = (more - less) / (2.0 * h)
        np.testing.assert_allclose(found.derivatives[..., k], slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.deep
@pytest.mark.parametrize("ts", [ENDS, WITHIN])
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas4", "Rodas5P"])
def test_derivatives_are_those_of_the_solver(method, ts, twin):
    solve = robertson_solver(method)
    found = device.ensemble(solve, START, ts, (RATES, 1e4, 3e7), derivatives="args")
    # One partial a pass is the least there is, and the first pass has the values to write as well.
    without_spills(twin, but=128 if method == "Rodas5P" and ts is WITHIN else 0)
    push = nd.jvp(lambda a, b, c: solve(START, ts, (a, b, c)))
    for i, a in enumerate(RATES):
        for k in range(3):
            value, slope = push((a, 1e4, 3e7), tuple(float(j == k) for j in range(3)))
            np.testing.assert_allclose(found.ys[i], value, rtol=1e-11, atol=1e-14)
            close = 1e-9 * np.abs(slope).max()
            np.testing.assert_allclose(found.derivatives[i, :, :, k], slope, rtol=1e-8, atol=close)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas4", "Rodas5P"])
def test_float32_is_float32_throughout(method, twin):
    starts = np.array([START], "f4")
    found = device.ensemble(
        robertson_solver(method, 1e-5), starts, ENDS, (RATES, 1e4, 3e7), derivatives=0
    )
    exact = robertson_solver("Rodas5P", 1e-10)
    push = nd.jvp(lambda a: exact(START, ENDS, (a, 1e4, 3e7)))
    for i, a in enumerate(RATES):
        value, slope = push((a,), (1.0,))
        np.testing.assert_allclose(found.ys[i], value, rtol=1e-3, atol=1e-8)
        np.testing.assert_allclose(found.derivatives[i, :, :, 0], slope, rtol=1e-2, atol=1e-6)
    assert all(".f64" not in ptx for ptx in without_spills(twin))


def chased(t, y, rate):
    """A. Prothero, A. Robinson (1974): the solution is cos t, whatever the rate."""
    return -rate * (y - math.cos(t)) - math.sin(t)


def test_closed_form_with_time():
    """The derivative by time counts; derivatives by y0 decay."""
    solve = nd.ode.solver(chased, method="Rosenbrock23", rtol=1e-8, atol=1e-10)
    rates, ts = np.array([1.0, 30.0, 1e5]), (0.0, 0.1, 2.0)
    found = device.ensemble(solve, 1.0, ts, rates, derivatives=("y0", "args"))
    np.testing.assert_allclose(found.ys[..., 0], np.tile(np.cos(ts), (3, 1)), atol=1e-6)
    np.testing.assert_allclose(
        found.derivatives[..., 0, 0], np.exp(-np.outer(rates, ts)), atol=1e-4
    )
    np.testing.assert_allclose(found.derivatives[..., 0, 1], 0.0, atol=1e-6)


def listed(t, y, rate):
    return [y[1], -rate * y[1] - y[0]]


@pytest.mark.deep
def test_lists_written_out_and_a_jacobian_given():
    """A Jacobian that the user gives is not used: that of the function is the same."""

    def matrix(t, y, rate):
        return np.array([[0.0, 1.0], [-1.0, -rate]])

    solve = nd.ode.solver(listed, method="Rosenbrock23", jac=matrix)
    found = device.ensemble(solve, (1.0, 0.0), (0.0, 1.0), np.array([2.0, 100.0]))
    for i, rate in enumerate((2.0, 100.0)):
        np.testing.assert_allclose(found.ys[i], solve((1.0, 0.0), (0.0, 1.0), rate), rtol=1e-11)


def test_a_trajectory_that_fails_leaves_the_others_right():
    solve = nd.ode.solver(lambda t, y: y * y, method="Rosenbrock23", max_steps=2000)
    y0s = np.array([0.5, 1.6, -1.0])
    with pytest.warns(nd.NumbadWarning, match=r"1 of 3.*first is number 1: .* at t = 0\.62"):
        found = device.ensemble(solve, y0s, (0.0, 1.0), derivatives="y0")
    assert (found.status != 0).tolist() == [False, True, False]
    assert np.isnan(found.ys[1, 1]).all()
    assert np.isnan(found.derivatives[1, 1]).all()
    np.testing.assert_allclose(found.ys[[0, 2], 1, 0], [1.0, -0.5], rtol=1e-4)
    np.testing.assert_allclose(found.derivatives[[0, 2], 1, 0, 0], [4.0, 0.25], rtol=1e-3)


def test_a_singular_system_is_a_step_too_long():
    """1 / gamma - h is 0 at the first step that is tried; it is tried again, shorter."""
    gamma = 1.0 / (2.0 + math.sqrt(2.0))
    solve = nd.ode.solver(lambda t, y: y, method="Rosenbrock23", first_step=1.0 / gamma)
    found = device.ensemble(solve, 1.0, (0.0, 5.0))
    np.testing.assert_allclose(found.ys[0, :, 0], [1.0, math.exp(5.0)], rtol=1e-3)


MASS = np.diag([1.0, 1.0, 0.0])
OF_ROBERTSON = START, ENDS, (0.04, 1e4, 3e7)


def ring(t, y):
    return tuple(y)


@pytest.mark.parametrize(
    ("fun", "method", "options", "given", "message"),
    [
        (robertson, "Rodas5P", {"mass_matrix": MASS}, OF_ROBERTSON, "mass_matrix"),
        (robertson, "Rodas5P", {"jac_sparsity": np.ones((3, 3))}, OF_ROBERTSON, "jac_sparsity"),
        (ring, "Rodas4", {}, (np.ones((2, 12)), ENDS), "12 components; up to 11"),
        (ring, "BDF", {}, (START, ENDS), "'BDF'.*'Rodas5P'"),
        (ring, "RadauIIA5", {}, (START, ENDS), "'RadauIIA5'"),
    ],
)
def test_what_has_no_code_is_refused(fun, method, options, given, message):
    solve = nd.ode.solver(fun, method=method, **options)
    with pytest.raises(nd.UnsupportedError, match=message):
        device.ensemble(solve, *given)


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas5P"])
def test_on_a_gpu(method, monkeypatch):
    monkeypatch.undo()
    solve = robertson_solver(method)
    found = device.ensemble(solve, START, WITHIN, (RATES, 1e4, 3e7), derivatives="args")
    assert not found.status.any()
    push = nd.jvp(lambda a: solve(START, WITHIN, (a, 1e4, 3e7)))
    for i, a in enumerate(RATES):
        value, slope = push((a,), (1.0,))
        np.testing.assert_allclose(found.ys[i], value, rtol=1e-6, atol=1e-10)
        np.testing.assert_allclose(found.derivatives[i, :, :, 0], slope, rtol=1e-5, atol=1e-7)
