"""The solution at times that are floats, and what tells why there is none."""

from numbad.compilation.caching import jit
from numbad.ode import failure
from numbad.ode.state import plain
from numbad.ode.times import uniform


@jit(error_model="numpy")
def check(status, t):
    """Raise what tells why an integration stopped early.

    It is compiled by itself, once: what raises errors that hold numbers needs machine code of its own.
    """
    if status in (failure.WRONG_TOLERANCES, failure.WRONG_MASS, failure.WRONG_PATTERN_SIZE):
        raise failure.SizeError(status)
    if failure.NO_TIMES <= status <= failure.TIMES_NOT_FINITE:
        raise failure.TimesError(status, t)
    if status != failure.RUNNING:
        raise failure.SolveError(status, t)


def solve_at_fixed_times(integrate, settings):
    """The Python function `solve` for times that are floats."""

    def solve(y0, ts, args=()):
        ys, status, t, _ = integrate(y0, uniform(ts), plain(args), settings)
        check(status, t)
        return ys

    return solve
