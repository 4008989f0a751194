"""Functions that users overload for Numba, and what `vectorize` makes: their code is differentiated."""

import math
from collections import namedtuple

import numba
import numpy as np
import pytest
from numba.core import types
from numba.extending import overload, register_jitable

import numbad as nd

MODES = pytest.mark.parametrize("mode", ["forward", "reverse"])
X = 1.5
Layer = namedtuple("Layer", "w b")

PROGRAMS = []


def derivative_is(expected):
    """Register the decorated function of one number with its derivative, a formula."""

    def register(f):
        PROGRAMS.append(pytest.param(f, expected, id=f.__name__))
        return f

    return register


def softplus(x):
    raise NotImplementedError


@overload(softplus)
def _softplus(x):
    if not isinstance(x, types.Float):
        raise numba.core.errors.TypingError("of a float")

    @numba.njit("float64(float64)")
    def of_float(x):
        return math.log1p(math.exp(x))

    return lambda x: of_float(x)


@derivative_is(lambda x: math.log1p(math.exp(x)) + x / (1.0 + math.exp(-x)))
def by_type(x):
    return softplus(x) * x


def power(x, kind="square", k=2.0):
    raise NotImplementedError


def _power(x, kind="square", k=2.0):
    if isinstance(kind, types.StringLiteral) and kind.literal_value == "cube":
        return lambda x, kind="square", k=2.0: x**3 * k
    return lambda x, kind="square", k=2.0: x**2 * k


def literal_power(x, kind="square", k=2.0):
    raise NotImplementedError


overload(power)(_power)  # Numba asks without literals first, and again with them where that fails
overload(literal_power, prefer_literal=True)(_power)


@derivative_is(lambda x: 4.0 * x + 6.0 * x + 6.0 * x**2 + 12.0 * x**2)
def by_literals_and_keywords(x):
    squares = power(x, "cube") + power(x, k=3.0)
    return squares + literal_power(x, "cube") + literal_power(x, kind="cube", k=4.0)


def fill(out, x):
    raise NotImplementedError


@overload(fill)
def _fill(out, x):
    def of_array(out, x):
        for i in range(out.size):
            out[i] = x * i

    return of_array if isinstance(x, types.Float) else None


@derivative_is(lambda x: 9.0 * x**2)
def into_an_array(x):
    out = np.zeros(3)
    fill(out, x * x)
    return out.sum() * x


@register_jitable
def halves(x, a):
    out = np.zeros(2)
    out[0], out[1] = x * a[0], a @ np.array([x, 2.0 * x])
    return out


@derivative_is(lambda x: 6.0)
def jitable(x):
    return halves(x, np.array([1.0, 2.0])).sum()


def apply(layer, x):
    raise NotImplementedError


@overload(apply)
def _apply(layer, x):
    return lambda layer, x: layer.w @ x + layer.b


@derivative_is(lambda x: 16.0 * x**3 + 6.0 * x - 1.0)
def one_field(x):
    w = np.array([[x, 1.0], [2.0, x * x]])
    y = apply(Layer(w, np.array([1.0, 2.0])), np.array([3.0, 4.0]))
    return y[0] * x + y[1] * x * x - 6.0 * x - 8.0 * x * x


@numba.vectorize
def shifted(x, k):
    x += k
    return x * x


@derivative_is(lambda x: 2 * (x + 2) + 4 * x * (x * x + 2) + 1 + 2 * x + 2 * (x + 1))
def in_place_of_its_own(x):
    a = np.array([x, x * x])
    return shifted(a, 2.0).sum() + a.sum() + shifted(x, 1)


@numba.vectorize(["float64(float64, float64)"])
def payoff(s, k):
    if s > 100.0:
        return np.nan
    return max(s - k, 0.0)


@derivative_is(lambda x: 3.0 * x**2 * 3.0 - 2 * x)
def branches_and_max(x):
    out, rows = np.zeros((3, 2)), np.array([x, x**3])
    payoff(np.ones((3, 1)) * rows, 2, out)
    return out.sum() - payoff(x * x, np.ones(1, np.int64))[0]


