"""Partials of implicit stages: as exact as the values."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.ode.integrate import Problem, make_integrate
from numbad.ode.methods import find_method
from numbad.ode.solving import as_dispatcher
from tests.ode.problems import settings
from tests.ode.test_implicit_steps import prothero_robinson


def decay(t, y, rate):
    return -rate * y * y


@pytest.mark.dear
@pytest.mark.parametrize(
    ("method", "allowed"),
    [("RadauIIA5", 1e-7), pytest.param("KenCarp4", 1e-4, marks=pytest.mark.deep)],
)
def test_derivatives_are_as_exact_as_values_beside_an_old_jacobian(method, allowed):
    """Of y = 1 / (1 + rate t); one iteration with a Jacobian of other steps leaves errors above 8e-6."""
    tableau = find_method(method)
    integrate = make_integrate(Problem(as_dispatcher(decay), tableau, False, False))
    run = nd.jvp(
        lambda rate, chosen: integrate(1.0, (0.0, 2.0), (rate,), chosen)[0][-1, 0], argnums=(0,)
    )
    value, slope = run((20.0, settings(rtol=1e-5, atol=1e-8)), (1.0,))
    assert abs(value * 41.0 - 1.0) < allowed
    assert abs(slope * 41.0**2 / -2.0 - 1.0) < allowed


@pytest.mark.deep
def test_partials_in_the_error_control_and_events():
    """sens_errcon: tangents as exact as the solution; and a dose, with the derivative by its time."""
    options = dict(method="RadauIIA5", rtol=1e-7, atol=1e-9)
    exact = math.cos(2.0), -math.sin(2.0)
    solve = nd.ode.solver(prothero_robinson, sens_errcon=True, **options)
    value, slope = nd.jvp(lambda rate: solve(1.0, (0.0, 1.0), (1e4, rate))[-1, 0], argnums=(0,))(
        (2.0,), (1.0,)
    )
    np.testing.assert_allclose([value, slope], exact, rtol=1e-5)
    doses = nd.ode.at_times(lambda rate, times: times, change=lambda t, y, k, rate, times: y + 2.0)
    body = nd.ode.solver(lambda t, y, rate, times: -rate * y, events=doses, **options)
    late = nd.derivative(lambda t: body(0.0, (0.0, 4.0), (0.5, (0.0, t)))[-1, 0])(1.0)
    assert late == pytest.approx(math.exp(-1.5), rel=1e-5)
