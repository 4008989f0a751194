"""Functions within functions that capture run-time values, handed to operators in compiled code.

Every program has its gradient written by hand beside it.
"""

import math

import numpy as np
import pytest
from numba import njit, prange

import numbad as nd

A = np.array([0.5, 1.5])
RATE = 3.0

programs = []  # (function, arguments, value, gradient by all arguments)


def program(*args, value, grad):
    def register(f):
        programs.append(pytest.param(njit(f), args, value, grad, id=f.__name__))
        return f

    return register


@program(3.0, value=3.0, grad=(1.0,))
def perturbation_confusion(x):
    """Siskind & Pearlmutter, 2005: d/dx [x * d/dy (x + y)] = 1."""
    return x * nd.derivative(lambda y: x + y)(1.0)


@program(0.7, 1.2, value=4 * 0.7**3 * 1.2**2, grad=(12 * 0.7**2 * 1.2**2, 8 * 0.7**3 * 1.2))
def three_deep(a, b):
    def middle(x):
        inner = nd.derivative(lambda z: x * z * z * a * b)  # at 1: 2 x a b
        return nd.derivative(lambda y: 0.5 * b * y * y * inner(1.0))(x)  # 2 a b^2 x^2

    return nd.derivative(lambda x: a * middle(x))(a)


@program(1.5, 2.0, value=9.0, grad=(6.0, 9.0))
def bound_to_a_name_in_a_loop(x, y):
    s = 0.0
    for i in range(3):
        slope = nd.grad(lambda t: x * t * t * i)  # noqa: B023
        s += slope(y) + slope(0.5) - slope(0.75) * 2.0
    return s


@program(2.0, value=4.0 + 120.0, grad=(2.0 + 120.0,))
def captured_variable_assigned_again(x):
    """A closure reads its variable when it is called: 2 a x with a = 1, then with a = 3 x."""
    a = 1.0
    slope = nd.grad(lambda y: a * y * y)
    first = slope(x)
    a = 3.0 * x
    return first + slope(x) * 5.0


@program(2.0, value=40.0, grad=(44.0,))
def default_kept_from_the_making(x):
    a = x
    f = lambda y, b=a, c=2.0: b * c * y * y  # noqa: E731
    a = 7.0 * x
    return nd.grad(f)(x) + nd.grad(f, 2)(x) + nd.grad(f, -2)(x) + nd.grad(f)(x, c=1.0)


@program(1.5, 2.0, value=4 * 1.5**2 * 2.0, grad=(8 * 1.5 * 2.0, 4 * 1.5**2))
def closures_that_capture_closures(x, y):
    a = x * 2.0

    def g(t):
        return a * t

    def square(t):
        return 0.5 * g(t) * g(t)

    slope = nd.derivative(square)

    def again(t):
        return slope(t) * t * 0.5

    return nd.derivative(again)(y)


@program(A, 2.0, value=13.0, grad=(8 * A + [2.0, 0.0], 6.0))
def arrays_and_tuples(a, k):
    b, pair = a * k, (k, a[0], 3)

    def energy(v):
        s = 0.0
        for i in range(v.size):
            s += b[i] * v[i] * v[i] + v[i] * pair[1] * (pair[2] - 2)
        return s

    return nd.grad(energy)(a).sum() + pair[0]


@program(1.5, 2.0, value=66.0, grad=(44.0, 63.0))
def in_one_tuple(x, y):
    cube = lambda t, n: x * t**n  # noqa: E731
    value, (slope, _) = nd.vjp(cube)((y, 3), 1.0)
    primals = (y, 3.0)
    _, tangent = nd.jvp(cube, 0)(primals, (1.0,))
    (curvature,) = nd.hvp(lambda t: cube(t, 3))((y,), (1.0,))
    return value + slope + curvature + tangent


@program(1.5, value=0.5 * 1.5 + 0.5 * 1.5**2, grad=(0.5 + 1.5,))
def made_by_a_function(x):
    def scaled(c):
        return lambda t: 0.5 * c * t * x

    one, other = scaled(1.0), scaled(x)
    return nd.derivative(one)(2.0) + nd.derivative(other)(2.0)


@program(1.5, 2.0, value=36.0, grad=(36.0 / 1.5, 18.0))
def within_what_is_put_in_place(x, y):
    def inner(t):
        s = 0.0
        for i in range(3):
            s += 2.0 * x * i
        return nd.grad(lambda u: s * u * u)(t)

    return inner(y) + 0.0 * x


