"""Events on the fast and on the algebraic part of a system happen once for each crossing.

y follows cos(t), so that y = c at acos(c), 2 pi - acos(c), and so on.
"""

import math

import numpy as np
import pytest

import numbad as nd

TIMES = [side + 2.0 * math.pi * k for k in range(3) for side in (math.acos(0.5), -math.acos(0.5))]
TIMES = sorted(time for time in TIMES if 0.0 < time < 14.0)


def followed(t, y, rate, c):
    return -rate * (y[0] - math.cos(t)), y[0] - y[1]


@pytest.mark.deep(but=["Rodas5P-0.0001"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
@pytest.mark.parametrize("method", ["Rodas5P", "KenCarp4", "BDF", "RadauIIA5", "AutoTsit5"])
def test_on_the_fast_part_of_a_stiff_system(method, tolerance):
    crossing = nd.ode.event(lambda t, y, rate, c: y[0] - c)
    options = {"method": method, "rtol": tolerance, "atol": tolerance, "keep_events": 20}
    solve = nd.ode.solver(followed, events=crossing, **options)
    for rate in (1e3, 1e5, 1e7):
        times = solve((1.0, 0.0), (0.0, 14.0), (rate, 0.5))[1]
        assert times[np.isfinite(times)] == pytest.approx(TIMES, abs=100.0 * tolerance + 2.0 / rate)


def test_with_a_tolerance_for_each_component():
    crossing = nd.ode.event(lambda t, y, rate, c: y[0] - c)
    options = {"method": "Rodas5P", "rtol": (1e-6, 1e-3), "atol": np.array([1e-6, 1e-3])}
    solve = nd.ode.solver(followed, events=crossing, keep_events=20, **options)
    times = solve((1.0, 0.0), (0.0, 14.0), (1e7, 0.5))[1]
    assert times[np.isfinite(times)] == pytest.approx(TIMES, abs=1e-4)


def test_what_an_event_of_another_time_leaves_within_the_band():
    """The second event follows the first before that is out of its band."""
    crossing = nd.ode.event(lambda t, y, rate, c: y[0] - c, direction=-1)
    later = nd.ode.at_times((TIMES[0] + 1e-6, TIMES[0] + 2e-6))
    options = {"method": "Rodas5P", "rtol": 1e-4, "atol": 1e-4, "keep_events": 20}
    solve = nd.ode.solver(followed, events=(crossing, later), **options)
    _, times, _, numbers = solve((1.0, 0.0), (0.0, 6.0), (1e7, 0.5))
    assert list(numbers[np.isfinite(times)]).count(0) == 1


def equations(t, y, c):
    return y[1] - y[0], y[1] - math.cos(t)


@pytest.mark.deep(but=["Rodas5P"])
@pytest.mark.parametrize("method", ["BDF", "Rodas5P", "RadauIIA5"])
def test_on_an_algebraic_variable(method):
    crossing = nd.ode.event(lambda t, y, c: y[1] - c)
    for tolerance in (1e-4, 1e-7):
        options = {"method": method, "rtol": tolerance, "atol": tolerance, "keep_events": 20}
        options["mass_matrix"] = np.diag([1.0, 0.0])
        solve = nd.ode.solver(equations, events=crossing, **options)
        times = solve((0.0, 1.0), (0.0, 14.0), (0.5,))[1]
        assert times[np.isfinite(times)] == pytest.approx(TIMES, abs=30.0 * tolerance)


@pytest.mark.dear
@pytest.mark.parametrize("method", ["Rodas5P", "BDF", "RadauIIA5"])
def test_on_the_fast_part_beside_algebraic_equations(method):
    """What is fast follows cos(t): its slope at the event is that of the cosine, not fun times an error."""

    def fun(t, y, c):
        return -1e6 * (y[0] - y[1]), y[1] - math.cos(t), y[1] - y[2]

    crossing = nd.ode.event(lambda t, y, c: y[0] - c)
    options = {"method": method, "rtol": 1e-6, "atol": 1e-6, "keep_events": 20}
    solve = nd.ode.solver(fun, events=crossing, mass_matrix=np.diag([1.0, 0.0, 1.0]), **options)
    times = solve((1.0, 1.0, 0.5), (0.0, 14.0), (0.5,))[1]
    assert times[np.isfinite(times)] == pytest.approx(TIMES, abs=1e-4)
    by_c = nd.derivative(lambda c: solve((1.0, 1.0, 0.5), (0.0, 14.0), (c,))[1][0])(0.5)
    assert by_c == pytest.approx(-1.0 / math.sin(math.acos(0.5)), abs=2e-3)


@pytest.mark.parametrize("mass", [None, np.diag([1.0, 1.0, 0.0])], ids=["stiff", "algebraic"])
def test_bounces_are_no_errors(mass):
    """A ball beside what decays fast, or at once, keeps bouncing, though by less and less."""
    rate = 1e6 if mass is None else 1.0
    bounce = nd.ode.event(
        lambda t, y, rate: y[0], direction=-1, change=lambda t, y, rate: (y[0], -0.5 * y[1], y[2])
    )
    options = {"method": "Rodas5P", "rtol": 1e-6, "atol": 1e-9, "keep_events": 40}
    solve = nd.ode.solver(
        lambda t, y, rate: (y[1], -2.0, -rate * (y[2] - math.cos(t))),
        events=bounce,
        mass_matrix=mass,
        **options,
    )
    # It falls for 1 from a height of 1, and then flies for 1, 1/2, 1/4 and so on.
    times = solve((1.0, 0.0, 1.0), (0.0, 2.99), (rate,))[1]
    times = times[np.isfinite(times)]
    assert times == pytest.approx([3.0 - 2.0 * 0.5**k for k in range(len(times))], abs=1e-4)
    assert len(times) == 8
