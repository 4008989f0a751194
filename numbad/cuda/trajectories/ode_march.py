"""One trajectory of an ODE in one thread, of the very pieces that `nd.ode.solver` is made of."""

from dataclasses import dataclass

import numpy as np
from numba.core import types

from numbad.compilation.memo import built_once
from numbad.cuda.kernels import Kernel
from numbad.cuda.trajectories.even_march import make_even_march, no_step_ahead
from numbad.cuda.trajectories.event_march import make_event_march
from numbad.cuda.trajectories.given import Absent, named_classes
from numbad.cuda.trajectories.kernel_source import argument_types, kernel_function
from numbad.cuda.trajectories.listed_returns import read_as_tuples
from numbad.cuda.trajectories.outputs import make_put
from numbad.cuda.trajectories.stiff_steps import LARGEST, kind_on_gpu
from numbad.errors import ArgumentError, UnsupportedError
from numbad.forward.dualize import has_own_rule
from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.integrate import Problem, Settings, make_pieces
from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.solving import with_events
from numbad.ode.state import structure_of
from numbad.ode.state_types import components_of
from numbad.ode.tableau import Tableau
from numbad.ode.times import check_times

METHODS = (
    "explicit Runge-Kutta ones, such as 'Tsit5', and Rosenbrock methods, such as 'Rodas5P', go"
)
OWN_RULE = "derivatives of a right-hand side that has a rule of its own"


@dataclass(frozen=True)
class OdePlan:
    """What `nd.ode.solver` was asked for."""

    problem: Problem
    settings: Settings
    events: tuple = ()

    @classmethod
    def of(cls, build, given):
        """From a solver's origin; UnsupportedError for what has no code for a GPU yet."""
        problem, settings = given[:2]
        events = _events_of(given[2]) if build is with_events else ()
        method = problem.tableau
        if not goes(method):
            raise refused(f"method {method.name!r}; {METHODS}")
        if settings.mass is not None or settings.sparsity is not None:
            raise refused("mass_matrix and jac_sparsity")
        if problem.inplace:
            raise refused("inplace=True, which writes into arrays; fun may return a tuple")
        return cls(problem, settings, events)

    def check(self, y0, ts, args, first):
        """Raise where a state has more components than equations are solved for; types tell the rest."""
        too_large = beyond(self.problem.tableau, len(components_of(y0.type)))
        if too_large:
            raise refused(too_large)

    def states(self, times, width):
        """How many states are alive at once: counted in what the assembler says of kernels of these kinds."""
        method = self.problem.tableau
        if method.is_implicit:  # the Jacobian, and its factors without partials
            return method.stages + 2 + width + 2 * (len(times) != 2) + 3 * bool(self.events)
        if self.events:
            return method.slopes + 7
        return method.stages + 2 if len(times) == 2 else method.slopes + 5

    def kernel(self, y0, args, keys, times, precision, seeds):
        """The kernel for structures of what a trajectory is given."""
        check_keys(keys)
        dense = len(times) != 2 or bool(self.events)
        given = self.problem, self.settings, self.events
        return ode_kernel(*given, y0, args, dense, precision, seeds)

    def arguments(self, times, first):
        """What the kernel takes besides leaves and results."""
        return [times]

    def times(self, ts, precision):
        """The output times in the precision asked for; TimesError where they do not increase or decrease."""
        times = np.asarray(ts, float).astype(precision).astype(float)
        status, time = check_times(times, 0)
        if status != failure.RUNNING:
            raise failure.TimesError(status, time)
        return times

    def told(self, code, stopped_at, times):
        """Why a trajectory failed."""
        return failure.describe(code, stopped_at)


def goes(method):
    """Whether there is code for the steps of a method."""
    return type(method) in (Tableau, Rosenbrock)


def beyond(method, components):
    """What is too large where a method cannot take so many components, else None."""
    if method.is_implicit and components > LARGEST:
        return f"method {method.name!r} with {components} components; up to {LARGEST} go"
    return None


def check_keys(keys):
    """ArgumentError where there are keys."""
    if keys != Absent():
        raise ArgumentError("an ODE takes no keys: leave them out of nd.cuda.ensemble")


def is_with_events(solve):
    """Whether something is a solver with events."""
    return getattr(solve, "origin", (None,))[0] is with_events


def _events_of(declared):
    """The events of a solver; UnsupportedError for what has no code."""
    if declared.keep:
        raise refused("keep_events")
    return declared.events


def refused(what):
    """An UnsupportedError for part of a problem that the CPU can do."""
    return UnsupportedError(
        f"nd.cuda.ensemble has no code yet for {what}. On the CPU the solver's result does, in a loop over "
        "numba.prange"
    )


