"""Forward mode in kernels: code for the GPU, run on the CPU against closed forms, and read as PTX."""

import math
from types import FunctionType

import numpy as np
import pytest
from numba import njit, types

pytest.importorskip("numba.cuda.core.ir", reason="this numba-cuda carries no IR of its own")

from numba import cuda

import numbad as nd
import numbad.cuda as device
from numbad.errors import ArgumentError, UnsupportedError

from .on_cpu import CAPABILITY, DeviceFunction

N = types.int64
PRECISIONS = pytest.mark.parametrize("F", [types.float64, types.float32], ids=str)
TOLERANCE = {types.float64: 1e-12, types.float32: 2e-5}
DTYPE = {types.float64: np.float64, types.float32: np.float32}


pytestmark = pytest.mark.usefixtures("no_gpu")


def compiled(code, argtypes):
    return cuda.compile(code, argtypes, device=True, abi="numba", cc=CAPABILITY)[0]


def close(found, expected, F, atol=0.0):
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE[F], atol=atol)


HALF = 0.5


@njit
def decay(x, k):
    return math.exp(-k * x)


def logistic(x, k, n):
    """n steps of x += h f(x), with literals, a global, `math.pi`, a callee and branches in it."""
    h = 0.01
    for i in range(n):
        if x > HALF:
            x += h * k * x * (1.0 - x)
        else:
            x += h * decay(x, k) * math.pi
    return x


def logistic_derivatives(x, k, n):
    """x, dx/dx0, dx/dk by the variational equations of the same steps, by hand."""
    h, dx, dk = 0.01, 1.0, 0.0
    for _ in range(n):
        if x > HALF:
            slope, by_k = k * (1.0 - 2.0 * x), x * (1.0 - x)
            rate = k * x * (1.0 - x)
        else:
            rate = math.exp(-k * x) * math.pi
            slope, by_k = -k * rate, -x * rate
        dk += h * (slope * dk + by_k)
        dx += h * slope * dx
        x += h * rate
    return x, dx, dk


@PRECISIONS
def test_derivatives_of_a_loop_by_scalars(F):
    derivative, rows = device.derivative(logistic), device.jacobian(logistic, (0, 1))
    forward = device.jvp(logistic)

    def code(x, k, n):
        value, along = forward((x, k, n), (x, k, None))
        dx, dk = rows(x, k, n)
        return value, along, derivative(x, k, n), dx, dk

    argtypes = F, F, N
    run = DeviceFunction(code, argtypes)
    found = run(0.2, 1.3, 30)[1]
    value, dx, dk = logistic_derivatives(0.2, 1.3, 30)
    close(found, [value, 0.2 * dx + 1.3 * dk, dx, dx, dk], F)
    assert run.result.signature.return_type == types.UniTuple(F, 5)
    assert (".f64" in run.ptx) == (F is types.float64)
    assert "fma.rn" in run.ptx
    assert ".extern" not in run.ptx  # no allocator, no runtime


def energy(x, p):
    """sum p0 x^4 + exp(p1 x_i x_{i+1})"""
    s = 0.0
    for i in range(x.size - 1):
        s += p[0] * x[i] ** 4 + math.exp(p[1] * x[i] * x[i + 1])
    return s


def energy_gradient(x, p):
    e = np.exp(p[1] * x[:-1] * x[1:])
    gradient = np.zeros(x.size)
    gradient[:-1] += 4 * p[0] * x[:-1] ** 3 + p[1] * x[1:] * e
    gradient[1:] += p[1] * x[:-1] * e
    return gradient, (np.sum(x[:-1] ** 4), np.sum(x[:-1] * x[1:] * e))


def energy_hessian_product(x, p, v):
    """By x alone, along v in x."""
    e = np.exp(p[1] * x[:-1] * x[1:])
    H = np.zeros((x.size, x.size))
    for i in range(x.size - 1):
        H[i, i] += 12 * p[0] * x[i] ** 2 + p[1] ** 2 * x[i + 1] ** 2 * e[i]
        H[i + 1, i + 1] += p[1] ** 2 * x[i] ** 2 * e[i]
        H[i, i + 1] += (p[1] + p[1] ** 2 * x[i] * x[i + 1]) * e[i]
        H[i + 1, i] = H[i, i + 1]
    return H @ v


