"""The discrete adjoint of trajectories: that of the steps, in registers or with a tape."""

import math

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from numbad.ode.methods import EXPLICIT
from tests.cuda.registers import registers_and_spills
from tests.cuda.trajectories.test_ensemble_call import (
    ASSEMBLED_FOR,
    BACK,
    EIGHT_THIRDS,
    END,
    RHO,
    STARTS,
    WITHIN,
    lorenz_solver,
)
from tests.cuda.trajectories.test_losses import (
    BOTH,
    RATES,
    assert_close,
    by_the_chain_rule,
    end_squared,
    roughness,
)


@pytest.mark.dear
@pytest.mark.deep(but=["RK4-ts0", "Tsit5-ts1"])
@pytest.mark.parametrize("ts", [END, WITHIN, BACK])
@pytest.mark.parametrize("method", [method.name for method in EXPLICIT])
def test_gradients_are_those_of_forward_mode(method, ts):
    """Of the same steps: by six numbers, with outputs within steps and at their ends."""
    args = 10.0, RHO[:4], EIGHT_THIRDS
    given = lorenz_solver(method), STARTS[:4], ts, args
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness)
    assert_close(found, *by_the_chain_rule(device.ensemble(*given, derivatives=BOTH)))


@pytest.mark.deep
def test_a_gradient_is_that_of_the_cpu():
    """By reverse mode through the solver; the times are those of steps of RK4, and beside them."""
    solve = lorenz_solver("RK4")
    ts = (0.0, 0.004, 0.05, 0.0999)

    def loss(x):
        return roughness(solve((x[0], x[1], x[2]), ts, (x[3], x[4], x[5])))

    at = np.array([1.0, 0.5, 0.2, 10.0, 20.0, EIGHT_THIRDS])
    found = device.ensemble(
        solve, at[None, :3], ts, tuple(at[3:]), derivatives=BOTH, loss=roughness
    )
    value, gradient = nd.value_and_grad(loss)(at)
    assert_close(found, [value], gradient[None])


def coarse_steps(y, k):
    """States of eight long steps of RK4 for y' = -k t y, and of half a one."""
    states = [y]
    for n, h in enumerate([0.125] * 8 + [0.0625]):
        t = 0.125 * n
        k1 = -k * t * y
        k2 = -k * (t + h / 2) * (y + h / 2 * k1)
        k3 = -k * (t + h / 2) * (y + h / 2 * k2)
        k4 = -k * (t + h) * (y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(y)
    return states


@pytest.mark.dear
def test_it_is_the_derivative_of_the_steps():
    """Long ones, far from the solution: an output where one ends, and the last one shorter than others."""
    solve = nd.ode.solver(lambda t, y, k: -k * t * y, method="RK4", first_step=0.125)
    starts, rates = RATES[::-1], 5.0 * RATES
    found = device.ensemble(
        solve,
        starts,
        (0.0, 0.25, 1.0625),
        rates,
        derivatives=BOTH,
        loss=lambda ys: ys[1, 0] * ys[2, 0] + ys[0, 0],
    )

    def loss(y, k):
        states = coarse_steps(y, k)
        return states[2] * states[9] + y

    tiny = 1e-30j
    by_complex_step = loss(starts + tiny, rates).imag, loss(starts, rates + tiny).imag
    gradients = np.stack(by_complex_step, axis=1) / 1e-30
    assert_close(found, loss(starts, rates), gradients, 1e-12)


@pytest.mark.dear
@pytest.mark.deep(but=["float32"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_loops_in_the_right_hand_side_have_a_tape(precision):
    def fun(t, y, a):
        s = 0.5
        for _ in range(4):
            s = math.sin(s * y) + a
        return s

    given = nd.ode.solver(fun, rtol=1e-5), 1.5, END, RATES[:4]
    found = device.ensemble(*given, derivatives=BOTH, loss=end_squared, precision=precision)
    forward = device.ensemble(*given, derivatives=BOTH)
    end = forward.ys[:, 1, 0]
    close = {"float64": 1e-11, "float32": 1e-3}[precision]
    assert_close(found, end**2, 2.0 * end[:, None] * forward.derivatives[:, 1, 0], close)


@pytest.mark.dear
@pytest.mark.deep(but=["RK4-float32"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("method", ["RK4", "Tsit5"])
def test_all_stays_in_registers(method, precision, twin):
    """Of a step and its adjoint by six numbers, in either precision throughout."""
    given = lorenz_solver(method, 1e-5), STARTS[:4], END, (10.0, RHO[:4], EIGHT_THIRDS)
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness, precision=precision)
    assert found.values.dtype == found.gradients.dtype == precision
    launched = {kernel.name: kernel.ptx(ASSEMBLED_FOR) for kernel in twin}
    assert {"recorded", "losses", "adjoint"} <= set(launched)
    for name in ("recorded", "losses", "adjoint"):
        assert ".local" not in launched[name]
        assert (".f64" in launched[name]) == (precision == "float64")
        assert registers_and_spills(launched[name])[1] in (0, None)
    if precision == "float32":
        exact = by_the_chain_rule(device.ensemble(*given, derivatives=BOTH))
        assert_close(found, *exact, 1e-3)
