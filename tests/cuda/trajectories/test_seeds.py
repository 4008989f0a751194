"""Derivatives of trajectories on the GPU: the kernels run on the CPU, against closed forms and solvers."""

import math
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda, njit

import numbad as nd
import numbad.cuda as device
from numbad.ode.methods import EXPLICIT
from tests.cuda.registers import registers_and_spills
from tests.cuda.trajectories.test_ensemble_call import (
    ASSEMBLED_FOR,
    EIGHT_THIRDS,
    END,
    RHO,
    STARTS,
    WITHIN,
    explosion,
    lorenz_solver,
)
from tests.cuda.trajectories.test_sde_march import KEY, TIMES, brownian_solver, heston

RATES = np.linspace(0.5, 2.0, 6)
decay = nd.ode.solver(lambda t, y, k: (-k * y[0], 3 * y[1]), rtol=1e-10, atol=1e-12, method="Vern7")


def without_spills(launched, but=0):
    """Assert that the kernels of all passes keep their state in registers, `but` so many bytes; their PTX."""
    found = [kernel.ptx(ASSEMBLED_FOR) for kernel in launched[:-1]]
    for ptx in found:
        assert ".local" not in ptx
        assert (registers_and_spills(ptx)[1] or 0) <= but
    return found


@pytest.mark.dear
def test_closed_form():
    ts = np.array([0.0, 0.4, 1.0])
    found = device.ensemble(decay, (2.0, 1.0), ts, RATES, derivatives=("y0", "args"))
    assert found.derivatives.shape == (6, 3, 2, 3)
    first, growth = np.exp(-np.outer(RATES, ts)), np.broadcast_to(np.exp(3.0 * ts), (6, 3))
    zero = np.zeros_like(first)
    expected = [[first, zero, -2.0 * ts * first], [zero, growth, zero]]
    np.testing.assert_allclose(found.derivatives, np.transpose(expected, (2, 3, 0, 1)), atol=1e-8)