@pytest.mark.dear
@PRECISIONS
def test_arrays_and_tuples(F):
    A = F[::1]
    forward, rows, product = (
        device.jvp(energy),
        device.jacobian(energy, (0, 1)),
        device.hvp(energy, 0),
    )

    def code(x, a, b, v, J, H):
        p = (a, b)
        value, along = forward((x, p), (v, (b, a)))
        _, (da, db) = rows(x, p, J)
        product((x, p), (v,), (H,))
        return value, along, da, db

    x, v = np.linspace(-0.8, 0.9, 11), np.cos(np.arange(11))
    p = 0.7, 1.1
    gradient, by_p = energy_gradient(x, p)
    given = [array.astype(DTYPE[F]) for array in (x, v, np.full(11, 7.0), np.full(11, 7.0))]
    run = DeviceFunction(code, (A, F, F, A, A, A))
    _, (value, along, *found) = run(given[0], *p, *given[1:])
    close(value, energy(x, p), F)
    close(along, gradient @ v + by_p[0] * p[1] + by_p[1] * p[0], F)
    close(found, by_p, F)
    close(given[2], gradient, F, 1e-6 if F is types.float32 else 0)
    close(given[3], energy_hessian_product(x, p, v), F, 1e-5 if F is types.float32 else 1e-14)
    assert (".f64" in run.ptx) == (F is types.float64)


@njit
def oscillator(t, y, dy, k):
    dy[0] = y[1]
    dy[1] = -k * y[0] - 0.1 * y[1] ** 3 + math.exp(-t)


def total_of_squares(x):
    s = 0.0
    for i in range(x.size):
        s += x[i] * x[i]
    return s


def many(a, b, c):
    return a[0] * a[1] * a[2] * a[3] * a[4] + b * c[0] * c[1] * c[2] * c[3], b * b


# -- what the language has besides ----------------------------------------------------------------


@njit
def own(x):
    return x * 3.0


nd.scalar_rule(own, lambda ans, x: ans - 0.5 * x)


@njit
def with_jvp(x, y):
    return x * y


nd.rule(with_jvp, jvp=lambda primals, tangents: (primals[0] * primals[1], 5.0 * tangents[0]))
cube = njit(lambda x: x**3)
slope = nd.derivative(cube)


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: own(x) * 2.0, 4.0, 2.0 * (12.0 - 2.0)),
        (lambda x: with_jvp(x, 3.0) + x, 2.0, 6.0),
        (lambda x: x * nd.stop_gradient(x * x), 3.0, 9.0),
        (lambda x: slope(x) * x, 2.0, 9.0 * 4.0),  # 3 x^2 x
        (lambda x: (x - 2.0) * math.sqrt(x - 2.0), 2.0, 0.0),  # zero beside an infinite partial
        (lambda x: np.sin(x) + np.maximum(x, 1.0), 0.5, math.cos(0.5)),
        (lambda x: math.atan2(x, 2.0) + math.log(x), 0.5, 2 / 4.25 + 2.0),
        (lambda x: abs(x) ** 1.5 + math.log1p(x) - math.tanh(x), 0.5, None),
    ],
    ids=["scalar_rule", "jvp", "stop_gradient", "nested", "root", "numpy", "math", "more"],
)  # fmt: skip
def test_rules_and_operators(f, x, expected):
    derivative = device.derivative(f)
    code, (found,) = DeviceFunction(lambda x: derivative(x), (types.float64,))(x)
    if expected is None:
        expected = 1.5 * math.sqrt(x) + 1 / (1 + x) - 1 / math.cosh(x) ** 2
    assert code == 0
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (lambda x, y: x + math.sqrt(y), (1.0, 0.0), (1.0, math.inf)),
        (lambda x, y: x * math.sqrt(y), (0.0, 0.0), (0.0, 0.0)),
        (lambda x, y: x * math.sqrt(y), (2.0, 0.0), (0.0, math.inf)),
        (lambda x, y: x * y / (1.0 + y), (1.0, 0.0), (0.0, 1.0)),
        (lambda x, y: x / math.sqrt(y), (0.0, 4.0), (0.5, 0.0)),
    ],
)
def test_zero_times_an_infinite_slope_is_zero(f, at, expected):
    rows = device.jacobian(f, (0, 1))
    code, found = DeviceFunction(lambda x, y: rows(x, y), (types.float64,) * 2)(*at)
    assert code == 0
    np.testing.assert_array_equal(found, expected)


