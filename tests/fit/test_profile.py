import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq, minimize_scalar

import numbad as nd
from numbad.errors import ModelError
from numbad.fit.local import LocalFit

from .closed_form import Formula, T, Y, decay, decaying
from .test_uncertainty import product, product_jacobian, result


def squares(a, b):
    return 0.5 * np.sum((decay((a, b), T) - Y) ** 2)


def lowest(b):
    """The cost with b held, a by the normal equation."""
    e = np.exp(-b * T)
    return squares(Y @ e / (e @ e), b)


@pytest.mark.parametrize(("level", "absolute"), [(0.95, False), (0.68, False), (0.95, True)])
def test_ends_are_where_the_profiled_cost_crosses_the_threshold(level, absolute):
    found = result(decaying(absolute_sigma=absolute))
    profile = found.profile("b", level)
    optimum = minimize_scalar(lowest, (0.5, 0.7), options={"xtol": 1e-12})
    if absolute:
        rise = 0.5 * stats.chi2.ppf(level, 1)
    else:
        rise = 0.5 * stats.f.ppf(level, 1, 11) * 2.0 * optimum.fun / 11
    ends = [brentq(lambda b: lowest(b) - optimum.fun - rise, *side) for side in ends_of(optimum.x)]
    np.testing.assert_allclose((profile.low, profile.high), ends, rtol=1e-5)
    assert profile.threshold == pytest.approx(rise, rel=1e-6)
    np.testing.assert_allclose(profile.costs, [lowest(b) for b in profile.values], rtol=1e-6)


def ends_of(b):
    return (-0.9, b), (b, 40.0)


def straight(p, t):
    return p[0] + p[1] * t


def straight_jacobian(p, t):
    return np.stack((np.ones(len(t)), t), axis=1)


def test_of_a_linear_model_it_is_the_interval_from_the_standard_error():
    found = result(Formula(straight, straight_jacobian, T, Y, (0.0, 0.0)))
    for name, (low, high) in found.interval().items():
        profile = found.profile(name)
        np.testing.assert_allclose((profile.low, profile.high), (low, high), rtol=1e-6)


def test_one_unknown_alone():
    def slope(p, t):
        return p[0] * t

    found = result(Formula(slope, lambda p, t: t[:, None].copy(), T, 2.0 * T + Y, (1.0,)))
    profile = found.profile("a")
    np.testing.assert_allclose((profile.low, profile.high), found.interval()["a"], rtol=1e-6)


@pytest.mark.parametrize(("log", "open_ends"), [(False, (-np.inf, np.inf)), (True, (0.0, np.inf))])
def test_what_the_data_do_not_determine_is_open(log, open_ends):
    def level(p, t):
        return p[0] * np.exp(-p[1] * t) + 0.0 * p[2]

    def jacobian(p, t):
        return np.column_stack((decaying().jacobian(p, t), np.zeros(len(t))))

    found = result(Formula(level, jacobian, T, np.abs(Y), (1.0, 1.0, 3.0), log=log))
    profile = found.profile("c")
    assert (profile.low, profile.high) == open_ends


def test_of_a_product_both_factors_are_nearly_open():
    found = result(Formula(product, product_jacobian, T, np.abs(Y), (1.0, 1.5, 1.0), log=True))
    profile = found.profile("a")
    assert profile.low < 1e-30
    assert profile.high > 1e30


def test_stops_at_a_bound_that_comes_first():
    found = result(decaying((1.0, 0.5), bounds={"b": (0.0, 0.71)}))
    assert found.params["b"] < 0.708
    assert found.profile("b").high == 0.71


def test_ends_where_the_model_cannot_be_evaluated():
    edge = result(decaying()).params["b"] + 1e-4
    found = result(decaying(start=(1.8, 0.5), forbidden=lambda p: p[1] > edge))
    assert found.profile("b").high == pytest.approx(edge, rel=1e-6)


def test_a_better_fit_on_the_way_is_an_error():
    problem = decaying()
    found = result(problem)
    worse = problem.evaluate(np.array([2.0, 0.9]))[0]
    fit = LocalFit(0, (1.0, 1.0), (2.0, 0.9), 0.5 * float(worse @ worse), 3, True, "planted")
    with pytest.raises(ModelError, match="found a better fit"):
        type(found)(problem, [fit]).profile("b")


@pytest.mark.parametrize(
    ("options", "call", "said"),
    [
        ({}, ("c",), "no unknown is called 'c', only a, b"),
        ({}, ("a", 1.5), "level must be between 0 and 1"),
        ({"loss": "huber"}, ("a",), "huber is no likelihood"),
    ],
)
def test_unusable_requests(options, call, said):
    with pytest.raises(ModelError, match=said):
        result(decaying(**options)).profile(*call)


def _epidemic(t, y, beta, gamma):
    return (-beta * y[0] * y[1], beta * y[0] * y[1] - gamma * y[1])


def _infected(seed):
    """Twenty days of an epidemic, with noise."""
    days = np.linspace(0.0, 20.0, 21)
    curve = nd.ode.solver(_epidemic, rtol=1e-10, atol=1e-12)((0.99, 0.01), days, (1.0, 0.4))
    return days, curve[:, 1] + 0.05 * np.random.default_rng(seed).normal(size=21)


def _fit_epidemic(seed, **options):
    given = dict(beta=1.2, gamma=0.3)
    more = dict(y0=(0.99, 0.01), fit_y0=[1], observed=[1], **options)
    return nd.fit.fit_ode(_epidemic, *_infected(seed), given, **more)


def test_an_interval_goes_on_past_a_minimum_that_is_not_the_lowest():
    # By SciPy alone: least_squares over solve_ivp with LSODA, the crossings by brentq.
    bounds = {"y0[1]": (0.0, 0.5), "beta": (0.0, 50.0), "gamma": (0.0, 50.0)}
    found = _fit_epidemic(26, bounds=bounds).profile("beta")
    assert found.low == pytest.approx(0.8027763427, rel=1e-5)
    assert found.high == pytest.approx(1.5611015212, rel=1e-5)


def test_costs_that_jump_end_no_search():
    found = _fit_epidemic(3).profile("y0[1]")
    costs = dict(zip(found.values, found.costs, strict=True))
    rise = costs[found.value] + found.threshold
    for end in (found.low, found.high):
        nearest = min(costs, key=lambda value: abs(value - end))
        assert costs[nearest] == pytest.approx(rise, rel=1e-3)
