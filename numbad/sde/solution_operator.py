"""`solver`: a compiled, differentiable solution operator of a stochastic differential equation."""

import math
from functools import partial

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.keywords import checks_keywords
from numbad.ode.adjoints.left_in_args import changed_places
from numbad.ode.by_structure import StructureDispatcher, by_structure
from numbad.ode.compiling import as_dispatcher
from numbad.sde import events_of_paths, stretch_source
from numbad.sde.adaptive_source import AdaptiveProblem
from numbad.sde.adaptive_source import core as adaptive_core
from numbad.sde.adjoint_source import pull_back, recorded
from numbad.sde.forward_adjoint import forward_pullback
from numbad.sde.given_model import note_times
from numbad.sde.jumps_of_paths import check_jumps
from numbad.sde.methods import METHODS, find_scheme
from numbad.sde.mixed_adjoint import (
    check_mixed,
    mixed_jacobian,
    mixed_pullback,
    prefers_mixed,
)
from numbad.sde.path_source import Problem, core
from numbad.sde.reversible_adjoint import ReversibleBackward
from numbad.sde.scheme import ITO, NOISES, STRATONOVICH, ReversibleScheme
from numbad.sde.step_control import checked_stepping, refuse_stepping
from numbad.sde.stochastic_adjoint import StochasticBackward

_BACKWARD = {"reversible": ReversibleBackward, "stochastic": StochasticBackward}
_FORWARD, _MIXED = "forward", "mixed"
_NOT_DENSE = "{} does not go with dense_output=True; leave one of them out"
_ADJOINTS = ("auto", "discrete", _FORWARD, _MIXED, *_BACKWARD)


