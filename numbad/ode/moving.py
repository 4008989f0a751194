"""Derivatives by the times: the solution moves along its own slope.

With times ts = fixed + shift, where the shift has value zero and the partials of one level,

    y(ts[k]) = y(fixed[k]) + f(fixed[k], y) * shift[k]

exactly to first order in that level, and the solution starts from y0 - f(fixed[0], y0) * shift[0],
which is where it passes through y0 at ts[0]. Lower levels are in `fixed`, and the integration, like
the steps it takes, depends on the values only.
"""

from numba.core import types
from numba.extending import intrinsic

from numbad.errors import UnsupportedError
from numbad.forward.dual import Dual
from numbad.ode.compiling import generic
from numbad.ode.emit import Emitter
from numbad.ode.rhs import make_evaluate
from numbad.ode.state import (
    array_state,
    borrow,
    combine,
    hold,
    make_workspace,
    read_row,
    restored,
    structure_of,
    tuple_or_array_state,
    write_row,
)
from numbad.ode.times import fixed_times, tangent_at

DEEPEST = 4


def make_times_aware(solve_fixed, fun, inplace, content):
    """The compiled `solve(y0, ts, args)` that takes duals in ts, of one that takes floats only.

    `content` is what tells it from others in the cache on disk.
    """
    solve = choose(solve_fixed, None)
    for level in range(DEEPEST):
        solve = choose(solve_fixed, _make_moving(solve, fun, inplace, (*content, level)))
    return solve


def choose(solve_fixed, solve_moving):
    """An intrinsic that calls one of two dispatchers, as the times are floats or duals."""

    @intrinsic
    def solve(typingctx, y0, ts, args):
        moving = isinstance(ts.dtype, Dual)
        callee = solve_moving if moving else solve_fixed
        if callee is None:
            raise UnsupportedError(
                f"cannot differentiate an ODE's solution more than {DEEPEST} times by its times"
            )
        result = typingctx.resolve_function_type(types.Dispatcher(callee), (y0, ts, args), {})

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            return emitter.call_dispatcher(callee, (y0, ts, args), arguments)

        return result.return_type(y0, ts, args), codegen

    return solve


def _make_moving(solve_below, fun, inplace, content):
    evaluate, evaluate_first = make_evaluate(fun, inplace)
    as_state = array_state if inplace else tuple_or_array_state
    workspace = make_workspace(2)

    @generic(*content)
    def solve_moving(y0, ts, given_args):
        args = borrow(given_args)
        structure = structure_of(y0)
        fixed = fixed_times(ts)
        initial = as_state(y0, (args, ts))
        memory, (stage, moved) = workspace(initial)
        if len(ts) > 0:
            slope = evaluate_first(stage, fixed[0], initial, structure, args)
            initial = combine(initial, initial, -tangent_at(ts, 0), (1.0,), (slope,))
        ys = solve_below(restored(structure, initial), fixed, given_args)
        for row in range(len(ts)):
            y = read_row(moved, ys, row, initial)
            slope = evaluate(stage, fixed[row], y, structure, args)
            write_row(ys, row, combine(moved, y, tangent_at(ts, row), (1.0,), (slope,)))
        hold(memory)
        return ys

    return solve_moving
