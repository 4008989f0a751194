"""The discrete adjoint of paths of SDEs: that of the steps, for every noise."""

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.registers import registers_and_spills
from tests.cuda.trajectories.test_ensemble_call import ASSEMBLED_FOR
from tests.cuda.trajectories.test_losses import (
    BOTH,
    assert_close,
    by_the_chain_rule,
    roughness,
)
from tests.cuda.trajectories.test_path_losses import ARGS, BESIDE_STEPS, HESTON, RHO
from tests.cuda.trajectories.test_sde_march import (
    EXPLICIT,
    KEY,
    STARTS,
    TIMES,
    brownian_solver,
    heston,
    heston_diffusion,
    heston_drift,
)


def spilled(launched):
    """Bytes that the three kernels spill, 0 where there is no assembler; their PTX."""
    found = {kernel.name: kernel.ptx(ASSEMBLED_FOR) for kernel in launched}
    texts = [found[name] for name in ("recorded", "losses", "adjoint")]
    assert not any(".local" in ptx for ptx in texts)
    return sum(registers_and_spills(ptx)[1] or 0 for ptx in texts), texts


@pytest.mark.dear
@pytest.mark.deep(but=["SOSRI-ts0", "Milstein-ts1"])
@pytest.mark.parametrize("ts", [TIMES, BESIDE_STEPS])
@pytest.mark.parametrize("method", EXPLICIT)
def test_gradients_are_those_of_forward_mode(method, ts, twin):
    """Of the same path: outputs at the ends of steps, and within cells that they divide."""
    given = brownian_solver(method), STARTS, ts, ARGS, KEY
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness)
    assert spilled(twin)[0] == 0
    assert_close(found, *by_the_chain_rule(device.ensemble(*given, derivatives=BOTH)), 1e-13)


def swing(t, y, k):
    return y[1], -k * y[0] - 0.5 * y[1]


def pushes(t, y, k):
    return 0.0, 0.3 * k


@pytest.mark.deep
@pytest.mark.parametrize("method", ["SRA1", "ShARK", "BAOAB", "ALIGN"])
def test_additive_noise(method):
    """Space-time areas are drawn again, too; ALIGN has a series, for which there is a tape."""
    solve = nd.sde.solver(swing, pushes, method=method, noise="additive", dt=0.1)
    given = solve, (STARTS[:5], 0.3), TIMES, (2.0,), KEY
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness)
    assert_close(found, *by_the_chain_rule(device.ensemble(*given, derivatives=BOTH)), 1e-12)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["RI1", "Midpoint", "SPaRK"])
def test_general_noise(method):
    """Of the method's own calculus."""
    calculus = "ito" if method == "RI1" else "stratonovich"
    solve = nd.sde.solver(
        heston_drift, heston_diffusion, noise="general", dt=0.05, method=method, calculus=calculus
    )
    found = device.ensemble(solve, *HESTON, derivatives=BOTH, loss=roughness)
    forward = device.ensemble(solve, *HESTON, derivatives=BOTH)
    assert_close(found, *by_the_chain_rule(forward), 1e-12)


@pytest.mark.deep(but=["EulerMaruyama"])
@pytest.mark.parametrize("method", ["EulerMaruyama", "Heun"])
def test_a_drift_that_the_calculus_corrects(method):
    """A step takes the slope of the diffusion; its product with the cotangents goes by forward mode."""
    other = "ito" if method == "Heun" else "stratonovich"
    given = {"noise": "scalar", "calculus": other, "method": method, "dt": 0.1}
    solve = nd.sde.solver(
        lambda t, y, a: (a * y[0], -y[1] * y[0]), lambda t, y, a: (a * y[1], 0.1 * y[0]), **given
    )
    given = solve, (1.0, STARTS[:4]), TIMES, (STARTS[3::-1],), KEY
    found = device.ensemble(*given, derivatives=BOTH, loss=roughness)
    assert_close(found, *by_the_chain_rule(device.ensemble(*given, derivatives=BOTH)), 1e-13)


@pytest.mark.dear
def test_a_gradient_is_that_of_the_cpu():
    """By reverse mode through the solver, along the same path."""
    ts = HESTON[1]

    def loss(x, path):
        args = x[2], x[3], x[4], x[5], x[6]
        return roughness(heston((x[0], x[1]), ts, args, (KEY, path)))

    at = np.array([100.0, 0.09, 0.03, 2.0, 0.09, 0.3, 0.0])
    found = device.ensemble(heston, *HESTON, derivatives=BOTH, loss=roughness)
    gradient = nd.value_and_grad(loss, mode="reverse")
    each = [gradient(np.append(at[:6], rho), path) for path, rho in enumerate(RHO)]
    values, gradients = (np.array(part) for part in zip(*each, strict=True))
    assert_close(found, values, gradients, 1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.dear
def test_all_stays_in_registers(precision, twin):
    """Of Heston's model by seven numbers, in either precision throughout."""
    found = device.ensemble(heston, *HESTON, derivatives=BOTH, loss=roughness, precision=precision)
    assert found.values.dtype == found.gradients.dtype == precision
    bytes_spilled, texts = spilled(twin)
    assert bytes_spilled == 0
    assert all((".f64" in ptx) == (precision == "float64") for ptx in texts)
    close = {"float64": 1e-12, "float32": 2e-5}[precision]
    forward = device.ensemble(heston, *HESTON, derivatives=BOTH)
    assert_close(found, *by_the_chain_rule(forward), close)
