"""Order of accuracy, observed: of the solution, the output between steps, and their derivatives."""

import math
from itertools import pairwise

import numpy as np
import pytest

import numbad as nd
from numbad.ode.integrate import Problem, make_integrate
from numbad.ode.methods import find_method
from numbad.ode.solving import as_dispatcher
from numbad.ode.tableau import Tableau
from tests.ode.problems import decay, settings

HEUN_EULER = Tableau(
    name="Heun-Euler",
    source="Hairer, Norsett & Wanner, I, II.4",
    order=2,
    embedded_order=1,
    dense_order=2,
    a=((), (1.0,)),
    b=(0.5, 0.5),
    error=(-0.5, 0.5),
    c=(0.0, 1.0),
    interpolant=((1.0, -0.5), (0.0, 0.5), (0.0, 0.0)),
)


def fixed_step(h):
    """Settings under which every step is accepted and none is longer than h."""
    return settings(rtol=1e30, atol=1e30, first_step=h, max_step=h)


def integrator(tableau):
    """y' = -y, y(0) = 1, whose exact solution is known."""
    integrate = make_integrate(Problem(as_dispatcher(decay), tableau, False, False))

    def error(ts, chosen):
        ts = np.asarray(ts)
        ys, status, *_ = integrate(1.0, ts, 1.0, chosen)
        assert status == 0
        return np.abs(ys[:, 0] - np.exp(-ts))

    return error


@pytest.fixture(scope="module")
def tsit5():
    return integrator(find_method("Tsit5"))


def observed_orders(errors):
    return np.log2(np.asarray(errors)[:-1] / errors[1:])


def test_global_error_has_order_five(tsit5):
    errors = [tsit5([0.0, 2.0], fixed_step(2.0 / n))[-1] for n in (20, 40, 80)]
    orders = observed_orders(errors)
    assert 4.9 < orders[1] < orders[0] < 5.4, orders


def test_one_step_has_local_error_of_order_six_and_within_it_five(tsit5):
    ends, middles = [], []
    for h in (0.2, 0.1, 0.05):
        _, middle, end = tsit5([0.0, 0.4 * h, h], fixed_step(h))
        middles.append(middle)
        ends.append(end)
    assert 5.9 < observed_orders(ends)[-1] < 6.4
    assert 4.9 < observed_orders(middles)[-1] < 5.3


def test_error_follows_the_tolerance(tsit5):
    """Each factor of 100 in the tolerance gains about as much in the error."""
    ts = np.linspace(0.0, 10.0, 33)
    tolerances = [1e-4, 1e-6, 1e-8, 1e-10]
    errors = [tsit5(ts, settings(rtol=0.0, atol=tol)).max() for tol in tolerances]
    assert all(error < 20.0 * tol for error, tol in zip(errors, tolerances, strict=True)), errors
    assert all(20.0 < a / b < 500.0 for a, b in pairwise(errors)), errors


def forced(t, y, rate):
    return -rate * y * math.cos(t)


def forced_errors(tableau):
    """The function that gives the errors of y' = -rate y cos t at times, and those of dy/drate."""
    integrate = make_integrate(Problem(as_dispatcher(forced), tableau, False, False))
    run = nd.jvp(lambda rate, ts, chosen: integrate(1.0, ts, rate, chosen)[0][:, 0], argnums=(0,))

    def errors(ts, chosen):
        ys, slopes = run((1.5, ts, chosen), (1.0,))
        moved = np.sin(ts) - np.sin(ts[0])
        exact = np.exp(-1.5 * moved)
        return np.abs(ys - exact), np.abs(slopes + moved * exact)

    return errors


# Steps on an interval of length 2: few enough that rounding does not show, enough for the order to.
STEPS = [
    pytest.param("Euler", 64, marks=pytest.mark.deep),
    pytest.param("Heun", 64, marks=pytest.mark.deep),
    pytest.param("RK4", 16, marks=pytest.mark.deep),
    pytest.param("BS3", 16, marks=pytest.mark.deep),
    pytest.param("DP5", 8, marks=pytest.mark.deep),
    ("Vern7", 14),
    ("DOP853", 5),
    pytest.param("Vern9", 2, marks=pytest.mark.deep),
    ("Rodas5P", 20),
    pytest.param("Rodas4", 20, marks=pytest.mark.deep),
    pytest.param("Rosenbrock23", 40, marks=pytest.mark.deep),
]


@pytest.mark.dear
@pytest.mark.parametrize(("name", "steps"), STEPS)
def test_order_of_value_output_and_derivative(name, steps):
    """With steps of one size, then half of it: at the end, and between the ends of one step.

    In the mean over several intervals, since on one the leading term of the error may vanish.
    """
    tableau = find_method(name)
    errors = forced_errors(tableau)
    ends, insides = [], []
    for h in (2.0 / steps, 1.0 / steps):
        starts, inside = np.arange(12) * 0.5, np.arange(1, 7) * 0.15 * h
        over = [errors(np.array([t, t + 2.0]), fixed_step(h)) for t in starts]
        within = [errors(np.array([t, *(t + inside), t + h]), fixed_step(h)) for t in starts]
        ends.append(np.sqrt(np.mean(np.square(over)[:, :, -1], axis=0)))
        insides.append(np.sqrt(np.mean(np.square(within)[:, :, 1:-1], axis=(0, 2))))
    for found, order in ((ends, tableau.order), (insides, tableau.dense_order + 1)):
        assert (observed_orders(found) > order - 0.5).all(), observed_orders(found)
        assert (observed_orders(found) < order + 1.6).all(), observed_orders(found)


def test_another_method_is_another_tableau():
    """Heun-Euler: two stages, the last not the first of the next step."""
    assert not HEUN_EULER.first_same_as_last
    assert HEUN_EULER.evaluations(tried=5, accepted=4, extended=3) == 9
    heun = integrator(HEUN_EULER)
    errors = [heun([0.0, 1.0], fixed_step(1.0 / n))[-1] for n in (50, 100, 200)]
    assert abs(observed_orders(errors)[-1] - 2.0) < 0.05
    assert heun(np.linspace(0.0, 1.0, 11), settings(rtol=1e-7, atol=1e-7)).max() < 1e-5
