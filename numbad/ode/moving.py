"""Derivatives by the times: the solution moves along its own slope.

With times ts = fixed + shift, where the shift has value zero and the partials of one level,

    y(ts[k]) = y(fixed[k]) + f(fixed[k], y) * shift[k]

exactly to first order in that level, and the solution starts from y0 - f(fixed[0], y0) * shift[0],
which is where it passes through y0 at ts[0]. Lower levels are in `fixed`, and the integration, like
the steps it takes, depends on the values only.
"""

from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import (
    array_state,
    borrow,
    combine,
    hold,
    make_workspace,
    plain,
    read_row,
    restored,
    structure_of,
    tuple_or_array_state,
    write_row,
)
from numbad.ode.times import fixed_times, tangent_at, uniform

BY_TIMES_WITH_MASS = (
    "derivatives by ts of a solver with a mass_matrix are not available: the slope of the solution is not "
    "fun. Way out: scale time, as in fun(T * t, y) * T for ts from 0 to 1, and differentiate by T"
)


def solve_at_moving_times(solve_below, problem):
    """The Python function `solve` for times that are duals, of one for times a level lower."""
    fun, rhs = problem.fun, RightHandSide(problem.inplace, problem.until_output)
    evaluate, evaluate_first = make_evaluate(rhs), make_evaluate(rhs, first=True)
    as_state = array_state if problem.inplace else tuple_or_array_state
    workspace = make_workspace(2)

    def solve(y0, given_ts, given_args=()):
        ts, own_args = uniform(given_ts), plain(given_args)
        args = borrow(own_args)
        structure = structure_of(y0)
        fixed = fixed_times(ts)
        initial = as_state(y0, (args, ts))
        memory, (stage, moved) = workspace(initial)
        if len(ts) > 0:
            slope = evaluate_first(fun, stage, fixed[0], initial, structure, args)
            initial = combine(initial, initial, -tangent_at(ts, 0), (1.0,), (slope,))
        ys = solve_below(restored(structure, initial), fixed, own_args)
        for row in range(len(ts)):
            y = read_row(moved, ys, row, initial)
            slope = evaluate(fun, stage, fixed[row], y, structure, args)
            write_row(ys, row, combine(moved, y, tangent_at(ts, row), (1.0,), (slope,)))
        hold(memory)
        return ys

    return solve
