"""Steps of backward differentiation formulas, against closed forms and other codes."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.ode.integrate import Problem, make_integrate
from numbad.ode.methods.bdf import BDF
from numbad.ode.solving import as_dispatcher
from tests.ode.problems import settings
from tests.ode.test_rosenbrock import (
    MIXED,
    ROBERTSON,
    SLOPES,
    TIMES,
    VALUES,
    as_algebraic,
    mixed,
    robertson,
)
from tests.ode.test_sparsity_pattern import brusselator

START = (1.0, 0.0, 0.0)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("fun", "start", "mass"),
    [
        (robertson, START, None),
        pytest.param(as_algebraic, START, np.diag([1.0, 1.0, 0.0]), marks=pytest.mark.deep),
        pytest.param(mixed, np.array(START), MIXED, marks=pytest.mark.deep),
    ],
)
def test_robertson_and_its_sensitivities(fun, start, mass):
    """Partials do not choose steps: values are the same with and without them."""
    solve = nd.ode.solver(fun, method="BDF", rtol=1e-8, atol=1e-12, mass_matrix=mass)

    def end(k):
        return solve(start, TIMES, (k[0], k[1], k[2]))

    rates = np.array(ROBERTSON)
    values, run = end(rates), nd.jvp(end, argnums=(0,))
    np.testing.assert_allclose(values[1:], VALUES, rtol=1e-6)
    for k, direction in enumerate(np.eye(3)):
        again, slope = run((rates,), (direction,))
        np.testing.assert_array_equal(again, values)
        np.testing.assert_allclose(slope[1:], SLOPES[:, :, k], rtol=3e-6)


def linear(t, y, rate):
    return -rate * (y - np.cos(t))


@pytest.mark.deep
def test_errors_follow_the_tolerance():
    """Of values and derivatives by the rate, where it is stiff."""
    end, rate = 3.0, 50.0

    def exact(rate):
        a = rate / (1.0 + rate**2)
        return a * (rate * np.cos(end) + np.sin(end)) - a * rate * np.exp(-rate * end)

    by_rate = exact(rate + 1e-30j).imag / 1e-30
    integrate = make_integrate(Problem(as_dispatcher(linear), BDF, False, False))
    run = nd.jvp(lambda k, chosen: integrate(0.0, (0.0, end), (k,), chosen)[0][-1, 0], argnums=(0,))
    last = np.inf
    for rtol in (1e-5, 1e-7, 1e-9):
        value, slope = run((rate, settings(rtol=rtol, atol=rtol)), (1.0,))
        assert abs(value - exact(rate)) < 30.0 * rtol
        error = abs(slope - by_rate)
        assert error < 10.0 * rtol
        assert error < last
        last = error


@pytest.mark.deep
def test_large_systems_in_place_with_a_pattern():
    y, p = np.linspace(0.5, 3.0, 24), np.array([1.0, 3.0, 0.02])
    pattern = nd.sparsity(brusselator, 1, out=2)(0.0, y, np.empty_like(y), p)
    options = dict(inplace=True, rtol=1e-9, atol=1e-11, jac_sparsity=pattern)
    found, wanted = (
        nd.ode.solver(brusselator, method=method, **options)(y, (0.0, 2.0), (p,))
        for method in ("BDF", "RadauIIA5")
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.deep
def test_partials_in_the_error_control_second_order_and_events():
    options = dict(method="BDF", rtol=1e-8, atol=1e-10)
    solve = nd.ode.solver(lambda t, y, rate: -rate * y, sens_errcon=True, **options)
    slope = nd.derivative(lambda rate: solve(1.0, (0.0, 2.0), rate)[-1, 0])
    assert slope(0.7) == pytest.approx(-2.0 * math.exp(-1.4), rel=1e-6)
    assert nd.derivative(slope)(0.7) == pytest.approx(4.0 * math.exp(-1.4), rel=1e-5)
    doses = nd.ode.at_times(lambda rate, times: times, change=lambda t, y, k, rate, times: y + 2.0)
    body = nd.ode.solver(lambda t, y, rate, times: -rate * y, events=doses, **options)
    late = nd.derivative(lambda t: body(0.0, (0.0, 4.0), (0.5, (0.0, t)))[-1, 0])(1.0)
    assert late == pytest.approx(math.exp(-1.5), rel=1e-6)


@pytest.mark.dear
def test_statistics_and_dense_output_of_solve_ivp():
    """Of SciPy's name; few Jacobians and factors, and outputs between steps as exact as the steps."""
    t = np.linspace(0.0, 10.0, 41)
    given = dict(method="BDF", rtol=1e-8, atol=1e-10)
    found = nd.ode.solve_ivp(lambda t, y: (y[1], -y[0]), (0.0, 10.0), (1.0, 0.0), t_eval=t, **given)
    np.testing.assert_allclose(found.y[0], np.cos(t), atol=2e-6)
    assert found.njev < 10
    assert found.nlu < found.nfev / 5


@pytest.mark.dear
def test_the_first_steps_of_algebraic_equations():
    """Their slope is looked for: without one steps began at the tolerance, below the spacing of times."""

    def decay(t, y, rate):
        return y[1], rate * y[0] + y[1]

    given = dict(method="BDF", rtol=1e-9, atol=1e-10, mass_matrix=np.diag([1.0, 0.0]))
    found = nd.ode.solve_ivp(decay, (0.0, 1.0), (1.0, -0.7), args=(0.7,), **given)
    assert found.t[1] > 1e-6
    solve = nd.ode.solver(decay, sens_errcon=True, **given)

    def end(rate):
        return solve((1.0, -rate), (1e6, 1e6 + 1.0), (rate,))[-1, 0]

    for limits in ({"first_step": 4.0}, {"first_step": 4.0, "max_step": 0.5}):
        found = nd.ode.solve_ivp(decay, (0.0, 1.0), (1.0, -0.7), args=(0.7,), **given, **limits)
        assert found.y[0, -1] == pytest.approx(math.exp(-0.7), rel=1e-7)

    for mode in ("forward", "reverse"):
        value, slope = nd.value_and_grad(end, mode=mode)(0.7)
        assert value == pytest.approx(math.exp(-0.7), rel=1e-7)
        assert slope == pytest.approx(-math.exp(-0.7), rel=1e-7)


@pytest.mark.dear
def test_partials_that_are_rounding():
    """The second derivative of z = a is zero since two terms cancel: Newton's method has nothing to find."""

    def follows(t, y, k):
        a, z = y
        return -k, z * z * z + z - a - a * a * a

    given = dict(method="BDF", rtol=1e-6, atol=1e-8, mass_matrix=np.diag([1.0, 0.0]))
    solve = nd.ode.solver(follows, **given)
    slope = nd.derivative(lambda k: solve((1.0, 1.0), (0.0, 1.0), (k,))[-1, 1])
    assert slope(0.5) == pytest.approx(-1.0, rel=1e-6)
    assert nd.derivative(slope)(0.5) == pytest.approx(0.0, abs=1e-12)
