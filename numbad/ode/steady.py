"""Steady states: where a system comes to rest, differentiated by the implicit function theorem.

The system is integrated over stretches of growing length until Newton's method, from where it has come,
ends within the tolerances; with the events of a solver, up to behind the last one (`last_event`). The root of
the g of `equilibrium`, in which what is conserved stays, is the steady state.

Its derivatives are those of Newton steps with W = (dg/dy)^-1 held constant, each of which makes them exact to
one order more. A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, section 15.1.
"""

import math
from collections import namedtuple

import numpy as np
from numba import typeof
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.forward.dual import duals_in
from numbad.forward.dualize import dualized
from numbad.ir.functionals import functional
from numbad.ode import failure
from numbad.ode.compiling import as_dispatcher
from numbad.ode.complaint import returned_type
from numbad.ode.complex_states import ComplexParts, settings_of_parts
from numbad.ode.equilibrium import (
    DOUBLINGS,
    UnsettledError,
    first_stretch,
    is_short,
    make_equilibrium,
)
from numbad.ode.forms import as_arguments, as_form, as_row
from numbad.ode.integrate import Problem, as_passed, dispatcher_of, make_integrate
from numbad.ode.last_event import count_events, make_find_behind_events
from numbad.ode.methods import find_method
from numbad.ode.orders import order_of
from numbad.ode.other_forms import form_of
from numbad.ode.python_values import as_numbers, check_values
from numbad.ode.rhs import check_derivative, members
from numbad.ode.segments import Declared
from numbad.ode.solving import checked_settings, compiled, with_events
from numbad.ode.state_forms import call_in_form, translated
from numbad.ode.state_types import components_of, in_functions, is_scalar, type_without_duals
from numbad.ode.times import uniform
from numbad.operators.operator_dispatcher import original
from numbad.operators.stop import as_constant
from numbad.rules.registry import CONSTANT_CALLS
from numbad.source import define

# How far from a state its Jacobian shows what is conserved, beside that at the beginning.
AROUND = 0.5
GROWN = 1e6  # times its beginning, a state that the integration ends with has grown
DEFAULTS = "Rodas5P", 100_000, False

# What is followed, and how.
Followed = namedtuple("Followed", "problem settings events")


def steady_state(fun, y0, args=(), method="Rodas5P", max_steps=100_000, inplace=False):
    """Where the system dy/dt = fun(t, y, *args) comes to rest, from the state y0.

    It is differentiated by `args`, in both modes and to the fourth order, by the implicit function theorem:
    no derivative goes through the integration. Totals that the system conserves are found, and the steady
    state depends on `y0` through them alone. A solver in place of `fun` brings events on the way. To be
    called from Python and from nopython code; there options are written out as constants.

    Parameters
    ----------
    fun : function, Numba dispatcher or solver
        `fun(t, y, *args)` as for `numbad.ode.solver`; it must not depend on the time. Or what that
        returned: the system is then followed from t = 0 by the solver's method, to its tolerances, with its
        `events` and `tstops`. Its `fun` may depend on the time up to the last of the times known beforehand,
        before which no state counts as steady.
    y0 : float, tuple, namedtuple or array
        The state at the beginning, in any form that `numbad.ode.solver` takes; from Python also a list. A
        steady state that repels is the result only where the system begins in it exactly.
    args : tuple
        Further arguments, or one of another type.
    method : str
        The method by which the system is followed to where it settles, one of `numbad.ode.solver`'s. Like
        `max_steps` and `inplace`, it is left out beside a solver.
    max_steps : int
        Steps of this method, at most, for each doubling of the time.
    inplace : bool
        Whether `fun(t, y, dy, *args)` writes its result.

    Returns
    -------
    array, shape (n,)
        The steady state, to about rounding: complex of a complex `y0`, in the shape of one that is an array.
        What is conserved after the last event has the error of the solution up to there, and the
        derivatives of that.

    Raises
    ------
    ConvergenceError
        where the system does not settle: it oscillates, grows, or moves on for ever; or conditions of
        events cross zero more than 1000 times.
    SingularError
        where the steady state is not isolated although nothing is conserved: at a bifurcation. And where
        the condition of an event is zero there, to the solver's tolerances.
    ArgumentError
        where `fun` depends on the time, or the condition of an event does so at the steady state; for a
        solver with a terminal event or a mass matrix.
    ModelError
        as `numbad.ode.solver`.
    IntegrationError
        where the integration fails, as that of `numbad.ode.solver`.

    Examples
    --------
    Two partners that bind, with the totals of both conserved:

    >>> import numbad as nd
    >>> def binding(t, y, on, off):
    ...     a, b, c = y
    ...     rate = on * a * b - off * c
    ...     return -rate, -rate, rate
    >>> def bound(a, off):
    ...     return nd.ode.steady_state(binding, (a, 3.0, 0.0), (1.0, off))[2]
    >>> value, (by_a, by_off) = nd.value_and_grad(bound, (0, 1))(2.0, 1.0)
    >>> round(float(value), 6), round(by_a, 6), round(by_off, 6)           # c = (a - c) (b - c) on / off
    (1.267949, 0.5, -0.366025)
    """
    options = method, int(max_steps), bool(inplace)
    y0 = as_numbers("y0", y0) if isinstance(y0, list) else y0
    check_values("nd.ode.steady_state", {"y0": y0, "args": args})
    return settling_of(as_dispatcher(fun), options, typeof(y0), typeof(args))(y0, args)


