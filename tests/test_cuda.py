"""Dual numbers in CUDA kernels: compiled to PTX, for which no driver is needed, and run on the CPU."""

import math

import numpy as np
import pytest
from numba import njit, types

from numbad.forward.access import partial, unit

cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed (extra: cuda)")
dispatcher = pytest.importorskip(
    "numba.cuda.dispatcher", reason="this numba.cuda has no dispatcher module"
)

X, Y = 0.3, 0.7


def model(x, y):
    s = 0.0
    while s < 5.0:
        s += math.exp(x * y) + max(x, y) ** 2 + math.hypot(x, y) - math.erf(-x)
    return s / (x + 1.0)


def gradient_of(compiled):
    """The device function, or its CPU twin, that returns both partials."""

    def gradient(x, y):
        result = compiled(unit(x, 0, 2, 0), unit(y, 1, 2, 0))
        return partial(result, 0), partial(result, 1)

    return gradient


def kernel_of(gradient):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0], out[i, 1] = gradient(x[i], Y)

    return kernel


@pytest.fixture
def capability(monkeypatch):
    """The compute capability that nested device functions ask of a GPU, where there is none."""
    device = type("Device", (), {"compute_capability": (8, 0)})
    if not cuda.is_available():
        monkeypatch.setattr(dispatcher, "get_current_device", lambda: device)
    return (8, 0)


def test_kernel_over_dual_numbers_compiles_to_ptx(capability):
    device_model = cuda.jit(device=True)(model)
    kernel = kernel_of(cuda.jit(device=True)(gradient_of(device_model)))
    ptx, returned = cuda.compile_ptx(kernel, (types.float64[:], types.float64[:, :]), cc=capability)
    assert returned == types.void
    assert ".visible .entry" in ptx
    assert "fma.rn.f64" in ptx  # the partials, which may be contracted


def test_cpu_twin_has_the_derivative_of_central_differences():
    twin = njit(gradient_of(njit(model)))
    h = 1e-5
    by_x = (model(X + h, Y) - model(X - h, Y)) / (2 * h)
    by_y = (model(X, Y + h) - model(X, Y - h)) / (2 * h)
    np.testing.assert_allclose(twin(X, Y), (by_x, by_y), rtol=1e-8)


@pytest.mark.skipif(not cuda.is_available(), reason="no CUDA GPU on this machine")
def test_kernel_gives_what_the_cpu_twin_gives():
    device_model = cuda.jit(device=True)(model)
    kernel = cuda.jit(kernel_of(cuda.jit(device=True)(gradient_of(device_model))))
    twin = njit(gradient_of(njit(model)))
    x = np.linspace(0.1, 0.9, 40)
    out = np.zeros((x.size, 2))
    kernel[2, 32](x, out)
    np.testing.assert_allclose(out, [twin(xi, Y) for xi in x], rtol=1e-12)
