"""`solve_ivp`: SciPy's function of this name, compiled."""

import inspect
import math
import warnings

import numba
import numpy as np

from numbad.errors import ArgumentError, DataError, ModelError
from numbad.ode import failure
from numbad.ode.compiling import as_dispatcher
from numbad.ode.given_jacobian import checked_jacobian
from numbad.ode.integrate import Problem, as_passed
from numbad.ode.methods import find_method
from numbad.ode.nested_states import flattened, holds_states, nested_form
from numbad.ode.occurrences import by_event, watched_events
from numbad.ode.other_forms import by_parts, in_form, is_solved_by_parts
from numbad.ode.python_values import as_numbers, check_values
from numbad.ode.record import make_record
from numbad.ode.solution import OdeResult, OdeSolution
from numbad.ode.solving import (
    check_step_size,
    checked_settings,
    checked_system,
)
from numbad.ode.sparsity_pattern import band

SUCCESS = "The solver successfully reached the end of the integration interval."
EVENT = "A termination event occurred."
SMALLEST_RTOL = 100 * np.finfo(float).eps

_DEFAULTS = {
    "rtol": 1e-3,
    "atol": 1e-6,
    "first_step": None,
    "max_step": math.inf,
    "max_steps": 10_000_000,
}

# Options of SciPy's implicit methods, which explicit ones ignore there, too.
_WITHOUT_USE = ("jac", "jac_sparsity", "lband", "uband", "min_step")


def solve_ivp(
    fun,
    t_span,
    y0,
    method="RK45",
    t_eval=None,
    dense_output=False,
    events=None,
    args=None,
    **options,
):
    """Solve an initial value problem: `scipy.integrate.solve_ivp`, with the function compiled.

    Parameters
    ----------
    fun : function or Numba dispatcher
        `fun(t, y, *args)` returns dy/dt as an array, a list or a tuple. A plain function is
        compiled by Numba; where it does not compile for an array `y` (it unpacks `a, b = y`, say),
        it gets a tuple.
    t_span : 2-member sequence of floats
        Initial and final time; the final may be the earlier.
    y0 : array_like, shape (n,)
        Initial state; complex for a complex problem. Functions get a tuple of tuples or of arrays in its
        form and return dy/dt in it; the result has rows for its n numbers.
    method : str
        One of SciPy's "RK45" (Dormand & Prince, the default), "RK23" and "DOP853", or any other
        method of `numbad.ode.solver`. SciPy's stiff "Radau" means "RadauIIA5" here, and
        "LSODA", which changes its method where the problem turns stiff, "AutoTsit5".
    t_eval : array_like or None
        Times of the output, within `t_span` and in its direction; every step, if None.
    dense_output : bool
        Whether the result has `sol`, the solution as a function of time.
    events : function, or list of these
        `event(t, y, *args)` returns a float that crosses zero where the event happens; it may have the
        attributes `terminal` (a bool, or after how many the solution ends) and `direction`, as in
        SciPy. It is compiled, and looked at at three points within each step as well.
    args : tuple or None
        Further arguments of `fun`.
    **options
        `rtol` (1e-3), `atol` (1e-6; either a float or shape (n,)), `first_step`, `max_step` as in
        SciPy; `max_steps` (10,000,000), steps tried before giving up; `mass_matrix`, as in
        `numbad.ode.solver`; for stiff methods `jac_sparsity`, shape (n, n), or `lband` and `uband`;
        `jac`, a function `jac(t, y, *args)` or an array, as in `numbad.ode.solver`; beside a pattern it is
        ignored, and without it the Jacobian is exact. `vectorized` is accepted.

    Returns
    -------
    OdeResult
        with SciPy's fields: `t`, `y` (n, len(t)), `sol`, `nfev`, `status`, `message`, `success`; with
        events also `t_events` and `y_events`, a list of arrays each, and status 1 where one has ended the
        solution, whose last output is there. A failure (step size underflow, NaN, too many steps) is
        status -1 with a message that has the time, and the output up to there.

    Raises
    ------
    ModelError
        for a function that Numba cannot compile or that returns another length than that of `y0`,
        and for `y0` or `args` that hold NaN or infinity.
    DataError
        for times that are not finite, out of order, or outside `t_span`.
    ArgumentError
        for options that are unknown or wrong, and for `args` that compiled code does not take.

    Examples
    --------
    >>> import numbad as nd
    >>> sol = nd.ode.solve_ivp(lambda t, y: -0.5 * y, (0.0, 10.0), [2.0, 4.0], rtol=1e-8)
    >>> sol.y[:, -1].round(6)
    array([0.013476, 0.026952])
    """
    watched, asked = watched_events(events), events is not None
    tableau = find_method(method)
    given, args = y0, _arguments(args)
    nested = holds_states(y0)
    y0, extents = flattened(y0) if nested else (y0, ())
    y0 = _initial_state(y0)
    t_span = _interval(t_span)
    times = np.empty(0) if t_eval is None else _output_times(t_eval, t_span)
    settings, jac = _settings(tableau, options, len(y0))
    check_step_size(tableau, settings)
    problem = Problem(as_dispatcher(fun), tableau, False, False, jac=jac)
    if nested:
        problem, watched = _in_numbers(problem, watched, given, args)
    rest = t_span, times, t_eval is None, bool(dense_output), (*extents, *args), settings
    found = _call(
        _call_by_parts if is_solved_by_parts(y0, tableau) else _call_record,
        problem,
        watched,
        y0,
        rest,
    )
    tries_a_step = tableau.adaptive and settings.first_step == 0.0 and t_span[0] != t_span[1]
    *found, happened, ended = found
    result = _result(tableau, tries_a_step, bool(dense_output), ended, *found)
    if asked:
        result.t_events, result.y_events = by_event(watched, happened)
    return result


