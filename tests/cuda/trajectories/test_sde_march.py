"""Paths of SDEs on the GPU: the kernels run on the CPU, thread by thread, against the solvers themselves."""

import math
import re

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda, types

import numbad as nd
import numbad.cuda as device
from numbad.cuda.kernels import Kernel
from numbad.random.box_muller import normal_pair
from tests.cuda.trajectories.test_ensemble_call import ASSEMBLED_FOR, without_spills

COUNT = 23
KEY = nd.random.key(2026)
STARTS = np.linspace(0.5, 2.0, COUNT)
TIMES = (0.0, 0.3, 1.0)


def growth(t, y, rate, vol):
    return rate * y


def noise(t, y, rate, vol):
    return vol * y


def brownian_solver(method, dt=0.1):
    calculus = "stratonovich" if method in ("Heun", "EulerHeun") else "ito"
    return nd.sde.solver(growth, noise, method=method, dt=dt, calculus=calculus)


def heston_drift(t, y, rate, kappa, theta, xi, rho):
    return rate * y[0], kappa * (theta - y[1])


def heston_diffusion(t, y, rate, kappa, theta, xi, rho):
    root = math.sqrt(max(y[1], 1e-8))
    return (root * y[0], 0.0), (rho * xi * root, math.sqrt(1.0 - rho**2) * xi * root)


heston = nd.sde.solver(heston_drift, heston_diffusion, noise="general", dt=0.05)


def paths_of(solve, starts, ts, args):
    return np.array([solve(y, ts, args, (KEY, i)) for i, y in enumerate(starts)])


EXPLICIT = [
    "EulerMaruyama",
    "Milstein",
    "RKMil",
    "SRIW1",
    "SRIW2",
    "SOSRI",
    "SOSRI2",
    "Heun",
    "EulerHeun",
]


@pytest.mark.dear
@pytest.mark.deep(but=["SOSRI"])
@pytest.mark.parametrize("method", EXPLICIT)
def test_paths_are_those_of_the_solver(method, twin):
    solve, args = brownian_solver(method), (0.1, 0.4)
    expected = paths_of(solve, STARTS, TIMES, args)
    found = device.ensemble(solve, STARTS, TIMES, args, KEY)
    assert not found.status.any()
    np.testing.assert_allclose(found.ys, expected, rtol=1e-13)
    without_spills(twin)
    del twin[:]
    single = device.ensemble(solve, STARTS, TIMES, args, KEY, precision="float32")
    np.testing.assert_allclose(single.ys, expected, rtol=2e-5)
    assert ".f64" not in without_spills(twin)


@pytest.mark.dear
def test_general_noise_and_an_array_of_keys(twin):
    rho = np.linspace(-0.9, 0.9, 7)
    keys = nd.random.split(KEY, 7)
    found = device.ensemble(heston, (100.0, 0.09), (0.0, 1.0), (0.03, 2.0, 0.09, 0.3, rho), keys)
    for i in range(7):
        args = 0.03, 2.0, 0.09, 0.3, rho[i]
        np.testing.assert_allclose(
            found.ys[i], heston((100.0, 0.09), (0.0, 1.0), args, keys[i]), rtol=1e-13
        )
    without_spills(twin)


@pytest.mark.dear
def test_times_within_steps():
    solve, times = brownian_solver("SRIW1"), (-0.23, 0.31, 0.37, 1.0)
    found = device.ensemble(solve, STARTS[:5], times, (0.1, 0.4), KEY)
    np.testing.assert_allclose(found.ys, paths_of(solve, STARTS[:5], times, (0.1, 0.4)), rtol=1e-13)
    with pytest.raises(nd.UnsupportedError, match="multiples of dt"):
        device.ensemble(solve, STARTS, times, (0.1, 0.4), KEY, precision="float32")


