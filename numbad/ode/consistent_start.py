"""Initial states that satisfy the algebraic equations of a solver's mass matrix."""

from numba import typeof
from numba.core import types
from numba.extending import overload

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.forward.dual import duals_in
from numbad.forward.dualize import dualized
from numbad.ode.complex_states import ComplexParts, settings_of_parts
from numbad.ode.forms import as_arguments, as_row
from numbad.ode.integrate import dispatcher_of
from numbad.ode.other_forms import form_of
from numbad.ode.python_values import as_numbers, check_values
from numbad.ode.solving import compiled, with_events
from numbad.ode.sparse_mass import check_real
from numbad.ode.state_forms import call_in_form, translated
from numbad.ode.state_types import type_without_duals
from numbad.ode.steady import check_model
from numbad.ode.true_slope import algebraic_rows, check_mass_of_events, make_consistent
from numbad.operators.operator_dispatcher import original
from numbad.source import define

NAME = "nd.ode.consistent_state"


def consistent_state(solve, y0, args=(), t=0.0):
    """The state near `y0` that satisfies the algebraic equations of a solver, as its initial state must.

    What has a derivative, `M y` for the solver's mass matrix M, stays as it is in `y0`; the other components
    are found by Newton's method, from their values in `y0`. The result is differentiated by `y0`, `args` and
    `t`, in both modes and to the fourth order, by the implicit function theorem. To be called from Python and
    from nopython code.

    Parameters
    ----------
    solve : solver
        What `numbad.ode.solver` returned for a `mass_matrix` that has rows of zeros.
    y0 : float, tuple, namedtuple or array
        A guess, in any form that the solver takes; from Python also a list.
    args : tuple
        Further arguments of the right-hand side, or one of another type.
    t : float
        The time at which the solution is to begin.

    Returns
    -------
    array, shape (n,)
        The state: complex of a complex `y0`, in the shape of one that is an array.

    Raises
    ------
    ArgumentError
        for a solver without algebraic equations, and for a singular mass matrix without rows of zeros.
    IntegrationError
        where there is no such state near by, or none alone (the equations are not of index 1).

    Notes
    -----
    The problem is that of K. E. Brenan, S. L. Campbell, L. R. Petzold, "Numerical Solution of Initial-Value
    Problems in Differential-Algebraic Equations", SIAM 1996, section 5.3.4; of SUNDIALS' `IDACalcIC` with
    IDA_YA_YDP_INIT.

    Examples
    --------
    Robertson's problem with the conserved sum in place of the third equation:

    >>> import numpy as np
    >>> import numbad as nd
    >>> def robertson(t, y, k1, k2, k3):
    ...     a, b, c = y
    ...     return k3 * b * c - k1 * a, k1 * a - k3 * b * c - k2 * b * b, a + b + c - 1.0
    >>> solve = nd.ode.solver(robertson, method="Rodas5P", mass_matrix=np.diag([1.0, 1.0, 0.0]))
    >>> rates = 0.04, 3e7, 1e4
    >>> start = nd.ode.consistent_state(solve, (0.9, 0.0, 0.0), rates)
    >>> start.round(12)
    array([0.9, 0. , 0.1])
    >>> solve(start, (0.0, 10.0), rates)[-1].sum().round(12)
    np.float64(1.0)
    """
    y0 = as_numbers("y0", y0) if isinstance(y0, list) else y0
    check_values(NAME, {"y0": y0, "args": args})
    return _finding_for(solve, typeof(y0), typeof(args))(y0, args, float(t))


@overload(consistent_state, strict=False)
def _consistent_state(solve, y0, args=(), t=0.0):
    if not isinstance(solve, types.Dispatcher):
        return None
    code = _finding_for(original(solve.dispatcher), *map(type_without_duals, (y0, args)))
    if any(True for given in (y0, args, t) for _ in duals_in(given)):
        code = dualized(code)
    return define(
        "def of(solve, y0, args=(), t=0.0):\n    return code(y0, args, t)\n", {"code": code}
    )


def _finding_for(solve, y0, args):
    """The dispatcher `find(y0, args, t)` for arguments of given types without duals."""
    problem, settings = _solved(solve)
    form = form_of(y0, problem.inplace)
    if form is None:
        check_real(settings.mass)
        check_model(problem.fun, problem.inplace, y0, args)
        return finding(problem, settings)
    problem, _ = translated(form, problem, (), y0, args)
    if isinstance(form, ComplexParts):
        settings = settings_of_parts(settings)
    return _finding_in_form(finding(problem, settings), form, args)


def _solved(solve):
    """The problem and the settings of a solver; raises ArgumentError."""
    build, given = getattr(solve, "origin", (None, None))
    if build is not compiled and build is not with_events:
        raise ArgumentError(f"{NAME} takes what nd.ode.solver returned, not {solve!r}")
    problem, settings = given[:2]
    check_mass_of_events(settings.mass, NAME)
    if settings.mass is None or not algebraic_rows(settings.mass).any():
        raise ArgumentError(
            f"{NAME}: this solver has no algebraic equations, which are rows of zeros in its mass_matrix. "
            "Any y0 is a start for it"
        )
    return problem, settings


@built_once(dispatcher_of)
def finding(problem, settings):
    """The dispatcher `find(y0, args, t)` that gives the consistent state."""
    consistent = make_consistent(problem, settings.mass)

    @jit(error_model="numpy", nogil=True)
    def find(y0, args=(), t=0.0):
        return consistent(t, as_row(y0, (args, t)), y0, as_arguments(args))

    return find


@built_once(lambda find, *_: find)
def _finding_in_form(find, form, args):
    """The same for states of another form, of which `find` takes what a solver does."""

    def call(start, passed):
        return f"find({start}, {passed}, t).reshape((1, -1))"

    return call_in_form(form, args, call, f"{form.rows('found')}[0]", {"find": find}, "t")
