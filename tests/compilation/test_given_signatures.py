"""Functions of one source that differ in the signatures that they were compiled with alone."""

import pytest
from numba import njit

import numbad as nd


def cube(x):
    return x * x * x


def _scaled(function):
    @njit
    def scaled(x):
        return 1.0 * function(x)

    return scaled


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_are_of_the_function_with_its_signature(mode):
    rounded, plain, single = (_scaled(njit(s)(cube) if s else njit(cube)) for s in SIGNATURES)
    assert nd.value_and_grad(rounded, mode=mode)(1.7) == (4.0, 0.0)
    value, slope = nd.value_and_grad(plain, mode=mode)(1.7)
    assert value == pytest.approx(1.7**3, rel=1e-15)
    assert slope == pytest.approx(3 * 1.7**2, rel=1e-15)
    value, _ = nd.value_and_grad(single, mode=mode)(1.7)
    assert value == single(1.7) != plain(1.7)


SIGNATURES = "i8(f8)", None, "f4(f8)"
