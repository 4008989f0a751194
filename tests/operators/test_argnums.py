"""Argument numbers that do not fit: `argnums=`, `argnum=` and `out=`."""

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.operators.test_wrong_use import f


@njit
def fills(x, out):
    out[:] = x


@njit
def fills_and_returns(x, out):
    out[:] = x
    return out.sum()


def test_out():
    for wrong, message in ((7, "out=7, but the function has 2"), ("out", "out is an argument")):
        for operator in (nd.jacobian, nd.jvp, nd.vjp):
            with pytest.raises(nd.ArgumentError, match=message):
                operator(fills, out=wrong)
    x, buffer = np.ones(2), np.zeros(2)
    for call in (
        lambda: nd.jacobian(fills_and_returns, out=1)(x, buffer),
        lambda: nd.jacobian(fills_and_returns, out=1, mode="reverse")(x, buffer),
        lambda: nd.jvp(fills_and_returns, argnums=0, out=1)((x, buffer), (x,)),
        lambda: nd.vjp(fills_and_returns, argnums=0, out=1)((x, buffer), x),
    ):
        with pytest.raises(nd.ArgumentError, match="must return None; it returns a float64"):
            call()
    with pytest.raises(nd.ArgumentError, match="out=0 names 'x', which is no array of floats"):
        nd.jvp(fills, argnums=1, out=0)((2.0, buffer), (x,))
    with pytest.raises(nd.ArgumentError, match="returns None. If it writes its result into"):
        nd.vjp(fills)((x, buffer), x)
    with pytest.raises(nd.ArgumentError, match="returns None. If it writes its result into"):
        nd.derivative(fills)(2.0, buffer)
    with pytest.raises(nd.ArgumentError, match="returns None. If it writes its result into"):
        nd.sparsity(fills)(x, buffer)


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


def test_argnum_of_derivative():
    for wrong in ((0, 1), None, "x", True):
        with pytest.raises(nd.ArgumentError, match="argnum is an argument position, not"):
            nd.derivative(f, wrong)
    with pytest.raises(nd.ArgumentError, match="argnum=2, but the function has 2"):
        nd.derivative(f, 2)
    with pytest.raises(nd.ArgumentError, match="argnum=0, but the function has no argument"):
        nd.derivative(lambda: 1.0)
