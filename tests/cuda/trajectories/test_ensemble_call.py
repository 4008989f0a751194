"""Ensembles on the GPU: the kernels run on the CPU, thread by thread, against the solvers themselves."""

import math
import re
import warnings

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from numbad.errors import DeviceError
from numbad.ode.methods import EXPLICIT
from tests.cuda.registers import registers_and_spills
from tests.cuda.twin_device import Resident

ASSEMBLED_FOR = (9, 0)


def lorenz(t, y, sigma, rho, beta):
    return sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]


COUNT = 37
RHO = np.linspace(0.0, 21.0, COUNT)
STARTS = np.column_stack([np.linspace(0.9, 1.1, COUNT), np.zeros(COUNT), np.linspace(0, 1, COUNT)])
EIGHT_THIRDS = 8.0 / 3.0
END, WITHIN, BACK = (0.0, 1.0), np.linspace(0.0, 1.0, 7), (1.0, 0.85, 0.8)


def lorenz_solver(method, rtol=1e-8):
    step = {"first_step": 0.004} if method in ("Euler", "Heun", "RK4") else {}
    return nd.ode.solver(lorenz, method=method, rtol=rtol, atol=rtol, **step)


def one_by_one(solve, ts):
    return np.array(
        [solve(y, ts, (10.0, r, EIGHT_THIRDS)) for y, r in zip(STARTS, RHO, strict=True)]
    )


def without_spills(launched):
    """Assert that the ensemble's kernel, the first that ran, keeps its state in registers; its PTX."""
    ptx = launched[0].ptx(ASSEMBLED_FOR)
    assert ".local" not in ptx
    registers, spilled = registers_and_spills(ptx)
    if registers is not None:
        assert (spilled, registers < 200) == (0, True)
    return ptx


@pytest.mark.dear
@pytest.mark.deep(but=["RK4-ts0", "Tsit5-ts1"])
@pytest.mark.parametrize("ts", [END, WITHIN, BACK])
@pytest.mark.parametrize("method", [method.name for method in EXPLICIT])
def test_trajectories_are_those_of_the_solver(method, ts, twin):
    solve = lorenz_solver(method)
    found = device.ensemble(solve, STARTS, ts, (10.0, RHO, EIGHT_THIRDS))
    assert found.ys.shape == (COUNT, len(ts), 3)
    assert found.ys.dtype == np.float64
    assert not found.status.any()
    # The host contracts nothing, so that the steps are the same to the last bit but for what LLVM reorders.
    np.testing.assert_allclose(found.ys, one_by_one(solve, ts), rtol=1e-12, atol=1e-12)
    without_spills(twin)


# BS3's own error, of order 3; Vern9's interpolant within steps, whose coefficients are large and cancel.
ROUNDED = {("BS3", False): 1e-3, ("BS3", True): 1e-3, ("Vern9", True): 2e-2}


@pytest.mark.dear
@pytest.mark.deep(but=["Tsit5-ts0"])
@pytest.mark.parametrize("ts", [END, WITHIN])
@pytest.mark.parametrize("method", ["RK4", "BS3", "DP5", "Tsit5", "DOP853", "Vern7", "Vern9"])
def test_float32_is_float32_throughout(method, ts, twin):
    found = device.ensemble(
        lorenz_solver(method, 1e-5), STARTS.astype("f4"), ts, (10.0, RHO, EIGHT_THIRDS)
    )
    assert found.ys.dtype == np.float32
    accurate = one_by_one(lorenz_solver("Vern9", 1e-12), ts)
    close = ROUNDED.get((method, ts is WITHIN), 2e-4)
    np.testing.assert_allclose(found.ys, accurate, rtol=close, atol=close)
    ptx = without_spills(twin)
    assert ".f64" not in ptx
    assert "fma.rn.f32" in ptx


def test_float32_rounds_as_numpys_does():
    """Euler's method as the logistic map, which makes a rounding error 1e5 times as large in twelve steps."""
    solve = nd.ode.solver(lambda t, y, r: r * y * (1 - y) - y, method="Euler", first_step=1.0)
    starts = np.linspace(0.1, 0.3, 20, dtype="f4")
    found = device.ensemble(solve, starts, (0.0, 12.0), 3.9).ys[:, 1, 0]
    single, double, r = starts.copy(), starts.astype(float), np.float32(3.9)
    for _ in range(12):
        single = single + (r * single * (np.float32(1.0) - single) - single)
        double = double + (3.9 * double * (1.0 - double) - double)
    assert (found == single).all()
    assert np.abs(found - double).max() > 1e-5


# -- trajectories that fail -------------------------------------------------------------------------

explosion = nd.ode.solver(lambda t, y: y * y, max_steps=2000)
OUTPUTS = np.linspace(0.0, 1.0, 5)


