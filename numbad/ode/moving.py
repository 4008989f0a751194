"""Derivatives by the times: the solution moves along its own slope.

With times ts = fixed + shift, where the shift has value zero and the partials of one level,

    y(ts[k]) = y(fixed[k]) + f(fixed[k], y) * shift[k]

exactly to first order in that level, and the solution starts from y0 - f(fixed[0], y0) * shift[0],
which is where it passes through y0 at ts[0]. Beside a mass matrix the slope of the solution takes the place
of f. Lower levels are in `fixed`, and the integration, like the steps it takes, depends on the values only.
"""

from numbad.errors import UnsupportedError
from numbad.forward.refuse import told
from numbad.ode.compiling import inlined
from numbad.ode.interpolated_slopes import make_lacking
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.state import (
    array_state,
    borrow_given,
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
from numbad.ode.true_slope import check_mass_of_events, make_slope_at
from numbad.operators.stop import as_constant


def check_mass_of_times(mass):
    """Raise UnsupportedError where the slope of a solution, and so derivatives by times, are not known."""
    try:
        check_mass_of_events(mass, "derivatives by ts", UnsupportedError)
    except UnsupportedError as error:
        raise told(error) from None


def solve_at_moving_times(solve_below, problem, settings):
    """The Python function `solve` for times that are duals, of one for times a level lower."""
    mass = settings.mass
    rhs = RightHandSide(problem.inplace, problem.known)
    slope_at = make_slope_at(problem, mass, make_evaluate(rhs))
    first_slope = make_slope_at(problem, mass, make_evaluate(rhs, first=True))
    as_state = array_state if problem.inplace else tuple_or_array_state
    workspace = make_workspace(3)
    add_lacking = _make_add_lacking(problem, settings)

    def solve(y0, given_ts, given_args=()):
        ts, own_args = uniform(given_ts), plain(given_args)
        args = borrow_given(own_args)
        structure = structure_of(y0)
        fixed = fixed_times(ts)
        initial = as_state(y0, (args, ts))
        memory, (stage, moved, more) = workspace(initial)
        if len(ts) > 0:
            slope = first_slope(stage, fixed[0], initial, structure, args)
            initial = combine(initial, initial, -tangent_at(ts, 0), (1.0,), (slope,))
        ys = solve_below(restored(structure, initial), fixed, own_args)
        for row in range(len(ts)):
            y = read_row(moved, ys, row, initial)
            slope = slope_at(stage, fixed[row], y, structure, args)
            write_row(ys, row, combine(moved, y, tangent_at(ts, row), (1.0,), (slope,)))
        add_lacking(ys, more, moved, y0, ts, own_args, initial)
        hold(memory)
        return ys

    return solve


def _make_add_lacking(problem, settings):
    """The compiled `add_lacking(ys, more, moved, y0, ts, args, like)`: see `interpolated_slopes`."""
    if not problem.tableau.is_implicit:
        return inlined(lambda ys, more, moved, y0, ts, args, like: None)
    lacking = make_lacking(problem._replace(jac=None), settings)

    @inlined
    def add_lacking(ys, more, moved, y0, ts, args, like):
        table = lacking(as_constant(y0), as_constant(ts), as_constant(args))
        for row in range(len(ts)):
            y, lacks = read_row(moved, ys, row, like), read_row(more, table, row, like)
            write_row(ys, row, combine(moved, y, tangent_at(ts, row), (1.0,), (lacks,)))

    return add_lacking
