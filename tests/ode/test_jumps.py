"""Right-hand sides that switch at a time that is differentiated: the derivative is told to be incomplete."""

import warnings

import numba
import numpy as np
import pytest

import numbad as nd


def dosed(t, y, rate, dose_time):
    inflow = 2.0 if t > dose_time else 0.0  # switches
    return (inflow - rate * y[0],)


def dosed_by_a_table(t, y, dy, rate, times):
    dy[0] = -rate * y[0]
    for start in times:
        late = t - start
        dy[0] += 1.0 * (late >= 0.0)  # switches


@numba.njit
def inflow(rate, moment, t):
    return rate if t > moment else 0.0  # switches


def dosed_by_a_helper(t, y, rate, dose_time):
    return (inflow(2.0, moment=dose_time, t=t) - rate * y[0],)


def scheduled(t, y, rate, dose_time):
    """Compares the time with constants alone."""
    return (-rate * y[0] + (1.0 if t > 0.5 and dose_time < 9.0 else 0.0),)


def line_that_switches(fun):
    lines, first = fun.__code__, fun.__code__.co_firstlineno
    with open(lines.co_filename, encoding="utf-8") as file:
        text = file.read().splitlines()
    return next(k for k in range(first, len(text)) if "# switches" in text[k - 1])


@pytest.mark.deep(but=["dosed-forward", "dosed_by_a_helper-forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "fun", [dosed, dosed_by_a_table, dosed_by_a_helper], ids=lambda fun: fun.__name__
)
def test_a_switch_at_a_differentiated_time_is_told_of(fun, mode):
    inplace = fun is dosed_by_a_table
    solve = nd.ode.solver(fun, inplace=inplace)

    def end(moment):
        start = np.array([1.0]) if inplace else (1.0,)
        return solve(start, (0.0, 2.0), (0.5, (moment,) if inplace else moment))[-1, 0]

    with pytest.warns(nd.ControlDependenceWarning, match="compares the time with") as told:
        nd.grad(end, mode=mode)(1.0)
    line = line_that_switches(inflow.py_func if fun is dosed_by_a_helper else fun)
    assert {(w.filename, w.lineno) for w in told} == {(__file__, line)}


def test_what_does_not_switch_there_is_not_told_of():
    by_rate = nd.ode.solver(dosed)
    fixed = nd.ode.solver(scheduled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.grad(lambda rate: by_rate((1.0,), (0.0, 2.0), (rate, 1.0))[-1, 0], mode="forward")(0.5)
        nd.grad(lambda x: fixed((1.0,), (0.0, 2.0), (0.5, x))[-1, 0], mode="forward")(1.0)
