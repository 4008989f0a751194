"""Gradients as device functions: their code for the GPU runs on the CPU, against complex steps."""

import math
from collections import namedtuple

import numpy as np
import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from numbad.errors import ArgumentError
from numbad.reverse.pipeline import Pipeline
from tests.reverse import complex_step

from .on_cpu import CAPABILITY, DeviceFunction

F, N, A = types.float64, types.int64, types.float64[::1]


pytestmark = pytest.mark.usefixtures("no_gpu")


@njit
def recurrence(x, p, n):
    s = p[0]
    for _ in range(n):
        s = math.sin(s * x) + p[1] * s
    return s


def recurrence_on_cpu(tape=device.TAPE_BYTES, debug=False, workspace=None):
    """The device function `(x, p, n, dp[, workspace]) -> (value, dx)`, run on the CPU."""
    gradient = device.value_and_grad(recurrence, (0, 1), tape=tape)
    if workspace is None:

        def code(x, p, n, dp):
            value, (dx, _) = gradient(x, p, n, dp)
            return value, dx

        return DeviceFunction(code, (F, A, N, A), debug)

    def code(x, p, n, dp, room):
        value, (dx, _) = gradient(x, p, n, dp, room)
        return value, dx

    return DeviceFunction(code, (F, A, N, A, workspace), debug)


def exact(f, args, argnums):
    """Value and gradients, flat, by complex step."""
    (value,) = complex_step.value(f, args)
    return np.hstack([value, *(np.ravel(g) for g in complex_step.jacobian(f, args, argnums))])


X, P = 0.7, np.array([0.3, 0.9])


@pytest.mark.parametrize("n", [0, 1, 7, 100])
def test_scalars_and_arrays(n):
    dp = np.full(2, 7.0)  # what is there before must not count
    code, (value, dx) = recurrence_on_cpu()(X, P, n, dp)
    assert code == 0
    expected = exact(recurrence, (X, P, n), (0, 1))
    np.testing.assert_allclose([value, dx, *dp], expected, rtol=1e-12, atol=1e-300)


