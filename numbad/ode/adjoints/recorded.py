"""The solution with a record of its steps, for a sweep back through them."""

from functools import cache

import numpy as np

from numbad.compilation.memo import built_once
from numbad.ode.adjoints.adjoint_of_method import step_adjoint
from numbad.ode.adjoints.left_in_args import checked
from numbad.ode.adjoints.sensitivities import have_duals, solution_without_record
from numbad.ode.adjoints.stretches import make_marking
from numbad.ode.compiling import generic, inlined
from numbad.ode.fixed_times import check
from numbad.ode.integrate import (
    Log,
    as_passed,
    content_of,
    dispatcher_of,
    functions_of,
    integration,
    make_integrate,
    make_pieces,
)
from numbad.ode.state import plain, table_for, write_row
from numbad.ode.tables import FIRST_ROWS, enlarged
from numbad.ode.times import uniform


@built_once(dispatcher_of)
def recorded(problem, settings, solve):
    """The dispatcher `solve(y0, ts, args) -> (ys, ((nodes, states), ys))` for a problem and its solver.

    Row k of `nodes` holds the time at which step k begins, its size and its kind, row k of `states` the state
    there; the last rows are those of the end. Where the adjoint of the method asks for stages, the
    rows of these follow that of the state. With `checkpoints`, what is kept is that of `make_marking`.
    """
    content = *content_of(problem), problem.checkpoints, tuple(settings)

    def solve_recorded(y0, ts, args=()):
        raise NotImplementedError(content)

    def choose(y0, ts, args):
        if have_duals(ts):
            return solution_without_record(solve)
        twice, passed, put_back = checked(problem, y0, args)
        if problem.checkpoints:
            marked = _marked(make_marking(problem), as_passed(settings))
            if put_back is None:
                return marked
            return _after_a_check(
                make_integrate(twice), as_passed(settings), passed, put_back, marked
            )
        stride = 1 + step_adjoint(problem.tableau, problem.inplace).stages
        return _recorded(_integrate(twice), as_passed(settings), stride, passed)

    return generic(solve_recorded, content, choose, (recorded, (problem, settings, solve)))


def _recorded(integrate, settings, stride, passed):
    def solve(y0, ts, args=()):
        ys, status, t, (steps, nodes, states) = integrate(y0, uniform(ts), passed(args), settings)
        check(status, t)
        return ys, ((nodes[: steps + 1], states[: steps * stride + 1]), ys)

    return solve


def _after_a_check(integrate, settings, passed, put_back, solve):
    """Solve before, calling the right-hand side twice: where steps are repeated, one code takes them."""
    solve = inlined(solve)

    def solve_twice(y0, ts, args=()):
        given = passed(args)
        integrate(y0, uniform(ts), given, settings)
        put_back(args, given)
        return solve(y0, ts, args)

    return solve_twice


def _marked(integrate, settings):
    def solve(y0, ts, args=()):
        ys, status, t, records = integrate(y0, uniform(ts), plain(args), settings)
        check(status, t)
        return ys, (records, ys)

    return solve


@built_once(dispatcher_of)
def _integrate(problem):
    """`make_integrate` with a log of the steps."""
    content = content_of(problem)
    adjoint = step_adjoint(problem.tableau, problem.inplace)

    def integrate_recorded(y0, ts, args, settings):
        raise NotImplementedError(content)

    def choose(*argument_types):
        return integration(make_pieces(problem), _log(adjoint), problem.until_output)

    origin = _integrate, (problem,)
    return generic(integrate_recorded, content, choose, origin, around=functions_of(problem))


@cache
def _log(adjoint):
    """The log of the steps, with what the adjoint of one needs."""
    stride, put_stages, kind = 1 + adjoint.stages, adjoint.put, adjoint.kind

    @inlined
    def begin(initial):
        nodes, states = np.empty((FIRST_ROWS, 3)), table_for(FIRST_ROWS * stride, initial)
        write_row(states, 0, initial)
        return 0, nodes, states

    @inlined
    def put(log, work, t, h, t_new, w, stages):
        step, nodes, states = log
        if step + 1 == len(nodes):
            nodes, states = enlarged(nodes, 2 * len(nodes)), enlarged(states, 2 * len(states))
        nodes[step, 0], nodes[step, 1], nodes[step, 2] = t, h, kind(work, stages)
        nodes[step + 1, 0] = t_new
        put_stages(states, step * stride + 1, stages)
        write_row(states, (step + 1) * stride, w)
        return step + 1, nodes, states

    return Log(begin, put)
