"""Steady states: where a system comes to rest, differentiated by the implicit function theorem.

The system is integrated over stretches of growing length until Newton's method, from where it has come,
ends within the tolerances. Conserved quantities, such as the total in a closed set of reactions, make the
Jacobian of f singular: with P the orthogonal projection on the vectors for which l . f = 0 everywhere, the
steady state that is reached from y0 is the regular root of

    g(y) = f(y) + c P (y - y0).

Its derivatives are those of Newton steps with W = (dg/dy)^-1 held constant, each of which makes them exact to
one order more. A. Griewank, A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, section 15.1.
"""

import math

import numpy as np
from numba import njit, typeof
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError, ConvergenceError, SingularError
from numbad.forward.dual import duals_in, primal_type
from numbad.forward.dualize import dualized
from numbad.implicit.lapack_status import solve_floats
from numbad.implicit.newton import newton_step
from numbad.implicit.regular import is_regular_along, weakest
from numbad.ir.functionals import functional
from numbad.ode import failure
from numbad.ode.compiling import as_dispatcher
from numbad.ode.complaint import returned_type
from numbad.ode.forms import as_arguments, as_form, as_row
from numbad.ode.integrate import Problem, as_passed, make_integrate
from numbad.ode.methods import find_method
from numbad.ode.orders import order_of
from numbad.ode.other_forms import form_of
from numbad.ode.python_values import as_numbers, check_values
from numbad.ode.rhs import check_derivative, members
from numbad.ode.solving import checked_settings
from numbad.ode.sparse_linear import weight
from numbad.ode.state_forms import call_in_form, translated
from numbad.ode.state_types import components_of, in_functions, is_scalar
from numbad.ode.times import uniform
from numbad.ode.true_slope import make_right_side
from numbad.operators.first_order import jacobian
from numbad.operators.operator_dispatcher import original
from numbad.operators.stop import stop_gradient
from numbad.source import define

# A steady state is near where Newton's step is so many times as long as the tolerances allow errors to be.
NEAR = 10.0
# Newton steps for the last digits, and doublings of the time before the search gives up.
LAST_STEPS, DOUBLINGS = 20, 200
# Columns are dependent where less than this part of one is left beside the others.
DEPENDENT = 1e-12
# Rates that are less than this part of the largest entry of the Jacobian are none.
ROUNDING = 1e-13


class UnsettledError(ConvergenceError):
    """A system that has not come to rest, with the time up to which it was followed."""

    def __init__(self, t):
        told = f"{t:g}" if isinstance(t, float) else t
        super().__init__(
            f"the system has no steady state that it reaches by t = {told}: it oscillates, grows or drifts; "
            "or it needs more than max_steps steps to settle"
        )


