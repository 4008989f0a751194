"""Every solver with every adjoint, against closed forms: errors in proportion to the tolerances."""

import math
from functools import cache

import numpy as np
import pytest

import numbad as nd
from numbad.ode.methods import METHODS
from numbad.ode.symplectic import Symplectic
from tests.ode.adjoints.test_discrete import flat

ADJOINTS = ("forward", "discrete", "interpolating", "gauss", "quadrature", "backsolve")
CONTINUOUS = ADJOINTS[2:]
TIMES = np.array([0.2, 0.5, 0.55, 1.4])
WEIGHTS = np.cos(np.arange(8.0)).reshape(4, 2)
EVEN = {
    "Euler": 2e-5,
    "Heun": 2e-3,
    "RK4": 2e-2,
    "VelocityVerlet": 2e-3,
    "McLachlanAtela4": 2e-2,
}  # steps of one size, for errors of about 1e-5


def rotation(t, y, stiffness, mass, unused):
    return y[1] / mass, -stiffness * y[0]


def rotation_solution(x):
    """The closed form, of a position and a momentum, stiffness and mass, and the times."""
    y0, (stiffness, mass), ts = x[:2], x[2:4], x[5:]
    w, passed = np.sqrt(stiffness / mass), ts - ts[0]
    cos, sin = np.cos(w * passed), np.sin(w * passed)
    return np.stack(
        [y0[0] * cos + y0[1] / (mass * w) * sin, y0[1] * cos - y0[0] * mass * w * sin], axis=1
    )


def follower(t, y, dy, p):
    """Logistic growth, and what follows it at a fast rate."""
    growth = p[0] * y[0] * (1.0 - y[0] / p[1])
    dy[0], dy[1] = growth, growth - p[2] * (y[1] - y[0])


def follower_solution(x):
    y0, (rate, capacity, fast), ts = x[:2], x[2:5], x[5:]
    passed = ts - ts[0]
    u = capacity / (1.0 + (capacity / y0[0] - 1.0) * np.exp(-rate * passed))
    return np.stack([u, u + (y0[1] - y0[0]) * np.exp(-fast * passed)], axis=1)


def gradient_of(solution, x):
    """By complex steps, of the closed form."""
    moved = [np.array(x) + 1e-30j * row for row in np.eye(len(x))]
    return np.array([(WEIGHTS * solution(each)).sum().imag / 1e-30 for each in moved])


ROTATION = np.array([1.0, 0.4, 2.0, 1.3, 7.0, *TIMES])
FOLLOWER = np.array([0.3, 0.8, 2.0, 1.5, 50.0, *TIMES])


@cache
def rotation_gradient(**options):
    solve = nd.ode.solver(rotation, max_steps=10**6, **options)

    def loss(y0, args, ts):
        return (WEIGHTS * solve(y0, ts, args)).sum()

    operator = nd.grad(loss, argnums=(0, 1, 2), mode="reverse")
    return flat(operator(tuple(ROTATION[:2]), tuple(ROTATION[2:5]), TIMES))


@cache
def follower_gradient(**options):
    solve = nd.ode.solver(follower, inplace=True, max_steps=10**6, **options)

    def loss(y0, p, ts):
        return (WEIGHTS * solve(y0, ts, (p,))).sum()

    operator = nd.grad(loss, argnums=(0, 1, 2), mode="reverse")
    return flat(operator(FOLLOWER[:2].copy(), FOLLOWER[2:5].copy(), TIMES))


PROBLEMS = {
    "rotation": (rotation_gradient, rotation_solution, ROTATION),
    "follower": (follower_gradient, follower_solution, FOLLOWER),
}


def refused(tableau, adjoint):
    """Whether a method and an adjoint do not go together."""
    if isinstance(tableau, Symplectic):
        return adjoint in ("interpolating", "backsolve")
    return adjoint == "backsolve" and tableau.is_implicit


def cases():
    for problem in PROBLEMS:
        for method, tableau in METHODS.items():
            if problem == "follower" and method not in ("Tsit5", "Rodas5P", "AutoTsit5", "BDF"):
                continue
            for adjoint in ADJOINTS:
                if not refused(tableau, adjoint):
                    yield problem, method, adjoint


def check(problem, method, adjoint, tolerances=(1e-6, 1e-9), factor=30.0):
    """What is controlled is the error of a step: over many it follows tolerance**(order / (order + 1))."""
    gradient, solution, x = PROBLEMS[problem]
    expected, order = gradient_of(solution, x), METHODS[method].order
    for tolerance in tolerances:
        options = dict(rtol=tolerance, atol=tolerance)
        bound = factor * tolerance ** (order / (order + 1.0))
        if method in EVEN:
            options, bound = dict(first_step=EVEN[method] / (1 + 4 * (problem == "follower"))), 2e-3
        found = gradient(method=method, adjoint=adjoint, **options)
        assert abs(found - expected).max() < bound * abs(expected).max(), (tolerance, found)
        assert not any(found[x == 7.0])  # by what the right-hand side does not use


@pytest.mark.dear
@pytest.mark.deep(but=["rotation-Tsit5-backsolve"])
@pytest.mark.parametrize(("problem", "method", "adjoint"), list(cases()))
def test_errors_follow_the_tolerances(problem, method, adjoint):
    check(problem, method, adjoint)


