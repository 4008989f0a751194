"""Argument numbers that do not fit: `argnums=`, `argnum=` and `out=`."""

import math

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


def decay(t, *p):
    return p[0] * math.exp(-p[1] * t) + p[2]


T, P = 1.5, (2.0, 0.7, 4.0)
BY_P = (math.exp(-0.7 * T), -2.0 * T * math.exp(-0.7 * T), 1.0)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_arguments_that_come_in_through_a_star_are_counted_on(mode):
    by_t = -2.0 * 0.7 * math.exp(-0.7 * T)
    found = nd.grad(decay, (1, 2, 3), mode=mode)(T, *P)
    np.testing.assert_allclose(found, BY_P, rtol=1e-14)
    found = nd.grad(decay, (np.int64(2), 0), mode=mode)(T, *P)
    np.testing.assert_allclose(found, (BY_P[1], by_t), rtol=1e-14)
    (none, mixed), (again, twice) = nd.hessian(decay, (1, 2), mode=mode)(T, *P)
    expected = 0.0, -T * BY_P[0], -T * BY_P[0], T * T * 2.0 * BY_P[0]
    np.testing.assert_allclose((none, mixed, again, twice), expected, rtol=1e-14)


def test_a_derivative_by_one_of_a_star_in_compiled_code_too():
    assert nd.derivative(decay, 2)(T, *P) == pytest.approx(BY_P[1], rel=1e-14)

    @njit
    def slopes(t):
        return nd.grad(decay, (1, 3))(t, 2.0, 0.7, 4.0)

    np.testing.assert_allclose(slopes(T), (BY_P[0], 1.0), rtol=1e-14)

    def arrays(scale, *scale0):  # whose own name is that of the first one
        return scale * (scale0[0] ** 2).sum()

    np.testing.assert_array_equal(nd.grad(arrays, 1)(2.0, np.arange(3.0)), [0.0, 4.0, 8.0])


def test_too_few_arguments_for_a_star_and_numbers_from_the_end():
    with pytest.raises(TypeError, match="expected at least 3, got 2"):
        nd.grad(decay, 2)(T, 2.0)
    with pytest.raises(nd.ArgumentError, match=r"by '\*p'; pass a tuple as one argument"):
        nd.grad(decay, -1)
