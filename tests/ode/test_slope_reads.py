"""Right-hand sides that read the `dy` that they write, `dy[i] += rate`: it holds zeros at first."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.ode.slope_reads import reads_slope


@njit
def written(t, y, dy, k):
    n = len(dy)
    out = dy
    out[: n - 1] = -k * y[: n - 1]
    out[dy.shape[0] - 1] = k * y[0]


@njit
def added(t, y, dy, k):
    dy[0] = -k * y[0]
    dy[1] += k * y[0]


@njit
def handed_on(t, y, dy, k):
    added(t, y, dy, k)


@njit
def copied(t, y, dy, k):
    y[:] = dy


def test_what_reads_it():
    assert [reads_slope(f) for f in (written, added, handed_on, copied)] == [
        False,
        True,
        True,
        True,
    ]


@pytest.mark.dear
@pytest.mark.deep(but=["Tsit5-added"])
@pytest.mark.parametrize("fun", [added, handed_on], ids=["added", "handed_on"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
def test_sums_begin_with_zero(fun, method):
    solve = nd.ode.solver(fun, inplace=True, method=method, rtol=1e-7, atol=1e-9)
    start = np.array([1.0, 2.0])

    def last(k):
        return solve(start, (0.0, 1.0), k)[-1, 1]

    for _ in range(2):
        assert last(1.0) == pytest.approx(3.0 - math.exp(-1.0), abs=1e-5)
    slopes = [nd.derivative(last)(1.0), nd.grad(last, mode="reverse")(1.0)]
    assert slopes == pytest.approx([math.exp(-1.0)] * 2, abs=1e-4)


@pytest.mark.parametrize("inplace", [False, True])
def test_a_state_that_is_written_to_is_refused(inplace):
    def scaled(t, y):
        y *= 2.0
        return -y

    def scaled_in_place(t, y, dy):
        y[0] = max(y[0], 0.0)
        dy[:] = -y

    solve = nd.ode.solver(scaled_in_place if inplace else scaled, inplace=inplace)
    with pytest.raises(nd.ModelError, match="writes to the state y, with which the solver goes on"):
        solve(np.ones(2), (0.0, 1.0))


def test_a_copy_of_the_state_may_be_written_to():
    def clipped(t, y):
        y = y.copy()
        y[0] = max(y[0], 0.0)
        return -y

    last = nd.ode.solver(clipped)(np.ones(2), (0.0, 1.0))[-1]
    np.testing.assert_allclose(last, math.exp(-1.0), rtol=1e-5)
