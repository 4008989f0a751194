"""Calls of public functions that do not fit are told with what may have been meant."""

import re

import numpy as np
import pytest

import numbad as nd


def square(x, k):
    return k * np.sum(x**2)


def decay(t, y, rate):
    return -rate * y


X = np.ones(3)

CALLS = {
    "near": (
        lambda: nd.grad(square, argnum=0),
        "nd.grad has no option 'argnum' (did you mean 'argnums'?); it has argnums, mode, chunk, has_aux",
    ),
    "two-near": (
        lambda: nd.ode.solver(decay, tol=1e-6),
        "nd.ode.solver has no option 'tol' (did you mean 'rtol' or 'atol'?); it has method, rtol",
    ),
    "none-near": (
        lambda: nd.hvp(square, mode="reverse"),
        "nd.hvp has no option 'mode'; it has argnums",
    ),
    "sde": (lambda: nd.sde.solver(decay, decay, nois="scalar"), "(did you mean 'noise'?)"),
    "fit": (lambda: nd.fit.fit_ode(decay, X, X, [1.0], y_0=1.0), "(did you mean 'y0'?)"),
    "as-in-jax": (
        lambda: nd.jvp(square, (X, 2.0), (X, 0.0)),
        "nd.jvp takes f, argnums; the values that the function is called with belong to what it returns: "
        "nd.jvp(f)(primals, tangents)",
    ),
    "values-for-positions": (
        lambda: nd.vjp(square, X),
        "nd.vjp: argnums holds argument positions (ints), not array([1., 1., 1.]); values are passed to "
        "what nd.vjp(f) returns",
    ),
    "values-and-more": (
        lambda: nd.grad(square, X, 2.0),
        "values are passed to what nd.grad(f) returns",
    ),
    "text": (
        lambda: nd.ode.solver(decay, rtol="1e-6"),
        "rtol must be a float or a sequence of floats",
    ),
    "texts": (
        lambda: nd.ode.solver(decay, atol=["1e-6"]),
        "atol must be a float or a sequence of floats",
    ),
    "text-for-a-step": (
        lambda: nd.ode.solver(decay, first_step="0.1"),
        "first_step must be a float, not '0.1'",
    ),
    "text-in-sdes": (
        lambda: nd.sde.solver(decay, decay, method="SRA1", noise="additive", rtol="1e-3"),
        "rtol must be a float, or one for each component, not negative; it is '1e-3'",
    ),
}


@pytest.mark.parametrize(("call", "told"), CALLS.values(), ids=CALLS)
def test_what_does_not_fit_is_told(call, told):
    with pytest.raises(nd.ArgumentError, match=re.escape(told)):
        call()


def test_what_a_decorated_function_is_stays_to_be_seen():
    assert nd.grad.__name__ == "grad"
    assert nd.grad.__doc__.startswith("Gradient of a function")
    assert nd.grad(square, mode="forward")(X, 2.0).tolist() == [4.0, 4.0, 4.0]