@program(1.5, 2.0, value=6.0, grad=(4.0, 3.0))
def one_in_each_branch(x, y):
    if x > 1.0:
        f = lambda t: x * t * t  # noqa: E731
        result = nd.grad(f)(y)
    else:
        f = lambda t: x * t  # noqa: E731
        result = nd.grad(f)(y)
    return result


@program(
    1.5, A, value=2 * 1.5 + 2.0 * 0.5, grad=(2.0, np.array([3.0 + 2.0 - 1.5 - 1.5, 1.5 - 1.5]))
)
def batches_and_checkpoints(x, a):
    scaled = nd.batch(lambda v, k: v * x * k + a[0], (0, None))(a, 1.0).sum()
    return scaled - nd.checkpoint(lambda t: t * x - x)(a.sum() - 1.0) + 0.0 * x


@program(2.0, value=4.0 + math.cos(2.0) + 12.0, grad=(2.0 - math.sin(2.0) + 6.0,))
def functions_that_are_not_compiled(x):
    return nd.grad(plain)(x) + nd.derivative(math.sin)(x) + nd.grad(lambda t: t * t * RATE)(x)


def plain(t):
    return t * t


def flat(gradient):
    return np.concatenate([np.ravel(part) for part in gradient])


@pytest.mark.deep(
    but=[
        "perturbation_confusion",
        "captured_variable_assigned_again",
        "in_one_tuple",
        "made_by_a_function",
        "one_in_each_branch",
    ]
)
@pytest.mark.parametrize(("f", "args", "value", "grad"), programs)
def test_program(f, args, value, grad):
    assert f(*args) == pytest.approx(value, rel=1e-13)
    every = tuple(range(len(args)))
    for mode in ("forward", "reverse"):
        found = nd.grad(f, every, mode=mode)(*args)
        np.testing.assert_allclose(flat(found), flat(grad), rtol=1e-13, atol=1e-13)


def test_from_python():
    assert nd.derivative(lambda x: x * nd.derivative(lambda y: x + y)(1.0))(1.0) == 1.0
    assert nd.derivative(lambda x: x * nd.derivative(lambda y: x * y)(2.0))(3.0) == 6.0


def test_second_derivatives():
    @njit
    def f(x, y):
        return nd.grad(lambda t: x * x * y * t**3)(y)  # 3 x^2 y^3

    x, y = 1.5, 2.0
    expected = [[6 * y**3, 18 * x * y**2], [18 * x * y**2, 18 * x**2 * y]]
    rows = nd.jacobian(nd.grad(f, (0, 1), mode="reverse"), (0, 1))(x, y)
    np.testing.assert_allclose(np.array(rows, dtype=float), expected, rtol=1e-13)


def test_descent_within_descent():
    """Gradient steps on (v - r)^2 r: v' = v (1 - 2 r^2) + 2 r^3; d/dv of v'^2 by hand."""

    @njit
    def outer(r):
        def step(v):
            slope = nd.grad(lambda u: (u - r) ** 2 * r)
            return v - r * slope(v)

        return nd.derivative(lambda v: step(v) ** 2)(1.5)

    def expected(r):
        return 2 * (1.5 * (1 - 2 * r * r) + 2 * r**3) * (1 - 2 * r * r)

    assert outer(0.2) == pytest.approx(expected(0.2), rel=1e-14)
    by_rate = expected(0.2 + 1e-200j).imag / 1e-200
    for mode in ("forward", "reverse"):
        assert nd.grad(outer, mode=mode)(0.2) == pytest.approx(by_rate, rel=1e-13)


def test_functions_as_arguments():
    @njit
    def slope_of(f, x):
        return nd.grad(lambda t: f(t) * x)(2.0)

    square = njit(plain)
    assert slope_of(square, 3.0) == 12.0
    for mode in ("forward", "reverse"):
        assert nd.grad(slope_of, 1, mode=mode)(square, 3.0) == 4.0


def test_parallel_loop():
    @njit(parallel=True)
    def total(a):
        s = 0.0
        for i in prange(a.size):
            s += nd.derivative(lambda t: t * t * a[i] * i)(2.0)  # noqa: B023
        return s

    assert total(np.arange(4.0)) == 4.0 * 14


def test_globals_are_looked_up_when_compiled_anew():
    namespace = {"nd": nd, "njit": njit, "rate": 3.0}
    source = "def f(x):\n    return nd.grad(lambda t: t * x * rate)(1.0)\n"
    exec(source, namespace)
    f = njit(namespace["f"])
    assert f(1.0) == 3.0
    namespace["rate"] = 5.0
    f.recompile()
    assert f(1.0) == 5.0
