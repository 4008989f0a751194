"""Adaptive steps of SDE solvers: what is asked for, which methods can, how long the next step is.

Steps may be rejected for what the noise does within them: the Brownian path is a tree, and a rejected step is
divided, never drawn again, so that no path is favoured. Even so a method may tend to a wrong limit where it
leaves out something whose mean is zero over steps of one size only, such as W**2 - h by Euler's method or,
where noise does not commute, Levy areas. Methods of strong order 1 leave out nothing of the kind, for the
noise that they have this order for. For other noise: J. G. Gaines, T. J. Lyons, SIAM J. Appl. Math. 57 (1997)
1455-1484, have a counterexample; J. Foster, A. Jelincic, arXiv:2311.14201, prove that Stratonovich methods
which guess areas by their mean converge where the ends of rejected steps are kept.
"""

import math
import numbers
from dataclasses import astuple, dataclass

import numpy as np
from numba import njit

from numbad.errors import ArgumentError
from numbad.sde.brownian import DEPTH
from numbad.sde.methods import METHODS
from numbad.sde.scheme import GENERAL, RungeKutta, WeakScheme

SAFETY = 0.9
PROPORTIONAL, INTEGRAL = (
    0.7,
    0.4,
)  # of the exponent; Gustafsson, ACM TOMS 17 (1991), doi:10.1145/210232.210242
SMALLEST_FACTOR, LARGEST_FACTOR = 0.2, 2.0
SMALLEST_ERROR = 1e-4
FEWEST_LEAVES = 16.0  # of the tree, in the shortest step


@dataclass(frozen=True)
class Stepping:
    """What adaptive steps keep to; tolerances are floats or, by component, tuples."""

    rtol: float | tuple
    atol: float | tuple
    first_step: float
    max_step: float
    min_step: float
    max_steps: int

    @property
    def by_component(self):
        return isinstance(self.rtol, tuple)

    @property
    def source(self):
        """As compiled code takes it."""
        rtol, atol, *rest = astuple(self)
        infinite = "np.inf"
        parts = [repr(x) if x != math.inf else infinite for x in rest]
        return f"({rtol!r}, {atol!r}, {', '.join(parts)})"


def estimates_errors(scheme, noise):
    """Whether steps of a method can be chosen for a kind of noise."""
    if isinstance(scheme, WeakScheme) or scheme.carries or scheme.needs_levy:
        return False
    if noise == GENERAL:
        return isinstance(scheme, RungeKutta) and scheme.has_embedded_error
    return scheme.orders[noise] >= 1.0


def checked_stepping(scheme, noise, dt, rtol, atol, first_step, max_step, min_step, max_steps):
    """The `Stepping` of options of `solver`; ArgumentError where they are wrong."""
    if not estimates_errors(scheme, noise):
        able = [name for name, other in METHODS.items() if noise in other.noises]
        able = ", ".join(name for name in able if estimates_errors(METHODS[name], noise))
        raise ArgumentError(
            f"rtol, atol: method {scheme.name!r} has no error estimate by which steps could be chosen for "
            f"noise={noise!r}; methods that have one: {able}. Or leave rtol and atol out: steps of one size"
        )
    resolved = FEWEST_LEAVES * dt * 2.0**-DEPTH
    return Stepping(
        *_tolerances(1e-3 if rtol is None else rtol, 1e-6 if atol is None else atol),
        0.0 if first_step is None else _positive("first_step", first_step),
        math.inf if max_step is None else _positive("max_step", max_step, math.inf),
        resolved if min_step is None else max(_positive("min_step", min_step), resolved),
        100_000 if max_steps is None else _count(max_steps),
    )


def refuse_stepping(**options):
    """Raise ArgumentError for options of adaptive steps where steps have one size."""
    for name, given in options.items():
        if given is not None:
            raise ArgumentError(
                f"{name} is for adaptive steps: give rtol and atol, too, or leave it out"
            )


def _tolerances(rtol, atol):
    found = []
    for name, given in (("rtol", rtol), ("atol", atol)):
        try:
            is_text = np.asarray(given).dtype.kind in "US"  # which `float` reads
            values = np.asarray(math.nan if is_text else given, dtype=float)
        except (TypeError, ValueError):
            values = np.array(math.nan)
        if values.ndim > 1 or not (np.isfinite(values) & (values >= 0.0)).all():
            raise ArgumentError(
                f"{name} must be a float, or one for each component, not negative; it is {given!r}"
            )
        found.append(values)
    try:
        both = np.broadcast_arrays(*found)
    except ValueError:
        raise ArgumentError("rtol and atol must have the same number of components") from None
    if not (both[0] + both[1] > 0.0).all():
        raise ArgumentError("rtol and atol must not both be zero")
    return [tuple(map(float, x)) if x.ndim else float(x) for x in both]


def _positive(name, given, most=math.nan):
    is_number = isinstance(given, numbers.Real) and not isinstance(given, bool)
    if not is_number or not (0.0 < given < math.inf or given == most):
        raise ArgumentError(f"{name} must be a positive float, in units of t, not {given!r}")
    return float(given)


def _count(given):
    if not isinstance(given, int | np.integer) or isinstance(given, bool) or given < 1:
        raise ArgumentError(f"max_steps must be a positive int, not {given!r}")
    return int(given)


@njit(error_model="numpy")
def next_factor(square, accepted, again, log_previous, exponent):
    """By what to multiply the step's size, and the logarithm of the error for the next time.

    `square` is the mean square of the scaled error, `again` whether a longer step was rejected just before.
    """
    log_error = 0.5 * math.log(max(square, SMALLEST_ERROR**2))
    if accepted:
        factor = SAFETY * math.exp(exponent * (INTEGRAL * log_previous - PROPORTIONAL * log_error))
        factor = min(factor, 1.0 if again else LARGEST_FACTOR)
        return max(factor, SMALLEST_FACTOR), log_error
    factor = SAFETY * math.exp(-exponent * log_error)
    if not factor < 1.0:  # NaN or infinity somewhere
        factor = SMALLEST_FACTOR
    return max(factor, SMALLEST_FACTOR), log_previous


@njit(error_model="numpy")
def scaled_square(error, y, new, rtol, atol):
    """The square of an error in units of what is allowed."""
    scaled = error / (atol + rtol * max(abs(y), abs(new)))
    return scaled * scaled


@njit(error_model="numpy")
def mean_square(errors, y, new, rtol, atol):
    """The mean of those of an array."""
    total = 0.0
    for i in range(errors.size):
        total += scaled_square(errors[i], y[i], new[i], rtol, atol)
    return total / errors.size


@njit(error_model="numpy")
def mean_square_each(errors, y, new, rtol, atol):
    """The same, for tolerances by component."""
    total = 0.0
    for i in range(errors.size):
        total += scaled_square(errors[i], y[i], new[i], rtol[i], atol[i])
    return total / errors.size


@njit(error_model="numpy")
def all_finite(y):
    """Whether an array has neither NaN nor infinity."""
    total = 0.0
    for i in range(y.size):
        total += 0.0 * y[i]
    return total == 0.0