@checks_keywords("nd.sde.solver")
def solver(
    drift,
    diffusion,
    *,
    method="EulerMaruyama",
    noise="diagonal",
    calculus="ito",
    dt=None,
    rtol=None,
    atol=None,
    first_step=None,
    max_step=None,
    min_step=None,
    max_steps=None,
    events=(),
    adjoint="auto",
    checkpoints=None,
    jumps=None,
    dense_output=False,
):
    """Compile the solution operator of dy = drift(t, y, *args) dt + diffusion(t, y, *args) dW.

    Parameters
    ----------
    drift, diffusion : function or Numba dispatcher
        `drift(t, y, *args)` returns a float, tuple or array like `y`, in units of y / t. `diffusion(t, y,
        *args)` returns one like it in units of y / sqrt(t), or, for general noise, a matrix (n, m): a tuple
        of n tuples, or an array where `y` is one.
    method : str
        Ito: "EulerMaruyama" (any noise); "Milstein" (strong order 1; the slope of the diffusion by dual
        numbers); "RKMil" (the same without slopes); "SRIW1", "SRIW2", "SOSRI", "SOSRI2" (strong order 1.5;
        diagonal or scalar noise).
        Additive noise, strong order 1.5: "SRA1", "SRA2", "SRA3", "SOSRA", "SOSRA2", "ShARK"; order 1: "SEA".
        Stratonovich, any noise: "EulerHeun", "Heun", "Midpoint", "Ralston", "ReversibleHeun",
        "GeneralShARK", "SPaRK" (order 1 where the noise commutes, else 0.5), "SlowRK" (1.5 there).
        General noise with Levy areas, order 1: "RKMilGeneral" (both calculi), "LogODE" (Stratonovich).
        For a stiff drift, with an equation solved in each step: "ImplicitEM", "STrapezoid", "ISSEM" (Ito, any
        noise, order 0.5, additive 1), "ImplicitMilstein" (order 1), "SKenCarp" (additive noise that is small,
        order 1.5).
        For expectations, weak order 2: "RI1", "DRI1" (Ito), "NON" (Stratonovich; it takes the diffusion at
        t - 2 dt and t + 2 dt, too), of any noise, matrices for states in tuples.
        Underdamped Langevin dynamics, y of positions and then velocities, additive noise on these: "BAOAB",
        "ABOBA" (order 1, weak order 2), "ALIGN" (order 2).
    noise : str
        "diagonal": component i has a Brownian motion of its own. For methods of order 1 and more its
        diffusion depends on y[i] alone. "scalar": all components share one. "additive": the diffusion does
        not depend on y; vector (diagonal) or matrix. "general": a matrix.
    calculus : str
        "ito" or "stratonovich": what the equation means. A method of the other calculus gets the drift
        corrected, by half the slope of the diffusion along itself, exact by dual numbers.
    dt : float
        Step size, in units of t. The grid of steps is anchored at time 0; an output time within a step
        divides it, by a Brownian bridge. With `rtol` or `atol`: the width of the cells in which the Brownian
        path is drawn, 1.0 if left out.
    rtol, atol : float or sequence of n floats
        Steps of adaptive size: the error of a step, as estimated, is kept below `atol + rtol * |y|` (root
        mean square over the components; `atol` has the units of y). 1e-3 and 1e-6 where one is left out.
        Estimates come with the method ("SRIW1", "SOSRI", "SRA1", "SOSRA", "ShARK", "SPaRK", "Heun" and others
        of their kinds) or from taking the step in halves. Not for methods of strong order 0.5, whose limit
        may be another, and those of weak order.
    first_step, max_step, min_step : float
        Size of the first step tried (chosen by the solver, if None), of the largest, and of the smallest,
        below which a path fails (dt * 2**-26, if None), in units of t.
    max_steps : int
        Steps tried on a path, rejected ones as well, before it fails; 100,000 if None.
    events : event or sequence of events
        From `nd.ode.event`, with its direction, `terminal` and `change`. They are sought in the condition's
        values at both ends of each step, and placed in the part of it after which the condition is zero.
        Steps of one size: a path that crosses and comes back within a step is not seen, so that first
        passages are late, as if the level were 0.58 sqrt(dt) times the noise farther away; an event happens
        once in a step, and at each jump that leads to it. Adaptive steps are divided near an event until the
        state moves by less than is allowed to err, and where a condition with noise would cross unseen with a
        chance above 1 in 10,000. From a terminal event on, outputs hold the state there. Derivatives see that
        the event moves, where its condition has no noise of its own; where it has, they raise
        UnsupportedError, as second ones do for methods of first order in the drift.
    adjoint : str
        What reverse mode does. "auto", "discrete": it goes back through the steps, which it keeps.
        "reversible", for the method "ReversibleHeun": it takes the steps back, which gives the same
        derivatives (but for rounding) in memory that does not grow with their number; by `y0` and `args`.
        "stochastic": state and cotangent are solved backwards in time (Li et al., 2020), in the same memory,
        for any method; approximate, with an error that vanishes with `dt` as that of Heun's method does.
        "forward": by dual numbers along the path, for few parameters.
        "mixed": forward along the path, reverse within each step: exact, in memory that does not grow with
        steps, in time that grows with the components of the state, not with the parameters.
        `nd.jacobian(solve, ...)` then has the slopes of all outputs from one pass, and does so with "auto" by
        arrays of parameters or more than 16 floats, where the state is a float or a tuple of eight at most.
    checkpoints : int, optional
        Of a path, reverse mode keeps so many states, and evaluates what lies between again.
    jumps : Jumps, optional
        From `nd.sde.jumps`: jumps beside the diffusion, at the ends of steps, after the events in these. One
        that changes the sign of an event's condition leads to that event.
    dense_output : bool
        Whether outputs leave the steps as they are. The state at an output within a step is where one step
        from its beginning leads by the part of the Brownian path up to there: it is continuous in the time
        of the output, meets both ends of the step, and is of the method's order.

    Returns
    -------
    dispatcher
        `solve(y0, ts, args, key)` returns an array of shape (len(ts), n): the path at each of `ts`, an array
        or tuple of increasing times, the first of them that of `y0`. `y0` is a float, tuple, namedtuple or
        array; `args` a tuple of further arguments, or one of another type. `key` is from `nd.random.key`: the
        Brownian path is a function of the key and the time alone, the same for all methods. `(key, path)`
        takes path number `path` of the key, as `nd.sde.ensemble` does. In place of a key: the increments, an
        array of shape (steps, channels) or (steps,), or a tuple of those and the space-time Levy areas (for
        "RKMilGeneral" and "LogODE", the Levy areas of pairs).
        It can be called from Python, from nopython code and in `prange`, and differentiated by `y0`, `args`
        and given increments, in every mode; the key is a constant. The same functions and options give the
        same dispatcher.

    Raises
    ------
    ArgumentError
        for options that are wrong, that do not go together, or that are not available yet; when `solve` is
        compiled, for a key that is none.
    ModelError
        when `solve` is compiled or called: functions that Numba cannot compile, that return other shapes, or
        a diffusion that is not of the kind that `noise` says.
    DataError
        when `solve` is called: times that do not increase, increments of another shape.
    IntegrationError
        when `solve` is called: a path that ends in NaN or infinity, or whose steps become too small or too
        many; the message has the time.
    UnsupportedError
        for derivatives by `ts`; with adjoint "reversible", "stochastic" or "mixed", by given increments.

    Notes
    -----
    Kloeden & Platen, "Numerical Solution of Stochastic Differential Equations", 1992; every method's file has
    its own source.

    Examples
    --------
    Geometric Brownian motion, and the slope of one path by the volatility:

    >>> from numba import njit
    >>> import numbad as nd
    >>> @njit
    ... def drift(t, y, rate, vol):
    ...     return rate * y
    >>> @njit
    ... def diffusion(t, y, rate, vol):
    ...     return vol * y
    >>> better = nd.sde.solver(drift, diffusion, method="SRIW1", dt=0.01)
    >>> key = nd.random.key(42)
    >>> better(100.0, (0.0, 1.0, 2.0), (0.05, 0.2), key).shape
    (3, 1)
    >>> def end(vol):
    ...     return better(100.0, (0.0, 1.0), (0.05, vol), key)[-1, 0]
    >>> slope, h = nd.derivative(end)(0.2), 1e-6
    >>> bool(abs(slope - (end(0.2 + h) - end(0.2 - h)) / (2.0 * h)) < 1e-5)
    True
    """
    scheme = find_scheme(method)
    _check_options(scheme, noise, calculus)
    _check_adjoint_name(adjoint)
    _check_adjoint(scheme, adjoint, checkpoints)
    functions = as_dispatcher(drift, "drift"), as_dispatcher(diffusion, "diffusion")
    limits = {
        "first_step": first_step,
        "max_step": max_step,
        "min_step": min_step,
        "max_steps": max_steps,
    }
    if rtol is None and atol is None:
        refuse_stepping(**limits)
        width = _step_size(dt)
        if jumps is not None:
            check_jumps(jumps, scheme, adjoint, width)
        events = events_of_paths.checked(events, scheme, adjoint)
        if adjoint == _MIXED:
            check_mixed(scheme)
        if dense_output:
            _check_dense(scheme, adjoint, checkpoints, jumps, events)
        note_times(functions, events)
        options = (
            scheme,
            noise,
            calculus,
            width,
            adjoint,
            checkpoints,
            jumps,
            events,
            bool(dense_output),
        )
        return compiled(Problem(*functions, *options))
    _refuse_beside_tolerances(adjoint, checkpoints, jumps)
    dt = 1.0 if dt is None else _step_size(dt)
    stepping = checked_stepping(scheme, noise, dt, rtol, atol, **limits)
    events = events_of_paths.checked(events, scheme, adjoint)
    if dense_output and events:
        raise ArgumentError(_NOT_DENSE.format("events="))
    note_times(functions, events)
    options = {"stepping": stepping, "events": events, "dense": bool(dense_output)}
    return compiled(AdaptiveProblem(*functions, scheme, noise, calculus, dt, **options))


