"""Gradients in kernels of float32: literals are float32, too; values against those in double precision."""

import math
import re

import numpy as np
import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device

from .on_cpu import CAPABILITY, DeviceFunction

S, D, N = types.float32, types.float64, types.int64
SCALE = 0.3


pytestmark = pytest.mark.usefixtures("no_gpu")


@njit
def cubic(x):
    return 0.1 * math.exp(-x) + 2.5 * x**3


def chain(x, p, n):
    """Literals, a global, math.pi, a callee, rules with constants of their own, a loop with a tape."""
    s = 1.0
    for _ in range(n):
        s = SCALE * s * s + cubic(x) * p[0] + math.pi * p[1] * s / (1.0 + x * x)
        s = min(s, 4.5) if s > 0.0 else abs(s)
    return 0.5 * s + 2.0 * math.sqrt(x) + math.log(x)


def doubles(ptx):
    """The instructions of a PTX that compute in double precision."""
    return re.findall(r"\b(?:add|sub|mul|div|fma|cvt|rcp)[\w.]*\.f64\b", ptx)


def gradient_of(f, F, operator=device.value_and_grad, tape=device.TAPE_BYTES):
    gradient = operator(f, (0, 1), tape=tape)

    def code(x, p, n, dp):
        value, (dx, _) = gradient(x, p, n, dp)
        return value, dx

    A = F[::1]
    return DeviceFunction(code, (F, A, N, A))


def test_literals_are_float32():
    p, dp = np.array([0.2, 0.1], "f4"), np.empty(2, "f4")
    run = gradient_of(chain, S)
    code, (value, dx) = run(np.float32(0.7), p, 5, dp)
    assert code == 0
    assert run.result.signature.return_type == types.UniTuple(S, 2)
    exact, (by_x, by_p) = nd.value_and_grad(chain, (0, 1))(
        float(np.float32(0.7)), p.astype("f8"), 5
    )
    np.testing.assert_allclose([value, dx, *dp], [exact, by_x, *by_p], rtol=2e-6)
    assert doubles(run.ptx) == []


def test_in_double_precision_nothing_changes():
    """After the function was captured in single precision."""
    p, dp = np.array([0.2, 0.1]), np.empty(2)
    code, (value, dx) = gradient_of(chain, D)(0.7, p, 5, dp)
    assert code == 0
    exact, (by_x, by_p) = nd.value_and_grad(chain, (0, 1))(0.7, p, 5)
    np.testing.assert_allclose([value, dx, *dp], [exact, by_x, *by_p], rtol=1e-14)


def test_a_callee_that_the_cpu_compiled_in_float32():
    """Numba has made a float64 of it there: 0.1 * float32."""
    assert cubic(np.float32(0.5)) == pytest.approx(0.1 * math.exp(-0.5) + 2.5 * 0.125)
    slope = device.grad(lambda x: 3.0 * cubic(x) + cubic(2.0 * x))
    run = DeviceFunction(lambda x: (slope(x), slope(x)), (S,))
    assert run.result.signature.return_type == types.UniTuple(S, 2)
    code, (found, _) = run(np.float32(0.5))
    assert code == 0

    def by_hand(x):
        return -0.1 * math.exp(-x) + 7.5 * x * x

    assert found == pytest.approx(3.0 * by_hand(0.5) + 2.0 * by_hand(1.0), rel=1e-6)
    assert doubles(run.ptx) == []


def test_on_the_cpu_numbas_rule_holds():
    """The same function, differentiated for the CPU: 0.1 * float32 is a float64 there."""
    f = njit(lambda x: 0.1 * x * x)
    slope = device.grad(f)
    DeviceFunction(lambda x: (slope(x), slope(x)), (S,))
    x = np.float32(1.5)
    assert nd.value_and_grad(f)(x)[0] == 0.1 * 1.5 * 1.5


def test_what_is_said_to_be_double_stays_so():
    """With a float64 among the arguments, and where the function makes one."""
    mixed = device.grad(lambda x, y: 0.1 * x * y, 1)
    run = DeviceFunction(lambda x, y: (mixed(x, y), mixed(x, y)), (S, D))
    code, (found, _) = run(np.float32(2.0), 3.0)
    assert (code, found) == (0, 0.2)

    def made(x):
        return np.float32(np.float64(x) * np.float64(x) / np.float64(3))

    slope = device.grad(made)
    code, (found, _) = DeviceFunction(lambda x: (slope(x), slope(x)), (S,))(np.float32(1.5))
    assert (code, found) == (0, np.float32(1.0))


def test_a_kernel_of_gradients():
    """Its code has no double precision either."""
    slope = device.grad(lambda x: 0.1 * math.exp(-2.0 * x))

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = slope(x[i])

    given = S[::1], S[::1]
    ptx, _ = cuda.compile(kernel, given, device=False, abi="numba", cc=CAPABILITY)
    assert doubles(ptx) == []
