"""`solver`: a compiled, differentiable solution operator of an ODE."""

import math

import numpy as np
from numba.core.dispatcher import Dispatcher

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.forward.dual import duals_in
from numbad.ir.functionals import functional
from numbad.keywords import checks_keywords
from numbad.ode.adjoints.dispatcher import SolverDispatcher
from numbad.ode.by_structure import by_structure, code_of
from numbad.ode.compiling import as_dispatcher, generic
from numbad.ode.events import checked_events
from numbad.ode.fixed_times import solve_at_fixed_times
from numbad.ode.given_jacobian import checked_jacobian
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.integrate import (
    Problem,
    Settings,
    as_passed,
    content_of,
    dispatcher_of,
    make_integrate,
)
from numbad.ode.known_switches import known_switches
from numbad.ode.methods import find_method
from numbad.ode.moving import check_mass_of_times, solve_at_moving_times
from numbad.ode.other_forms import CONTINUOUS, has_other_form, of_other_form
from numbad.ode.segments import Declared, solver_with_events
from numbad.ode.sparse_mass import by_entries, check_real
from numbad.ode.sparsity_pattern import checked_sparsity
from numbad.ode.state_forms import PARAMETERS
from numbad.ode.symplectic import Symplectic
from numbad.ode.true_slope import check_mass_of_events

_ADJOINTS = ("auto", "forward", "discrete", *CONTINUOUS)


