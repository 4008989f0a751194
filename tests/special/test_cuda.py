"""Special functions in CUDA kernels: SciPy's code is the CPU's, so they are refused."""

import pytest
import scipy.special as sp
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from numbad.forward.access import partial, unit
from numbad.forward.dual_dispatcher import dualized
from tests.cuda.on_cpu import without_gpu

SIGNATURE = types.void(types.float64, types.float64[::1])


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    if not cuda.is_available():
        without_gpu(monkeypatch)


@njit
def f(x):
    return nd.special.erf(x) * sp.jv(0, x)


def compile_kernel(kernel):
    return cuda.compile_ptx(kernel, SIGNATURE, device=True, abi="numba", cc=(7, 5))


def test_gradients_say_so():
    gradient = device.grad(f)

    def kernel(x, out):
        out[0] = gradient(x)

    told = r"(?s)cannot be compiled for the GPU.*No implementation of function erf.*those of math"
    with pytest.raises(Exception, match=told):
        compile_kernel(kernel)


def test_dual_numbers_are_refused():
    g = dualized(f)

    def kernel(x, out):
        out[0] = partial(g(unit(x, 0, 1, 0)), 0)

    with pytest.raises(Exception, match="No implementation of function erf"):
        compile_kernel(kernel)