@overload(steady_state, strict=False, prefer_literal=True)
def _steady_state(fun, y0, args=(), method="Rodas5P", max_steps=100_000, inplace=False):
    if not isinstance(fun, types.Dispatcher):
        return None
    options = tuple(
        _literal(*each)
        for each in (("method", method), ("max_steps", max_steps), ("inplace", inplace))
    )
    code = settling_of(
        as_dispatcher(original(fun.dispatcher)), options, *map(type_without_duals, (y0, args))
    )
    if any(True for given in (y0, args) for _ in duals_in(given)):
        code = dualized(code)
    names = "method='Rodas5P', max_steps=100_000, inplace=False"
    source = f"def steady_state(fun, y0, args=(), {names}):\n    return code(y0, args)\n"
    return define(source, {"code": code})


def _literal(name, given):
    value = getattr(given, "literal_value", getattr(given, "value", given))
    if isinstance(value, types.Type):
        raise ArgumentError(
            f"nd.ode.steady_state: in nopython code, {name} is written out as a constant"
        )
    return value


functional(
    steady_state,
    "own args",
    as_dispatcher,
    leading=lambda options: 3 if options.get("inplace") else 2,
)


def settling_of(fun, options, y0, args):
    """The dispatcher `settle(y0, args)` for arguments of given types without duals."""
    problem, settings, events = followed(fun, options)
    form = form_of(y0, problem.inplace)
    if form is None:
        check_model(problem.fun, problem.inplace, y0, args)
        return settling(problem, settings, events)
    problem, events = translated(form, problem, events, y0, args)
    if isinstance(form, ComplexParts):
        settings = settings_of_parts(settings)
    return _settling_in_form(settling(problem, settings, events), form, args)


def followed(fun, options):
    """What a right-hand side with options, or a solver, says; raises ArgumentError."""
    build, given = getattr(fun, "origin", (None, None))
    if build is not compiled and build is not with_events:
        method, max_steps, inplace = options
        settings = checked_settings(1e-6, 1e-9, None, math.inf, max_steps)
        found = Followed(Problem(fun, find_method(method), inplace, False), settings, ())
    else:
        if options != DEFAULTS:
            raise ArgumentError(
                "nd.ode.steady_state: method, max_steps and inplace are those of the solver that it is "
                "given; leave them out"
            )
        found = Followed(*given[:2], given[2].events if build is with_events else ())
    tableau = found.problem.tableau
    if not tableau.adaptive:
        raise ArgumentError(
            f"method {tableau.name!r} takes steps of one size; take 'Rodas5P', for example"
        )
    if found.settings.mass is not None:
        raise ArgumentError(
            "nd.ode.steady_state takes no solver with a mass_matrix: what it conserves is not looked for. "
            "Way out: nd.root, for the equations fun = 0"
        )
    if any(event.terminal for event in found.events):
        raise ArgumentError(
            "nd.ode.steady_state: a terminal event ends the solution before there is a steady state; leave "
            "out terminal=True"
        )
    return found


