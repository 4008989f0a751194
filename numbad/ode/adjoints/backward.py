"""The sweep back through the recorded steps of a solution."""

from numba.core import types
from numba.extending import intrinsic

from numbad.ode.adjoints.slopes import StagePull
from numbad.ode.adjoints.step_adjoint import TakenStep, VectorField
from numbad.ode.compiling import inlined
from numbad.ode.state import (
    array_state,
    borrow_given,
    combine,
    hold,
    make_workspace,
    read_row,
    structure_of,
    table_for,
    tuple_or_array_state,
    write_row,
    zero_state,
)
from numbad.ode.times import time_at


@intrinsic
def zero_totals(typingctx, pull, y, structure, args, shadows):
    """Zero for each number among the arguments that a stage gives a cotangent of."""
    found = StagePull(typingctx, pull, y, structure, args, shadows).totals()
    result = types.BaseTuple.from_types([ty for _, ty in found])

    def codegen(context, builder, signature, arguments):
        return context.get_constant_null(result)

    return result(pull, y, structure, args, shadows), codegen


def make_backward(adjoint, inplace, until_output, steps):
    """The compiled `backward` from what was recorded and the cotangents `seed`.

    `steps` tells how to get at the steps, `given` what they were taken with.

    It returns the cotangent of the initial state, as a table of one row, and those of the numbers in
    the arguments. `others` is what the scalar type of all must hold besides that of y0.
    """
    begin, output, step = adjoint.begin, adjoint.output, adjoint.step
    workspace, note = adjoint.workspace, adjoint.note
    begin_steps, fetch = steps  # names of functions, which Numba can inline
    as_state = array_state if inplace else tuple_or_array_state
    own_rows = make_workspace(3)
    aims, stride = int(until_output), 1 + adjoint.stages

    @inlined
    def backward(
        fun,
        pull,
        y0,
        others,
        ts,
        records,
        given,
        seed,
        given_args,
        given_shadows,
        given_moving,
        given_settings,
    ):
        args, shadows, moving = (
            borrow_given(given_args),
            borrow_given(given_shadows),
            borrow_given(given_moving),
        )
        structure = structure_of(y0)
        initial = as_state(y0, others)
        memory, work = workspace(initial, args, given_settings)
        own_memory, rows = own_rows(initial)
        row = len(ts) - 1 - aims
        direction = time_at(ts, len(ts) - 1) - time_at(ts, 0)
        lam = zero_state(rows[2], initial)
        field = VectorField(fun, pull, structure, args, shadows, moving)
        totals = zero_totals(pull, initial, structure, args, shadows)
        end, t_end, log = begin_steps(records, initial)
        while end > 0:
            log, first, nodes, states = fetch(log, end, t_end, y0, ts, given, given_settings)
            for k in range(end - first - 1, -1, -1):
                t, h, t_new = nodes[k, 0], nodes[k, 1], nodes[k + 1, 0]
                if row > 0 and time_at(ts, row) == t_new:
                    v = read_row(rows[1], seed, row, initial)
                    lam = combine(rows[2], lam, 1.0, (1.0,), (v,))
                    row -= 1
                note(work, nodes[k, 2])
                bars = begin(work, h, lam)
                seen = False
                while row > 0 and (time_at(ts, row) - t) * direction > 0.0:
                    v = read_row(rows[1], seed, row, initial)
                    bars = output(work, bars, (time_at(ts, row) - t) / h, h, v)
                    row -= 1
                    seen = True
                place = k * stride
                y = read_row(rows[0], states, place, initial)
                y_new = read_row(rows[1], states, place + stride, initial)
                taken = TakenStep(t, t_new, h, y, y_new, (states, place))
                lam, totals = step(field, work, taken, bars, seen, totals)
            end, t_end = first, nodes[0, 0]
        v = read_row(rows[1], seed, 0, initial)
        lam = combine(rows[2], lam, 1.0, (1.0,), (v,))
        by_start = table_for(1, initial)
        write_row(by_start, 0, lam)
        hold(memory)
        hold(own_memory)
        hold(given)
        hold(given_args)
        hold(given_shadows)
        hold(given_moving)
        hold(given_settings)
        return by_start, totals

    return backward
