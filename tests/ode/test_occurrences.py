"""Events of `solve_ivp`, which are those of SciPy."""

import numpy as np
import pytest
import scipy.integrate

import numbad as nd


@pytest.mark.dear
def test_events_of_solve_ivp_are_scipys():
    def flight(t, y):
        return np.array([y[2], y[3], 0.0, -9.81])

    def ground(t, y):
        return y[1]

    def apex(t, y):
        return y[3]

    ground.terminal, ground.direction = True, -1
    given = dict(events=[ground, apex], dense_output=True, rtol=1e-8)
    got = nd.ode.solve_ivp(flight, (0, 100), [0.0, 0.0, 10.0, 30.0], **given)
    wanted = scipy.integrate.solve_ivp(flight, (0, 100), [0.0, 0.0, 10.0, 30.0], **given)
    assert (got.status, got.message) == (wanted.status, wanted.message)
    for k in range(2):
        np.testing.assert_allclose(got.t_events[k], wanted.t_events[k], rtol=1e-9)
        np.testing.assert_allclose(got.y_events[k], wanted.y_events[k], atol=1e-7)
    assert (got.t[-1], got.sol.t_max) == (got.t_events[0][0],) * 2
    np.testing.assert_allclose(got.sol(6.1), wanted.sol(6.1), atol=1e-7)


@pytest.mark.deep
def test_a_count_of_events_ends_solve_ivp():
    def zero(t, y):
        return y[0]

    zero.terminal = 3
    got = nd.ode.solve_ivp(
        lambda t, y: (y[1], -y[0]),
        (0, 50),
        [1.0, 0.0],
        events=zero,
        t_eval=[1.0, 9.0],
        rtol=1e-9,
        atol=1e-9,
    )
    np.testing.assert_allclose(got.t_events[0], np.pi * np.array([0.5, 1.5, 2.5]), atol=1e-7)
    assert got.t.tolist() == [1.0]