@njit
def branches(x, y, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            x = x * y + 0.1 * x
        elif i % 3 == 0:
            continue
        else:
            y = y * y * x
        if s > 4.0:
            break
        s += x * x * y
    return s


@njit
def nested(x, y, n):
    s = 0.0
    for i in range(n):
        t = x
        while t > 0.1:
            t = t * y - 0.01 * i
            s += t * t
        x, y = 0.5 * (x + y), math.sqrt(x * y)
    return s / (1.0 + x)


@njit
def helper(x, y):
    if x > y:
        return math.exp(-x) * y
    return x + math.atan(y * x)


@njit
def calls(x, y, n):
    s = 1.0
    for _ in range(n):
        s = helper(s, y) + helper(y, x * s)
    return s


@njit
def sums_of_mathematics(x, y, n):
    s = 0.0
    for i in range(1, n + 1):
        u = x * i
        s += math.log(u) + math.tanh(y) * u**2 + abs(y - u) + math.hypot(u, y) + math.erf(u)
        s += np.sin(u) / math.sqrt(y + i) + max(u, y) - min(u, y) ** 3 + u**y
    return s


@pytest.mark.parametrize("f", [branches, nested, calls])
def test_control_flow_and_calls(f):
    run = _scalars_on_cpu(f)
    for x, y, n in [(0.9, 0.7, 5), (0.4, 0.8, 6), (1.3, 0.6, 3), (0.2, 0.3, 0)]:
        code, found = run(x, y, n)
        assert code == 0
        np.testing.assert_allclose(found, exact(f, (x, y, n), (0, 1)), rtol=1e-12, atol=1e-300)


def test_mathematics():
    code, found = _scalars_on_cpu(sums_of_mathematics)(0.6, 0.8, 4)
    assert code == 0
    h = 1e-6
    f = sums_of_mathematics.py_func
    by_x = (f(0.6 + h, 0.8, 4) - f(0.6 - h, 0.8, 4)) / (2 * h)
    by_y = (f(0.6, 0.8 + h, 4) - f(0.6, 0.8 - h, 4)) / (2 * h)
    np.testing.assert_allclose(found, [f(0.6, 0.8, 4), by_x, by_y], rtol=1e-7)


def _scalars_on_cpu(f):
    gradient = device.value_and_grad(f, (0, 1))

    def code(x, y, n):
        value, (dx, dy) = gradient(x, y, n)
        return value, dx, dy

    return DeviceFunction(code, (F, F, N))


@njit
def of_pair(pair, c):
    (a, b), d = pair
    return a * b * c + math.exp(d * a)


def test_tuples():
    gradient = device.grad(of_pair)

    def code(a, b, d, c):
        return gradient(((a, b), d), c)

    _, found = DeviceFunction(code, (F, F, F, F))(0.3, 0.5, 0.7, 2.0)
    e = math.exp(0.7 * 0.3)
    np.testing.assert_allclose(found, [0.5 * 2 + 0.7 * e, 0.3 * 2, 0.3 * e], rtol=1e-14)


Rates = namedtuple("Rates", "growth loss")


@njit
def of_rates(pair):
    rates, x = pair
    return rates.growth * x - rates.loss * x * x


def test_namedtuples_come_back():
    gradient = device.grad(of_rates)

    def code(a, b, x):
        rates, dx = gradient((Rates(a, b), x))
        return rates.growth, rates.loss, dx

    _, found = DeviceFunction(code, (F, F, F))(0.3, 0.5, 2.0)
    np.testing.assert_allclose(found, [2.0, -4.0, 0.3 - 2.0], rtol=1e-14)


@njit
def over_work(x, work):
    for i in range(work.size):
        work[i] = x * i
    s = 0.0
    for i in range(1, work.size):
        work[i] += work[i - 1] * work[i]
        s += work[i]
    return s


def test_work_arrays():
    gradient = device.value_and_grad(over_work)
    run = DeviceFunction(lambda x, work: gradient(x, work), (F, A))
    code, found = run(0.3, np.zeros(5))
    assert code == 0
    np.testing.assert_allclose(found, exact(over_work, (0.3, np.zeros(5)), (0,)), rtol=1e-14)
    assert np.isnan(run(0.3, np.zeros(1000))[1]).all()  # no room for its shadow


def test_work_arrays_with_adjoints_of_their_own():
    gradient = device.value_and_grad(over_work, (0, 1))

    def code(x, work, adjoint):
        value, (dx, _) = gradient(x, work, adjoint)
        return value, dx

    adjoint = np.ones(1000)
    code, found = DeviceFunction(code, (F, A, A))(1e-4, np.zeros(1000), adjoint)
    assert code == 0
    expected = exact(over_work, (1e-4, np.zeros(1000)), (0,))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert not adjoint.any()  # what was in the array before does not count


def test_the_adjoint_is_made_once_for_a_call(monkeypatch):
    made = []

    class Counted(Pipeline):
        def run(self, scope):
            made.append(self.argtypes)
            return super().run(scope)

    monkeypatch.setattr("numbad.cuda.pullback.Pipeline", Counted)
    gradient = device.grad(njit(lambda x: x**17))  # a partial that no other test makes code for
    _compile(lambda x: gradient(x) + gradient(2.0 * x), (F,))
    assert made == [(F,)]


def test_rules_of_the_user():
    @njit
    def own(x):
        return x * 3.0

    nd.scalar_rule(own, lambda ans, x: ans - 0.5 * x)
    gradient = device.grad(njit(lambda x: own(x) * 2.0))
    _, found = DeviceFunction(lambda x: gradient(x), (F,))(4.0)
    assert found == 2.0 * (12.0 - 2.0)


@pytest.mark.parametrize("output", ["ptx", "ltoir"])
@pytest.mark.parametrize("debug", [False, True])
def test_kernels_compile_in_every_way(output, debug):
    gradient = device.grad(recurrence, (0, 1))

    def kernel(x, p, n, dx, dp):
        i = cuda.grid(1)
        if i < x.size:
            dx[i], _ = gradient(x[i], p, n, dp[i])

    codes, _ = cuda.compile_all(
        kernel,
        (A, A, N, A, types.float64[:, ::1]),
        device=False,
        abi="numba",
        cc=CAPABILITY,
        output=output,
        debug=debug,
        opt=not debug,
    )
    assert all(codes)


# -- exceptions -------------------------------------------------------------------------------


@njit
def picky(x, n):
    s = 1.0
    for i in range(n):
        if i == 5:
            raise ValueError("five")
        s *= x
    if s > 100.0:
        raise KeyError("large")
    return s


@pytest.mark.parametrize("debug", [False, True])
def test_the_function_raises_its_own_exceptions(debug):
    gradient = device.grad(picky)

    def code(x, n):
        if x < 0.0:
            raise ZeroDivisionError("negative")
        return gradient(x, n)

    run = DeviceFunction(code, (F, N), debug)
    code, (dx,) = run(2.0, 3)
    assert (code, dx) == (0, 12.0)
    for args, kind in [
        ((1.0, 6), ValueError),
        ((9.0, 3), KeyError),
        ((-1.0, 1), ZeroDivisionError),
    ]:
        code, _ = run(*args)
        assert run.exceptions[code][0] is kind


# -- wrong use --------------------------------------------------------------------------------


def _compile(py_func, argtypes):
    return cuda.compile(py_func, argtypes, device=True, abi="numba", cc=CAPABILITY)


@njit
def allocating(x):
    y = np.zeros(3)
    y[0] = x
    return y[0] ** 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((recurrence, 3), "argnums=3"),
        ((recurrence, (0, -1)), "argnums=-1"),
        ((recurrence, True), "argnums=True"),
        ((3.0,), "takes a Python function or a Numba dispatcher"),
    ],
)
def test_wrong_options_are_refused_at_once(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        device.grad(*arguments)


def test_the_same_function_gives_the_same_operator():
    assert device.grad(recurrence) is device.grad(recurrence)
    assert device.grad(recurrence) is not device.grad(recurrence, 1)
    assert device.grad(cuda.jit(device=True)(recurrence.py_func)) is not None


@njit
def of_generator(x):
    s = 0.0
    for y in (z * x for z in (1.0, 2.0)):
        s += y
    return s


@njit
def recursive(x, n=3):
    return x if n == 0 else math.sin(x) * recursive(0.5 * x, n - 1)


cube = njit(lambda x: x**3)
derivative, checkpointed = nd.derivative(cube), nd.checkpoint(cube)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (of_generator, "[Gg]enerator"),
        (njit(lambda x: recursive(x, 3)), "recursive functions.*run on the CPU only"),
        (njit(lambda x: derivative(x) * x), "results of operators run on the CPU only"),
        (njit(lambda x: checkpointed(x) * x), "nd.checkpoint.*cannot run on a GPU"),
        (njit(lambda x: x * cuda.threadIdx.x), "threadIdx"),
        (allocating, "new arrays"),
    ],
)
def test_what_has_no_adjoint_on_a_gpu_is_refused(f, message):
    gradient = device.grad(f)
    with pytest.raises(Exception, match=f"(?s){message}"):
        _compile(lambda x: gradient(x), (F,))