def _check_options(scheme, noise, calculus):
    if calculus not in (ITO, STRATONOVICH):
        raise ArgumentError(f"calculus must be 'ito' or 'stratonovich', not {calculus!r}")
    if noise not in NOISES:
        raise ArgumentError(f"noise must be one of {', '.join(map(repr, NOISES))}, not {noise!r}")
    if noise not in scheme.noises:
        able = ", ".join(name for name, other in METHODS.items() if noise in other.noises)
        raise ArgumentError(
            f"method {scheme.name!r} takes noise={' or '.join(map(repr, scheme.noises))}, not {noise!r}; "
            f"methods for {noise!r}: {able}"
        )


def _check_adjoint(scheme, adjoint, checkpoints):
    if adjoint == "reversible" and not isinstance(scheme, ReversibleScheme):
        raise ArgumentError(
            f"adjoint='reversible' takes steps back, which method {scheme.name!r} cannot; ways out: "
            "method='ReversibleHeun', or adjoint='discrete' with checkpoints=, for memory that is bounded"
        )
    if checkpoints is None:
        return
    if adjoint in (_FORWARD, _MIXED, *_BACKWARD):
        raise ArgumentError(
            f"checkpoints belong to adjoint='discrete'; {adjoint!r} keeps no states. Leave them out"
        )
    if not isinstance(checkpoints, int) or isinstance(checkpoints, bool) or checkpoints < 1:
        raise ArgumentError(f"checkpoints is how many, a positive int, not {checkpoints!r}")


