"""What each trajectory is given: numbers, structures, arrays on the device."""

import math
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

import numbad as nd
import numbad.cuda as device
from tests.cuda.trajectories.test_ensemble_call import (
    EIGHT_THIRDS,
    END,
    RHO,
    STARTS,
    lorenz_solver,
    one_by_one,
)
from tests.cuda.twin_device import Resident

Pair = namedtuple("Pair", "x v")
Spring = namedtuple("Spring", "k damping")


def spring(t, y, s, push):
    x, v = y.x, y.v
    return v, -s.k * x - s.damping * v + push[0] * math.cos(push[1] * t) * (
        push[2] if push[2] > 1 else 1
    )


@pytest.mark.dear
def test_structures():
    solve = nd.ode.solver(spring)
    k, x = np.linspace(1.0, 3.0, 5), np.linspace(-1.0, 1.0, 5)
    pushes = np.column_stack([k, 2.0 * k, [0.0, 1.0, 2.0, 3.0, 4.0]])
    for push in (pushes, pushes[:1]):  # a row for each; one for all
        found = device.ensemble(solve, Pair(x, 0.5), END, (Spring(k, 0.1), push))
        for i in range(5):
            args = Spring(k[i], 0.1), tuple(push[i if len(push) > 1 else 0])
            np.testing.assert_allclose(found.ys[i], solve(Pair(x[i], 0.5), END, args), rtol=1e-13)


@pytest.mark.dear
def test_scalar_states_and_single_arguments():
    solve = nd.ode.solver(lambda t, y, n: -n * y)
    found = device.ensemble(solve, np.array([1.0, 2.0]), END, np.array([1, 3]))
    np.testing.assert_allclose(found.ys[:, 1, 0], [math.exp(-1.0), 2.0 * math.exp(-3.0)], rtol=1e-5)
    alone = device.ensemble(solve, 1.0, (0.0,), 1)
    assert alone.ys.tolist() == [[[1.0]]]


@pytest.mark.dear
def test_arrays_on_the_device_stay_there():
    solve = lorenz_solver("Tsit5")
    starts = Resident(np.asfortranarray(STARTS))
    found = device.ensemble(solve, starts, END, (10.0, Resident(RHO), EIGHT_THIRDS))
    assert isinstance(found.ys, Resident)
    assert isinstance(found.status, Resident)
    np.testing.assert_allclose(found.ys.array, one_by_one(solve, END), rtol=1e-12, atol=1e-12)


TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def by_index(t, y):
    return (TABLE[2, 1] * y[0],)


def by_column(t, y):
    return (TABLE[:, 1][2] * y[0],)


@pytest.mark.parametrize("fun", [by_index, by_column])
def test_float32_refuses_arrays_of_float64(fun):
    """Their bytes were read as those of float32: 2.06 in place of 4."""
    solve = nd.ode.solver(fun, method="Euler", first_step=0.5)
    found = device.ensemble(solve, np.ones((2, 1)), (0.0, 0.5))
    np.testing.assert_array_equal(found.ys[:, 1, 0], 4.0)
    with pytest.raises(nd.UnsupportedError, match=r"global array.* tuple"):
        device.ensemble(solve, np.ones((2, 1), "f4"), (0.0, 0.5))


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    with pytest.raises(nd.ArgumentError, match="masked"):
        device.ensemble(nd.ode.solver(lambda t, y, k: -k * y), 1.0, END, (masked,))
