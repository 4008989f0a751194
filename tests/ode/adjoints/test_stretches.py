"""The discrete adjoint with few states kept: the derivatives that all of them give, here to the last bit."""

import numpy as np
import pytest

import numbad as nd
from tests.ode.adjoints.test_discrete import TIMES, WEIGHTS, flat, forced
from tests.ode.test_sensitivity import SPRING, spring_gradient, spring_in_place


def gradient(given, **options):
    solve = nd.ode.solver(forced, max_steps=10**6, **options)

    def loss(y0, ts, rate):
        return (WEIGHTS * solve(y0, ts, rate)).sum()

    return flat(nd.grad(loss, argnums=(0, 1, 2), mode="reverse")(*given))


def check(count, **options):
    given = (1.3, 0.2), 5.0 * TIMES, 0.7
    found = gradient(given, checkpoints=count, **options)
    np.testing.assert_array_equal(found, gradient(given, **options))


@pytest.mark.deep
def test_outputs_within_steps_of_chosen_size():
    """Some 1600 steps by one state: stretches of 64 are recorded, after seven levels of marks."""
    check(1, rtol=1e-12, atol=1e-14)


@pytest.mark.dear
@pytest.mark.deep(but=["Tsit5-7"])
@pytest.mark.parametrize("count", [2, 7, 10**4])
@pytest.mark.parametrize(
    "options",
    [
        dict(method="Rodas5P", rtol=1e-9),
        dict(method="RK4", first_step=0.005),
        dict(rtol=1e-12),
        dict(method="RadauIIA5", rtol=1e-11),
        dict(method="KenCarp4", rtol=1e-9),
        dict(method="BDF", rtol=1e-9),
    ],
    ids=lambda options: options.get("method", "Tsit5"),
)
def test_counts_and_methods(options, count):
    check(count, **options)


@pytest.mark.deep
@pytest.mark.parametrize("method", ["Tsit5", "RadauIIA5", "BDF", "AutoTsit5"])
def test_arrays_and_second_order(method):
    """Start and parameters in arrays, and dual numbers in all that is kept; against all steps kept."""
    found = []
    for count in (None, 3):
        solve = nd.ode.solver(
            spring_in_place,
            method=method,
            inplace=True,
            rtol=1e-10,
            atol=1e-10,
            checkpoints=count,
        )

        def position(x, solve=solve):
            return solve(x[2:], np.array([0.0, 17.0]), x[:2])[-1, 0]

        operator = nd.grad(position, mode="reverse")
        found.append((operator(SPRING), *nd.jvp(operator)((SPRING,), (np.arange(4.0),))))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0][0], spring_gradient(*SPRING, 17.0), rtol=1e-6)


@pytest.mark.deep
def test_steps_between_events():
    """A dose at a time that is differentiated, too."""
    doses = nd.ode.at_times(lambda rate, at: (at,), change=lambda t, y, k, rate, at: y + 2.0)
    body = nd.ode.solver(lambda t, y, rate, at: -rate * y, events=doses, rtol=1e-10, checkpoints=2)

    def amount(x):
        return body(1.0, (0.0, 4.0), (x[0], x[1]))[-1, 0]

    found = nd.grad(amount, mode="reverse")(np.array([0.5, 1.0]))
    early, late = np.exp(-2.0), 2.0 * np.exp(-1.5)
    np.testing.assert_allclose(found, [-4.0 * early - 3.0 * late, 0.5 * late], rtol=1e-8)
