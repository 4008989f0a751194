"""What a solver does not do is told, with what to do instead."""

import math

import numpy as np
import pytest
from numba import njit

import numbad as nd
from tests.ode.test_python_values import GIVEN, wrong

KEY = nd.random.key(3)
TIMES = np.array([0.0, 1.0])


@njit
def _drift(t, y):
    return -y


@njit
def _unit(t, y):
    return 1.0


@njit
def _decay(t, y, rate):
    return -rate * y


@njit
def _steady(t, y, rate):
    return 0.1 * y


SOLVE = nd.sde.solver(_drift, _unit, dt=0.25)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "give the step size, in units of t: dt=0.01"),
        ({"dt": -1.0}, "dt must be positive and finite; it is -1.0"),
        ({"dt": "small"}, "dt must be a float, not 'small'"),
        ({"dt": 0.1, "method": "Milsten"}, "did you mean 'Milstein'"),
        ({"dt": 0.1, "method": "euler"}, "did you mean 'EulerMaruyama'"),
        ({"dt": 0.1, "method": "EM"}, "did you mean 'EulerMaruyama'"),
        ({"dt": 0.1, "noise": "white"}, "noise must be one of 'diagonal', 'scalar'"),
        ({"dt": 0.1, "calculus": "backward"}, "calculus must be 'ito' or 'stratonovich'"),
        (
            {"dt": 0.1, "method": "SRIW1", "noise": "general"},
            "methods for 'general': EulerMaruyama",
        ),
        ({"dt": 0.1, "method": "SRA1"}, "takes noise='additive', not 'diagonal'"),
        ({"dt": 0.1, "rtol": 1e-3}, "'EulerMaruyama' has no error estimate by which steps"),
        ({"dt": 0.1, "events": (1,)}, "events must be made by nd.ode.event"),
        (
            {"dt": 0.1, "adjoint": "reversible"},
            "takes steps back, which method 'EulerMaruyama' cannot",
        ),
        ({"dt": 0.1, "adjoint": "best"}, "adjoint 'best' does not exist"),
    ],
)
def test_options(options, told):
    with pytest.raises(nd.ArgumentError, match=told):
        nd.sde.solver(_drift, _unit, **options)


def test_functions_are_asked_for():
    with pytest.raises(nd.ArgumentError, match=r"diffusion must be a Python function .* not 0.2"):
        nd.sde.solver(_drift, 0.2, dt=0.1)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (3, r"a key, not int64; make one from a number: key = nd.random.key\(42\)"),
        (0.5, "a key, not float64"),
        ((KEY, 0.5), "a key, not"),
    ],
)
def test_a_key_that_is_none(key, told):
    with pytest.raises(nd.ArgumentError, match=told):
        SOLVE(1.0, TIMES, (), key)


def test_numbers_of_paths_and_increments():
    with pytest.raises(nd.DataError, match="number of a path lies between"):
        SOLVE(1.0, TIMES, (), (KEY, -1))
    with pytest.raises(nd.DataError, match="a row for each step"):
        SOLVE(1.0, TIMES, (), np.zeros(3))
    needing = nd.sde.solver(_drift, _unit, dt=0.25, method="SRA1", noise="additive")
    with pytest.raises(nd.ArgumentError, match="give \\(W, H\\), two arrays"):
        needing(1.0, TIMES, (), np.zeros(4))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_by_times(mode):
    by_end = nd.grad(lambda end: SOLVE(1.0, np.array([0.0, end]), (), KEY)[-1, 0], mode=mode)
    with pytest.raises(nd.UnsupportedError, match="not differentiable by ts.*scale time"):
        by_end(1.0)


@pytest.mark.parametrize(
    ("name", "value", "error", "told"),
    [each for each in wrong("y0", "ts", "args") if each.id != "y0-empty"],
)
def test_values_from_python(name, value, error, told):
    """By a solution, and by an ensemble, which asks before it makes anything."""
    solve = nd.sde.solver(_decay, _steady, dt=0.25)
    given = GIVEN | {name: value}
    with pytest.raises(error, match=told):
        solve(*given.values(), KEY)
    with pytest.raises(error, match=told):
        nd.sde.ensemble(solve, *given.values(), KEY, 4, reduce="mean")


def test_a_path_that_ends_in_nan():
    solve = nd.sde.solver(lambda t, y: math.sqrt(0.5 - t), _unit, dt=0.25)
    with pytest.raises(nd.IntegrationError, match=r"NaN or infinity between t = 0.5 and t = 1.0"):
        solve(1.0, np.array([0.0, 0.5, 1.0]), (), KEY)