@pytest.mark.deep
@pytest.mark.parametrize("method", [method.name for method in EXPLICIT])
def test_trajectories_and_derivatives_are_those_of_the_solver(method, twin):
    """In passes of a few numbers, with outputs within steps."""
    solve, starts, rho = lorenz_solver(method), STARTS[:4], RHO[:4]
    found = device.ensemble(
        solve, starts, WITHIN, (10.0, rho, EIGHT_THIRDS), derivatives=("y0", "args")
    )
    assert len(twin) >= 3

    def along(x, y, z, sigma, r, beta):
        return solve((x, y, z), WITHIN, (sigma, r, beta))

    push = nd.jvp(along)
    for i in range(4):
        at = (*starts[i], 10.0, rho[i], EIGHT_THIRDS)
        for k in range(6):
            value, slope = push(at, tuple(float(j == k) for j in range(6)))
            np.testing.assert_allclose(found.ys[i], value, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(found.derivatives[i, :, :, k], slope, rtol=1e-10, atol=1e-10)
    if method not in (
        "DOP853",
        "Vern7",
        "Vern9",
    ):  # of many stages, which spill with one partial already
        without_spills(twin)


@pytest.mark.deep
def test_float32_carries_more_partials_in_one_pass(twin):
    by = ("y0", "args")
    found = device.ensemble(
        lorenz_solver("Tsit5", 1e-5),
        STARTS[:5].astype("f4"),
        END,
        (10.0, RHO[:5], EIGHT_THIRDS),
        derivatives=by,
    )
    double = device.ensemble(
        lorenz_solver("Vern9", 1e-11),
        STARTS[:5],
        END,
        (10.0, RHO[:5], EIGHT_THIRDS),
        derivatives=by,
    )
    assert found.derivatives.dtype == np.float32
    scale = np.abs(double.derivatives).max(axis=(1, 2), keepdims=True)
    assert (np.abs(found.derivatives - double.derivatives) <= 2e-3 * scale).all()
    (ptx,) = without_spills(twin[:2])
    assert ".f64" not in ptx


Rates = namedtuple("Rates", "k steps")


def test_structures_and_constants():
    solve = nd.ode.solver(lambda t, y, r, push: -r.k * y * r.steps + push[1] * push[0])
    pushes = np.column_stack([RATES, RATES[::-1]])
    found = device.ensemble(solve, 1.5, END, (Rates(RATES, 2), pushes), derivatives=(1, 0))
    assert found.derivatives.shape == (6, 2, 1, 3)

    def end(k, a, b):
        return 1.5 * math.exp(-2.0 * k) + a * b * (1.0 - math.exp(-2.0 * k)) / (2.0 * k)

    h = 1e-6
    for i, (k, (a, b)) in enumerate(zip(RATES, pushes, strict=True)):
        by_a, by_b = b * (end(k, 1, 1) - end(k, 0, 1)), a * (end(k, 1, 1) - end(k, 0, 1))
        by_k = (end(k + h, a, b) - end(k - h, a, b)) / (2.0 * h)
        np.testing.assert_allclose(found.derivatives[i, 1, 0], [by_a, by_b, by_k], rtol=1e-5)


@pytest.mark.dear
def test_derivatives_of_what_is_not_reached_are_nan():
    y0s = np.array([0.5, 1.6])
    with pytest.warns(nd.NumbadWarning, match="1 of 2"):
        found = device.ensemble(explosion, y0s, (0.0, 0.5, 1.0), derivatives="y0")
    slopes = 1.0 / (1.0 - y0s[:, None] * [0.0, 0.5, 1.0]) ** 2
    np.testing.assert_allclose(found.derivatives[0, :, 0, 0], slopes[0], rtol=1e-4)
    np.testing.assert_allclose(found.derivatives[1, :2, 0, 0], slopes[1, :2], rtol=1e-4)
    assert np.isnan(found.derivatives[1, 2]).all()


@pytest.mark.deep(but=["Milstein"])
@pytest.mark.parametrize("method", ["EulerMaruyama", "Milstein", "RKMil", "SRIW1", "SOSRI", "Heun"])
def test_paths(method, twin):
    """Against differences of the solver's paths; Milstein's steps take a derivative themselves."""
    solve, y0s, vol, h = brownian_solver(method), RATES, 0.4, 1e-6
    found = device.ensemble(solve, y0s, TIMES, (0.1, vol), KEY, derivatives=("y0", "args"))
    for i, y0 in enumerate(y0s):
        at = np.array([y0, 0.1, vol])

        def path(x, i=i):
            return solve(x[0], TIMES, (x[1], x[2]), (KEY, i))

        np.testing.assert_allclose(found.ys[i], path(at), rtol=1e-12)
        steps = h * np.eye(3)
        slopes = [(path(at + step) - path(at - step)) / (2.0 * h) for step in steps]
        np.testing.assert_allclose(
            found.derivatives[i, :, 0], np.array(slopes)[..., 0].T, rtol=1e-7, atol=1e-8
        )
    without_spills(twin)


@pytest.mark.dear
def test_heston_in_two_components(twin):
    args, h = np.array([0.03, 2.0, 0.09, 0.3, -0.7]), 1e-6
    state = np.array([100.0, 0.09])
    found = device.ensemble(
        heston, state[None], (0.0, 1.0), tuple(args), np.array([KEY]), derivatives=("y0", "args")
    )

    def end(x):
        return heston((x[0], x[1]), (0.0, 1.0), tuple(x[2:]), KEY)[1]

    at = np.concatenate([state, args])
    scales = np.array([100.0, 0.1, 0.1, 1.0, 0.1, 0.1, 1.0])
    slopes = [
        (end(at + e) - end(at - e)) / (2.0 * h * s)
        for e, s in zip(h * np.diag(scales), scales, strict=True)
    ]
    np.testing.assert_allclose(found.derivatives[0, 1], np.array(slopes).T, rtol=1e-5, atol=1e-6)
    without_spills(twin)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("y", "'y0', 'args'"),
        (1, r"0 to 0"),
        (("y0", "y0"), "twice"),
        (("args", 0), "twice"),
        (True, "not True"),
    ],
)
def test_what_names_nothing_is_refused(by, message):
    with pytest.raises(nd.ArgumentError, match=message):
        device.ensemble(decay, (2.0, 1.0), END, RATES, derivatives=by)


def test_a_rule_of_a_right_hand_side_is_refused():
    @njit
    def ruled(t, y, k):
        return -k * y

    nd.rule(ruled, jvp=lambda primals, tangents: (0.0, 0.0))
    with pytest.raises(nd.UnsupportedError, match="rule of its own"):
        device.ensemble(nd.ode.solver(ruled), 1.0, END, RATES, derivatives="args")


def test_integers_are_constants():
    with pytest.raises(nd.ArgumentError, match=r"args\[0\] has no floats"):
        device.ensemble(decay, (2.0, 1.0), END, (2,), derivatives=0)
    found = device.ensemble(decay, (2.0, 1.0), END, (2,), derivatives="args")
    assert found.derivatives is None


@pytest.mark.skipif(not cuda.is_available(), reason="there is no GPU here")
def test_on_a_gpu(monkeypatch):
    monkeypatch.undo()
    ts = np.array([0.0, 0.4, 1.0])
    found = device.ensemble(decay, (2.0, 1.0), ts, RATES, derivatives=("y0", "args"))
    expected = -2.0 * ts * np.exp(-np.outer(RATES, ts))
    np.testing.assert_allclose(found.derivatives[:, :, 0, 2], expected, atol=1e-8)