@derivative_is(lambda x: 2.0 * x)
def printed(x):
    a = np.array([[x, 1.0], [2.0, x]])
    print(a, a[0, :0], (x, 1), Layer(x, 2.0), [x], "text", 3)
    return a[0, 0] * a[1, 1]


@pytest.mark.deep(
    but=["by_type-*", "into_an_array-reverse", "jitable-forward", "one_field-reverse"]
)
@MODES
@pytest.mark.parametrize(("f", "expected"), PROGRAMS)
def test_derivative(f, expected, mode):
    value, found = nd.value_and_grad(f, mode=mode)(X)
    assert value == numba.njit(f)(X)
    assert found == pytest.approx(expected(X), rel=1e-13)


@pytest.mark.deep
def test_second_order():
    found = nd.hessian(by_literals_and_keywords)(X)
    assert found == pytest.approx(10.0 + 36.0 * X, rel=1e-13)


def test_print_shows_what_the_primal_prints(capfd):
    numba.njit(printed)(X)
    expected = capfd.readouterr().out
    nd.grad(printed, mode="forward")(X)
    assert capfd.readouterr().out == expected


def test_loops_of_single_precision_stay_single():
    @numba.vectorize(["float32(float32)", "float64(float64)"])
    def third(x):
        return x / 3

    def f(x):
        return third(np.array([x, x]))[1]

    value, found = nd.value_and_grad(f, mode="forward")(np.float32(X))
    assert value == np.float32(X) / np.float32(3)
    assert found == pytest.approx(1 / 3, rel=1e-6)


def test_rest_that_is_read_is_not_changed():
    """Passes over many inputs would refuse a function that may change its arguments."""

    @numba.njit
    def weighted(x, *rest):
        return (x * rest[0]).sum() * rest[1]

    def f(x, w):
        return weighted(x, w, 2.0)

    x, w = np.arange(20.0), np.arange(20.0) + 1
    nd.grad(f, argnums=0, mode="forward")(x, w)
    from numbad.forward.promote import effects

    assert effects(numba.njit(f), [0]).changed == frozenset()


def test_rest_that_is_written_to_is_changed():
    @numba.njit
    def scale(x, *rest):
        rest[1][0] = x[0]

    def f(x, y, z):
        scale(x, y, z)
        return z[0] * z[0]

    from numbad.forward.promote import effects

    assert 2 in effects(numba.njit(f), [0]).changed
    found = nd.grad(f, mode="forward")(np.array([3.0]), np.ones(1), np.ones(1))
    assert found == pytest.approx(6.0)


@numba.njit
def by_class(x, a):
    T, U = type(x), a.dtype.type
    b = np.zeros(2, T)
    b[0] = T(2) / T(a[0])
    return T(x) * b[0] + T(1) + type(a[1])(a[1]) * U(0.5)


@pytest.mark.deep(but=["float32-*"])
@MODES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_of_a_number(mode, dtype):
    x, a = dtype(1.5), np.array([2.0, 3.0], dtype)
    value, (dx, da) = nd.value_and_grad(by_class, argnums=(0, 1), mode=mode)(x, a)
    assert value == by_class(x, a)
    assert dx == pytest.approx(1.0)
    assert da == pytest.approx([-0.75, 0.5])
    assert da.dtype == dtype


@numba.njit(inline="always")
def ruled(x):
    return x * x


nd.scalar_rule(ruled, lambda ans, x: (7.0,))


@numba.njit(inline="always")
def inlined(a, x):
    out = np.zeros(2, a.dtype)
    out[0] = ruled(x)
    out *= 2.0
    return out


@MODES
def test_what_is_inlined_keeps_its_rule(mode):
    def f(x):
        return inlined(np.ones(2), x).sum() + ruled(x)

    assert nd.value_and_grad(f, mode=mode)(1.5) == (6.75, 21.0)
