"""Right-hand sides that switch where what is differentiated decides: derivatives are told to lack that."""

import math
import warnings

import numba
import numpy as np
import pytest

import numbad as nd
from numbad.ode.known_switches import Positions, arguments_read


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


@pytest.mark.dear
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


def hopping(t, y, dy, threshold):
    fast = np.zeros(1)
    for i in range(len(y)):
        fast[0] = y[i] - threshold
        if i == 0 and fast[0] > 0.0:  # switches
            dy[0] = 2.0
        else:
            dy[0] = 1.0


def iterating(t, y, rate):
    """A fixed point inside: its loop ends by the state, which is no jump."""
    z, change = y[0], 1.0
    while abs(change) > 1e-12:
        change = 0.5 * math.cos(z) - z
        z += change
    return (-rate * y[0] * z,)


@pytest.mark.deep(but=["forward"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_choice_by_the_state_is_told_of(mode):
    solve = nd.ode.solver(hopping, inplace=True)
    with pytest.warns(nd.ControlDependenceWarning, match="chooses by its state") as told:
        nd.grad(lambda x: solve(np.array([x]), (0.0, 2.0), 1.0)[-1, 0], mode=mode)(0.3)
    assert {(w.filename, w.lineno) for w in told} == {(__file__, line_that_switches(hopping))}


def test_a_warning_that_is_made_an_error_says_what_it_says():
    def threshold(t, y, rate):
        return (rate if y[0] > 1.0 else 0.5 * rate,)

    solve = nd.ode.solver(threshold)
    end = nd.derivative(lambda rate: solve((0.5,), (0.0, 2.0), rate)[-1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(nd.UnsupportedError, match="^the right-hand side of"):
            end(1.0)


@pytest.mark.dear
def test_neither_a_plain_solution_nor_a_loop_nor_a_declared_event_is_told_of():
    stiff = nd.ode.solver(hopping, inplace=True, method="Rosenbrock23")
    loops = nd.ode.solver(iterating)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stiff(np.array([0.3]), (0.0, 2.0), 1.0)
        nd.derivative(lambda rate: loops((1.0,), (0.0, 1.0), rate)[-1, 0])(0.5)


def signed(t, y, rate, moment):
    return (rate * (1.0 + np.sign(moment - t)) - y[0],)  # switches


def in_periods(t, y, rate, period):
    return (rate / (1.0 + math.floor(t / period)) - y[0],)  # switches


def in_bands(t, y, rate, width):
    return (rate - 0.2 * (y[0] // width),)  # switches


def from_a_table(t, y, table, width):
    """Interpolated: it only bends."""
    k = math.floor(t / width)
    return (table[k] + (table[k + 1] - table[k]) * (t / width - k),)


def factored(t, y, rate, level):
    return (rate * (1.0 + (y[0] >= level)) - y[0],)  # switches


def picked(t, y, rate, level):
    return (np.array([rate, 0.2])[int(y[0] >= level)] - y[0],)  # switches


def looked_up(t, y, rate, moment):
    k = np.searchsorted(np.array([0.0, moment, 9.0]), t)  # switches
    return (np.array([rate, 0.3, 0.2, 0.1])[k] - y[0],)


def with_the_sign(t, y, rate, moment):
    return (rate + math.copysign(0.2, t - moment) - y[0],)  # switches


def in_whole_numbers(t, y, rate, period):
    return (rate + int(t / period) - y[0],)  # switches


def sawtooth(t, y, rate, period):
    return (rate + t % period - y[0],)  # switches


_ALL = [factored, picked, looked_up, with_the_sign, in_whole_numbers, sawtooth]


@pytest.mark.parametrize("fun", [signed, in_periods, in_bands, *_ALL])
def test_a_step_of_what_decides_is_told_of(fun):
    solve = nd.ode.solver(fun)
    with pytest.warns(nd.ControlDependenceWarning) as told:
        nd.derivative(lambda x: solve((0.0,), (0.0, 2.0), (0.5, x))[-1, 0])(0.7)
    assert {(w.filename, w.lineno) for w in told} == {(__file__, line_that_switches(fun))}


def between_nodes(t, y, nodes, width):
    """Interpolated, too, between nodes that move."""
    moved = nodes * width
    k = max(np.searchsorted(moved, t) - 1, 0)
    share = (t - moved[k]) / (moved[k + 1] - moved[k])
    return (nodes[k] + (nodes[k + 1] - nodes[k]) * share,)


@pytest.mark.parametrize("fun", [from_a_table, between_nodes])
def test_an_index_is_none(fun):
    solve = nd.ode.solver(fun)
    table = np.array([1.0, 2.0, 0.5, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nd.derivative(lambda x: solve((0.0,), (0.0, 0.9), (table, x))[-1, 0])(0.5)


def switched_off(t, y, rate, stop, threshold):
    inflow = 2.0 if t < stop else 0.0  # switches
    return (inflow - rate * y[0] - (0.1 if y[0] > threshold else 0.0),)


def _nothing(t, y, k, *args):
    return y


DOSES = nd.ode.at_times((1.2,), change=_nothing)
AT_STOP = nd.ode.at_times(lambda *args: args[1])
AT_THRESHOLD = nd.ode.event(lambda t, y, rate, stop, threshold: y[0] - threshold)


@pytest.mark.parametrize(
    ("told", "by_time", "by_state"),
    [
        ({"events": DOSES}, True, True),
        ({"tstops": lambda *args: args[0]}, True, True),
        ({"events": (DOSES, AT_STOP)}, False, True),
        ({"events": AT_THRESHOLD}, True, False),
        (
            {"events": AT_THRESHOLD, "tstops": lambda rate, stop, *_: (0.5 * rate, stop)},
            False,
            False,
        ),
        ({"events": nd.ode.event(lambda t, y, *args: (t - args[1]) + y[0])}, False, False),
    ],
    ids=["doses", "another", "stop", "threshold", "both", "condition"],
)
@pytest.mark.deep(but=["forward-doses"])
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_events_do_not_tell_of_is_told_of(mode, told, by_time, by_state):
    solve = nd.ode.solver(switched_off, **told)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        nd.grad(lambda x: solve((0.0,), (0.0, 2.0), (0.5, x, 3.0))[-1, 0], mode=mode)(1.5)
    texts = [str(w.message) for w in found if w.category is nd.ControlDependenceWarning]
    assert any("compares the time" in text for text in texts) == by_time
    assert any("chooses by its state" in text for text in texts) == by_state


def test_what_a_callee_of_the_times_reads_is_known():
    @numba.njit
    def second(first, rest):
        return rest

    stops = numba.njit(lambda *args: second(args[0], rest=args[1]))
    assert arguments_read(stops).some == (1,)
    assert arguments_read(numba.njit(lambda *args: stops(*args))) == Positions((1,))
    assert arguments_read(numba.njit(lambda *args: args)) == Positions((), 0)
    assert 5 in arguments_read(numba.njit(lambda t, y, *args: sum(args)))


@pytest.mark.deep(but=["KenCarp4"])
@pytest.mark.parametrize("method", ["KenCarp4", "BDF", "Rodas5P", "Rosenbrock23"])
def test_the_jacobian_of_a_stiff_method_tells_of_nothing(method):
    solve = nd.ode.solver(switched_off, method=method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve((0.0,), (0.0, 2.0), (0.5, 1.5, 3.0))
