"""What interpolates a step, checked where the error estimate has nothing to go by.

Where all of a stiff system follows something that changes with time alone, y' = -k (y - g(t)), the ends of
steps of a stiffly accurate method are right however long the steps are, and the estimate of the error is next
to zero. What interpolates the steps sees g at a few points only. Its defect tells: with d = f(t, u) - u' of
the interpolant u, the error of u is d / k, and |J d| = k |d|. (W. H. Enright, "A new error-control for
initial value solvers", Applied Mathematics and Computation 31 (1989) 288-301, controls defects.)
"""

import math

import numpy as np

from numbad.ode import failure
from numbad.ode.compiling import called, inlined
from numbad.ode.control import SAFETY, Control
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.state import combine, hold, make_mean_square, make_workspace

# An estimate below this share of the tolerances tells nothing of what lies between. Where in a step one
# looks: not in the middle, where the errors of some are zero. The order of the error there.
NOTHING_TOLD = math.log(0.5)
PLACE = 0.3
ORDER = 4
# How much larger than the tolerances it may be.
ALLOWED = 10.0
SHORTEST, LONGEST = 0.2, 10.0


def may_be_blind(tableau):
    """Whether a method's estimate of the error may miss that of the interpolant."""
    if isinstance(tableau, ImplicitTableau):
        return tableau.per_block > 1
    return isinstance(tableau, Rosenbrock) and tableau.order >= ORDER


def make_checked(advance, tableau, fun, evaluate):
    """The compiled `advance` of a method that `may_be_blind`: one step that is right within, too."""
    mean_square, buffers = make_mean_square(False), make_workspace(3)
    within, steepness = _weights(tableau)

    @called
    def off_between(t, h, y, w, stages, structure, args, rtol, atol):
        """The error within a step over what is allowed."""
        memory, (row, slope_row, more) = buffers(y)
        at = t + PLACE * h
        there = combine(row, y, h, within, stages)
        slope = evaluate(fun, slope_row, at, there, structure, args)
        weights, vectors = (1.0, *steepness), (slope, *stages)
        lacks = math.sqrt(mean_square(weights, vectors, y, w, rtol, atol))
        error = abs(h) * lacks
        if ALLOWED < error < math.inf:
            moved = combine(row, there, 1.0 / lacks, weights, vectors)
            other = evaluate(fun, more, at, moved, structure, args)
            change = math.sqrt(mean_square((1.0, -1.0), (other, slope), y, w, rtol, atol))
            if change > 1.0 / abs(h):  # |J d| where |d| is 1
                error = lacks / change
        hold(memory)
        return error / ALLOWED

    @inlined
    def checked(work, t, t_end, y, k0, last, structure, args, settings):
        before, is_right = last, False
        while not is_right:
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, before, structure, args, settings
            )
            is_right = True
            told = control.log_error > NOTHING_TOLD
            if status == failure.RUNNING and not told and settings.mass is None:
                rtol, atol = settings.rtol, settings.atol
                error = off_between(t, h, y, w, stages, structure, args, rtol, atol)
                factor = LONGEST
                if error > 0.0:
                    factor = min(max(SAFETY * error ** (-1.0 / ORDER), SHORTEST), LONGEST)
                is_last = t + 0.1 * h == t or control.attempts >= settings.max_steps
                is_right = not error > 1.0 or is_last
                size = min(abs(control.h), abs(h) * factor)
                if not is_right:
                    size = min(size, SAFETY * abs(h))
                    before = Control(math.copysign(size, h), last.log_error, control.attempts)
                control = Control(math.copysign(size, h), control.log_error, control.attempts)
        return status, t_new, h, w, stages, control

    return checked


def _weights(tableau):
    """Those of the stages in the interpolant, and less those in its slope, at `PLACE`.

    The slope at the end of the step has none.
    """
    rows = np.array(tableau.interpolant[: tableau.stages])
    powers = np.arange(1, rows.shape[1] + 1)
    within, slope = rows @ PLACE**powers, rows @ (powers * PLACE ** (powers - 1))
    return tuple(within.tolist()), tuple((-slope).tolist())