def check_model(fun, inplace, y0, args):
    """Raise ModelError where y0 is no state, or where a right-hand side does not compile or gives no slope.

    Types are without duals.
    """
    components_of(y0)
    y = in_functions(y0)
    states = (y, y) if inplace else (y,)
    given = types.float64, *states, *members(args)
    found = returned_type(cpu_target.typing_context, fun, given)
    if not inplace:
        check_derivative(found, types.UniTuple(y, 1) if is_scalar(y) else y)


@built_once(lambda settle, *_: settle)
def _settling_in_form(settle, form, args):
    """The same for states of another form, of which `settle` takes what a solver does."""

    def call(start, passed):
        return f"settle({start}, {passed}).reshape((1, -1))"

    return call_in_form(form, args, call, f"{form.rows('found')}[0]", {"settle": settle})


@built_once(dispatcher_of)
def settling(problem, settings, events):
    """The dispatcher `settle(y0, args)` that gives the steady state."""
    equilibrium = make_equilibrium(problem, settings)
    slope = equilibrium.slope
    if not events:
        find, begin = _make_find(problem, settings, equilibrium), _begin_at_once
    else:
        solve = with_events(problem, settings, Declared(events, 0, count_events))
        find, begin = make_find_behind_events(equilibrium, events, solve), _make_begin(solve)

    @jit(error_model="numpy", nogil=True)
    def settle(y0, args=()):
        rest = as_arguments(args)
        found, pull, W, t = find(as_constant(y0), as_constant(args))
        start = begin(y0, t, args, pull)
        y = as_row(found, (start, rest))
        for _ in range(order_of((y0, args))):
            y = corrected(y, slope(t, y, y0, rest), start, pull, W)
        return y

    return settle


@jit(error_model="numpy")
def corrected(y, slope, start, pull, W):
    """y - W g(y), for g = slope + pull (y - start)."""
    n = len(y)
    g = slope.copy()
    for i in range(n):
        for j in range(n):
            g[i] += pull[i, j] * (y[j] - start[j])
    out = y.copy()
    for i in range(n):
        for j in range(n):
            out[i] -= W[i, j] * g[j]
    return out


@jit
def _begin_at_once(y0, t, args, pull):
    return as_row(y0, as_arguments(args))


def _make_begin(solve):
    """The compiled `begin(y0, t, args, pull)`: the state at t, from which on nothing happens.

    Where nothing is conserved, so that pull is zero, another state will do, and no derivative goes that way.
    """

    @jit(error_model="numpy")
    def begin(y0, t, args, pull):
        if not pull.any():
            return as_row(y0, as_arguments(args))
        return as_row(solve(y0, (0.0, t), args)[1], as_arguments(args))

    return begin


def _make_find(problem, settings, equilibrium):
    """The compiled `find(y0, args) -> (y, pull, W, t)` for floats."""
    slope, by_state, tolerance, nearest, inverse, check_time = equilibrium
    integrate, passed = make_integrate(problem), as_passed(settings)

    @jit(error_model="numpy")
    def find(y0, args):
        rest = as_arguments(args)
        start = as_row(y0, ())
        f = slope(0.0, start, y0, rest)
        if not (np.all(np.isfinite(start)) and np.all(np.isfinite(f))):
            raise failure.SolveError(failure.NOT_FINITE_AT_START, 0.0)
        at_rest = is_short(f, 0.0, start)
        columns = by_state(0.0, start, y0, rest)
        y, t, stretch = start, 0.0, first_stretch(f, start, tolerance(start))
        for _ in range(DOUBLINGS):
            if not math.isfinite(t + stretch):
                break
            ys, status, reached, _ = integrate(
                as_form(y0, y), uniform((t, t + stretch)), args, passed
            )
            grown = status != failure.RUNNING and not is_short(y, GROWN, 1.0 + np.abs(start))
            if status == failure.TOO_MANY_STEPS or grown:
                check_time(t, y, y0, rest)
                raise UnsettledError(reached)
            if status != failure.RUNNING:
                raise failure.SolveError(status, reached)
            y = ys[1].copy()
            t += stretch
            stretch = t
            found, root, J, pull = nearest(t, y, start, columns, AROUND, at_rest, y0, rest)
            if found:
                return root, pull, inverse(t, root, J, pull, y0, rest), t
        check_time(t, y, y0, rest)
        raise UnsettledError(t)

    CONSTANT_CALLS.add(find)
    return find
