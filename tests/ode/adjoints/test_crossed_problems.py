"""Every solver with every adjoint on running costs, events, algebraic equations and stiff problems.

Closed forms by complex steps, or differences of SciPy's Radau; errors in proportion to the tolerances.
`test_continuous.py` has the same for smooth problems.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
import scipy.integrate

import numbad as nd
from numbad.ode.methods import METHODS
from numbad.ode.symplectic import Symplectic
from tests.ode.adjoints.test_continuous import ADJOINTS, refused

EVEN = {"Euler": 2e-5, "Heun": 2e-3, "RK4": 2e-2}


class Crossed(NamedTuple):
    """`loss(solve)` is a function of x alone, and `gradient(x)` what its gradient must be."""

    fun: object
    loss: object
    gradient: object
    x: np.ndarray
    scale: float = 1.0  # of atol
    kind: str = ""


# -- a running cost --------------------------------------------------------------------------


def costly(t, y, rate, sharpness):
    return -rate * y[0], sharpness * y[0] ** 2


def cost(solve):
    def loss(x):
        ys = solve((x[0], 0.0), (0.0, 0.7, 2.0), (x[1], x[2]))
        return ys[-1, 1] + 0.3 * ys[1, 1] + ys[1, 0]

    return loss


def cost_closed(x):
    def spent(t):
        return x[2] * x[0] ** 2 * (1.0 - np.exp(-2.0 * x[1] * t)) / (2.0 * x[1])

    return spent(2.0) + 0.3 * spent(0.7) + x[0] * np.exp(-0.7 * x[1])


# -- a dose at a time that is differentiated, and a refill where little is left ------------------


def used_up(t, y, rate, amount, when):
    return (-rate * y[0],)


def refilled():
    return (
        nd.ode.at_times(
            lambda rate, amount, when: when,
            change=lambda t, y, k, rate, amount, when: (y[0] + amount,),
        ),
        nd.ode.event(
            lambda t, y, rate, amount, when: y[0] - 0.5,
            direction=-1,
            change=lambda t, y, rate, amount, when: (y[0] + amount,),
        ),
    )


def refill(solve):
    return lambda x: solve((x[0],), (0.0, 2.3), (x[1], x[2], x[3]))[-1, 0]


def refill_closed(x):
    """The dose at x[3] comes first; then 1/2 is reached once before the end."""
    dosed = x[0] * np.exp(-x[1] * x[3]) + x[2]
    reached = x[3] + np.log(dosed / 0.5) / x[1]
    return (0.5 + x[2]) * np.exp(-x[1] * (2.3 - reached))


# -- a singular mass matrix --------------------------------------------------------------------


def constrained(t, y, rate, share):
    """y[1] = share y[0] at all times."""
    return -rate * y[0] + y[1], y[1] - share * y[0]


def constraint(solve):
    def loss(x):
        ys = solve((x[0], x[0] * x[2]), (0.0, 1.5), (x[1], x[2]))
        return ys[-1, 0] + 2.0 * ys[-1, 1]

    return loss


def constraint_closed(x):
    return (1.0 + 2.0 * x[2]) * x[0] * np.exp((x[2] - x[1]) * 1.5)


# -- stiff problems, by factors of three of their constants --------------------------------------


def robertson(t, y, p, q, r):
    a, b, c = y
    slow, fast = p * 0.04 * a - r * 1e4 * b * c, q * 3e7 * b * b
    return -slow, slow - fast, fast


def oregonator(t, y, p, q, r):
    a, b, c = y
    return (
        p * 77.27 * (b + a * (1.0 - r * 8.375e-6 * a - b)),
        (c - (1.0 + a) * b) / (p * 77.27),
        q * 0.161 * (a - c),
    )


def hires(t, y, p, q, r):
    a, b, c, d, e, f, g, h = y
    bound, turned = r * 280.0 * f * h, p * 1.71
    return (
        -turned * a + 0.43 * b + 8.32 * c + q * 0.0007,
        turned * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e,
        8.32 * b + turned * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g,
        -bound + 0.69 * d + turned * e - 0.43 * f + 0.69 * g,
        bound - 1.81 * g,
        -bound + 1.81 * g,
    )


def stiff(fun, start, end, scale):
    """The sum of the components at the end, each over its size there."""
    start = tuple(start)

    def at_end(x):
        return scipy.integrate.solve_ivp(
            fun, (0.0, end), start, "Radau", args=tuple(x), rtol=1e-11, atol=1e-12 * scale
        ).y[:, -1]

    weights = cache(lambda: 1.0 / at_end(np.ones(3)))

    def gradient():
        moved, x = 1e-4 * np.eye(3), np.ones(3)
        return np.array([weights() @ (at_end(x + d) - at_end(x - d)) / 2e-4 for d in moved])

    def loss(solve):
        given = weights()
        return lambda x: (given * solve(start, (0.0, end), (x[0], x[1], x[2]))[-1]).sum()

    return Crossed(fun, loss, cache(gradient), np.ones(3), scale, "stiff")


def closed_form(fun, loss, closed, x, kind=""):
    x = np.array(x)

    def gradient():
        return np.array([closed(x + 1e-30j * row).imag / 1e-30 for row in np.eye(len(x))])

    return Crossed(fun, loss, gradient, x, 1.0, kind)


PROBLEMS = {
    "cost": closed_form(costly, cost, cost_closed, [1.2, 0.8, 1.5]),
    "events": closed_form(used_up, refill, refill_closed, [1.5, 0.9, 0.6, 0.4], "events"),
    "algebraic": closed_form(constrained, constraint, constraint_closed, [1.3, 2.0, 0.4], "mass"),
    "robertson": stiff(robertson, (1.0, 0.0, 0.0), 40.0, 1e-4),
    "oregonator": stiff(oregonator, (1.0, 2.0, 3.0), 10.0, 1.0),
    "hires": stiff(hires, (1.0, *[0.0] * 6, 0.0057), 20.0, 1e-2),
}


def cases():
    for name, problem in PROBLEMS.items():
        for method, tableau in METHODS.items():
            if isinstance(tableau, Symplectic):  # separable problems alone
                continue
            if problem.kind == "mass" and not tableau.takes_mass:
                continue
            if problem.kind == "stiff" and not tableau.is_implicit:
                continue
            for adjoint in ADJOINTS:
                if not refused(tableau, adjoint):
                    yield name, method, adjoint


@pytest.mark.dear
@pytest.mark.deep(but=["cost-Tsit5-gauss"])
@pytest.mark.parametrize(("name", "method", "adjoint"), list(cases()))
def test_errors_follow_the_tolerances(name, method, adjoint):
    problem, order = PROBLEMS[name], METHODS[method].order
    options = dict(method=method, adjoint=adjoint, max_steps=10**6)
    if problem.kind == "events":
        options["events"] = refilled()
    if problem.kind == "mass":
        options["mass_matrix"] = np.diag([1.0, 0.0])
    expected = problem.gradient()
    for tolerance in (1e-5, 1e-7):
        own, bound = dict(rtol=tolerance, atol=tolerance * problem.scale), 0.0
        if method in EVEN:
            own, bound = dict(first_step=EVEN[method]), 2e-3
        bound = bound or 100.0 * tolerance ** (order / (order + 1.0))
        loss = problem.loss(nd.ode.solver(problem.fun, **own, **options))
        found = nd.grad(loss, mode="reverse")(problem.x)
        assert abs(found - expected).max() < bound * abs(expected).max(), (
            tolerance,
            found,
            expected,
        )