@checks_keywords("nd.ode.solver")
def solver(
    fun,
    *,
    method="Tsit5",
    rtol=1e-6,
    atol=1e-9,
    first_step=None,
    max_step=math.inf,
    max_steps=100_000,
    jac="auto",
    jac_sparsity=None,
    mass_matrix=None,
    inplace=False,
    events=(),
    tstops=None,
    keep_events=0,
    adjoint="auto",
    checkpoints=None,
    sens_errcon=False,
):
    """Compile the solution operator of dy/dt = fun(t, y, *args).

    Parameters
    ----------
    fun : function or Numba dispatcher
        `fun(t, y, *args)` returns dy/dt as a tuple, an array or a list (a float where y is one).
        With `inplace=True`, `fun(t, y, dy, *args)` writes it into the array `dy`, every component; `dy` holds
        zeros at first if `fun` reads it (`dy[i] += rate`). It must not write to `y`.
    method : str
        Explicit, by order: "BS3" (SciPy's "RK23"), "DP5" ("RK45", "DormandPrince5"), "Tsit5",
        "Vern7", "DOP853", "Vern9". At tolerances of 1e-8 and less the last three take far less time.
        In steps of one size, `first_step`, whatever the tolerances: "Euler", "Heun", "RK4"; and the
        symplectic "VelocityVerlet" (order 2) and "McLachlanAtela4" (order 4 for quadratic kinetic energy),
        for states of two halves, positions q and momenta p, with dq/dt a function of t and p alone, dp/dt
        of t and q. That this is so is looked at every 32 steps, at one state: a coupling that holds for
        a shorter time may go unseen.
        For stiff systems, L-stable Rosenbrock methods: "Rodas5P" (order 5), "Rodas4", "Rosenbrock23" (for
        tolerances of 1e-3 and more). "RadauIIA5" (SciPy's "Radau"), "KenCarp4" (no mass matrix) and
        "BDF" (backward differentiation of orders 1 to 5, each step of the order that allows the longest)
        keep Jacobians and factors over several steps. "AutoTsit5" (SciPy's "LSODA") takes
        Tsit5, and Rodas5P where the problem turns stiff.
    rtol, atol : float or array_like, shape (n,)
        Each step's estimated error is kept below `atol + rtol * |y|` (root mean square over the
        components); `atol` has the units of y.
    first_step, max_step : float
        Size of the first step (chosen by the solver, if None; of all steps, where the method has no
        error estimate) and of the largest, in units of t.
    max_steps : int
        Steps tried, accepted or not, before the integration gives up.
    mass_matrix : array_like or SciPy sparse, shape (n, n)
        M in M dy/dt = fun(t, y, *args), for implicit methods but "KenCarp4". It may be singular (an index-1
        differential-algebraic system): `y0` must then satisfy the equations whose rows are zero. Of complex
        numbers, where `y0` is.
    jac : "auto", function, or array_like of shape (n, n)
        For implicit methods. "auto": the exact Jacobian of `fun`, by dual numbers. A function
        `jac(t, y, *args)` returns it as an array of shape (n, n), with the derivative of component `i` by
        `y[j]` at `[i, j]`; an array is one that is constant. "RadauIIA5", "KenCarp4" and "BDF" solve their
        equations with whatever is near it; Rosenbrock methods rest on it, so that it is compared with the
        exact one at the start. Solutions that are differentiated, and those with events, take the exact one
        all the same. Not beside `jac_sparsity`.
    jac_sparsity : array_like or SciPy sparse, shape (n, n)
        For implicit methods: not zero where the Jacobian by y may be. Columns that share no row are
        evaluated together. Factors are kept within a band, in an order of the components that makes it
        narrow: time grows with n times its width squared. Where an order of minimum degree fills less in
        (grids in two dimensions, networks with hubs), components are eliminated in that one, with the
        pivots on the diagonal unless these are too small. `nd.sparsity(fun, 1)` finds the pattern. It is
        checked at the start of a solution.
    inplace : bool
        Whether `fun` writes its result instead of returning it; the state is then an array.
    events : Event or sequence of Event
        What `numbad.ode.event` and `numbad.ode.at_times` make: changes of the state, switches of `fun`,
        the end of the solution, where a condition crosses zero or at times known beforehand. The times
        of events are differentiated, too.
    tstops : float, sequence of floats, or function
        Times at which `fun` switches, as those of `numbad.ode.at_times`.
    keep_events : int
        With `keep_events=k`, `solve` returns `(ys, times, states, numbers)`: when the first `k` events
        happened, shape (k,), NaN where fewer did; the states before them, shape (k, n); and the number
        of each among `events`, -1 where there is none.
    adjoint : str
        How reverse mode goes through the solution. "discrete": it records the steps taken and goes
        back through them. For explicit methods it keeps one state a step and computes the stages again;
        for stiff ones but "BDF" it keeps the stages as well (nine states a step for "Rodas5P", four for
        "Rosenbrock23"), evaluates the Jacobian again and solves with the transposed factors, dense or
        sparse. "forward": by sensitivities, that is dual numbers. "auto": "discrete", which costs less
        than one further solve with sensitivities, for a single input already. Derivatives are then exactly
        those of the steps taken, the same in both modes.

        The others solve the adjoint equation backwards, from output to output, by the same method and to
        the same tolerances (`atol` counts as a share of the largest component of the solution, for
        cotangents as well), along the dense output of the solution: with the integrals of the parameters
        in its state ("interpolating"), by Gauss quadrature of each step ("gauss"), by one with an error
        control of its own ("quadrature"). "backsolve" keeps the outputs alone and integrates the solution
        backwards from each, which stiff problems do not allow. Symplectic methods have "gauss" and
        "quadrature" alone. Y. Cao, S. Li, L. Petzold, R. Serban, SIAM J. Sci. Comput. 24 (2003),
        doi:10.1137/S1064827501380630.
    checkpoints : int
        How many states "discrete" keeps, where by default it keeps those of all steps; "RadauIIA5",
        "KenCarp4" and "BDF" keep a Jacobian with each. The steps between are taken again on the way back,
        twice or three times, exactly as they were; derivatives are the same. Memory is that of some hundred
        steps for each, or 1 MiB, however many steps there are.
    sens_errcon : bool
        Whether sensitivities (partials of dual numbers) take part in the error control, each relative to
        its own size: more steps, and derivatives as exact as the solution. In forward mode, and in reverse
        mode with `adjoint="forward"`. By default the values alone choose the steps, as in SUNDIALS.

    Returns
    -------
    dispatcher
        `solve(y0, ts, args=())` returns an array of shape (len(ts), n): the solution at each of
        `ts`, an array or tuple of strictly increasing (or decreasing) times, the first of them that
        of `y0`. `y0` is a float, tuple, namedtuple or array, which may be a matrix or have more dimensions:
        `fun`, `jac` and events then get `y` in its shape, `fun` returns (or writes) and the result holds
        states of it, (len(ts), *y0.shape), and what has rows or columns for components (`jac`,
        `jac_sparsity`, `mass_matrix`, `atol`, `rtol`) has those of `y0.ravel()`. A tuple or namedtuple
        `y0` may hold tuples and arrays, to any depth: `fun` and events get and return states in its form, and
        the result has a column for each number in it, in order. A complex `y0` has a complex solution;
        implicit methods solve for its real and imaginary parts, so that `fun` need have no complex
        derivative. From Python, `y0` and `ts` may be lists, which are taken as arrays. `args` is a tuple of
        further arguments, or one argument of another type, a namedtuple or array, say. `solve` can be called
        from Python, from nopython code and in `prange`, and differentiated with respect to `y0`, `args` and
        `ts`; derivatives see the steps that the values choose. The same `fun` and options give the same
        dispatcher. In Numba's `prange` an exception ends a chunk of the loop unseen: fill results with NaN
        first.

    Raises
    ------
    ArgumentError
        for options that are wrong or not available yet.
    ModelError
        when `solve` is compiled or called: a right-hand side that Numba cannot compile, or that
        returns another length than that of the state.
    IntegrationError
        when `solve` is called: step size underflow, too many steps, NaN; the message has the time.
    DataError
        when `solve` is called with times that are not finite or not strictly monotone.

    Notes
    -----
    Tuples are fastest: a state of up to about ten floats stays in registers, and a step allocates
    nothing. Arrays suit larger systems; their memory is allocated once a call, and `y` and `dy` are
    valid during a call of `fun` only. Step control: Hairer, Norsett & Wanner, "Solving Ordinary
    Differential Equations I", II.4, proportional-integral (stiff methods follow the last error alone);
    outputs between steps come from the method's own interpolant (that of the step for "BDF", order 2 for
    "Rosenbrock23", 3 for "BS3", "Rodas4", "RadauIIA5", "KenCarp4", "RK4" and symplectic methods, 4 for "DP5",
    "Tsit5" and "Rodas5P", 7 for "DOP853" and "Vern7", 9 for "Vern9"). Stiff methods factor one matrix a
    step, dense; their memory grows with n**2.

    Examples
    --------
    >>> import numbad as nd
    >>> solve = nd.ode.solver(lambda t, y, rate: -rate * y)
    >>> solve(1.0, (0.0, 1.0), 2.0).round(6)
    array([[1.      ],
           [0.135335]])
    >>> end = nd.derivative(lambda rate: solve(1.0, (0.0, 1.0), rate)[-1, 0])
    >>> round(end(2.0), 6)
    -0.135335
    """
    tableau = find_method(method)
    _refuse_unavailable(adjoint)
    settings = checked_settings(rtol, atol, first_step, max_step, max_steps)
    mass, sparsity = checked_system(tableau, mass_matrix, jac_sparsity)
    settings = settings._replace(mass=mass, sparsity=sparsity)
    check_step_size(tableau, settings)
    jac = checked_jacobian(jac, tableau, settings.sparsity)
    problem = Problem(as_dispatcher(fun), tableau, bool(inplace), bool(sens_errcon), adjoint)
    problem = problem._replace(checkpoints=checked_checkpoints(checkpoints, problem))
    _check_continuous(problem, settings)
    declared = Declared(checked_events(events, tstops), _checked_count(keep_events))
    if declared.keep and not declared.events:
        raise ArgumentError(
            f"keep_events={keep_events!r} keeps events, of which there are none: give events= or tstops="
        )
    if not declared.events:
        return compiled(problem._replace(jac=jac), settings, 0)
    check_mass_of_events(settings.mass)
    problem = problem._replace(until_output=True, known=known_switches(declared.events))
    return with_events(problem, settings, declared)


