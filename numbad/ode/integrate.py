"""The integration: steps of chosen size from the first time to the last, one after the other."""

import math
from collections import namedtuple
from dataclasses import astuple

import numpy as np

from numbad.compilation.memo import built_once
from numbad.ode import failure
from numbad.ode.between_steps import make_checked, may_be_blind
from numbad.ode.compiling import generic, inlined
from numbad.ode.control import (
    EVEN_STRETCH,
    LOG_SMALLEST_PREVIOUS,
    STRETCH,
    Control,
    aimed,
    make_control,
    make_first_step,
    smaller,
)
from numbad.ode.implicit_steps import implicit_steps, make_implicit_advance
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.known_switches import NONE_KNOWN
from numbad.ode.multistep import Multistep
from numbad.ode.multistep_steps import make_multistep_advance
from numbad.ode.rhs import RightHandSide, make_evaluate
from numbad.ode.rosenbrock import Rosenbrock, rosenbrock_steps
from numbad.ode.state import (
    all_finite,
    array_state,
    borrow,
    borrow_given,
    fits,
    hold,
    keep,
    mass_fits,
    pattern_fits,
    structure_of,
    table_for,
    tuple_or_array_state,
    write_row,
)
from numbad.ode.step import (
    buffers_needed,
    explicit_steps,
    make_close,
    make_error,
    make_extend,
    make_interpolate,
    make_settle,
)
from numbad.ode.stiffness import make_looks_stiff
from numbad.ode.switching import Switching, switching_pieces
from numbad.ode.symplectic import Symplectic, symplectic_steps
from numbad.ode.times import check_times, time_at

# What is compiled once for a right-hand side. `until_output`: the last of the times is where steps aim at,
# and no output; the integration ends with the step that reaches the last output. `checkpoints`: how many
# states the discrete adjoint may keep, None for all. `jac`: the user's Jacobian, None for our own.
# `known`: the switches that events tell of.
Problem = namedtuple(
    "Problem",
    "fun tableau inplace control_partials adjoint until_output checkpoints jac known",
    defaults=("auto", False, None, None, NONE_KNOWN),
)

# What a call can change; first_step 0.0 asks for the automatic choice, mass None for the identity, sparsity
# None for a dense Jacobian.
Settings = namedtuple(
    "Settings", "rtol atol first_step max_step max_steps mass sparsity", defaults=(None, None)
)

# The compiled pieces of an integration, which row of the workspace is free between steps, what steps
# remember, and in which rows the state and its slope may lie where steps are taken up again.
Pieces = namedtuple(
    "Pieces",
    "fun as_state start advance close extend interpolate settle explain spare tally memory restart",
)

# After so many steps a symplectic method looks again whether the problem is separable: three evaluations.
STEPS_UNSEEN = 32

# What an integration notes of its steps: `begin(initial) -> log`, `put(log, work, t, h, t_new, w,
# stages) -> log`.
Log = namedtuple("Log", "begin put")


def dispatcher_of(problem, *settings):
    """The right-hand side of a problem."""
    return problem.fun


def as_passed(settings):
    """Settings as compiled code takes them: tuples, which have a hash, as arrays."""
    by_component = {
        name: np.array(getattr(settings, name))
        for name in ("rtol", "atol", "mass")
        if type(getattr(settings, name)) is tuple
    }
    for name in ("mass", "sparsity"):
        given = getattr(settings, name)
        if hasattr(given, "_fields"):
            by_component[name] = given._make(map(_as_array, given))
    return settings._replace(**by_component)


def _as_array(numbers):
    """Of none, an array of integers: columns of a pattern without entries."""
    return np.array(numbers) if numbers else np.empty(0, np.int64)


def content_of(problem):
    """What compiled code for a problem depends on, in a form that has a digest."""
    parts = problem.inplace, problem.control_partials, problem.until_output
    return problem.fun, astuple(problem.tableau), *parts, problem.jac, problem.known


def functions_of(problem):
    """The users' functions that compiled code for a problem calls."""
    return (problem.fun,) if problem.jac is None else (problem.fun, problem.jac)


def kind_on_cpu(tableau):
    """What makes the steps of a method."""
    if isinstance(tableau, ImplicitTableau):
        return implicit_steps
    if isinstance(tableau, Symplectic):
        return symplectic_steps
    return rosenbrock_steps if isinstance(tableau, Rosenbrock) else explicit_steps


def make_pieces(problem, kind_of_steps=kind_on_cpu):
    """The functions that an integration loop is put together from, for one right-hand side.

    `kind_of_steps(tableau)` makes the steps of a method where they are not those of the CPU.
    """
    method = problem.tableau
    if isinstance(method, Switching):
        explicit, _ = _pieces_of(method.explicit, problem)
        return switching_pieces(explicit, method, *_pieces_of(method.stiff, problem))
    return _pieces_of(method, problem, kind_of_steps)[0]


