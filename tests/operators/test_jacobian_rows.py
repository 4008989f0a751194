"""Jacobians whose rows are made one by one, and what "auto" takes."""

import math

import numpy as np
import pytest
from numba import njit
from numba.typed import List

import numbad as nd
from numbad.operators.mode import FEW_ROWS
from tests.operators.rows import assert_exact, of_any_size, of_known_size, taken, together

pytestmark = pytest.mark.usefixtures("compiled_anew")


@njit
def root(a):
    return math.sqrt(a)


def _forward(a):
    x = math.sqrt(a)
    return x, x


def _backward(x, cotangent):
    if cotangent == 0.0:  # what no vector of cotangents could answer
        return (0.0,)
    return (cotangent / (2.0 * x),)


nd.rule(root, vjp=(_forward, _backward))


def ruled(x):
    return np.array([root(x[0]) * x[1], x[1]])


@njit
def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def recursive(x):
    return np.array([power(x[0], 3) * x[1], x[1]])


cube = nd.checkpoint(njit(lambda x: x * x * x))


def checkpointed(x):
    return np.array([cube(x[0]) * x[1], x[1]])


def listed(x):
    kept = List()
    for k in range(x.size):
        kept.append(x[k] * x[0])
    return np.array([kept[0] * x[1], kept[1]])


def through_complex(x):
    z = complex(x[0], x[1])
    z = z * z
    return np.array([z.real, z.imag])


ONE_BY_ONE = {
    ruled: lambda a, b: [[b / (2 * math.sqrt(a)), math.sqrt(a)], [0, 1]],
    recursive: lambda a, b: [[3 * a * a * b, a**3], [0, 1]],
    checkpointed: lambda a, b: [[3 * a * a * b, a**3], [0, 1]],
    listed: lambda a, b: [[2 * a * b, a * a], [b, a]],
    through_complex: lambda a, b: [[2 * a, -2 * b], [2 * b, 2 * a]],
}


@pytest.mark.parametrize("f", ONE_BY_ONE)
def test_code_that_takes_one_cotangent_at_a_time(f):
    jacobian = nd.jacobian(f, mode="reverse")
    np.testing.assert_allclose(
        jacobian(np.array([1.5, 2.5])), ONE_BY_ONE[f](1.5, 2.5), rtol=1e-13, atol=1e-15
    )
    assert not together(jacobian)


@pytest.mark.shows("rows")
@pytest.mark.parametrize("n", [1, FEW_ROWS, FEW_ROWS + 1])
def test_auto_takes_reverse_mode_for_few_rows_by_arrays(n):
    jacobian = nd.jacobian(of_known_size(n))
    args = np.array([0.3, 0.7]), 1.5
    assert_exact((jacobian(*args),), of_known_size(n), args, (0,))
    assert taken(jacobian) == ("reverse" if n <= FEW_ROWS else "forward")


def test_auto_takes_forward_mode_for_few_numbers_and_for_unknown_rows():
    by_number = nd.jacobian(of_known_size(2), 1)
    by_number(np.array([0.3, 0.7]), 1.5)
    of_unknown = nd.jacobian(of_any_size)
    of_unknown(np.array([0.3, 0.7]), 1.5, 2)
    assert taken(by_number) == taken(of_unknown) == "forward"


@pytest.mark.parametrize("f", [recursive, listed])
def test_auto_goes_forward_where_rows_would_be_made_one_by_one(f):
    jacobian = nd.jacobian(f)
    np.testing.assert_allclose(jacobian(np.array([1.5, 2.5])), ONE_BY_ONE[f](1.5, 2.5), rtol=1e-13)
    assert taken(jacobian) == "forward"


def test_auto_comes_back_to_rows_one_by_one():
    """A rule for reverse mode alone."""
    jacobian = nd.jacobian(ruled)
    found = jacobian(np.array([1.5, 2.5]))
    np.testing.assert_allclose(found, ONE_BY_ONE[ruled](1.5, 2.5), rtol=1e-13)
    assert taken(jacobian) == "reverse"
    assert not together(jacobian)
