"""Events of differential-algebraic systems: what jumps, and what has to follow, against closed forms."""

import math

import numpy as np
import pytest

import numbad as nd
from numbad.errors import ArgumentError

MASS = np.diag([1.0, 0.0])
LEVEL, DOSE = 0.3, 1.0


def draining(t, y, rate, switch):
    """x' = -rate z with 0 = z - x, and with 0 = z - 2 x after the switch."""
    x, z = y
    return -rate * z, z - (x if t <= switch else 2.0 * x)


@pytest.fixture(scope="module")
def doubling():
    """x is doubled at the switch: z is 2 x there at first, and 4 x right after."""
    double = nd.ode.at_times(
        lambda rate, switch: switch, change=lambda t, y, k, *args: (2.0 * y[0], y[1])
    )
    options = dict(method="Rosenbrock23", rtol=1e-7, atol=1e-9, mass_matrix=MASS)
    return nd.ode.solver(draining, events=double, **options)


@pytest.mark.deep
def test_a_change_at_a_switch_that_moves(doubling):
    """x = 2 exp(-rate switch - 2 rate (1 - switch))."""

    def end(switch):
        return doubling((1.0, 1.0), (0.0, 1.0), (1.0, switch))[1, 0]

    x = 2.0 * math.exp(-1.5)
    found, slope = nd.value_and_grad(end, mode="forward")(0.5)
    assert found == pytest.approx(x, rel=1e-5)
    assert slope == pytest.approx(x, rel=1e-5)


@pytest.fixture(scope="module")
def solve():
    """Where z falls to `LEVEL`, x is filled up; z is left for the solver to find."""
    refill = nd.ode.event(
        lambda t, y, *args: y[1] - LEVEL,
        direction=-1,
        change=lambda t, y, *args: (y[0] + DOSE, y[1]),
    )
    return nd.ode.solver(
        draining,
        method="Rosenbrock23",
        rtol=1e-7,
        atol=1e-9,
        mass_matrix=MASS,
        events=refill,
        tstops=lambda rate, switch: switch,
        keep_events=2,
    )


def expected(t, rate, switch):
    """x after the switch and the refill, its derivatives by both, and the times of both."""
    full = 2.0 * DOSE / LEVEL + 1.0
    x = full * math.exp(-2.0 * rate * t + rate * switch)
    refill = 0.5 * switch + math.log(2.0 / LEVEL) / (2.0 * rate)
    return x, [x * (switch - 2.0 * t), x * rate], [switch, refill]


@pytest.mark.deep
def test_algebraic_variables_follow_at_a_switch_and_after_a_change(solve):
    ys, times, states, _ = solve((1.0, 1.0), (0.0, 0.2, 0.7, 1.6), (1.0, 0.5))
    x, _, at = expected(1.6, 1.0, 0.5)
    np.testing.assert_allclose(times, at, rtol=1e-5)
    np.testing.assert_allclose(states[1], [0.5 * LEVEL, LEVEL], rtol=1e-5)
    np.testing.assert_allclose(ys[1], [math.exp(-0.2)] * 2, rtol=1e-5)
    np.testing.assert_allclose(ys[2, 1], 2.0 * ys[2, 0], rtol=1e-7)  # z has jumped, x has not
    np.testing.assert_allclose(ys[2, 0], math.exp(-0.9), rtol=1e-5)
    np.testing.assert_allclose(ys[3], [x, 2.0 * x], rtol=5e-5)


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_through_both(solve, mode):
    def end(rate, switch):
        return solve((1.0, 1.0), (0.0, 1.6), (rate, switch))[0][-1, 1]

    _, slopes, _ = expected(1.6, 1.0, 0.5)
    found = nd.grad(end, (0, 1), mode=mode)(1.0, 0.5)
    np.testing.assert_allclose(found, 2.0 * np.array(slopes), rtol=1e-4)


@pytest.mark.deep
def test_second_derivatives_through_both(solve):
    def end(switch):
        return solve((1.0, 1.0), (0.0, 1.6), (1.0, switch))[0][-1, 0]

    x, _, _ = expected(1.6, 1.0, 0.5)
    assert nd.derivative(nd.derivative(end))(0.5) == pytest.approx(x, rel=1e-4)


@pytest.mark.deep
def test_an_inconsistent_start_is_still_refused(solve):
    with pytest.raises(nd.IntegrationError, match="does not satisfy the algebraic equations"):
        solve((1.0, 0.5), (0.0, 0.2, 0.7, 1.6), (1.0, 0.5))


@pytest.mark.deep
def test_a_regular_mass_matrix():
    """M y' = -M y, with doses of one at a time that is differentiated."""
    M = np.array([[2.0, 1.0], [0.0, 4.0]])
    dose = nd.ode.at_times(lambda at: at, change=lambda t, y, k, at: np.array([y[0], y[1] + 1.0]))
    solve = nd.ode.solver(
        lambda t, y, at: np.array([-2.0 * y[0] - y[1], -4.0 * y[1]]),
        method="Rosenbrock23",
        rtol=1e-7,
        atol=1e-9,
        mass_matrix=M,
        events=dose,
    )

    def end(at):
        return solve(np.ones(2), (0.0, 2.0), at)[-1]

    later = math.exp(-1.3)
    np.testing.assert_allclose(end(0.7), [math.exp(-2.0), math.exp(-2.0) + later], rtol=1e-4)
    np.testing.assert_allclose(nd.derivative(end)(0.7), [0.0, later], rtol=1e-4, atol=1e-6)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, y, k: (-1.0, y[1]), "no state near by that satisfies"),
        (lambda t, y, k: (0.0, 0.0), "not of index 1"),
    ],
)
def test_changes_that_leave_no_consistent_state(change, message):
    """x = z**2 has no z for x < 0, and no slope for x = 0."""
    solve = nd.ode.solver(
        lambda t, y: (-y[0], y[1] * y[1] - y[0]),
        method="Rosenbrock23",
        mass_matrix=MASS,
        events=nd.ode.at_times(0.5, change=change),
    )
    with pytest.raises(nd.IntegrationError, match=message):
        solve((1.0, 1.0), (0.0, 1.0))


def test_singular_matrices_without_rows_of_zeros():
    with pytest.raises(ArgumentError, match="need rows of zeros"):
        nd.ode.solver(draining, method="Rodas5P", mass_matrix=np.ones((2, 2)), tstops=1.0)


def _binding(t, y, k):
    a, z = y
    return -k * a * z, z * z + z - a


@pytest.mark.deep
@pytest.mark.parametrize(
    "told", [{"tstops": (0.5,)}, {"tstops": lambda k: 0.5 * k}], ids=["at", "by"]
)
def test_a_state_in_an_array_goes_back_through_events(told):
    options = {"method": "Rodas5P", "mass_matrix": np.diag([1.0, 0.0]), "rtol": 1e-9}
    solve = nd.ode.solver(_binding, **options, **told)

    def end(a, k):
        return solve(np.array([a, 0.5 * (math.sqrt(1.0 + 4.0 * a) - 1.0)]), (0.0, 2.0), k)[-1, 0]

    forward, reverse = (
        nd.grad(end, (0, 1), mode=mode)(1.0, 0.9) for mode in ("forward", "reverse")
    )
    np.testing.assert_allclose(reverse, forward, rtol=1e-9)
    np.testing.assert_allclose(forward, [0.24055029, -0.29733651], rtol=1e-6)