def _call(call, problem, watched, y0, rest):
    """Run with an array state or, where the function does not compile for one, with a tuple."""
    try:
        return call(problem, watched, y0, rest)
    except ModelError as error:
        if isinstance(error, failure.LengthError):
            raise
        try:
            return call(problem, watched, tuple(y0.tolist()), rest)
        except ModelError:
            raise error from None


def _in_numbers(problem, watched, y0, args):
    """The problem and its events for the numbers in a nested state."""
    ty = numba.typeof(y0)
    form = nested_form(ty, False)
    problem, conditions = in_form(form, problem, watched.conditions, ty, numba.typeof(args))
    return problem, watched._replace(conditions=conditions)


def _call_record(problem, watched, y0, rest):
    *rest, settings = rest
    return make_record(problem, watched)(y0, *rest, as_passed(settings))


def _call_by_parts(problem, watched, y0, rest):
    """The same by the real and imaginary parts of a complex state."""
    *rest, args, settings = rest
    given = problem, settings, watched.conditions, numba.typeof(y0), numba.typeof(args)
    problem, settings, conditions = by_parts(*given)
    parts = np.array(y0).view(float)
    parts = parts if isinstance(y0, np.ndarray) else tuple(parts.tolist())
    own = watched._replace(conditions=conditions)
    found = _call_record(problem, own, parts, (*rest, args, settings))
    *found, states, nodes, node_states, slopes, happened, ended = found
    count, times, event_states, *others = happened
    states, node_states, slopes, event_states = (
        np.ascontiguousarray(table).view(complex)
        for table in (states, node_states, slopes, event_states)
    )
    return (
        *found,
        states,
        nodes,
        node_states,
        slopes,
        (count, times, event_states, *others),
        ended,
    )


def _result(
    tableau,
    tries_a_step,
    dense,
    ended,
    status,
    t,
    counts,
    times,
    states,
    nodes,
    node_states,
    slopes,
):
    first = 2 if tries_a_step and status != failure.NOT_FINITE_AT_START else 1
    nfev, njev, nlu = tableau.statistics(*counts)
    return OdeResult(
        t=times,
        y=states.T,
        sol=OdeSolution(nodes, node_states, slopes, tableau.interpolant, t) if dense else None,
        t_events=None,
        y_events=None,
        nfev=first + nfev,
        njev=njev,
        nlu=nlu,
        status=int(ended) if status == failure.RUNNING else -1,
        message=(EVENT if ended else SUCCESS)
        if status == failure.RUNNING
        else failure.describe(status, t),
        success=status == failure.RUNNING,
    )


def _initial_state(y0):
    array = as_numbers("y0", y0)
    if array.ndim != 1 or array.size == 0:
        way_out = "; nd.ode.solver takes states of any shape" if array.ndim > 1 else ""
        raise ModelError(
            f"y0 must be one-dimensional and not empty; its shape is {array.shape}{way_out}"
        )
    _check_finite("y0", array)
    return array


def _check_finite(name, array):
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        index = ", ".join(map(str, np.unravel_index(bad[0], array.shape)))
        where = f"{name}[{index}]" if array.ndim else name
        raise ModelError(f"{where} is {array.flat[bad[0]]}; give finite numbers")