def test_a_path_that_ends_in_nan_leaves_the_others_right():
    vol = np.full(COUNT, 0.4)
    vol[[4, 9]] = math.inf
    with pytest.warns(nd.NumbadWarning, match=r"2 of 23.*number 4.*between t = 0.0 and t = 0.3"):
        found = device.ensemble(brownian_solver("EulerMaruyama"), STARTS, TIMES, (0.1, vol), KEY)
    assert np.flatnonzero(found.status).tolist() == [4, 9]
    assert np.isnan(found.ys[[4, 9], 1:]).all()
    expected = paths_of(brownian_solver("EulerMaruyama"), STARTS, TIMES, (0.1, 0.4))
    others = found.status == 0
    np.testing.assert_allclose(found.ys[others], expected[others], rtol=1e-13)


# -- the generator ----------------------------------------------------------------------------------


def _normals(words, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        a, b = normal_pair(words[i, 0], words[i, 1], words[i, 2], words[i, 3])
        out[i, 0] = a
        out[i, 1] = b


def test_no_sum_of_the_generator_is_contracted(twin):
    """The fused operations of its PTX are those that its source asks for, and no other may become one."""
    kernel = Kernel(_normals, (types.uint32[:, ::1], types.float64[:, ::1]))
    asked = sum(
        len(re.findall(r"= call .*@\"?llvm\.fma\.f64", t)) for t in kernel.llvm(ASSEMBLED_FOR)
    )
    ptx = kernel.ptx(ASSEMBLED_FOR)
    assert len(re.findall(r"\bfma\.rn\.f64", ptx)) == asked > 15
    products = dict(re.findall(r"mul\.f64 \s*(%fd\d+), (%fd\d+, \S+);", ptx))
    sums = re.findall(r"(?:add|sub)\.f64 \s*%fd\d+, (%fd\d+|\S+), (%fd\d+|\S+);", ptx)
    # Half of a mantissa has no rounding error, whether it is contracted or not.
    may_be_fused = [products[term] for pair in sums for term in pair if term in products]
    assert all("0d3FE0000000000000" in product for product in may_be_fused)
    assert len(re.findall(r"mul\.rn\.f64", ptx)) >= 2


# -- wrong use --------------------------------------------------------------------------------------

euler = brownian_solver("EulerMaruyama")
additive = nd.sde.solver(growth, noise, method="SRA1", noise="additive", dt=0.1)
implicit = nd.sde.solver(growth, noise, method="ImplicitEM", dt=0.1)
chosen = nd.sde.solver(growth, noise, method="SRIW1", rtol=1e-3)
dense = nd.sde.solver(growth, noise, dt=0.1, dense_output=True)
jumping = nd.sde.solver(growth, noise, dt=0.1, jumps=nd.sde.jumps(1.0, lambda t, y, mark, *args: y))


@pytest.mark.parametrize(
    ("solve", "keys", "error", "message"),
    [
        (euler, None, nd.ArgumentError, "takes keys"),
        (euler, 3, nd.ArgumentError, "takes keys"),
        (additive, KEY, nd.ModelError, "additive"),
        (implicit, KEY, nd.UnsupportedError, "'ImplicitEM'"),
        (chosen, KEY, nd.ArgumentError, "no code for adaptive steps"),
        (dense, KEY, nd.ArgumentError, "no code for dense_output"),
        (jumping, KEY, nd.ArgumentError, "no code for jumps"),
        (nd.ode.solver(growth), KEY, nd.ArgumentError, "takes no keys"),
    ],
)
def test_what_does_not_fit_is_refused(solve, keys, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        device.ensemble(solve, STARTS, (0.0, 1.0), (0.1, 0.2), keys)


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
def test_on_a_gpu(monkeypatch):
    monkeypatch.undo()
    solve, args = brownian_solver("SRIW1"), (0.1, 0.4)
    found = device.ensemble(solve, STARTS, TIMES, args, KEY)
    np.testing.assert_allclose(found.ys, paths_of(solve, STARTS, TIMES, args), rtol=1e-12)
    words = np.random.default_rng(1).integers(0, 2**32, (1000, 4), dtype=np.uint32)
    out = cuda.device_array((1000, 2))
    Kernel(_normals, (types.uint32[:, ::1], types.float64[:, ::1])).launch(
        [cuda.to_device(words), out], 8, 128, 0
    )
    assert (out.copy_to_host() == [normal_pair(*row) for row in words]).all()
