"""States of two and more dimensions, against matrix exponentials and their Frechet derivatives."""

import numpy as np
import pytest
from scipy.linalg import expm, expm_frechet

import numbad as nd
from numbad.errors import ArgumentError, ModelError

A = np.array([[-0.3, 1.0], [-1.2, 0.1]])
START = np.array([[1.0, 0.2], [0.3, 2.0]])
WEIGHTS = np.array([[1.0, -2.0], [0.5, 0.7]])


def linear(t, y, a):
    return a @ y


def linear_in_place(t, y, dy, a):
    dy[:] = a @ y


def slopes_by(matrix):
    """The derivatives of sum(WEIGHTS * (expm(A) @ START)) by A and by START."""
    unit = np.eye(2)
    by_a = [
        [
            np.sum(WEIGHTS * (expm_frechet(matrix, np.outer(unit[i], unit[j]))[1] @ START))
            for j in (0, 1)
        ]
        for i in (0, 1)
    ]
    return np.array(by_a), expm(matrix).T @ WEIGHTS


@pytest.mark.deep(but=["Tsit5-False"])
@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("method", ["Tsit5", "DOP853", "Rodas5P", "BDF", "RadauIIA5", "AutoTsit5"])
def test_a_matrix_exponential_and_its_derivatives(method, inplace):
    fun = linear_in_place if inplace else linear
    solve = nd.ode.solver(fun, method=method, rtol=1e-9, atol=1e-11, inplace=inplace, ndim=2)
    found = solve(START, np.array([0.0, 0.5, 1.0]), (A,))
    assert found.shape == (3, 2, 2)
    np.testing.assert_allclose(found[1], expm(0.5 * A) @ START, atol=1e-7)

    def loss(a, start):
        return np.sum(solve(start, (0.0, 1.0), (a,))[-1] * WEIGHTS)

    for mode in ("forward", "reverse"):
        for slope, expected in zip(
            nd.grad(loss, (0, 1), mode=mode)(A, START), slopes_by(A), strict=True
        ):
            np.testing.assert_allclose(slope, expected, atol=2e-7)


def test_three_dimensions_and_the_order_of_memory():
    """Each number decays by a rate of its own; a transposed start is no other start."""
    rates = np.linspace(0.1, 1.2, 12).reshape(2, 3, 2)
    solve = nd.ode.solver(lambda t, y, rates: -rates * y, rtol=1e-9, ndim=3)
    start = np.arange(1.0, 13.0).reshape(2, 3, 2).transpose(2, 1, 0)
    for given in (start, np.ascontiguousarray(start)):
        found = solve(given, (0.0, 2.0), (rates,))[-1]
        np.testing.assert_allclose(found, start * np.exp(-2.0 * rates), rtol=1e-7)


def test_events_get_states_of_that_shape():
    """The first number falls to 1 at log(2) / rate; the whole is doubled then."""
    floor = nd.ode.event(lambda t, y, rate: y[0, 0] - 1.0, change=lambda t, y, rate: 2.0 * y)
    dose = nd.ode.at_times(1.0, change=lambda t, y, k, rate: y + np.eye(2))
    solve = nd.ode.solver(
        lambda t, y, rate: -rate * y,
        events=[floor, dose],
        keep_events=2,
        ndim=2,
        rtol=1e-9,
        atol=1e-12,
    )
    start = np.array([[2.0, 1.0], [4.0, 3.0]])
    ys, times, states, numbers = solve(start, (0.0, 1.5), 0.8)
    np.testing.assert_allclose(times, [np.log(2.0) / 0.8, 1.0])
    np.testing.assert_allclose(states[0], start / 2.0)
    end = (start * 2.0 * np.exp(-0.8) + np.eye(2)) * np.exp(-0.4)
    np.testing.assert_allclose(ys[-1], end, rtol=1e-7)
    assert list(numbers) == [0, 1]

    def corner(rate):
        return solve(start, (0.0, 1.5), rate)[0][-1, 1, 0]

    # 4 * 2 exp(-1.5 rate): the doubling comes at another time, by as much as what is doubled.
    assert nd.derivative(corner)(0.8) == pytest.approx(-1.5 * 8.0 * np.exp(-1.2), rel=1e-6)


def test_what_is_refused():
    with pytest.raises(ModelError, match=r"Way out: nd.ode.solver\(fun, ndim=2\)"):
        nd.ode.solver(linear)(START, (0.0, 1.0), (A,))
    with pytest.raises(ModelError, match="an array of 2 dimensions, as ndim=2 says, not array"):
        nd.ode.solver(linear, ndim=2)(START[0], (0.0, 1.0), (A,))
    with pytest.raises(ArgumentError, match="ndim must be the number of dimensions"):
        nd.ode.solver(linear, ndim=0)
    with pytest.raises(ArgumentError, match="jac does not go with ndim=2"):
        nd.ode.solver(linear, ndim=2, method="Rodas5P", jac=lambda t, y, a: a)


def test_the_same_function_gives_the_same_dispatcher():
    assert nd.ode.solver(linear, ndim=2) is nd.ode.solver(linear, ndim=2)
    assert nd.ode.solver(linear, ndim=2) is not nd.ode.solver(linear, ndim=3)