def test_max_steps():
    solve = nd.ode.solver(lambda t, y, w: (y[1], -w * w * y[0]), max_steps=60)
    with pytest.warns(nd.NumbadWarning, match="1 of 2.*max_steps"):
        found = device.ensemble(solve, (1.0, 0.0), END, np.array([1.0, 200.0]))
    assert np.isnan(found.ys[1, 1]).all()
    np.testing.assert_allclose(found.ys[0, 1], [math.cos(1.0), -math.sin(1.0)], rtol=1e-5)


# -- wrong use --------------------------------------------------------------------------------------

decay = nd.ode.solver(lambda t, y, k: (-k * y[0],))
stiff = nd.ode.solver(lorenz, method="KenCarp4")
writing = nd.ode.solver(lorenz, inplace=True)
kept = nd.ode.solver(lorenz, tstops=0.5, keep_events=1)
ones, close_by = np.ones((3, 1)), (0.0, 1e-9, 1.0, 1.0 + 1e-9)


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ((len, 1.0, END), {}, nd.ArgumentError, "takes what nd.sde.solver or"),
        ((decay, ones, END, np.ones(4)), {}, nd.ArgumentError, "y0s has 3 rows and args has 4"),
        ((decay, (1.0,), END, "fast"), {}, nd.ArgumentError, "args must be a number"),
        ((decay, np.ones((3, 1, 1)), END, 1.0), {}, nd.ArgumentError, "y0s must be"),
        ((decay, ((1.0, 2.0),), END, 1.0), {}, nd.ArgumentError, "y0s must be"),
        ((decay, np.ones((3, 100)), END, 1.0), {}, nd.ArgumentError, "100 numbers in a row"),
        ((decay, (1.0,), (0.0, 1.0, 1.0), 1.0), {}, nd.DataError, "increase"),
        ((decay, (1.0,), close_by, 1.0), {"precision": "float32"}, nd.DataError, "increase"),
        ((decay, (1.0,), (0.0, math.nan), 1.0), {}, nd.DataError, "finite"),
        ((decay, (1.0,), END, 1.0), {"precision": "half"}, nd.ArgumentError, "precision"),
        ((decay, (1.0,), END, 1.0), {"precision": "float16"}, nd.ArgumentError, "precision"),
        ((decay, Resident(ones), END, 1.0), {"precision": "f4"}, nd.ArgumentError, "takes float32"),
        ((stiff, STARTS, END), {}, nd.UnsupportedError, "'KenCarp4'"),
        ((writing, STARTS, END), {}, nd.UnsupportedError, "inplace"),
        ((kept, STARTS, END), {}, nd.UnsupportedError, "keep_events"),
    ],
)
def test_what_does_not_fit_is_refused(given, options, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        device.ensemble(*given, **options)


def test_a_function_that_allocates_is_refused():
    solve = nd.ode.solver(lambda t, y: np.zeros(2) + y[0])
    with pytest.raises(nd.NumbadError, match="for the GPU.*without arrays"):
        device.ensemble(solve, (1.0, 2.0), END)


@pytest.mark.dear
def test_a_kernel_is_compiled_once(twin):
    for precision in ("float64", "float32", "float64"):
        device.ensemble(decay, (1.0,), END, 1.0, precision=precision)
    first, other, again = twin[::2]  # beside the kernel that looks for failures
    assert first is again
    assert first is not other


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(DeviceError, match=re.escape("nd.sde.ensemble")):
        device.ensemble(decay, (1.0,), END, 1.0)


# -- on a GPU ---------------------------------------------------------------------------------------


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_on_a_gpu(precision, monkeypatch):
    monkeypatch.undo()
    solve = lorenz_solver("Tsit5", 1e-8 if precision == "float64" else 1e-5)
    found = device.ensemble(solve, STARTS, WITHIN, (10.0, RHO, EIGHT_THIRDS), precision=precision)
    assert not found.status.any()
    close = 1e-9 if precision == "float64" else 1e-4
    np.testing.assert_allclose(found.ys, one_by_one(solve, WITHIN), rtol=close, atol=close)
    stay = device.ensemble(
        solve, cuda.to_device(STARTS.astype(precision)), WITHIN, (10.0, RHO, EIGHT_THIRDS)
    )
    assert (stay.ys.copy_to_host() == found.ys).all()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mixed = device.ensemble(explosion, np.array([0.5, 1.6]), OUTPUTS)
    assert mixed.status.astype(bool).tolist() == [False, True]
    assert "1 of 2" in str(told[0].message)


def test_no_trajectory_at_all_is_told():
    with pytest.raises(nd.ArgumentError, match=r"args\[0\] has no rows"):
        device.ensemble(explosion, 1.0, END, (np.zeros(0),))
