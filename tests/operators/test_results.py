"""Results that an operator does not take."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.operators.test_wrong_use import f


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


@pytest.mark.parametrize("operator", [nd.grad, nd.value_and_grad, nd.hessian])
@pytest.mark.parametrize("kind", [np.int64, np.bool_])
def test_an_array_without_derivatives_is_an_array(operator, kind):
    with pytest.raises(nd.ArgumentError, match="<lambda> returns a 1-D array"):
        operator(lambda x: x.astype(kind))(np.arange(3.0))


@njit
def maybe(x):
    if x > 1.0:
        return x * x
    return None


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (njit(lambda x: [x, x * x]), "a list of float64"),
        (njit(lambda x: (x, [x])), "a list of float64"),
        (maybe, "float64 or None"),
        (njit(lambda x: {1: x * x}), "a dict"),
    ],
)
def test_results_whose_floats_are_out_of_reach(f, kind, mode):
    message = f"returns {kind}, whose floats have no derivative. Return a float"
    with pytest.raises(nd.ArgumentError, match=message):
        nd.jacobian(f, mode=mode)(2.0)
    with pytest.raises(nd.ArgumentError, match=message):
        nd.derivative(f)(2.0) if mode == "forward" else nd.vjp(f)((2.0,), 1.0)
    with pytest.raises(nd.ArgumentError, match=message):
        nd.jvp(f)((2.0,), (1.0,))


def test_second_order_operators_speak_for_themselves():
    def squares(a):
        return a * a

    a = np.ones(2)
    with pytest.raises(
        nd.ArgumentError, match=r"nd\.hessian needs a function that returns a float"
    ):
        nd.hessian(squares)(a)
    with pytest.raises(nd.ArgumentError, match=r"nd\.hessian differentiates by argument 'x'"):
        nd.hessian(f)(2, 3)
    with pytest.raises(nd.ArgumentError, match=r"nd\.hvp needs a function that returns a float"):
        nd.hvp(squares)((a,), (a,))
    with pytest.raises(nd.ArgumentError, match=r"nd\.grad_and_hvp needs a function that returns"):
        nd.grad_and_hvp(squares)((a,), (a,))


@pytest.mark.parametrize(
    "f", [lambda x: 3, lambda x: x > 0.0, lambda x: int(x), lambda x: 1 if x > 0.0 else 0]
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_function_that_returns_an_int_has_no_gradient(f, mode):
    """`return int(...)` or a comparison in place of a float: a slip, whose gradient is 0."""
    told = r"needs a function that returns a float; <lambda> returns a"
    for operator in (nd.grad, nd.value_and_grad, nd.hessian):
        with pytest.raises(nd.ArgumentError, match=told):
            operator(f, mode=mode)(1.0)
    compiled = njit(f)
    assert nd.grad(lambda x: 1.0 * compiled(x), mode=mode)(1.0) == 0.0
    assert nd.derivative(f)(1.0) == 0.0
