"""The adjoint of a step of a method that switches: that of the method which took it."""

from functools import cache

import numpy as np

from numbad.ode.adjoints.explicit_adjoint import runge_kutta_adjoint
from numbad.ode.adjoints.rosenbrock_adjoint import rosenbrock_adjoint
from numbad.ode.adjoints.step_adjoint import StepAdjoint
from numbad.ode.compiling import inlined
from numbad.ode.state import borrow, make_workspace, repeated, write_rows, zero_state

EXPLICIT, STIFF = 0.0, 1.0


@cache
def switching_adjoint(method, inplace):
    """The `StepAdjoint` of a method that switches; `work` notes the kind of the step at hand."""
    explicit = runge_kutta_adjoint(method.explicit, inplace)
    stiff = rosenbrock_adjoint(method.stiff, inplace)
    explicit_workspace, stiff_workspace = explicit.workspace, stiff.workspace
    begin_explicit, begin_stiff = explicit.begin, stiff.begin
    output_explicit, output_stiff = explicit.output, stiff.output
    step_explicit, step_stiff = explicit.step, stiff.step
    own_rows, bars_of_explicit = make_workspace(1), method.explicit.slopes + 1

    @inlined
    def workspace(initial, args, settings):
        memory, own = explicit_workspace(initial, args, settings)
        stiff_memory, stiff_own = stiff_workspace(initial, args, settings)
        zero_memory, zero_row = own_rows(initial)
        kind = np.zeros(1)
        return (memory, stiff_memory, zero_memory, kind), (
            own,
            stiff_own,
            zero_row[0],
            borrow(kind),
        )

    @inlined
    def kind(work, taken):
        return STIFF if taken[0] else EXPLICIT

    @inlined
    def put(table, row, taken):
        if taken[0]:
            write_rows(table, row, taken[2])

    @inlined
    def note(work, kind):
        work[3][0] = kind

    @inlined
    def begin(work, h, lam):
        own, table = repeated(zero_state(work[2], lam), bars_of_explicit), work[1][1]
        if work[3][0] == STIFF:
            table = begin_stiff(work[1], h, lam)
        else:
            own = begin_explicit(work[0], h, lam)
        return own, table

    @inlined
    def output(work, bars, theta, h, v):
        own, table = bars
        if work[3][0] == STIFF:
            table = output_stiff(work[1], table, theta, h, v)
        else:
            own = output_explicit(work[0], own, theta, h, v)
        return own, table

    @inlined
    def step(field, work, taken, bars, seen, totals):
        own, table = bars
        if work[3][0] == STIFF:
            lam, sums = step_stiff(field, work[1], taken, table, seen, totals)
        else:
            lam, sums = step_explicit(field, work[0], taken, own, seen, totals)
        return lam, sums

    return StepAdjoint(workspace, begin, output, step, stiff.stages, kind, note, put, stiff.moves)