def steady_state(fun, y0, args=(), method="Rodas5P", max_steps=100_000, inplace=False):
    """Where the system dy/dt = fun(t, y, *args) comes to rest, from the state y0.

    It is differentiated by `args`, in both modes and to the fourth order, by the implicit function theorem:
    no derivative goes through the integration. Totals that the system conserves are found, and the steady
    state depends on `y0` through them alone. To be called from Python and from nopython code; there options
    are written out as constants.

    Parameters
    ----------
    fun : function or Numba dispatcher
        `fun(t, y, *args)` as for `numbad.ode.solver`; it must not depend on the time.
    y0 : float, tuple, namedtuple or array
        The state at the beginning, in any form that `numbad.ode.solver` takes; from Python also a list. A
        steady state that repels is the result only where the system begins in it exactly.
    args : tuple
        Further arguments, or one of another type.
    method : str
        The method by which the system is followed to where it settles, one of `numbad.ode.solver`'s.
    max_steps : int
        Steps of this method, at most, for each doubling of the time.
    inplace : bool
        Whether `fun(t, y, dy, *args)` writes its result.

    Returns
    -------
    array, shape (n,)
        The steady state, to about rounding: complex of a complex `y0`, in the shape of one that is an array.

    Raises
    ------
    ConvergenceError
        where the system does not settle: it oscillates, grows, or moves on for ever.
    SingularError
        where the steady state is not isolated although nothing is conserved: at a bifurcation.
    ArgumentError
        where `fun` depends on the time.
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
    code = settling_of(as_dispatcher(original(fun.dispatcher)), options, *map(_type_of, (y0, args)))
    if any(True for given in (y0, args) for _ in duals_in(given)):
        code = dualized(code)
    names = "method='Rodas5P', max_steps=100_000, inplace=False"
    source = f"def steady_state(fun, y0, args=(), {names}):\n    return code(y0, args)\n"
    return define(source, {"code": code})


def _type_of(given):
    """The type of an argument without duals; one that is left out is a value."""
    given = getattr(given, "value", given)
    return types.unliteral(primal_type(given if isinstance(given, types.Type) else typeof(given)))


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
    method, _, inplace = options
    form = form_of(y0, inplace)
    if form is None:
        check_model(fun, inplace, y0, args)
        return settling(fun, *options)
    problem, _ = translated(form, Problem(fun, find_method(method), inplace, False), (), y0, args)
    return _settling_in_form(problem.fun, form, args, options)


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


@built_once(lambda fun, *_: fun)
def _settling_in_form(fun, form, args, options):
    """The same for states of another form; `fun` takes those that `settling` does."""

    def call(start, passed):
        given = ", ".join(map(repr, options))
        return f"steady_state(fun, {start}, {passed}, {given}).reshape((1, -1))"

    names = {"steady_state": steady_state, "fun": fun}
    return call_in_form(form, args, call, f"{form.rows('found')}[0]", names)


@built_once(lambda fun, *options: fun)
def settling(fun, method, max_steps, inplace):
    """The dispatcher `settle(y0, args)` that gives the steady state."""
    tableau = find_method(method)
    if not tableau.adaptive:
        raise ArgumentError(
            f"method {method!r} takes steps of one size; take 'Rodas5P', for example"
        )
    settings = checked_settings(1e-6, 1e-9, None, math.inf, max_steps)
    find, slope = _make_find(Problem(fun, tableau, inplace, False), settings)

    @jit(error_model="numpy", nogil=True)
    def settle(y0, args=()):
        rest = as_arguments(args)
        found, pull, W, t = find(stop_gradient(y0), stop_gradient(args))
        start = as_row(y0, rest)
        y = as_row(found, (start, rest))
        for _ in range(order_of(start)):
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


def _make_find(problem, settings):
    """The compiled `find(y0, args) -> (y, pull, W, t)` for floats, and `slope(t, y, like, rest)`."""
    slope = make_right_side(problem)
    by_state = jacobian(slope, argnums=1, mode="forward")
    integrate, passed = make_integrate(problem), as_passed(settings)
    rtol, atol, name = settings.rtol, settings.atol, problem.fun.py_func.__name__
    moves = f"nd.ode.steady_state: {name} depends on the time t, so that nothing is steady"
    singular = (
        f"the steady state of {name} is not isolated, though nothing is conserved along the direction that "
        "is left open: it is at a bifurcation, or the last change decays more slowly than exponentially"
    )

    @jit(error_model="numpy")
    def find(y0, args):
        rest = as_arguments(args)
        start = as_row(y0, ())
        y = start.copy()
        f = slope(0.0, y, y0, rest)
        at_rest = is_short(f, y, 0.0, 0.0)
        columns = by_state(0.0, y, y0, rest)
        stretch = first_stretch(f, y, rtol, atol)
        t = 0.0
        for _ in range(DOUBLINGS):
            if not math.isfinite(t + stretch):
                break
            ys, status, reached, _ = integrate(
                as_form(y0, y), uniform((t, t + stretch)), args, passed
            )
            if status == failure.TOO_MANY_STEPS:
                raise UnsettledError(reached)
            if status != failure.RUNNING:
                raise failure.SolveError(status, reached)
            y = ys[1].copy()
            t += stretch
            stretch = t
            J = by_state(t, y, y0, rest)
            near = y * 1.0
            for i in range(len(y)):
                near[i] *= 1.0 + 0.5 * weight(i)
            seen = np.concatenate((columns, J, by_state(t, near, y0, rest)), axis=1)
            pull = conserved(seen) * largest_entry(J)
            f = slope(t, y, y0, rest)
            step, found = newton_step(J + pull, residual(f, y, start, pull))
            if not (found and is_short(step, y, NEAR * rtol, NEAR * atol)):
                continue
            root = y + step
            for _ in range(LAST_STEPS):
                f = slope(t, root, y0, rest)
                J = by_state(t, root, y0, rest)
                step, found = newton_step(J + pull, residual(f, root, start, pull))
                if not found or is_short(step, root, 1e-15, 0.0):
                    break
                root += step
            if not is_short(root - y, y, 2.0 * NEAR * rtol, 2.0 * NEAR * atol):
                continue
            if (
                grows(J) and not at_rest
            ):  # the system is about to leave it, as a small population does
                continue
            change = slope(2.0 * t + 1.0, root, y0, rest) - slope(t, root, y0, rest)
            if not is_short(change, root, 0.0, 0.0):
                raise ArgumentError(moves)
            A = J + pull
            weak, found = weakest(root, A, atol, rtol)
            if found:
                other = by_state(t, root + weak, y0, rest) + pull
                found = is_regular_along(A, weak, product(other, weak))
            W, regular = solve_floats(A, np.eye(len(root)))
            if not (found and regular):
                raise SingularError(singular)
            return root, pull, W, t
        raise UnsettledError(t)

    return find, slope


@njit(error_model="numpy")
def first_stretch(f, y, rtol, atol):
    """A time over which the state changes by about a hundredth of itself."""
    size = speed = 0.0
    for i in range(len(y)):
        scale = atol + rtol * abs(y[i])
        size = max(size, abs(y[i]) / scale)
        speed = max(speed, abs(f[i]) / scale)
    return 0.01 * size / speed if size > 0.0 and speed > 0.0 else 1e-3


@njit(error_model="numpy")
def is_short(step, y, rtol, atol):
    """Whether each component of a step is within the tolerances."""
    short = True
    for i in range(len(y)):
        short = short and abs(step[i]) <= atol + rtol * abs(y[i])
    return short


@njit(error_model="numpy")
def grows(jacobian):
    """Whether a small displacement grows in some direction."""
    least = ROUNDING * len(jacobian) * largest_entry(jacobian)
    grown = False
    for value in np.linalg.eigvals(jacobian.astype(np.complex128)):
        grown = grown or value.real > least
    return grown


@njit(error_model="numpy")
def residual(f, y, start, pull):
    """f + pull (y - start)."""
    return f + product(pull, y - start)


@njit(error_model="numpy")
def product(matrix, vector):
    """A matrix times a vector."""
    out = np.zeros(len(matrix))
    for i in range(len(matrix)):
        for j in range(len(vector)):
            out[i] += matrix[i, j] * vector[j]
    return out


@njit(error_model="numpy")
def largest_entry(matrix):
    """The largest magnitude in a matrix, 1 where it is zero."""
    found = 0.0
    for value in matrix.flat:
        found = max(found, abs(value))
    return found if found > 0.0 else 1.0


@njit(error_model="numpy")
def conserved(columns):
    """The orthogonal projection on what is orthogonal to all columns, by Gram and Schmidt with pivoting."""
    n, count = columns.shape
    left = np.zeros((count, n))
    for j in range(count):
        size = 0.0
        for i in range(n):
            size = math.hypot(size, columns[i, j])
        if size > 0.0 and math.isfinite(size):
            for i in range(n):
                left[j, i] = columns[i, j] / size
    projection = np.eye(n)
    for _ in range(n):
        longest, which = 0.0, 0
        for j in range(count):
            size = 0.0
            for i in range(n):
                size += left[j, i] ** 2
            if size > longest:
                longest, which = size, j
        if longest <= DEPENDENT**2:
            break
        # Twice is enough: what remains is orthogonal to those before to rounding.
        unit = product(projection, product(projection, left[which]))
        size = 0.0
        for i in range(n):
            size += unit[i] ** 2
        unit /= math.sqrt(size)
        for i in range(n):
            for k in range(n):
                projection[i, k] -= unit[i] * unit[k]
        for j in range(count):
            along = 0.0
            for i in range(n):
                along += left[j, i] * unit[i]
            for i in range(n):
                left[j, i] -= along * unit[i]
    return projection
