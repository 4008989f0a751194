"""A function of (y, t, ...) is told that the time comes first."""

import math

import numba
import numpy as np
import pytest

import numbad as nd


def falling(y, t, k):
    return -k * y


@pytest.mark.parametrize(
    "use",
    [
        lambda: nd.ode.solver(falling),
        lambda: nd.ode.solver(numba.njit(falling)),
        lambda: nd.ode.solve_ivp(falling, (0.0, 1.0), [1.0], args=(2.0,)),
        lambda: nd.fit.fit_ode(falling, np.arange(3.0), np.ones(3), {"k": 1.0}, y0=1.0),
        lambda: nd.ode.event(lambda u, t: u - 1.0),
        lambda: nd.sde.solver(lambda x, t: -x, lambda t, x: 0.1, dt=0.1),
        lambda: nd.sde.solver(lambda t, x: -x, lambda x, t: 0.1, dt=0.1),
    ],
)
def test_the_time_is_not_second(use):
    """As for `scipy.integrate.odeint`: the solution would be another one, without a word."""
    with pytest.raises(nd.ModelError, match=r"time first.*odeint.*\(t, [yxu]"):
        use()


def test_other_names_are_left_alone():
    """A state may be called t where nothing says that it is the time."""
    solve = nd.ode.solver(lambda r, t: -t, method="RK4", first_step=0.01)
    assert solve(1.0, (0.0, 1.0), ())[-1] == pytest.approx(math.exp(-1.0), abs=1e-9)