def _refuse_beside_tolerances(adjoint, checkpoints, jumps):
    """What goes along steps of one size only."""
    unwanted = {
        f"adjoint={adjoint!r}": adjoint not in ("auto", "discrete"),
        f"checkpoints={checkpoints!r}": checkpoints is not None,
        "jumps=": jumps is not None,
    }
    for option, is_given in unwanted.items():
        if is_given:
            raise ArgumentError(
                f"{option} is for steps of one size. Ways out: leave it out, or give dt and leave out rtol "
                "and atol"
            )


def _check_dense(scheme, adjoint, checkpoints, jumps, events):
    """What goes along steps that outputs divide alone."""
    if scheme.carries or scheme.needs_levy:
        raise ArgumentError(
            f"a step of method {scheme.name!r} has no inside for dense_output=True. Ways out: leave it "
            "out, or method='Heun'"
        )
    unwanted = {
        f"adjoint={adjoint!r}": adjoint not in ("auto", "discrete"),
        f"checkpoints={checkpoints!r}": checkpoints is not None,
        "jumps=": jumps is not None,
        "events=": bool(events),
    }
    for option, is_given in unwanted.items():
        if is_given:
            raise ArgumentError(_NOT_DENSE.format(option))


def _check_adjoint_name(adjoint):
    if adjoint not in _ADJOINTS:
        raise ArgumentError(f"adjoint {adjoint!r} does not exist; one of: {', '.join(_ADJOINTS)}")


def _step_size(dt):
    if dt is None:
        raise ArgumentError(
            "give the step size, in units of t: dt=0.01, say; or rtol= and atol=, for adaptive steps"
        )
    try:
        size = float(dt)
    except (TypeError, ValueError):
        raise ArgumentError(f"dt must be a float, not {dt!r}") from None
    if not 0.0 < size < math.inf:
        raise ArgumentError(f"dt must be positive and finite; it is {dt!r}")
    return size


class SolveDispatcher(StructureDispatcher):
    """What `solver` returns."""

    def __call__(self, *args, **kws):
        if len(args) + len(kws) == 3 and "key" not in kws:
            raise ArgumentError(
                "the key of the random numbers is missing: solve(y0, ts, args, key) with "
                "key = nd.random.key(seed), and args=() where there are none"
            )
        return super().__call__(*args, **kws)

    def numbad_jacobian(self, argtypes, wrt, single, with_value, mode):
        """The Jacobian in one pass, by mixed mode, where that is asked for or costs less; else None."""
        problem = self.origin[1][0]
        if problem.adjoint != _MIXED and (
            not prefers_mixed(problem, argtypes, wrt, mode)
            or changed_places(self.handed_args, argtypes)
        ):
            return None
        return mixed_jacobian(problem, argtypes, wrt, single, with_value)


