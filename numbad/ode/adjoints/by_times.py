"""The cotangents of the output times: what the solution's slope there contributes.

A time moves its output along the slope, f(ts[k], ys[k]); the first time moves the solution the other
way, as it starts from y0 - f(ts[0], y0) (ts[0] - t0).
"""

from numba.core import cgutils, types
from numba.extending import intrinsic

from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.interpolated_slopes import make_lacking
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import (
    array_state,
    borrow_given,
    hold,
    make_workspace,
    read_row,
    structure_of,
    table_for,
    tuple_or_array_state,
    write_row,
)
from numbad.ode.times import time_at
from numbad.ode.true_slope import make_slope_at
from numbad.operators.stop import as_constant


def make_lacking_rows(problem, settings):
    """The compiled `lacking(y0, ts, args)`: see `interpolated_slopes`; None for explicit methods."""
    if not problem.tableau.is_implicit:
        return inlined(lambda y0, ts, args: None)
    lacking = make_lacking(problem, settings)
    return inlined(
        lambda y0, ts, args: lacking(as_constant(y0), as_constant(ts), as_constant(args))
    )


@intrinsic
def inner(typingctx, v, k):
    """The sum of the products of the components of two states."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        first, second = (emitter.vector(v, x) for x in arguments)
        zero = emitter.cast(emitter.constant(0.0), v.dtype)
        slot = cgutils.alloca_once_value(builder, zero.value)

        def add(i):
            total = emitter.scalar(v.dtype, builder.load(slot)) + first[i] * second[i]
            builder.store(total.value, slot)

        first.for_each(add)
        return builder.load(slot)

    return v.dtype(v, k), codegen


@intrinsic
def one_number(typingctx, y):
    """A state of one number, of the type of those of `y`, that is zero."""
    ty = types.UniTuple(y.dtype, 1)

    def codegen(context, builder, signature, arguments):
        return context.get_constant_null(ty)

    return ty(y), codegen


def make_by_times(problem, settings):
    """The compiled `by_times(y0, others, ts, ys, seed, by_start, args)`: a table of one column."""
    mass = settings.mass
    slope_at = make_slope_at(
        problem, mass, make_evaluate(RightHandSide(problem.inplace, ALL_KNOWN))
    )
    as_state = array_state if problem.inplace else tuple_or_array_state
    workspace = make_workspace(4)
    lacking = make_lacking_rows(problem, settings)
    aims = int(problem.until_output)

    @inlined
    def by_times(y0, others, ts, ys, seed, by_start, given_args):
        args = borrow_given(given_args)
        structure = structure_of(y0)
        initial = as_state(y0, others)
        memory, work = workspace(initial)
        total = one_number(initial)
        found = table_for(len(ts), total)
        if aims:
            write_row(found, len(ts) - 1, total)
        table = lacking(y0, ts, given_args)
        for row in range(len(ts) - aims):
            y = read_row(work[0], ys, row, initial)
            v = read_row(work[1], seed, row, initial)
            slope = slope_at(work[2], time_at(ts, row), y, structure, args)
            moved = inner(v, slope)
            if table is not None:
                moved += inner(v, read_row(work[3], table, row, initial))
            if row == 0:
                moved -= inner(read_row(work[1], by_start, 0, initial), slope)
            found[row, 0] = moved
        hold(memory)
        hold(given_args)
        return found

    return by_times