def _refuse_unavailable(adjoint):
    if adjoint not in _ADJOINTS:
        raise ArgumentError(f"adjoint {adjoint!r} does not exist; one of: {', '.join(_ADJOINTS)}")


def _check_continuous(problem, settings):
    """Raise where a continuous adjoint cannot go back through what a problem has."""
    kind, what = problem.adjoint, None
    if kind not in CONTINUOUS:
        return
    check_mass_of_events(settings.mass, f"adjoint={kind!r}")
    if kind == "backsolve" and problem.tableau.is_implicit:
        what = (
            f"{problem.tableau.name}: a stiff problem that is integrated backwards blows up. 'gauss' and "
            "'interpolating' keep the solution"
        )
    elif kind in ("interpolating", "backsolve") and isinstance(problem.tableau, Symplectic):
        what = f"{problem.tableau.name}: its state has more than two halves. 'gauss' does without"
    elif kind in ("interpolating", "backsolve") and settings.sparsity is not None:
        what = "jac_sparsity: its state has the parameters' integrals, too. 'gauss' does without"
    if what is not None:
        raise ArgumentError(
            f'adjoint={kind!r} does not go with {what}. Way out: adjoint="discrete", the default'
        )


def checked_checkpoints(count, problem):
    """The number of states to keep, None for all; raises ArgumentError."""
    if count is None:
        return None
    if not _is_count(count, 1):
        raise ArgumentError(f"checkpoints must be a positive integer, such as 64, not {count!r}")
    if problem.adjoint not in ("auto", "discrete"):
        raise ArgumentError(
            f'checkpoints go with adjoint="discrete" or "auto", not with {problem.adjoint!r}; leave them out'
        )
    return int(count)


