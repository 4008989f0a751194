"""Choosing the step size, on plain floats: dual numbers see the steps that the values choose.

E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", II.4 (initial step
and control); K. Gustafsson, "Control theoretic techniques for stepsize selection in explicit
Runge-Kutta methods", ACM TOMS 17 (1991), doi:10.1145/210232.210242 (proportional-integral control).
"""

import math

from numbad.ode.compiling import inlined
from numbad.ode.state import combine

SAFETY = 0.9
SMALLEST_FACTOR = 0.2
LARGEST_FACTOR = 10.0
LOG_SMALLEST_ERROR = math.log(1e-10)
LOG_SMALLEST_PREVIOUS = math.log(1e-4)

# Steps within this fraction of the end go to the end, rather than leave a sliver of rounding.
STRETCH = 1.0 + 1e-12


@inlined
def larger(first, second):
    """The larger of two floats; the second where the first is NaN."""
    return first if first > second else second


@inlined
def smaller(first, second):
    """The smaller of two floats; the second where the first is NaN."""
    return first if first < second else second


def make_control(tableau):
    """The compiled `grow(log_error, log_previous)` and `shrink(error)`: factors for the next step.

    `error` is the mean square of the scaled error, `log_error` the logarithm of its root.
    """
    exponent = tableau.error_exponent
    proportional, integral = 0.7 * exponent, 0.4 * exponent
    log_safety = math.log(SAFETY)

    @inlined
    def grow(log_error, log_previous):
        factor = math.exp(log_safety - proportional * log_error + integral * log_previous)
        return smaller(LARGEST_FACTOR, larger(SMALLEST_FACTOR, factor))

    @inlined
    def shrink(error):
        factor = SAFETY * error ** (-0.5 * exponent)
        return factor if SMALLEST_FACTOR < factor < 1.0 else SMALLEST_FACTOR

    return grow, shrink


def make_first_step(tableau, evaluate, mean_square):
    """The compiled choice of the initial step's size, Hairer, Norsett & Wanner, II.4, a) to f)."""
    exponent = tableau.error_exponent

    @inlined
    def first_step(work, t, y, k0, direction, longest, structure, args, settings):
        rtol, atol = settings.rtol, settings.atol
        d0 = math.sqrt(mean_square((1.0,), (y,), y, y, rtol, atol))
        d1 = math.sqrt(mean_square((1.0,), (k0,), y, y, rtol, atol))
        h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h0 = smaller(h0, longest)
        v = combine(work[-3], y, direction * h0, (1.0,), (k0,))
        k1 = evaluate(work[1], t + direction * h0, v, structure, args)
        d2 = math.sqrt(mean_square((1.0, -1.0), (k1, k0), y, y, rtol, atol)) / h0
        steepest = larger(d1, d2)
        if steepest <= 1e-15:
            h1 = larger(1e-6, 1e-3 * h0)
        else:
            h1 = (0.01 / steepest) ** exponent
        return smaller(smaller(100.0 * h0, h1), longest)

    return first_step
