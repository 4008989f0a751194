"""Switching between an explicit and a stiff method, step by step, as the problem turns stiff or not.

An explicit step estimates the fastest rate of the problem from its last two stages, which lie at the same
time: |h| |k_s - k_(s-1)| / |Y_s - Y_(s-1)|, E. Hairer, G. Wanner, "Solving Ordinary Differential Equations
II", IV.2. A stiff step has the Jacobian, whose norm bounds the rate: L. Petzold, "Automatic selection of
methods for solving stiff and nonstiff systems of ordinary differential equations", SIAM Journal on Scientific
and Statistical Computing 4 (1983), doi:10.1137/0904010. Both are compared with what stability allows the
explicit method, over several steps, on plain floats: dual numbers see the steps that the values choose.
"""

import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from numba import njit

from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.consistency import value_at
from numbad.ode.control import LOG_SMALLEST_PREVIOUS, Control
from numbad.ode.linear import innermost
from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.state import (
    borrow,
    make_mean_square,
    make_workspace,
    repeated,
    size_of,
    zero_state,
)
from numbad.ode.step import SMALLEST, buffers_needed, make_interpolate
from numbad.ode.tableau import Tableau

# The share of the bound of stability from which on a step counts as stiff: where stability holds the steps of
# "Tsit5" back, its control keeps them at 0.83 of it.
SHARE_OF_BOUND = 0.7
# So many stiff steps in a row make the solver take the stiff method, so many others the explicit one again.
STIFF_STEPS, OTHER_STEPS = 10, 5

# `Control` of the method in use, which one that is, steps in a row that speak for the other, and how many
# steps of the stiff method were tried and accepted.
SwitchingControl = namedtuple(
    "SwitchingControl", "h log_error attempts is_stiff against stiff_tried stiff_accepted"
)


@dataclass(frozen=True, kw_only=True)
class Switching:
    """An explicit method, and a stiff one that takes over where the problem is stiff.

    The last two stages of the explicit one lie at the end of the step, and its last is the next step's first.
    """

    name: str
    explicit: Tableau
    stiff: Rosenbrock

    adaptive = is_implicit = True
    takes_mass = False

    def __post_init__(self):
        if not self.explicit.first_same_as_last or self.explicit.c[-2] != 1.0:
            raise ValueError(f"{self.explicit.name} has no two stages at the end of a step")

    @property
    def slopes(self):
        """Slopes that the interpolant weighs: of both, those of the method not in use being 0."""
        return self.explicit.slopes + self.stiff.slopes

    @property
    def interpolant(self):
        rows = (*self.explicit.interpolant, *self.stiff.interpolant)
        degree = max(map(len, rows))
        return tuple(row + (0.0,) * (degree - len(row)) for row in rows)

    @property
    def order(self):
        return min(self.explicit.order, self.stiff.order)

    def statistics(self, control, accepted, extended, told):
        """Evaluations after those before the first step, Jacobians, LU decompositions."""
        tried, own = control.stiff_tried, control.stiff_accepted
        explicit = self.explicit.evaluations(control.attempts - tried, accepted - own, extended)
        return explicit + self.stiff.evaluations(tried, own, extended), own, tried