def checked_settings(rtol, atol, first_step, max_step, max_steps):
    """The solver's settings, from options as the user gives them; raises ArgumentError."""
    rtol, atol = _tolerance("rtol", rtol), _tolerance("atol", atol)
    if rtol == 0.0 and atol == 0.0:
        raise ArgumentError("rtol and atol must not both be 0")
    first_step = 0.0 if first_step is None else _positive("first_step", first_step)
    if math.isinf(first_step):
        raise ArgumentError("first_step must be finite")
    if not _is_count(max_steps, 1):
        raise ArgumentError(f"max_steps must be a positive integer, not {max_steps!r}")
    return Settings(rtol, atol, first_step, _positive("max_step", max_step), int(max_steps))


def _is_count(given, least):
    """Whether an option is a whole number, of `least` or more."""
    try:
        return not isinstance(given, bool) and int(given) == given and given >= least
    except (TypeError, ValueError, OverflowError):
        return False


def _checked_count(keep_events):
    if not _is_count(keep_events, 0):
        raise ArgumentError(f"keep_events must be a count, such as 10, not {keep_events!r}")
    return int(keep_events)


def check_step_size(method, settings):
    """Raise ArgumentError where a method cannot choose the step size and none is given."""
    if not method.adaptive and settings.first_step == 0.0:
        raise ArgumentError(
            f"method {method.name!r} has no error estimate and takes steps of one size: "
            "give it as first_step"
        )


def checked_system(tableau, mass_matrix, jac_sparsity):
    """The mass matrix and the pattern of the Jacobian, as settings have them; raises ArgumentError.

    The mass matrix is a tuple of rows, or its entries where there is a pattern, to which they then belong;
    None for the identity, and for a dense Jacobian.
    """
    if mass_matrix is not None:
        _check_takes_mass(tableau)
    if jac_sparsity is None:
        return mass_matrix if mass_matrix is None else _rows(mass_matrix), None
    if not tableau.is_implicit:
        raise ArgumentError(
            f"jac_sparsity needs an implicit method, such as 'Rodas5P'; {tableau.name} is explicit"
        )
    if mass_matrix is None:
        return None, checked_sparsity(jac_sparsity)
    matrix = _sparse(mass_matrix)
    return by_entries(matrix), checked_sparsity(jac_sparsity, matrix)


def _check_takes_mass(tableau):
    if not tableau.takes_mass:
        kind = (
            "has an explicit stage"
            if isinstance(tableau, ImplicitTableau)
            else "takes explicit steps"
        )
        raise ArgumentError(
            f"mass_matrix does not go with {tableau.name}, which {kind}. Ways out: method='Rodas5P', "
            "'RadauIIA5' or 'BDF'"
        )