def _pieces_of(tableau, problem, kind_of_steps=kind_on_cpu):
    """The pieces for a method, and its `Steps`."""
    with_partials = problem.control_partials
    fun, rhs = problem.fun, RightHandSide(problem.inplace, problem.known)
    kind = kind_of_steps(tableau)
    steps = kind(tableau, rhs, *_given_jacobian(tableau, problem))
    pieces = Pieces(
        fun=fun,
        as_state=array_state if problem.inplace else tuple_or_array_state,
        start=_make_start(tableau, fun, rhs, steps, with_partials),
        advance=_make_advance(tableau, fun, rhs, steps, problem),
        close=make_close(tableau, rhs),
        extend=make_extend(tableau, rhs),
        interpolate=make_interpolate(tableau),
        settle=make_settle(tableau),
        explain=_make_explain(tableau, fun, rhs),
        spare=buffers_needed(tableau) - 3,
        tally=steps.tally,
        memory=steps.memory,
        restart=_make_restart(buffers_needed(tableau) - 1),
    )
    return pieces, steps


def _make_restart(row):
    return inlined(lambda work: (work[row], work[0]))


def _given_jacobian(tableau, problem):
    """What the steps of an implicit method take besides."""
    return (problem.jac,) if tableau.is_implicit else ()


def _make_advance(tableau, fun, rhs, steps, problem):
    """The compiled `advance`: one accepted step."""
    with_partials = problem.control_partials
    if isinstance(tableau, Multistep):
        return make_multistep_advance(tableau, fun, rhs, with_partials, problem.jac)
    if isinstance(tableau, ImplicitTableau):
        made = make_implicit_advance(tableau, fun, rhs, with_partials, problem.jac)
    else:
        make = _make_tried_advance if tableau.adaptive else _make_even_advance
        made = make(tableau, fun, steps, with_partials)
    return make_checked(made, tableau, fun, make_evaluate(rhs)) if may_be_blind(tableau) else made


def _make_start(tableau, fun, rhs, steps, control_partials):
    """The compiled `start`: workspace, first slope, first step size."""
    evaluate_first = make_evaluate(rhs, first=True)
    first_step = make_first_step(tableau, fun, make_evaluate(rhs), control_partials)
    workspace, examine = steps.workspace, steps.examine
    spare, last = buffers_needed(tableau) - 3, buffers_needed(tableau) - 1
    adaptive = tableau.adaptive

    @inlined
    def start(initial, t, t_end, structure, args, settings):
        memory, work = workspace(initial, args, settings)
        y = keep(work[last], initial)
        k0 = evaluate_first(fun, work[0], t, y, structure, args)
        direction = 1.0 if t_end > t else -1.0
        status = failure.RUNNING
        h = settings.first_step
        if not (fits(settings.rtol, y) and fits(settings.atol, y)):
            status = failure.WRONG_TOLERANCES
        elif not mass_fits(settings.mass, y):
            status = failure.WRONG_MASS
        elif not (all_finite(y) and all_finite(k0)):
            status = failure.NOT_FINITE_AT_START
        elif not pattern_fits(settings.sparsity, y):
            status = failure.WRONG_PATTERN_SIZE
        else:
            status = examine(fun, work, t, y, k0, structure, args, settings)
        if status == failure.RUNNING and adaptive and h == 0.0 and t_end != t:
            longest = smaller(abs(t_end - t), settings.max_step)
            buffers = work[spare], work[1]
            h = first_step(buffers, t, y, k0, direction, longest, structure, args, settings)
        return memory, work, y, k0, status, Control(direction * h, LOG_SMALLEST_PREVIOUS, 0)

    return start


def _make_tried_advance(tableau, fun, steps, control_partials):
    """The compiled `advance`: one accepted step, after as many rejected ones as it takes."""
    prepare, step = steps.prepare, steps.step
    mean_square_error = make_error(tableau, control_partials)
    control = make_control(tableau)

    @inlined
    def advance(work, t, t_end, y, k0, last, structure, args, settings):
        h, log_error, attempts = last
        status = failure.RUNNING
        accepted = again = False
        prepare(fun, work, t, y, structure, args)
        while not accepted and status == failure.RUNNING:
            if abs(h) > settings.max_step:
                h = math.copysign(settings.max_step, h)
            t_new, h = aimed(t, h, t_end, STRETCH)
            w, stages = step(fun, work, t, t_new, h, y, k0, structure, args)
            square = mean_square_error(stages, h, y, w, settings.rtol, settings.atol)
            accepted = square <= 1.0 and all_finite(w)
            factor, log_error = control(square, accepted, again, log_error)
            attempts += 1
            h_tried = h
            h *= factor
            again = True
            if not accepted:
                if t + 0.1 * h == t:
                    status = failure.STEP_TOO_SMALL if square > 1.0 else failure.NOT_FINITE
                elif attempts >= settings.max_steps:
                    status = failure.TOO_MANY_STEPS
        return status, t_new, h_tried, w, stages, Control(h, log_error, attempts)

    return advance


