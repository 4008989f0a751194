"""What is no solution, has no derivative, or is not taken: errors that say so."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd

from .test_root import affine, both_modes, square


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


def test_no_root():
    with pytest.raises(nd.ConvergenceError, match="converge"):
        nd.root(lambda x: x * x + 1.0, 1.0)
    with pytest.raises(nd.ConvergenceError, match="maxiter"):
        nd.root(lambda x: math.exp(x) - 1e30, 0.0, maxiter=5)
    with pytest.raises(nd.ConvergenceError, match="NaN"):
        nd.root(lambda x: math.nan * x, 1.0)
    with pytest.raises(nd.ConvergenceError, match="different signs"):
        nd.root(lambda x: x * x + 1.0, 1.0, bracket=(0.0, 2.0))
    with pytest.raises(nd.ConvergenceError, match="jumps"):
        nd.root(lambda x: 1.0 / (x - 0.1), 0.5, bracket=(-1.0, 1.7))


def test_a_failed_call_leaves_nothing_behind():
    failing = njit(lambda a: nd.root(square, 1.0, (a,)))
    gradient = nd.grad(failing, mode="reverse")
    for _ in range(3):
        with pytest.raises(nd.ConvergenceError):
            gradient(-1.0)
        assert gradient(4.0) == pytest.approx(0.25)


def test_fixed_point_that_repels():
    with pytest.raises(nd.ConvergenceError):
        nd.fixed_point(lambda x: 2.0 * x + 1.0, 1.0)


def test_number_of_equations():
    with pytest.raises(nd.ConvergenceError, match="as many numbers"):
        nd.root(lambda x: np.array([x[0], x[1], 1.0]), np.ones(2))


def test_arguments():
    with pytest.raises(nd.ArgumentError, match="no value for 'a'"):
        nd.root(square, 1.0)
    with pytest.raises(nd.ArgumentError, match="2 args for square"):
        nd.root(square, 1.0, (1.0, 2.0))
    with pytest.raises(nd.ArgumentError, match="x0 is a float or a 1-D array"):
        nd.root(affine, np.ones((2, 2)), (np.ones((2, 2)), np.ones(2)))
    with pytest.raises(nd.ArgumentError, match="returns a float"):
        nd.root(lambda x: (x, x), 1.0)
    with pytest.raises(nd.ArgumentError, match="1-D array"):
        nd.root(lambda x: x[0], np.ones(1))
    with pytest.raises(nd.ArgumentError, match="pair"):
        nd.root(square, 1.0, (2.0,), bracket=(1.0,))
    with pytest.raises(nd.ArgumentError, match="function or a Numba"):
        nd.root(3.0, 1.0)


def test_functions_that_are_refused():
    def draws(x):
        return x - np.random.random()

    def starred(x, *rest):
        return x

    for function, what in ((draws, "random"), (starred, "args")):
        with pytest.raises(nd.UnsupportedError, match=what):
            nd.root(function, 1.0)


def test_a_function_that_changes_its_arguments():
    def changes(x, a):
        a[0] += 1.0
        return x - 2.0 * a[0]

    with pytest.raises(nd.ArgumentError, match="changes its argument 'a'"):
        nd.root(changes, 1.0, (np.ones(1),), maxiter=1000)
    with pytest.raises(nd.ArgumentError, match="changes its argument 'a'"):
        nd.quad(changes, 0.0, 1.0, (np.ones(1),), 1.0, 1.0)


def test_lists_are_refused():
    def f(a):
        return nd.root(square, 1.0, ([a],))

    with pytest.raises(nd.UnsupportedError, match="holds a"):
        nd.grad(f)(2.0)