def _sparse(given):
    """A mass matrix as a sparse one of SciPy's; raises ArgumentError."""
    from scipy.sparse import csr_array, issparse

    if not issparse(given):
        return csr_array(np.array(_rows(given)))
    matrix = csr_array(given)
    if matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ArgumentError(f"mass_matrix must be square; its shape is {matrix.shape}")
    if not np.isfinite(matrix.data).all():
        raise ArgumentError("mass_matrix must be of finite numbers, which it is not")
    return matrix if np.imag(matrix.data).any() else matrix.real


def _rows(given):
    matrix = given.toarray() if hasattr(given, "toarray") else given  # sparse
    try:
        matrix = np.asarray(matrix)
        matrix = matrix.astype(complex if np.iscomplexobj(matrix) else float)
    except (TypeError, ValueError):
        raise ArgumentError(f"mass_matrix must be a matrix of floats, not {given!r}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ArgumentError(f"mass_matrix must be square; its shape is {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ArgumentError("mass_matrix must be finite, which it is not")
    matrix = matrix if np.imag(matrix).any() else matrix.real
    return tuple(map(tuple, matrix.tolist()))


def _tolerance(name, given):
    """A tolerance as a float, or as a tuple of floats, one for each component."""
    by_component = hasattr(given, "__len__") and np.ndim(given) > 0
    try:
        values = [_as_float(value) for value in (given if by_component else [given])]
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name} must be a float or a sequence of floats, not {given!r}"
        ) from None
    if not all(0.0 <= value < math.inf for value in values):
        raise ArgumentError(f"{name} must be finite and not negative; it is {given!r}")
    return tuple(values) if by_component else values[0]


def _positive(name, given):
    try:
        value = _as_float(given)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} must be a float, not {given!r}") from None
    if not value > 0.0:
        raise ArgumentError(f"{name} must be positive; it is {given!r}")
    return value


def _as_float(given):
    if isinstance(given, str | bytes):  # which `float` reads
        raise TypeError
    return float(given)


@built_once(dispatcher_of)
def compiled(problem, settings, level):
    """The dispatcher `solve(y0, ts, args)`; `level` counts the levels of duals taken off ts."""
    content = *content_of(problem), problem.adjoint, problem.checkpoints, tuple(settings)

    def solve(y0, ts, args=()):
        raise NotImplementedError(content)

    def stand_in(argtypes):
        """What solves for initial states of these types, where they have another form; else None."""
        if not has_other_form(argtypes[0], problem):
            return None
        return of_other_form(lambda *to: compiled(*to[:2], 0), problem, settings, (), argtypes)

    def choose(y0, ts, args):
        if has_other_form(y0, problem):
            return code_of(lambda *given: stand_in(given), "solve", PARAMETERS, (y0, ts, args))
        check_real(settings.mass)
        if any(duals_in(ts)):
            check_mass_of_times(settings.mass)
            below = compiled(problem, settings, level + 1)
            return solve_at_moving_times(below, problem, settings)
        return solve_at_fixed_times(make_integrate(problem), as_passed(settings))

    origin = compiled, (problem, settings, level)
    made = generic(solve, content, choose, origin, SolverDispatcher)
    made.stand_in = stand_in
    made.handed_args = ((problem.fun, 3 if problem.inplace else 2),)
    return made


@built_once(dispatcher_of)
def with_events(problem, settings, declared):
    """The dispatcher `solve(y0, ts, args)` for events."""
    on_plain = solver_with_events(compiled(problem, settings, 0), problem, settings, declared)

    def build(problem, settings, events):
        return with_events(problem, settings, declared._replace(events=events))

    def core(*argtypes):
        if not has_other_form(argtypes[0], problem):
            check_real(settings.mass)
            return on_plain
        keeps = declared.keep > 0
        return of_other_form(build, problem, settings, declared.events, argtypes, keeps)

    origin = with_events, (problem, settings, declared)
    made = by_structure("solve", PARAMETERS, core, (on_plain,), origin)
    of_events = [f for event in declared.events for f in (event.condition, event.change)]
    called = [(f, 2) for f in of_events if isinstance(f, Dispatcher)]
    made.handed_args = (problem.fun, 3 if problem.inplace else 2), *called
    return made


functional(
    solver,
    "args",
    as_dispatcher,
    leading=lambda options: 3 if options.get("inplace") else 2,
    in_nopython=False,
)
