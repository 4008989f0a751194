"""What a user sees who gets it wrong: the culprit by name, and the way out."""

import functools

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from numpy.lib.stride_tricks import as_strided

import numbad as nd


def f(x, count):
    return x * count


@pytest.mark.parametrize("operator", [nd.grad, nd.value_and_grad, nd.jacobian])
def test_an_int_where_a_float_is_meant(operator):
    with pytest.raises(
        nd.ArgumentError, match=r"argument 'x', which is an int.*pass a float \(2.0"
    ):
        operator(f)(2, 3)
    with pytest.raises(nd.ArgumentError, match="argument 'count', which is an int"):
        operator(f, argnums=1)(2.0, 3)


def test_an_int_array_where_floats_are_meant():
    with pytest.raises(nd.ArgumentError, match=r"'a', which is an array of int64.*astype"):
        nd.grad(lambda a: a.sum())(np.arange(3))


def test_derivative_by_an_array_or_an_int():
    with pytest.raises(nd.ArgumentError, match=r"argument 'a' is an array.*nd.grad or nd.jacobian"):
        nd.derivative(lambda a: a.sum())(np.ones(3))
    with pytest.raises(nd.ArgumentError, match=r"argument 'x' is an int.*pass a float"):
        nd.derivative(f)(2, 3)


def test_grad_of_what_is_no_float():
    with pytest.raises(
        nd.ArgumentError, match="returns a 1-D array. Perhaps you meant nd.jacobian"
    ):
        nd.grad(lambda x: x * np.ones(3))(1.0)
    with pytest.raises(nd.ArgumentError, match="returns a tuple"):
        nd.grad(lambda x: (x, x))(1.0)
    with pytest.raises(nd.ArgumentError, match="returns None.*out="):
        nd.grad(lambda x: None)(1.0)
    with pytest.raises(nd.ArgumentError, match="returns a complex number"):
        nd.grad(lambda x: x * 1j)(1.0)
    with pytest.raises(nd.ArgumentError, match="returns numbers"):
        nd.jacobian(lambda x: "text")(1.0)


def test_complex_arguments_of_gradients():
    for operator in (nd.grad, nd.jacobian):
        with pytest.raises(nd.ArgumentError, match="'z', which is complex: use nd.derivative"):
            operator(lambda z: abs(z), mode="forward")(1.0 + 2.0j)
    with pytest.raises(nd.ArgumentError, match="'z', which is complex: use nd.derivative"):
        nd.jacobian(lambda z: abs(z))(1.0 + 2.0j)


@pytest.mark.parametrize(
    ("argnums", "message"),
    [
        (2, "has 2 argument"),
        ((0, 0), "twice"),
        ("x", "positions"),
        ((), "empty"),
        (True, "positions"),
    ],
)
def test_argnums(argnums, message):
    with pytest.raises(nd.ArgumentError, match=message):
        nd.grad(f, argnums=argnums)


def test_modes_that_do_not_exist():
    with pytest.raises(nd.ArgumentError, match="mode is"):
        nd.grad(f, mode="backward")
    with pytest.raises(nd.ArgumentError, match="chunk"):
        nd.grad(f, chunk=0)


def test_what_is_no_function():
    for wrong in (3, "f", functools.partial(f, 1.0)):
        with pytest.raises(nd.ArgumentError, match="takes a Python function or a Numba dispatcher"):
            nd.grad(wrong)


def test_tangents_that_do_not_fit():
    with pytest.raises(
        nd.ArgumentError, match="needs 2 tangents, one for every argument; it got 1"
    ):
        nd.jvp(f)((1.0, 2), (1.0,))
    with pytest.raises(nd.ArgumentError, match="two tuples"):
        nd.jvp(f)(1.0, 1.0)
    with pytest.raises(nd.ArgumentError, match="the tangent of 'a' must have its structure"):
        nd.jvp(lambda a: a.sum())((np.ones(3),), (1.0,))
    with pytest.raises(nd.ArgumentError, match="must have the shape of the argument"):
        nd.jvp(lambda a: a.sum())((np.ones(3),), (np.ones(2),))


@njit
def through_memory(x):
    return as_strided(np.eye(2) * x, (1,), (8,))[0]


@njit
def caller(x):
    return through_memory(2.0 * x) + 1.0


@pytest.mark.parametrize("function", [through_memory, caller])
def test_what_cannot_be_differentiated_names_its_line(function):
    with pytest.raises(nd.UnsupportedError) as caught:
        nd.grad(function)(2.0)
    message = str(caught.value)
    assert "Reverse mode refuses it as well" in message
    line = through_memory.py_func.__code__.co_firstlineno + 2
    assert "cannot differentiate through_memory" in message
    assert f'test_wrong_use.py", line {line}' in message
    assert "return as_strided(np.eye(2) * x, (1,), (8,))[0]" in message
    assert "Way out:" in message


def test_a_name_that_does_not_exist():
    """Numba's own error: it is no matter of differentiating."""
    with pytest.raises(TypingError, match="name 'undefined_name' is not defined") as caught:
        nd.grad(lambda x: undefined_name(x))(1.0)  # noqa: F821
    assert not isinstance(caught.value, nd.NumbadError)


def test_an_int_array_cannot_hold_a_derivative():
    @njit
    def truncated(x):
        a = np.zeros(3, dtype=np.int64)
        a[0] = x
        return a[0] * x

    with pytest.raises(nd.UnsupportedError, match=r"a\[0\] = x"):
        nd.grad(truncated, mode="forward")(2.0)
    assert nd.grad(truncated, mode="reverse")(2.5) == 2.0  # what is cut off is no part of a[0]