def test_operators_of_operators():
    second = device.derivative(nd.derivative(cube))
    _, (found,) = DeviceFunction(lambda x: second(x), (types.float64,))(2.0)
    assert found == 12.0


def newton(e, M, tolerance):
    """Kepler's equation by Newton's method, whose number of steps depends on the data."""
    E, step = M, 1.0
    while abs(step) > tolerance:
        step = (E - e * math.sin(E) - M) / (1.0 - e * math.cos(E))
        E -= step
    return E


def test_a_loop_of_unknown_length():
    rows = device.jacobian(newton, (0, 1))
    run = DeviceFunction(lambda e, M, t: rows(e, M, t), (types.float64,) * 3)
    for e, M in [(0.0, 0.3), (0.6, 2.5), (0.9, 0.1)]:
        E = newton(e, M, 1e-14)
        by_M = 1.0 / (1.0 - e * math.cos(E))
        np.testing.assert_allclose(run(e, M, 1e-14)[1], [math.sin(E) * by_M, by_M], rtol=1e-12)


def test_the_only_doubles_in_single_precision_are_those_of_libdevices_sine():
    """Its reduction of large arguments multiplies by pi 2^-65 in double precision."""
    derivative = device.derivative(newton)
    text = compiled(lambda e, M, t: derivative(e, M, t), (types.float32,) * 3)
    lines = [line for line in text.splitlines() if ".f64" in line and ".reg" not in line]
    allowed = "cvt.rn.f64.s64", "0d3BF921FB54442D19", "cvt.rn.f32.f64"
    assert all(any(part in line for part in allowed) for line in lines)


@pytest.mark.parametrize("debug", [False, True])
def test_kernels_compile_with_and_without_debug_information(debug):
    derivative = device.derivative(logistic)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = derivative(x[i], 2.0, 10)

    A = types.float64[:]
    codes, _ = cuda.compile_all(
        kernel,
        (A, A),
        device=False,
        abi="numba",
        cc=CAPABILITY,
        debug=debug,
        opt=not debug,
        output="ptx",
    )
    assert all(codes)


# -- what is refused ------------------------------------------------------------------------------


@njit
def allocating(x):
    y = np.zeros(3)
    y[0] = x
    return y[0] ** 2


@njit
def recursive(x, n):
    return x if n == 0 else math.sin(x) * recursive(0.5 * x, n - 1)


def accumulating(x, dy):
    dy[0] += x * x


def writing(x, work):
    work[0] = x
    return work[0] * x


def counting(x, work):
    work[0] += 1.0
    return work[0] * x[0]


def overwriting(x):
    x[0] = x[1] * x[1]
    return x[0]


def reducing(x):
    return np.sum(x)


gradient = nd.grad(total_of_squares)
solve = nd.ode.solver(lambda t, y, k: (-k * y[0],))
A = types.float64[::1]


