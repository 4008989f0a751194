"""Functions that a user's decorator made: what is differentiated is what a call of them runs."""

import functools
import pickle

import numpy as np
import pytest
from numba import cloudpickle, njit

import numbad as nd


def scaled(function):
    """Has one parameter, as what it decorates."""

    @functools.wraps(function)
    def wrapper(x):
        return 3.0 * function(x)

    return wrapper


def starred(function):
    @functools.wraps(function)
    def wrapper(*given):
        return 3.0 * function(*given)

    return wrapper


def with_more(function):
    """Has a parameter more than what it decorates."""

    @functools.wraps(function)
    def wrapper(x, scale=3.0):
        return scale * function(x)

    return wrapper


def square(x):
    return x * x


@pytest.mark.parametrize("decorate", [scaled, with_more])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_decorated_dispatcher(decorate, mode):
    decorated = decorate(njit(square))
    value, slope = nd.value_and_grad(decorated, mode=mode)(2.0)
    assert (value, slope) == (decorated(2.0), 12.0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_decorator_that_takes_arguments_in_another_order(mode):
    @njit
    def ratio(a, b):
        return a / b

    @functools.wraps(ratio)
    def turned(b, a):
        return ratio(a, b)

    assert nd.grad(turned, mode=mode)(2.0, 3.0) == -3.0 / 4.0


def test_one_that_is_decorated_twice():
    assert nd.grad(scaled(njit(scaled(njit(square)))))(2.0) == nd.grad(scaled(njit(square)))(2.0)
    twice = scaled(nd.grad(njit(square)))
    assert nd.grad(twice)(2.0) == 6.0


def test_one_operator_for_one_decorated_function():
    decorated = scaled(njit(square))
    assert nd.grad(decorated) is nd.grad(decorated)
    assert nd.grad(decorated) is not nd.grad(njit(square))


def test_decorators_that_take_any_arguments_are_refused():
    @functools.wraps(square)
    def wrapper(*given, **named):
        return square(*given, **named)

    message = r"cannot differentiate by '\*given'; take .* decorated, square\.__wrapped__"
    for decorated in (wrapper, starred(njit(square))):
        with pytest.raises(nd.ArgumentError, match=message):
            nd.grad(decorated)


def test_a_decorated_plain_function_is_refused_by_name():
    with pytest.raises(Exception, match=r"'function'(.|\n)*Way out: compile it too"):
        nd.grad(scaled(square))(2.0)


def test_where_else_functions_are_taken():
    decorated = scaled(njit(square))
    assert nd.grad(nd.checkpoint(decorated), mode="reverse")(2.0) == 12.0
    assert "3.0 * function(x)" in nd.inspect_adjoint(decorated, 2.0)


def test_decorated_rules():
    @scaled
    @njit
    def cube(x):
        return x**3

    nd.rule(cube, jvp=lambda primals, tangents: (3.0 * primals[0] ** 3, 7.0 * tangents[0]))
    assert nd.derivative(lambda x: cube(x))(2.0) == 7.0
    assert nd.derivative(lambda x, c: x * cube(c))(1.0, 2.0) == cube(2.0) == 24.0


def test_pickled():
    copy = pickle.loads(cloudpickle.dumps(nd.grad(scaled(njit(square)))))
    assert copy(2.0) == 12.0


def test_a_decorated_right_hand_side():
    @njit
    def decay(t, y):
        return -y

    @functools.wraps(decay)
    def faster(t, y):
        return 2.0 * decay(t, y)

    ys = nd.ode.solver(faster, rtol=1e-10, atol=1e-12)(1.0, np.array([0.0, 1.0]), ())
    assert abs(ys[-1] - np.exp(-2.0)) < 1e-8