def _make_even_advance(tableau, fun, steps, control_partials):
    """The compiled `advance` of a method without an error estimate: one step of the size given."""
    prepare, step, look_again = steps.prepare, steps.step, _make_look_again(tableau, steps)

    @inlined
    def advance(work, t, t_end, y, k0, last, structure, args, settings):
        status = look_again(fun, work, t, y, k0, last.attempts, structure, args, settings)
        h = last.h
        if abs(h) > settings.max_step:
            h = math.copysign(settings.max_step, h)
        t_new, h = aimed(t, h, t_end, EVEN_STRETCH)
        prepare(fun, work, t, y, structure, args)
        w, stages = step(fun, work, t, t_new, h, y, k0, structure, args)
        if status == failure.RUNNING and not all_finite(w):
            status = failure.STEP_NOT_FINITE
        return status, t_new, h, w, stages, Control(last.h, last.log_error, last.attempts + 1)

    return advance


def _make_look_again(tableau, steps):
    """The compiled `look_again`: the status of what is given, which some methods ask for now and then."""
    if not isinstance(tableau, Symplectic):

        @inlined
        def looks_at_nothing(fun, work, t, y, k0, attempts, structure, args, settings):
            return failure.RUNNING

        return looks_at_nothing
    examine = steps.examine

    @inlined
    def look_again(fun, work, t, y, k0, attempts, structure, args, settings):
        if attempts % STEPS_UNSEEN == STEPS_UNSEEN - 1:
            return examine(fun, work, t, y, k0, structure, args, settings)
        return failure.RUNNING

    return look_again


def _make_explain(tableau, fun, rhs):
    """The compiled `explain` of a final status: with a word on stiffness, where steps were short."""
    if tableau.is_implicit:

        @inlined
        def explain(status, work, t, y, k0, h, t_end, structure, args, settings):
            return status

        return explain
    looks_stiff = make_looks_stiff(tableau, fun, make_evaluate(rhs), buffers_needed(tableau) - 3)

    @inlined
    def explain(status, work, t, y, k0, h, t_end, structure, args, settings):
        short = status == failure.TOO_MANY_STEPS or status == failure.STEP_TOO_SMALL
        if short and looks_stiff(work, t, y, k0, h, t_end, structure, args, settings):
            return status + failure.LOOKS_STIFF
        return status

    return explain


@built_once(dispatcher_of)
def make_integrate(problem):
    """The dispatcher `integrate(y0, ts, args, settings) -> (ys, status, t, None)` for a problem."""
    content = content_of(problem)

    def integrate(y0, ts, args, settings):
        raise NotImplementedError(content)

    def choose(*argument_types):
        return integration(make_pieces(problem), NO_LOG, problem.until_output)

    origin = make_integrate, (problem,)
    return generic(integrate, content, choose, origin, around=functions_of(problem))


NO_LOG = Log(inlined(lambda initial: None), inlined(lambda log, work, t, h, t_new, w, stages: None))


def integration(pieces, steps, until_output=False):
    """The Python function `integrate(y0, ts, args, settings) -> (ys, status, t, log of steps)`."""
    aims = int(until_output)
    fun, as_state, start, advance, close, extend, interpolate, settle, explain, spare, *_ = pieces
    begin_log, put_in_log = steps  # names of functions, which Numba can inline

    def integrate(y0, ts, given_args, given_settings):
        args, settings = borrow_given(given_args), borrow(given_settings)
        structure = structure_of(y0)
        initial = as_state(y0, args)
        count = len(ts)
        ys = table_for(count, initial)
        log = begin_log(initial)
        status, t = check_times(ts, aims)
        if status != failure.RUNNING:
            return ys, status, t, log
        t_end = time_at(ts, count - 1)
        direction = t_end - t
        write_row(ys, 0, initial)
        write_row(ys, count - 1, initial)  # until the output there, if it is one
        memory, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        row = 1
        while row < count - aims and status == failure.RUNNING:
            if control.attempts >= settings.max_steps:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            log = put_in_log(log, work, t, h, t_new, w, stages)
            slopes = close(fun, work, t_new, w, stages, structure, args)
            if (time_at(ts, row) - t_new) * direction < 0.0:
                dense = extend(fun, work, t, h, y, slopes, structure, args)
                while (time_at(ts, row) - t_new) * direction < 0.0:
                    theta = (time_at(ts, row) - t) / h
                    write_row(ys, row, interpolate(work[spare], theta, h, y, dense))
                    row += 1
            if time_at(ts, row) == t_new:
                write_row(ys, row, w)
                row += 1
            t = t_new
            y, k0 = settle(work, w, slopes)
        status = explain(status, work, t, y, k0, control.h, t_end, structure, args, settings)
        hold(memory)
        return ys, status, t, log

    return integrate
