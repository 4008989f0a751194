"""Jacobians in kernels, of what a function returns or writes."""

import math

import numpy as np
import pytest
from numba import types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")
import numbad.cuda as device

from .on_cpu import DeviceFunction
from .test_forward_mode import DTYPE, PRECISIONS, close, oscillator

pytestmark = pytest.mark.usefixtures("no_gpu")


@PRECISIONS
def test_functions_that_write_their_result(F):
    A, M = F[::1], F[:, ::1]
    rows = device.jacobian(oscillator, (1, 3, 0), out=2)
    forward = device.jvp(oscillator)

    def code(t, y, dy, k, by_y, by_k, by_t, v, along):
        rows(t, y, dy, k, by_y, by_k, by_t)
        forward((t, y, dy, k), (k, v, along, t))
        return dy[0]

    run = DeviceFunction(code, (F, A, A, F, M, A, A, A, A))
    y, v = (np.array(a, DTYPE[F]) for a in ([0.3, 0.7], [0.2, -0.4]))
    dy, by_y, by_k, by_t, along = (np.full(s, 7.0, DTYPE[F]) for s in (2, (2, 2), 2, 2, 2))
    run(0.5, y, dy, 2.0, by_y, by_k, by_t, v, along)
    J = np.array([[0.0, 1.0], [-2.0, -0.3 * 0.49]])
    e = math.exp(-0.5)
    close(dy, [0.7, -0.6 - 0.0343 + e], F)
    close(by_y, J, F, 1e-7)
    close(by_k, [0.0, -0.3], F)
    close(by_t, [0.0, -e], F)
    close(along, J @ [0.2, -0.4] + [0.0, -0.5 * 0.3 - 2.0 * e], F)
    assert (".f64" in run.ptx) == (F is types.float64)


def first_alone(x, dy):
    dy[0] = x * x


def test_elements_that_are_not_written_have_no_derivative():
    rows = device.jacobian(first_alone, out=1)
    np.testing.assert_array_equal(rows(3.0, np.full(2, 7.0), np.full(2, 7.0)), [6.0, 0.0])


def bilinear(W, x):
    """(sum_ij W_ij^2 x_j, max_i W_i0), read by rows and by pairs of indices."""
    s, most = 0.0, W[0, 0]
    for i in range(W.shape[0]):
        row = W[i]
        for j in range(len(row)):
            s += row[j] * W[i, j] * x[j]
        most = max(most, W[i, -W.shape[1]])
    return s, most


def test_matrices_and_tuples_of_results():
    F = types.float64
    rows = device.jacobian(bilinear, (0, 1))

    def code(W, x, JW, Jx):
        rows(W, x, JW, Jx)
        return W[0, 0]

    run = DeviceFunction(code, (F[:, ::1], F[::1], F[:, :, ::1], F[:, ::1]))
    W, x = np.arange(6.0).reshape(2, 3) - 2.0, np.array([1.0, -2.0, 0.5])
    JW, Jx = np.full((2, 2, 3), 7.0), np.full((2, 3), 7.0)
    run(W, x, JW, Jx)
    np.testing.assert_allclose(JW[0], 2 * W * x, rtol=1e-14)
    np.testing.assert_array_equal(JW[1], [[0, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(Jx, [np.sum(W**2, axis=0), np.zeros(3)], rtol=1e-14)
