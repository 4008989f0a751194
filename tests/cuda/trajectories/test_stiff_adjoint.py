"""Losses of stiff trajectories and their gradients by the adjoint of Rosenbrock steps: on the CPU."""

import math
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.on_gpu import needs_gpu
from tests.cuda.registers import registers_and_spills
from tests.cuda.trajectories.test_ensemble_call import ASSEMBLED_FOR
from tests.cuda.trajectories.test_losses import (
    BOTH,
    assert_close,
    by_the_chain_rule,
    end_squared,
    roughness,
)
from tests.cuda.trajectories.test_stiff_steps import (
    ENDS,
    RATES,
    START,
    WITHIN,
    chased,
    oscillator,
    robertson,
    robertson_solver,
)

OTHERS = 1e4, 3e7


@pytest.mark.dear
@pytest.mark.deep(but=["Rosenbrock23-ts1-float64"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("ts", [ENDS, WITHIN])
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas4", "Rodas5P"])
def test_gradients_are_those_of_forward_mode(method, ts, precision, twin):
    """Of the same steps, by six numbers of Robertson's problem; all in registers, in that precision."""
    solve = robertson_solver(method, 1e-8 if precision == "float64" else 1e-5)
    given = solve, START, ts, (RATES, *OTHERS)
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness, precision=precision)
    assert found.gradients.dtype == precision
    launched = {kernel.name: kernel.ptx(ASSEMBLED_FOR) for kernel in twin}
    for name in ("recorded", "losses", "adjoint"):
        assert ".local" not in launched[name]
        assert (".f64" in launched[name]) == (precision == "float64")
        assert registers_and_spills(launched[name])[1] in (0, None)
    values, gradients = by_the_chain_rule(device.ensemble(*given, derivatives=BOTH))
    close = 1e-12 if precision == "float64" else 1e-3
    np.testing.assert_allclose(found.values, values, rtol=close)
    # Number by number: those by the last two rates are some 1e-5 and 1e-9 of the others.
    np.testing.assert_allclose(found.gradients, gradients, rtol=close)
    assert not found.status.any()


@pytest.mark.dear
@pytest.mark.parametrize("ts", [(0.0, 0.3, 1.1), (0.4, 0.2)])
def test_a_gradient_is_that_of_the_cpu(ts):
    """By reverse mode through the solver, of a system that is driven in time; backwards, too."""
    solve = nd.ode.solver(oscillator, method="Rosenbrock23", rtol=1e-4)

    def loss(x):
        return roughness(solve((x[0], x[1]), ts, (x[2],)))

    at = np.array([2.0, -0.5, 3.0])
    found = device.ensemble(solve, at[None, :2], ts, at[2], derivatives=BOTH, loss=roughness)
    value, gradient = nd.value_and_grad(loss, mode="reverse")(at)
    assert_close(found, [value], gradient[None])


@pytest.mark.dear
def test_closed_form_with_time():
    """A. Prothero, A. Robinson (1974): cos t, and from beside it with a rate that the time decides with."""
    solve = nd.ode.solver(chased, method="Rodas5P", rtol=1e-10, atol=1e-12)
    starts, rates, t = np.array([1.5, 0.2, 3.0]), np.array([1.0, 3.0, 8.0]), 0.7
    found = device.ensemble(solve, starts, (0.0, t), rates, derivatives=BOTH, loss=end_squared)
    decayed = np.exp(-rates * t)
    end = np.cos(t) + (starts - 1.0) * decayed
    by_end = np.stack([decayed, -t * (starts - 1.0) * decayed], axis=1)
    assert_close(found, end**2, 2.0 * end[:, None] * by_end, 1e-7)
    mean = device.ensemble(
        solve, starts, (0.0, t), rates, derivatives=BOTH, loss=end_squared, reduce="mean"
    )
    np.testing.assert_allclose(mean.mean, found.values.mean(), rtol=1e-13)
    np.testing.assert_allclose(mean.derivatives, found.gradients.mean(axis=0), rtol=1e-13)


def coarse_steps(y, k, steps=4, h=0.25):
    """The end of long steps of "Rosenbrock23" for y' = -k t y^2.

    L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM J. Sci. Comput. 18 (1997), (3.1),
    doi:10.1137/S1064827594276424.
    """
    d = 1.0 / (2.0 + math.sqrt(2.0))
    for n in range(steps):
        t = n * h
        J, T = -2.0 * k * t * y, -k * y * y
        W = 1.0 - h * d * J
        k1 = (-k * t * y * y + h * d * T) / W
        f1 = -k * (t + h / 2) * (y + h / 2 * k1) ** 2
        k2 = (f1 - k1) / W + k1
        y = y + h * k2
    return y


@pytest.mark.dear
def test_it_is_the_derivative_of_the_steps():
    """Of long ones, far from the solution: what J and f_t contribute counts."""
    loose = {"rtol": 1.0, "atol": 1.0, "first_step": 0.25, "max_step": 0.25}
    solve = nd.ode.solver(lambda t, y, k: -k * t * y * y, method="Rosenbrock23", **loose)
    starts, rates = np.array([0.5, 1.0, 2.0]), np.array([3.0, 2.0, 0.5])
    found = device.ensemble(solve, starts, (0.0, 1.0), rates, derivatives=BOTH, loss=end_squared)
    moved = (starts + 1e-30j, rates), (starts, rates + 1e-30j)
    gradients = np.stack([(coarse_steps(*z) ** 2).imag for z in moved], axis=1) / 1e-30
    assert_close(found, coarse_steps(starts, rates) ** 2, gradients, 1e-12)


Pair = namedtuple("Pair", "fast slow")
Rates = namedtuple("Rates", "k powers")


def coupled(t, y, r, push):
    """A function that returns a list; an integer, a choice and a function with a tape are in it."""
    s = y.slow
    for _ in range(r.powers):
        s = math.sin(s * r.k) + 0.1 * y.fast
    flow = r.k * y.fast * max(y.fast, y.slow)
    return [-50.0 * (y.fast - s) + push[0] * math.cos(t), flow - push[1] * y.slow]


@pytest.mark.dear
@pytest.mark.deep(but=["float64"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_structures_constants_choices_and_loops(precision):
    k, pushes = np.array([0.7, 1.1]), np.array([[0.3, 1.5], [0.5, 0.9]])
    given = (
        nd.ode.solver(coupled, method="Rosenbrock23", rtol=1e-5),
        Pair(np.array([1.0, 0.2]), 0.8),
    )
    given = *given, (0.0, 0.5), (Rates(k, 3), pushes)
    by = 1, "y0", 0
    found = device.ensemble(*given, derivatives=by, loss=roughness, precision=precision)
    exact = by_the_chain_rule(device.ensemble(*given, derivatives=by))
    assert_close(found, *exact, 1e-11 if precision == "float64" else 1e-2)
    alone = device.ensemble(*given, derivatives="y0", loss=roughness, precision=precision)
    np.testing.assert_allclose(alone.gradients, found.gradients[:, 2:4], rtol=1e-5)


@pytest.mark.dear
def test_what_fails_leaves_the_others_right():
    solve = nd.ode.solver(lambda t, y: y * y, method="Rosenbrock23", max_steps=2000, rtol=1e-5)
    y0s = np.array([0.5, 1.6, -1.0, 3.0])
    with pytest.warns(nd.NumbadWarning, match=r"2 of 4.*first is number 1: .* at t = 0\.62"):
        found = device.ensemble(solve, y0s, (0.0, 1.0), derivatives="y0", loss=end_squared)
    assert (found.status != 0).tolist() == [False, True, False, True]
    assert np.isnan(found.gradients[:, 0]).tolist() == [False, True, False, True]
    ends = 1.0 / (1.0 / y0s[::2] - 1.0)
    np.testing.assert_allclose(found.values[::2], ends**2, rtol=1e-3)
    np.testing.assert_allclose(found.gradients[::2, 0], 2.0 * ends**3 / y0s[::2] ** 2, rtol=1e-3)


def ring(t, y, k):
    return tuple([k * (a - b) for a, b in zip(y[1:] + y[:1], y, strict=True)])


def test_more_components_than_equations_are_solved_for_are_refused():
    solve = nd.ode.solver(ring, method="Rodas4")
    with pytest.raises(nd.UnsupportedError, match="12 components; up to 11"):
        device.ensemble(solve, np.ones((2, 12)), ENDS, 1.0, derivatives="args", loss=end_squared)


@needs_gpu
@pytest.mark.parametrize("method", ["Rosenbrock23", "Rodas5P"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_on_a_gpu(method, precision, monkeypatch):
    monkeypatch.undo()
    solve = nd.ode.solver(robertson, method=method, rtol=1e-5, atol=1e-9)
    for ts in (ENDS, WITHIN):
        given = solve, START, ts, (np.linspace(0.03, 0.05, 5000), *OTHERS)
        values, gradients = by_the_chain_rule(device.ensemble(*given, derivatives=BOTH))
        found = device.ensemble(*given, derivatives=BOTH, loss=roughness, precision=precision)
        close = 1e-8 if precision == "float64" else 1e-2
        np.testing.assert_allclose(found.values, values, rtol=close)
        np.testing.assert_allclose(found.gradients, gradients, rtol=close)
        assert not found.status.any()
