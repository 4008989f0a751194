"""What NVIDIA's assembler makes of kernels: no spills, and no local memory where there is no tape."""

import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad.cuda as device

from .assembler import usage
from .test_forward_mode import energy

HOPPER = 9, 0
SINGLE, DOUBLE = types.float32, types.float64


pytestmark = pytest.mark.usefixtures("no_gpu")


def used_by(kernel, argtypes, folder):
    ptx, _ = cuda.compile(kernel, argtypes, device=False, abi="numba", cc=HOPPER)
    return usage(ptx, folder), ptx


@njit
def lorenz(y, p):
    x, v, z = y
    return p[0] * (v - x), x * (p[1] - z) - v, x * v - p[2] * z


@njit
def moved(y, h, k):
    return y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]


@njit
def weighted(a, b, c, d):
    return (a + 2.0 * b + 2.0 * c + d) / 6.0


def runge_kutta(x, v, z, sigma, rho, beta, h, n):
    """n steps of the classical method."""
    y, p = (x, v, z), (sigma, rho, beta)
    for _ in range(n):
        a = lorenz(y, p)
        b = lorenz(moved(y, 0.5 * h, a), p)
        c = lorenz(moved(y, 0.5 * h, b), p)
        d = lorenz(moved(y, h, c), p)
        y = moved(
            y,
            h,
            (
                weighted(a[0], b[0], c[0], d[0]),
                weighted(a[1], b[1], c[1], d[1]),
                weighted(a[2], b[2], c[2], d[2]),
            ),
        )
    return y


@pytest.mark.parametrize(
    ("F", "partials", "most"), [(SINGLE, 6, 128), (DOUBLE, 3, 168)], ids=["single", "double"]
)
def test_sensitivities_of_a_trajectory_stay_in_registers(F, partials, most, tmp_path):
    """128 registers leave a quarter of the threads that an SM can hold, 168 three sixteenths."""
    rows = device.jacobian(runge_kutta, tuple(range(6 - partials, 6)))

    def kernel(a, h, n, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            r = rows(a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], h, n)
            for j in range(3):
                for k in range(partials):
                    out[i, j, k] = r[j][k]

    used, ptx = used_by(kernel, (F[:, ::1], F, types.int64, F[:, :, ::1]), tmp_path)
    assert (used.spilled, used.stack) == (0, 0)
    assert used.registers <= most
    assert (".f64" in ptx) == (F is DOUBLE)


@pytest.mark.parametrize("F", [SINGLE, DOUBLE], ids=["single", "double"])
def test_arrays_need_no_local_memory(F, tmp_path):
    rows, product = device.jacobian(energy, (0, 1)), device.hvp(energy, 0)

    def kernel(x, v, p, J, H, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            _, (out[i, 0], out[i, 1]) = rows(x[i], p, J[i])
            product((x[i], p), (v[i],), (H[i],))

    M = F[:, ::1]
    used, _ = used_by(kernel, (M, M, types.UniTuple(F, 2), M, M, M), tmp_path)
    assert (used.spilled, used.stack) == (0, 0)
    assert used.registers <= 168
