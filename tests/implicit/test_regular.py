"""Solutions at which the implicit function theorem does not hold: they have no derivative."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

from .test_root import both_modes, square


@njit
def double(x, a):
    return (x - a) ** 2


@njit
def double_root(a):
    return nd.root(double, a + 1.0, (a,))


@pytest.mark.deep(but=["0.0-*"])
@both_modes
@pytest.mark.parametrize("a", [0.0, 1.0, 1e6, -1e-6])
def test_double_root_has_no_derivative(mode, a):
    """x = a is one with derivative one, but g does not tell it: its slope is zero."""
    with pytest.raises(nd.SingularError, match="implicit function theorem"):
        nd.grad(double_root, mode=mode)(a)


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_square_root_of_zero(mode):
    root = njit(lambda a: nd.root(square, 1.0, (a,)))
    with pytest.raises(nd.SingularError):
        nd.grad(root, mode=mode)(0.0)
    assert nd.grad(root, mode=mode)(1e-12) == pytest.approx(5e5, rel=1e-9)  # steep is not singular


@njit
def touching(x, a):
    """A line touches a circle: the Jacobian has rank one there. Units differ by 10**6."""
    return np.array([x[0] * x[0] + 1e-12 * x[1] * x[1] - 2.0 * a, 1e3 * (x[0] + 1e-6 * x[1] - 2.0)])


@pytest.mark.dear
def test_singular_jacobian_in_two_dimensions():
    first = njit(lambda a: nd.root(touching, np.array([1.5, 0.3e6]), (a,))[0])
    with pytest.raises(nd.SingularError, match="singular"):
        nd.derivative(first)(1.0)
    # two points of intersection near to each other: x0 (2 - x0) = 2 - a
    a = 1.0 + 1e-6
    assert nd.derivative(first)(a) == pytest.approx(0.5 / math.sqrt(a - 1.0), rel=1e-6)


@pytest.mark.deep(but=["reverse"])
@both_modes
def test_fixed_point_of_slope_one(mode):
    shifted = njit(lambda x, a: x + a)
    with pytest.raises(nd.SingularError):
        nd.grad(njit(lambda a: nd.fixed_point(shifted, 1.0, (a,))), mode=mode)(0.0)