def test_what_does_not_go_together_is_refused():
    """By one line with the way out, when the solver is made or its derivative asked for."""
    for method, tableau in METHODS.items():
        given = dict(first_step=EVEN[method]) if method in EVEN else {}
        for adjoint in ADJOINTS:
            if refused(tableau, adjoint):
                with pytest.raises(nd.ArgumentError, match="Way out") as caught:
                    nd.ode.solver(rotation, method=method, adjoint=adjoint, **given)
                assert "\n" not in str(caught.value)


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", CONTINUOUS)
def test_second_order_and_other_arguments(adjoint):
    """A Hessian-vector product: forward over adjoint; a float as the state, and an array beside it."""

    def growth(t, y, rate, p):
        return rate * y * (1.0 - y / p[0])

    solve = nd.ode.solver(growth, rtol=1e-10, atol=1e-10, adjoint=adjoint)

    def end(x):
        return solve(x[0], (0.0, 1.0), (x[1], x[2:]))[-1, 0]

    def closed(x):
        return x[2] / (1.0 + (x[2] / x[0] - 1.0) * np.exp(-x[1]))

    x, along = np.array([0.3, 2.0, 1.5]), np.array([0.3, -0.2, 0.7])
    found, moved = nd.jvp(nd.grad(end, mode="reverse"))((x,), (along,))
    np.testing.assert_allclose(found, nd.grad(closed)(x), rtol=1e-8)
    np.testing.assert_allclose(moved, nd.hvp(closed)((x,), (along,))[0], rtol=1e-7)


@pytest.mark.deep
def test_a_sparse_jacobian():
    """Lines of diffusion: the adjoint system has the transposed pattern."""

    def diffusion(t, y, dy, rate):
        n = len(y)
        for i in range(n):
            left = y[i - 1] if i > 0 else 0.0
            right = y[i + 1] if i < n - 1 else 0.0
            dy[i] = rate * (left - 2.0 * y[i] + right) + 0.3 * left

    start = np.linspace(0.0, 1.0, 40) ** 2
    pattern = sum(np.eye(40, k=k) for k in (-1, 0, 1))
    found = []
    for adjoint in ("discrete", "gauss"):
        solve = nd.ode.solver(
            diffusion, method="Rodas5P", inplace=True, jac_sparsity=pattern, adjoint=adjoint,
            rtol=1e-8, atol=1e-8,
        )  # fmt: skip

        def loss(y0, rate, solve=solve):
            return (solve(y0, (0.0, 1.0), (rate,))[-1] ** 2).sum()

        found.append(flat(nd.grad(loss, argnums=(0, 1), mode="reverse")(start, 20.0)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-6)


@pytest.mark.deep
def test_an_adjoint_that_stops_early_raises():
    """The solution has settled, in few steps; its adjoint, with outputs far apart, takes more."""

    def rate_of_change(t, y, rate):
        return -rate * y + np.sin(40.0 * t) * 1e-9 * y

    solve = nd.ode.solver(rate_of_change, rtol=1e-12, atol=1e-3, max_steps=40, adjoint="gauss")

    def end(y0, rate):
        return solve(y0, (0.0, 4.0), (rate,))[-1, 0]

    assert end(1.0, 2.0) == pytest.approx(np.exp(-8.0), abs=1e-2)
    with pytest.raises(nd.IntegrationError, match="the adjoint, backwards in time: more than"):
        nd.grad(end, argnums=(0, 1), mode="reverse")(1.0, 2.0)


@pytest.mark.deep
@pytest.mark.parametrize("adjoint", ["gauss", "backsolve"])
def test_nothing_is_integrated_behind_an_event(adjoint):
    """A tank is filled up before it is empty, behind which the right-hand side is NaN."""
    filled = nd.ode.event(lambda t, y, rate: y[0] - 0.04, change=lambda t, y, rate: (y[0] + 1.0,))
    tank = nd.ode.solver(
        lambda t, y, rate: (-rate * math.sqrt(y[0]),),
        rtol=1e-9,
        atol=1e-9,
        events=filled,
        adjoint=adjoint,
    )

    def level(x):
        return tank((x[0],), (0.0, 3.0), (x[1],))[-1, 0]

    def closed(x):
        """The root of the level falls at the rate / 2: from sqrt(x[0]) to 0.2, then from sqrt(1.04)."""
        empty = (np.sqrt(x[0]) - 0.2) / (0.5 * x[1])
        return (np.sqrt(1.04) - 0.5 * x[1] * (3.0 - empty)) ** 2

    x = np.array([1.0, 0.8])
    expected = [closed(x + 1e-30j * row).imag / 1e-30 for row in np.eye(2)]
    np.testing.assert_allclose(nd.grad(level, mode="reverse")(x), expected, rtol=1e-6)


@pytest.mark.deep(but=["gauss"])
@pytest.mark.parametrize("kind", ["gauss", "quadrature", "interpolating"])
def test_what_is_over_within_the_spacing_of_the_times(kind):
    """y follows z = exp(-(t - t0)) within 1e-13; at the output its cotangent goes over to z's as fast."""

    def fast(t, y, rate):
        return -rate * (y[0] - y[1]), -y[1]

    solve = nd.ode.solver(fast, method="BDF", rtol=1e-8, atol=1e-12, adjoint=kind)
    start = 1e6

    def followed(z):
        return solve((z, z), (start, start + 1.0), (1e13,))[-1, 0]

    assert nd.grad(followed, mode="reverse")(2.0) == pytest.approx(math.exp(-1.0), rel=1e-6)