@pytest.mark.parametrize(
    ("operator", "argtypes", "message"),
    [
        (device.derivative(allocating), "F", "new arrays"),
        (device.derivative(lambda x: recursive(x, 3)), "F", "calls itself"),
        (device.derivative(writing), "FA", "cannot be compiled for the GPU.*Way out"),
        (device.jacobian(counting), "AAA", "may write to 'work'.*nd.cuda.jvp"),
        (device.jacobian(overwriting), "AA", "may write to 'x'"),
        (device.jacobian(accumulating, out=1), "FAA", "reads the array that it writes its result into"),
        (device.jacobian(reducing), "AA", "cannot be compiled for the GPU.*Way out"),
        (device.jacobian(lambda x: x), "AA", "needs a function that returns.*an array"),
        (device.jacobian(lambda x: (x[0], 3)), "AA", "returns an int"),
        (device.jacobian(total_of_squares), "A", "takes 2 arguments here.*derivatives by 'x'; 1 are"),
        (device.jacobian(total_of_squares), "AF", "into an array of float64 with 1 axes; float64"),
        (device.jacobian(total_of_squares), "AI", "into an array of float64"),
        (device.derivative(total_of_squares), "A", "differentiates by a float; argument 'x'"),
        (device.derivative(lambda n: n * 2.0), "N", "argument 'n' is an int"),
        (gradient, "A", "nd.cuda.grad returns"),
        (lambda x: solve((x,), (0.0, 1.0), (x,)), "F", "solvers allocate arrays"),
        (
            device.derivative(lambda x: solve((x,), (0.0, 1.0), (x,))[-1, 0]),
            "F",
            "cannot be called on a GPU.*solvers",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(operator, argtypes, message):
    types_of = {"F": types.float64, "A": A, "I": types.int64[::1], "N": N}
    names = ", ".join("abcde"[: len(argtypes)])
    code = eval(f"lambda {names}: operator({names})", {"operator": operator})
    code = operator if isinstance(operator, FunctionType) else code
    with pytest.raises(Exception, match=f"(?s){message}") as raised:
        compiled(code, tuple(types_of[c] for c in argtypes))
    assert isinstance(raised.value, ArgumentError | UnsupportedError)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: device.jacobian(many, 3), "argnums=3"),
        (lambda: device.jacobian(oscillator, 2, out=2), "cannot be both"),
        (lambda: device.jacobian(many, chunk=0), "chunk"),
        (lambda: device.jvp(lambda *x: x[0]), "without \\*args"),
        (lambda: device.hvp(3.0), "takes a Python function or a Numba dispatcher"),
    ],
)
def test_wrong_options_are_refused_at_once(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_tangents_that_do_not_fit_are_refused():
    forward = device.jvp(energy)
    for code, argtypes in [
        (lambda x, p: forward((x, p), (x,)), (A, types.UniTuple(types.float64, 2))),
        (lambda x, p: forward((x, p), (p, p)), (A, types.UniTuple(types.float64, 2))),
    ]:
        with pytest.raises(ArgumentError, match="tangent"):
            compiled(code, argtypes)


# -- on a GPU -------------------------------------------------------------------------------------


@pytest.mark.skipif(not cuda.is_available(), reason="no CUDA GPU on this machine")
@PRECISIONS
def test_on_a_gpu(F):
    rows, product = device.jacobian(energy, (0, 1)), device.hvp(energy, 0)

    def kernel(x, p, v, J, H, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            _, (out[i, 0], out[i, 1]) = rows(x[i], p, J[i])
            product((x[i], p), (v[i],), (H[i],))

    rng = np.random.default_rng(1)
    x, v = (rng.uniform(-1, 1, (1000, 11)).astype(DTYPE[F]) for _ in range(2))
    J, H, out = np.zeros_like(x), np.zeros_like(x), np.zeros((1000, 2), DTYPE[F])
    p = DTYPE[F](0.7), DTYPE[F](1.1)
    cuda.jit(kernel)[8, 128](x, p, v, J, H, out)
    for i in range(0, 1000, 37):
        by_x, by_p = energy_gradient(x[i].astype(float), p)
        close(J[i], by_x, F, 1e-5)
        close(out[i], by_p, F, 1e-5)
        close(H[i], energy_hessian_product(x[i].astype(float), p, v[i]), F, 1e-4)
