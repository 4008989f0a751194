"""Choosing the step size, on plain floats: dual numbers see the steps that the values choose.

E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", II.4 (initial step
and control); K. Gustafsson, "Control theoretic techniques for stepsize selection in explicit
Runge-Kutta methods", ACM TOMS 17 (1991), doi:10.1145/210232.210242 (proportional-integral control).
"""

import math
from collections import namedtuple

from numba.core import types
from numba.extending import intrinsic

from numbad.ode.compiling import inlined
from numbad.ode.state import combine, make_mean_square

# What a step hands to the next: the step size to try, and the last error for the control.
Control = namedtuple("Control", "h log_error attempts")

SAFETY = 0.9
LOG_SAFETY = math.log(SAFETY)
SMALLEST_FACTOR = 0.2
LARGEST_FACTOR = 10.0
SMALLEST_SQUARE = 1e-20
LOG_SMALLEST_PREVIOUS = math.log(1e-4)

# Steps within this fraction of the end go to the end, rather than leave a sliver of rounding.
STRETCH = 1.0 + 1e-12

# The same for steps of one size, whose times gather more rounding: thousands of them fill an interval.
EVEN_STRETCH = 1.0 + 1e-6

# From where on the sum of time and step is rounded by more than 1e-12 of the step; no step changes a time
# by less than this share of it.
MANY_STEPS = 1e-12 * 2.0**53
SPACING = 1.01 * 2.0**-53


@inlined
def aimed(t, h, t_end, stretch):
    """Where a step ends, and how long it is then: at `t_end`, if it comes that near.

    Far from zero, as in seconds since 1970, times lie so far apart that steps must be as long as these say.
    """
    t_new = t + h
    if abs(h) * stretch >= abs(t_end - t):
        h = t_end - t
        t_new = t_end
    elif abs(h) * MANY_STEPS < abs(t):
        if t_new == t:
            t_new = t + math.copysign(SPACING * abs(t), h)
        h = t_new - t
    return t_new, h


@intrinsic
def larger(typingctx, first, second):
    """The larger of two floats; the second where one is NaN."""
    return types.float64(types.float64, types.float64), _selecting(">")


@intrinsic
def smaller(typingctx, first, second):
    """The smaller of two floats; the second where one is NaN."""
    return types.float64(types.float64, types.float64), _selecting("<")


def _selecting(comparison):
    def codegen(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(comparison, *arguments), *arguments)

    return codegen


def make_control(tableau):
    """The compiled `control(square, accepted, again, log_previous) -> (factor, log_error)`.

    `square` is the mean square of the scaled error, `again` whether a longer step was rejected
    before this one; the next step is `factor` times as long.
    """
    exponent = tableau.error_exponent
    proportional, integral = (share * exponent for share in tableau.feedback)

    @inlined
    def control(square, accepted, again, log_previous):
        log_error = 0.5 * math.log(larger(square, SMALLEST_SQUARE))
        if accepted:
            factor = math.exp(LOG_SAFETY - proportional * log_error + integral * log_previous)
            factor = smaller(factor, 1.0 if again else LARGEST_FACTOR)
            return larger(factor, SMALLEST_FACTOR), larger(log_error, LOG_SMALLEST_PREVIOUS)
        factor = math.exp(LOG_SAFETY - exponent * log_error)
        if not factor < 1.0:  # NaN or infinity somewhere
            factor = SMALLEST_FACTOR
        return larger(factor, SMALLEST_FACTOR), log_previous

    return control


def make_first_step(tableau, fun, evaluate, with_partials):
    """The compiled choice of the initial step's size, Hairer, Norsett & Wanner, II.4, a) to f)."""
    exponent = tableau.error_exponent
    mean_square = make_mean_square(with_partials)

    @inlined
    def first_step(buffers, t, y, k0, direction, longest, structure, args, settings):
        rtol, atol = settings.rtol, settings.atol
        d0 = math.sqrt(mean_square((1.0,), (y,), y, y, rtol, atol))
        d1 = math.sqrt(mean_square((1.0,), (k0,), y, y, rtol, atol))
        h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h0 = smaller(h0, longest)
        v = combine(buffers[0], y, direction * h0, (1.0,), (k0,))
        k1 = evaluate(fun, buffers[1], t + direction * h0, v, structure, args)
        d2 = math.sqrt(mean_square((1.0, -1.0), (k1, k0), y, y, rtol, atol)) / h0
        steepest = larger(d1, d2)
        if steepest <= 1e-15:
            h1 = larger(1e-6, 1e-3 * h0)
        else:
            h1 = (0.01 / steepest) ** exponent
        return smaller(smaller(100.0 * h0, h1), longest)

    return first_step