@built_once(lambda problem, *_: problem.fun)
def ode_kernel(problem, settings, events, y0, args, dense, precision, seeds):
    """The `Kernel` for a problem, structures of arguments, a precision and what derivatives are taken by."""
    march = march_with(problem, settings, dense, seeds, events, (y0.type, args.type))
    namespace = {"march": march, **named_classes(y0, args)}
    state, further = y0.source(seeds.read), args.source(seeds.read)
    body = [f"code, stopped_at, row = march(i, ts, tables, {state}, {further})"]
    leaves = (*y0.leaves(), *args.leaves())
    function = kernel_function(leaves, ["ts"], body, namespace, seeds)
    return Kernel(function, argument_types(leaves, [types.float64[::1]], seeds), precision)


def march_with(problem, settings, dense, seeds, events=(), given=()):
    """`march` of a problem as it stands where derivatives are taken by `seeds`.

    With events, `given` are the types of the initial state and of the further arguments.
    """
    by_duals = bool(seeds.numbers)
    for function in _differentiated(problem, events, by_duals):
        if has_own_rule(function):
            raise refused(f"derivatives of {function.__name__}, which has a rule of its own")
    put = make_put(seeds.first, seeds.is_first)
    problem = problem._replace(fun=read_as_tuples(problem.fun, by_duals))
    pieces = make_pieces(problem, kind_on_gpu)
    if events:
        return make_event_march(problem, pieces, settings, events, *given, by_duals, put)
    return march_of(problem, pieces, settings, dense, put)


def _differentiated(problem, events, by_duals):
    """The users' functions that are called with dual numbers."""
    if by_duals or problem.tableau.is_implicit:
        yield problem.fun
    for event in events:
        given = (event.condition, event.change, event.times) if by_duals else (event.condition,)
        yield from (function for function in given if function is not None)


def march_of(problem, pieces, settings, dense, put):
    """The compiled `march(i, ts, tables, y0, args) -> (status, t, row)`: trajectory `i`, into `tables`.

    `dense`: whether there are outputs between the first and the last. `row` is the first not reached.
    """
    if dense:
        return _through(pieces, settings, put)
    even = isinstance(problem.tableau, Tableau) and not problem.tableau.adaptive
    ahead = make_even_march(problem, pieces, settings) if even else no_step_ahead
    return _to_the_end(pieces, settings, put, ahead)


def _to_the_end(pieces, settings, put, ahead):
    """`march` for two outputs, the start and the end: no more is kept in registers than a step needs.

    `ahead`, as `make_even_march` makes it, is where the steps go on from.
    """
    fun, as_state, start, advance, close, settle = _named(
        pieces, "fun as_state start advance close settle"
    )
    most = settings.max_steps

    @inlined
    def march(i, ts, tables, y0, args):
        structure = structure_of(y0)
        initial = as_state(y0, args)
        t, t_end = ts[0], ts[1]
        put(tables, 0, i, initial)
        _, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        if t != t_end and status == failure.RUNNING:
            t, y, k0, control = ahead(work, t, t_end, y, k0, control, structure, args, None, most)
        while t != t_end and status == failure.RUNNING:
            if control.attempts >= most:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, _, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            slopes = close(fun, work, t_new, w, stages, structure, args)
            t = t_new
            y, k0 = settle(work, w, slopes)
        put(tables, 1, i, y)
        return status, t, 1 + (status == failure.RUNNING)

    return march


def _through(pieces, settings, put):
    """`march` for any outputs, those within a step by the method's interpolant."""
    fun, as_state, start, advance, close, extend, interpolate, settle, spare = _named(
        pieces, "fun as_state start advance close extend interpolate settle spare"
    )
    most = settings.max_steps

    @inlined
    def march(i, ts, tables, y0, args):
        structure = structure_of(y0)
        initial = as_state(y0, args)
        count = len(ts)
        t, t_end = ts[0], ts[count - 1]
        direction = t_end - t
        put(tables, 0, i, initial)
        _, work, y, k0, status, control = start(initial, t, t_end, structure, args, settings)
        row = 1
        while row < count and status == failure.RUNNING:
            if control.attempts >= most:
                status = failure.TOO_MANY_STEPS
                break
            status, t_new, h, w, stages, control = advance(
                work, t, t_end, y, k0, control, structure, args, settings
            )
            if status != failure.RUNNING:
                break
            slopes = close(fun, work, t_new, w, stages, structure, args)
            if (ts[row] - t_new) * direction < 0.0:
                weighed = extend(fun, work, t, h, y, slopes, structure, args)
                while (ts[row] - t_new) * direction < 0.0:
                    theta = (ts[row] - t) / h
                    put(tables, row, i, interpolate(work[spare], theta, h, y, weighed))
                    row += 1
            if ts[row] == t_new:
                put(tables, row, i, w)
                row += 1
            t = t_new
            y, k0 = settle(work, w, slopes)
        return status, t, row

    return march


def _named(pieces, names):
    return [getattr(pieces, name) for name in names.split()]
