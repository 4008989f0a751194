"""What a right-hand side leaves in arrays among its further arguments, which sweeps back know nothing of.

A right-hand side may write intermediate results to arrays in `args`. A sweep back calls it again, at other
states and in another order than the solution did, which gives the same if it reads what it has written in
the same call alone. It is asked at two states, the first and the last. And what is left in these arrays
at the end is that of the last call, an attempted step, perhaps, of which no record is kept: reverse mode
around the solver refuses to differentiate what reads it.
"""

from numbad.errors import ModelError
from numbad.forward.access import primal
from numbad.ode.adjoints.slopes import written_args
from numbad.ode.adjoints.stage_pulls import kernel
from numbad.ode.compiling import inlined
from numbad.ode.rhs import RightHandSide, is_plain_tuple, make_evaluate
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


def written_places(handed_args, argtypes):
    """Where functions may write in the arguments of `solve(y0, ts, args)`: `{(argument, place in it)}`."""
    if len(argtypes) < 3:
        return set()
    written = {j for fun, first in handed_args for j in written_args(fun, first)}
    return {(2, (j,) if is_plain_tuple(argtypes[2]) else ()) for j in written}


@kernel
def check_same(found):
    """Raise where the rows of a table differ."""
    for k in range(found.shape[1]):
        one, other = primal(found[0, k]), primal(found[1, k])
        if one != other and (one == one or other == other):
            raise ModelError(
                "the right-hand side gives another result for the same arguments after a call at another "
                "state: it reads what an earlier call has left in an array in args. Reverse mode calls it in "
                "another order. Way out: write each element before it is read, or keep what is to be "
                'carried along in the state y; or mode="forward"'
            )


def make_check_calls(problem):
    """The compiled `check_calls(y0, others, ts, ys, args)`: that calls know nothing of one another."""
    fun, aims = problem.fun, int(problem.until_output)
    evaluate = make_evaluate(RightHandSide(problem.inplace))
    as_state = array_state if problem.inplace else tuple_or_array_state
    workspace = make_workspace(3)

    @inlined
    def check_calls(y0, others, ts, ys, given_args):
        args = borrow_given(given_args)
        structure = structure_of(y0)
        initial = as_state(y0, others)
        memory, work = workspace(initial)
        found = table_for(2, initial)
        last = len(ts) - 1 - aims
        for k in range(4):  # twice at the first state; at the last; at the first again
            row = last if k == 2 else 0
            y = read_row(work[0], ys, row, initial)
            slope = evaluate(fun, work[1], time_at(ts, row), y, structure, args)
            write_row(found, k // 2, slope)
        check_same(found)
        hold(memory)
        hold(given_args)

    return check_calls
