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