def problem_of(solve, name):
    """The problem of a solver, for `nd.sde.<name>`; ArgumentError where it goes back along single paths."""
    problem = solve.origin[1][0]
    beside = (problem.jumps is not None or problem.events) and name not in (
        "ensemble",
        "taken_steps",
    )
    even_dense = problem.dense and not problem.is_adaptive
    if problem.adjoint not in _KINDS and problem.checkpoints is None and not (beside or even_dense):
        return problem
    if even_dense:
        raise ArgumentError(
            f"nd.sde.{name} divides steps by outputs; dense_output=True is for single paths. Ways out: a "
            "solver without it, or a loop over solve(y0, ts, args, (key, path))"
        )
    if beside:
        what = "events" if problem.events else "jumps"
        raise ArgumentError(
            f"nd.sde.{name} does not take {what}. Way out: a loop over solve(y0, ts, args, (key, path)) in "
            "compiled code"
        )
    option = "checkpoints" if problem.checkpoints is not None else f"adjoint={problem.adjoint!r}"
    raise ArgumentError(
        f"nd.sde.{name} has an adjoint of its own, which draws blocks of paths again; {option} is for single "
        "paths. Ways out: a solver without it, or a loop over solve(y0, ts, args, (key, path))"
    )


class _AsWhole(SolveDispatcher):
    """A solver that reverse mode does not go into.

    Where it solves again, it must find in arrays what they held before the call.
    """

    def numbad_changes(self, argtypes):
        """Where the functions may write in the arguments, constants included."""
        return changed_places(self.handed_args, argtypes)


class BackwardDispatcher(_AsWhole):
    """A solver whose reverse mode is an adjoint of its own, which goes back along the path."""

    def numbad_recorded(self):
        """The solver that also gives where the last step ended."""
        return _recorded(self.origin[1][0])

    def numbad_pullback_at(self, wrt):
        """The pullback where that is known."""
        return _pulled(self.origin[1][0], tuple(wrt), True)

    def numbad_pullback(self, wrt):
        """The pullback, which solves once more."""
        return _pulled(self.origin[1][0], tuple(wrt), False)


class ForwardDispatcher(_AsWhole):
    """A solver whose reverse mode is forward mode along the path."""

    def numbad_pullback(self, wrt):
        """The pullback, by dual numbers."""
        return _pulled_forward(self.origin[1][0], tuple(wrt))


@built_once(lambda problem, *_: problem.drift)
def _pulled_forward(problem, wrt):
    return forward_pullback(problem, wrt, (_pulled_forward, (problem, wrt)))


class MixedDispatcher(_AsWhole):
    """A solver whose reverse mode goes forward along the path, with slopes of each step by reverse mode."""

    def numbad_pullback(self, wrt):
        """The pullback, which solves once more."""
        return _pulled_mixed(self.origin[1][0], tuple(wrt))


@built_once(lambda problem, *_: problem.drift)
def _pulled_mixed(problem, wrt):
    return mixed_pullback(problem, wrt, (_pulled_mixed, (problem, wrt)))


@built_once(lambda problem: problem.drift)
def _recorded(problem):
    return recorded(problem, (_recorded, (problem,)))


@built_once(lambda problem, *_: problem.drift)
def _pulled(problem, wrt, solved):
    origin = _pulled, (problem, wrt, solved)
    return pull_back(problem, wrt, _BACKWARD[problem.adjoint], origin, solved)


_KINDS = {
    _FORWARD: ForwardDispatcher,
    _MIXED: MixedDispatcher,
    **dict.fromkeys(_BACKWARD, BackwardDispatcher),
}


@built_once(lambda problem: problem.drift)
def compiled(problem):
    """The dispatcher `solve(y0, ts, args, key)`."""
    origin, content = (compiled, (problem,)), problem.content
    if isinstance(problem, AdaptiveProblem):
        code, kind = adaptive_core, SolveDispatcher
    else:
        kind = _KINDS.get(problem.adjoint, SolveDispatcher)
        more = problem.checkpoints is not None or problem.jumps is not None or problem.events
        kept = kind is SolveDispatcher and not more
        code = core if kept else stretch_source.core
    given = partial(code, problem), content, origin, kind, problem.users
    made = by_structure("solve", "y0, ts, args, key", *given)
    made.handed_args = (problem.drift, 2), (problem.diffusion, 2)
    return made
