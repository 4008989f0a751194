"""Derivatives by times of stiff systems, whose right-hand side multiplies the errors of the state.

y follows cos(t) at a rate of 1e6, and z follows y: dy/dt is -sin(t) but for 1e-6, and y is c at acos(c).
"""

import math

import pytest

import numbad as nd

RATE, T, C = 1e6, 1.237, 0.5


def followed(t, y, rate, c):
    return -rate * (y[0] - math.cos(t)), y[0] - y[1]


def solver(method, tolerance, **options):
    return nd.ode.solver(followed, method=method, rtol=tolerance, atol=tolerance, **options)


@pytest.mark.deep(but=["KenCarp4-0.0001-0.05"])
@pytest.mark.parametrize(
    ("method", "tolerance", "error"),
    [
        ("KenCarp4", 1e-4, 0.05),
        ("KenCarp4", 1e-8, 1e-3),
        ("Rodas5P", 1e-8, 1e-4),
        ("RadauIIA5", 1e-4, 1e-3),
        ("BDF", 1e-4, 1e-3),
        ("AutoTsit5", 1e-8, 1e-4),
    ],
)
def test_by_output_times(method, tolerance, error):
    solve = solver(method, tolerance)

    def between(end):
        return solve((1.0, 0.0), (0.0, end, 3.0), (RATE, C))[1, 0]

    def at_the_end(end):
        return solve((1.0, 0.0), (0.0, end), (RATE, C))[-1, 0]

    for f in (between, at_the_end):
        found = nd.derivative(f)(T)
        assert found == pytest.approx(-math.sin(T), abs=error)
        assert nd.grad(f, mode="reverse")(T) == pytest.approx(found, rel=1e-12)


@pytest.mark.deep(but=["KenCarp4"])
@pytest.mark.parametrize("method", ["KenCarp4", "AutoTsit5", "BDF"])
def test_through_the_time_of_an_event(method):
    """At the event z is raised by 1; at the end that has fallen off as exp(-(3 - time))."""
    dose = nd.ode.event(
        lambda t, y, rate, c: y[0] - c,
        direction=-1,
        change=lambda t, y, rate, c: (y[0], y[1] + 1.0),
    )
    solve = solver(method, 1e-6, events=dose, keep_events=1)

    def time(c):
        return solve((1.0, 0.0), (0.0, 3.0), (1e5, c))[1][0]

    def end(c):
        return solve((1.0, 0.0), (0.0, 3.0), (1e5, c))[0][-1, 1]

    by_c = -1.0 / math.sin(math.acos(C))
    for f, exact in ((time, by_c), (end, by_c * math.exp(math.acos(C) - 3.0))):
        found = nd.derivative(f)(C)
        assert found == pytest.approx(exact, abs=2e-3)
        assert nd.grad(f, mode="reverse")(C) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-7])
def test_what_is_not_stiff_moves_along_the_right_hand_side(tolerance):
    options = {"method": "Rodas5P", "rtol": tolerance, "atol": tolerance}
    solve = nd.ode.solver(lambda t, y: (y[1], -y[0]), **options)
    ys = solve((1.0, 0.0), (0.0, T, 3.0))
    found = nd.derivative(lambda end: solve((1.0, 0.0), (0.0, end, 3.0))[1, 0])(T)
    assert found == ys[1, 1]
