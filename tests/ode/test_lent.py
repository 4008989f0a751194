"""Arrays in args that are not contiguous, for the methods that lend them from function to function."""

import numpy as np
import pytest

import numbad as nd

TIMES = np.array([0.0, 1.0])
START = np.array([1.0, 2.0])
MATRIX = np.array([[0.5, 2.0], [1.0, 3.0]])
TABLE = np.arange(12.0).reshape(4, 3)


GIVEN = MATRIX.T, TABLE[::-2, 1], np.array(0.5)
COPIES = *map(np.ascontiguousarray, GIVEN[:2]), GIVEN[2]


def damped(t, y, coupling, damping, force):
    dx = coupling[0, 1] * y[1] - damping[0] * y[0] + force[()]
    return np.array([dx, -coupling[1, 0] * y[0] - damping[1] * y[1]])


@pytest.mark.deep
@pytest.mark.parametrize("method", ["BDF", "KenCarp4", "RadauIIA5"])
def test_transposes_columns_and_arrays_of_no_dimension(method):
    solve = nd.ode.solver(damped, method=method, rtol=1e-6)
    np.testing.assert_array_equal(solve(START, TIMES, GIVEN), solve(START, TIMES, COPIES))


@pytest.mark.deep
@pytest.mark.parametrize("method", ["BDF", "KenCarp4", "RadauIIA5"])
def test_gradients_by_them(method):
    solve = nd.ode.solver(damped, method=method, rtol=1e-6)

    def last(coupling, damping, force):
        return solve(START, TIMES, (coupling, damping, force))[-1].sum()

    gradient = nd.grad(last, (0, 1), mode="reverse")
    for found, expected in zip(gradient(*GIVEN), gradient(*COPIES), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