def switching_pieces(explicit, method, stiff, stiff_steps):
    """The pieces of both methods as one; those of the stiff one begin with its `stiff_steps`."""
    fun, begin, advance_explicitly = explicit.fun, explicit.start, explicit.advance
    close_explicit, settle_explicit = explicit.close, explicit.settle
    advance_stiffly, close_stiff, settle_stiff = stiff.advance, stiff.close, stiff.settle
    stiff_workspace, examine = stiff_steps.workspace, stiff_steps.examine
    restart_explicit = explicit.restart
    own_rows, jacobian = make_workspace(2), buffers_needed(method.stiff)
    stages, stiff_stages = method.explicit.stages, method.stiff.stages
    slopes, stiff_slopes = method.explicit.slopes, method.stiff.slopes
    bound = SHARE_OF_BOUND * method.explicit.stability_bound
    rate = _make_rate(method.explicit)

    @inlined
    def start(initial, t, t_end, structure, args, settings):
        memory, explicit_work, y, k0, status, control = begin(
            initial, t, t_end, structure, args, settings
        )
        stiff_memory, stiff_work = stiff_workspace(initial, args, settings)
        own_memory, rows = own_rows(initial)
        scales = np.empty(size_of(y))
        if status == failure.RUNNING:
            status = examine(fun, stiff_work, t, y, k0, structure, args, settings)
        work = rows[0], explicit_work, stiff_work, rows[1], borrow(scales)
        h, log_error, attempts = control
        own = SwitchingControl(h, log_error, attempts, False, 0, 0, 0)
        return (memory, stiff_memory, own_memory, scales), work, y, k0, status, own

    @inlined
    def advance(work, t, t_end, y, k0, last, structure, args, settings):
        h, log_error, attempts, is_stiff, against, tried, accepted = last
        before = Control(h, log_error, attempts)
        zero = zero_state(work[3], y)
        if is_stiff:
            status, t_new, h_taken, w, u, after = advance_stiffly(
                work[2], t, t_end, y, k0, before, structure, args, settings
            )
            k = repeated(zero, stages)
            tried += after.attempts - attempts
            accepted += 1
            rtol, atol = settings.rtol, settings.atol
            fastest = jacobian_rate(work[2][jacobian], work[4], y, rtol, atol, settings.sparsity)
            against = against + 1 if abs(after.h) * fastest < bound else 0
            turns = against == OTHER_STEPS
        else:
            status, t_new, h_taken, w, k, after = advance_explicitly(
                work[1], t, t_end, y, k0, before, structure, args, settings
            )
            u = repeated(zero, stiff_stages)
            against = against + 1 if rate(k, h_taken, y, w, settings) > bound else 0
            turns = against == STIFF_STEPS
        h, log_error, attempts = after
        if turns:
            log_error, against = LOG_SMALLEST_PREVIOUS, 0
        own = SwitchingControl(h, log_error, attempts, is_stiff != turns, against, tried, accepted)
        return status, t_new, h_taken, w, (is_stiff, k, u), own

    @inlined
    def close(fun, work, t, w, taken, structure, args):
        is_stiff, k, u = taken
        zero = zero_state(work[3], w)
        weighed, stiffly = repeated(zero, slopes), repeated(zero, stiff_slopes)
        if is_stiff:
            stiffly = close_stiff(fun, work[2], t, w, u, structure, args)
        else:
            weighed = close_explicit(fun, work[1], t, w, k, structure, args)
        return is_stiff, weighed, stiffly

    @inlined
    def extend(fun, work, t, h, y, closed, structure, args):
        return closed[1] + closed[2]

    @inlined
    def settle(work, w, closed):
        is_stiff, k, u = closed
        if is_stiff:
            return settle_stiff(work[2], w, u)
        return settle_explicit(work[1], w, k)

    @inlined
    def restart(work):
        return restart_explicit(work[1])

    return explicit._replace(
        start=start,
        advance=advance,
        close=close,
        extend=extend,
        interpolate=make_interpolate(method),
        settle=settle,
        explain=stiff.explain,
        spare=0,
        restart=restart,
    )


def _make_rate(tableau):
    """The compiled `rate(k, h, y, w, settings)`: |h| times the fastest rate, as an explicit step shows it."""
    mean_square = make_mean_square(False)
    last = tableau.stages - 1
    moved = tuple(x - y for x, y in zip(tableau.a[-1], (*tableau.a[-2], 0.0), strict=True))

    @inlined
    def rate(k, h, y, w, settings):
        rtol, atol = settings.rtol, settings.atol
        slopes = mean_square((1.0, -1.0), (k[last], k[last - 1]), y, w, rtol, atol)
        states = mean_square(moved, k[:last], y, w, rtol, atol)
        return math.sqrt(slopes / (states + SMALLEST))

    return rate


@njit(error_model="numpy")
def jacobian_rate(jacobian, scales, y, rtol, atol, sparsity):
    """The norm of a Jacobian, each component in units of its tolerance: no rate is faster."""
    values, n = innermost(jacobian), len(scales)
    for i in range(n):
        scales[i] = value_at(atol, i) + value_at(rtol, i) * abs(value_at(y, i))
    largest = 0.0
    for i in range(n):
        total = 0.0
        if sparsity is None:
            for j in range(n):
                total += abs(values[i, j]) * scales[j]
        else:
            for k in range(sparsity.starts[i], sparsity.starts[i + 1]):
                j = sparsity.columns[k]
                total += abs(values[i, sparsity.colours[j]]) * scales[j]
        largest = max(largest, total / scales[i])
    return largest