def _interval(t_span):
    span = as_numbers("t_span", t_span, DataError)
    if span.shape != (2,) or np.iscomplexobj(span):
        raise DataError(f"t_span must be two floats, not {t_span!r}")
    start, end = span.tolist()
    if not (math.isfinite(start) and math.isfinite(end)):
        raise DataError(f"t_span must be finite; it is {t_span!r}")
    return start, end


def _output_times(t_eval, t_span):
    times = np.ascontiguousarray(as_numbers("t_eval", t_eval, DataError))
    if np.iscomplexobj(times):
        raise DataError(f"t_eval must be an array of floats, not {t_eval!r}")
    if times.ndim != 1:
        raise DataError(f"t_eval must be one-dimensional; its shape is {times.shape}")
    outside = ~((times >= min(t_span)) & (times <= max(t_span)))
    if outside.any():
        first = np.flatnonzero(outside)[0]
        raise DataError(f"t_eval[{first}] = {times[first]} is not within t_span, {t_span}")
    steps = np.diff(times) * (1.0 if t_span[1] > t_span[0] else -1.0)
    if (steps <= 0.0).any():
        first = np.flatnonzero(steps <= 0.0)[0] + 1
        raise DataError(
            f"t_eval must go strictly from the start of t_span to its end; "
            f"t_eval[{first}] = {times[first]} comes after {times[first - 1]}"
        )
    return times


def _settings(tableau, options, size):
    options = dict(options)
    options.pop("vectorized", None)
    pattern = _pattern(options, size) if tableau.is_implicit else None
    mass, sparsity = checked_system(tableau, options.pop("mass_matrix", None), pattern)
    jac = None
    if tableau.is_implicit and sparsity is None:
        jac = checked_jacobian(options.pop("jac", None), tableau, None)
    ignored = [name for name in _WITHOUT_USE if options.pop(name, None) is not None]
    if ignored:
        names = ", ".join(ignored)
        warnings.warn(f"of no use in {tableau.name}, ignored: {names}", stacklevel=3)
    unknown = ", ".join(sorted(set(options) - set(_DEFAULTS)))
    if unknown:
        raise ArgumentError(f"unknown options: {unknown}; known: {', '.join(_DEFAULTS)}")
    settings = checked_settings(**_DEFAULTS | options)._replace(mass=mass, sparsity=sparsity)
    if np.min(settings.rtol) < SMALLEST_RTOL:
        warnings.warn(f"rtol is too small; it is set to {SMALLEST_RTOL}", stacklevel=3)
        raised = np.maximum(settings.rtol, SMALLEST_RTOL)
        settings = settings._replace(rtol=tuple(raised) if raised.ndim else float(raised))
    for name in ("rtol", "atol"):
        values = getattr(settings, name)
        if isinstance(values, tuple) and len(values) != size:
            raise ArgumentError(f"{name} must be a float or have shape ({size},)")
    return settings, jac


def _pattern(options, size):
    """Where the Jacobian may differ from zero, as `jac_sparsity` or `lband` and `uband` tell; or None."""
    given, *widths = (options.pop(name, None) for name in ("jac_sparsity", "lband", "uband"))
    if given is not None or widths == [None, None]:
        return given
    lower, upper = (0 if width is None else width for width in widths)
    if not all(isinstance(width, int | np.integer) and width >= 0 for width in (lower, upper)):
        raise ArgumentError(
            f"lband and uband must be counts of diagonals, not {lower!r} and {upper!r}"
        )
    return band(lower, upper, size)


def _arguments(args):
    """The further arguments, as Numba can take them."""
    if args is None:
        return ()
    try:
        members = None if isinstance(args, dict | set | str) else tuple(args)
    except TypeError:
        members = None
    if members is None:
        raise ArgumentError(f"args must be a tuple; write args=({args!r},)")
    return tuple(_argument(f"args[{i}]", member) for i, member in enumerate(members))


def _argument(name, value):
    if inspect.isfunction(value):
        return as_dispatcher(value, name)
    if isinstance(value, list):
        value = np.asarray(value)
    if isinstance(value, tuple):
        members = [_argument(f"{name}[{i}]", member) for i, member in enumerate(value)]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    if isinstance(value, float | complex | np.inexact) or (
        isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.inexact)
    ):
        _check_finite(name, np.asarray(value))
    check_values("solve_ivp", {name: value})
    return value
