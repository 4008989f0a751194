"""The steps of a solution: whole cells of width dt, and parts of cells where output times fall in them.

Cells are counted from time 0, whatever the first output time is, so that a path is a function of the key
and the time alone: solved from 0 to 1 and from 1 to 2, it is the same one as solved from 0 to 2.
"""

import math

import numpy as np
from numba.core import types

from numbad.compilation.caching import enable, jit
from numbad.compilation.external_functions import external
from numbad.errors import DataError, ModelError, UnsupportedError
from numbad.forward.dual import duals_in
from numbad.ode.times import check_times_type, uniform
from numbad.random.generator_compiling import DrawDispatcher
from numbad.rules.registry import CONSTANT_CALLS

BY_TIMES = (
    "a solution of an SDE is not differentiable by ts: a Brownian path has no slope. Way out: scale time, "
    "as in T * drift and sqrt(T) * diffusion for ts from 0 to 1, and differentiate by T"
)

NO_TIMES, NOT_FINITE, NOT_INCREASING, TOO_MANY = 1, 2, 3, 4
_MOST = 2.0**31  # steps
_REASONS = {
    NO_TIMES: "ts is empty: give at least the initial time",
    NOT_FINITE: "ts must be finite, which it is not at t = {!r}",
    NOT_INCREASING: "ts must increase strictly, which it does not at t = {!r}",
    TOO_MANY: "dt is too small for ts, up to t = {!r}: more than 2**31 steps",
}


class GridError(DataError):
    """Output times that cannot be stepped to."""

    def __init__(self, reason, time):
        self.reason, self.time = reason, time
        super().__init__(_REASONS[reason].format(time))

    def __reduce__(self):
        return type(self), (self.reason, self.time)


class TimesDispatcher(DrawDispatcher):
    """A function of output times, by which nothing is differentiated."""

    def numbad_pullback(self, wrt):
        raise UnsupportedError(BY_TIMES)


def constant(function):
    """Compile a function whose results have no derivative."""
    dispatcher = jit(error_model="numpy", nogil=True)(function)
    CONSTANT_CALLS.add(dispatcher)
    return dispatcher


def of_times(function):
    """Compile a function whose results depend on output times."""
    options = {"nopython": True, "error_model": "numpy", "nogil": True}
    dispatcher = TimesDispatcher(function, targetoptions=options)
    dispatcher.checks = (_times,)
    return enable(dispatcher)


def _times(name, ty):
    if any(True for _ in duals_in(ty)):
        raise UnsupportedError(BY_TIMES)
    check_times_type(ty)
    if isinstance(ty, types.BaseTuple) and not len(ty):
        raise GridError(NO_TIMES, 0.0)
    if isinstance(getattr(ty, "dtype", types.float64), types.Complex):
        raise ModelError("ts must hold real numbers, not complex ones")


@external(of_times)
def as_floats(ts):
    """Times as an array of floats."""
    given, times = uniform(ts), np.empty(len(ts))
    for i in range(times.size):
        times[i] = given[i]
    return times


@of_times
def as_times(ts):
    """Output times as an array of floats; raises where they are not finite or do not increase."""
    if len(ts) == 0:
        raise GridError(NO_TIMES, 0.0)
    times = as_floats(ts)
    for i in range(times.size):
        if not abs(times[i]) < math.inf:
            raise GridError(NOT_FINITE, times[i])
        if i > 0 and not times[i] > times[i - 1]:
            raise GridError(NOT_INCREASING, times[i])
    return times


@constant
def place(t, dt):
    """The cell that time t is in and where in it, from 0 (included) to 1 (excluded).

    A time that misses the end of a cell by rounding is taken to be there.
    """
    position = t / dt
    nearest = np.round(position)
    if abs(position - nearest) <= 1e-8 + 1e-15 * abs(position):
        return np.int64(nearest), 0.0
    cell = math.floor(position)
    return np.int64(cell), position - cell


@constant
def _check_span(times, i, dt):
    if not (times[i] - times[i - 1]) / dt < _MOST:
        raise GridError(TOO_MANY, times[i])


@constant
def count_steps(times, dt):
    """How many steps there are up to each output."""
    ends = np.empty(times.size, np.int64)
    ends[0] = 0
    for i in range(1, times.size):
        _check_span(times, i, dt)
        cell, part = place(times[i - 1], dt)
        last, end = place(times[i], dt)
        if last > cell:
            steps = last - cell + (end > 0.0)  # the first one may begin within a cell
        else:
            steps = np.int64(end > part)
        ends[i] = ends[i - 1] + steps
    return ends


@external(of_times)
def grid(times, dt):
    """The steps that lead through output times.

    Returns `(ends, cells, parts, starts, sizes)`: how many steps there are up to each output; and for each
    step the number of its cell, where it begins and ends in it (shape (steps, 2), 0 to 1), its initial
    time and its size.
    """
    ends = count_steps(times, dt)
    count = ends[-1]
    cells, parts = np.empty(count, np.int64), np.empty((count, 2))
    starts, sizes = np.empty(count), np.empty(count)
    for i in range(1, times.size):
        cell, part = place(times[i - 1], dt)
        last, end = place(times[i], dt)
        for n in range(ends[i - 1], ends[i]):
            stop = end if cell == last else 1.0
            cells[n], parts[n, 0], parts[n, 1] = cell, part, stop
            starts[n] = (cell + part) * dt
            sizes[n] = dt if part == 0.0 and stop == 1.0 else (stop - part) * dt
            cell, part = cell + 1, 0.0
    return ends, cells, parts, starts, sizes


@external(of_times)
def undivided(times, dt):
    """As `grid`, for steps that outputs do not divide: to an output within one, a step aside leads.

    Of an output, `ends` has twice the number of steps up to it, and one more where the last one is aside: the
    next step begins where that one did.
    """
    ends = np.zeros(times.size, np.int64)
    cell, part = place(times[0], dt)
    for i in range(1, times.size):
        _check_span(times, i, dt)
        last, end = place(times[i], dt)
        whole, part = last - cell, part if last == cell else 0.0
        aside = np.int64(end > part)
        ends[i] = 2 * ((ends[i - 1] >> 1) + whole + aside) + aside
        cell = last
    count = ends[-1] >> 1
    cells, parts = np.empty(count, np.int64), np.empty((count, 2))
    starts, sizes = np.empty(count), np.empty(count)
    cell, part = place(times[0], dt)
    for i in range(1, times.size):
        last, end = place(times[i], dt)
        for n in range(ends[i - 1] >> 1, ends[i] >> 1):
            stop = end if cell == last else 1.0
            cells[n], parts[n, 0], parts[n, 1] = cell, part, stop
            starts[n] = (cell + part) * dt
            sizes[n] = dt if part == 0.0 and stop == 1.0 else (stop - part) * dt
            if cell < last:
                cell, part = cell + 1, 0.0
    return ends, cells, parts, starts, sizes
