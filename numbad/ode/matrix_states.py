"""States that are arrays of two or more dimensions, which a solver of vectors solves raveled, row by row.

Each function of the user's gets a view of the state in its own shape. The number of dimensions is that of the
type; the extents come in as integers before the other arguments. All of it is differentiated as code of the
user's is.
"""

from numba.core import errors, types
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.errors import ModelError, NumbadError
from numbad.ode.complaint import cannot_compile
from numbad.ode.rhs import is_plain_tuple, members
from numbad.ode.state import is_scalar
from numbad.source import define

PARAMETERS = "y0, ts, args=()"


def is_matrix(ty):
    """Whether a type is that of a state with two or more dimensions."""
    return isinstance(ty, types.Array) and ty.ndim > 1 and is_scalar(ty.dtype)


def on_matrices(build, problem, events, keeps, argtypes):
    """The jitted `solve(y0, ts, args)` for a state of two or more dimensions, of types without duals.

    `build(problem, events)` is the solver for the state as a vector; `keeps`, whether it returns events.
    """
    y0, _, *given = argtypes
    args = given[0] if given and not isinstance(given[0], types.Omitted) else types.Tuple(())
    rest, is_tuple = members(args), is_plain_tuple(args)
    _check(problem, events, y0, rest)
    shape = _Shape(y0.ndim, len(rest) if is_tuple else None)
    raveled = problem._replace(
        fun=_raveled(problem.fun, shape, "written" if problem.inplace else "slope"),
        jac=None if problem.jac is None else _raveled(problem.jac, shape, "plain"),
    )
    own_events = tuple(_event(event, shape) for event in events)
    return _around(build(raveled, own_events), shape, keeps)


class _Shape(tuple):
    """The dimensions of a state and the further arguments, as lists of names in source text."""

    def __new__(cls, ndim, count):
        return super().__new__(cls, (ndim, count))

    @property
    def extents(self):
        return "".join(f"n{k}, " for k in range(self[0]))

    @property
    def others(self):
        return "".join(f"a{k}, " for k in range(1 if self[1] is None else self[1]))

    @property
    def passed(self):
        """What a solver is given as args."""
        own = "args" if self[1] is None else "".join(f"args[{k}], " for k in range(self[1]))
        return f"({''.join(f'y0.shape[{k}], ' for k in range(self[0]))}{own})"

    def check(self, what):
        wrong = " or ".join(f"found.shape[{k}] != n{k}" for k in range(self[0]))
        message = f"{what} must return an array of the shape of the state"
        return f"    if {wrong}:\n        raise ModelError({message!r})\n"


@built_once(lambda solve, shape, keeps: solve)
def _around(solve, shape, keeps):
    extents = ", ".join(f"y0.shape[{k}]" for k in range(shape[0]))
    given = f"on_vectors(y0.ravel(), ts, {shape.passed})"
    if keeps:
        body = (
            f"    ys, times, states, numbers = {given}\n"
            f"    shaped = states.reshape((states.shape[0], {extents}))\n"
            f"    return ys.reshape((ys.shape[0], {extents})), times, shaped, numbers\n"
        )
    else:
        body = f"    ys = {given}\n    return ys.reshape((ys.shape[0], {extents}))\n"
    made = define(f"def solve({PARAMETERS}):\n{body}", {"on_vectors": solve})
    return jit(made, error_model="numpy", nogil=True)


@built_once(lambda function, *_: function)
def _raveled(function, shape, kind):
    """A function of the user's for a state as a vector.

    `kind`: "slope" or "change" for one that returns a state, "numbered" for the change at a time with a
    number, "written" for one that writes it, "times" for one that gets none, "plain" for another result.
    """
    before = {"written": ", dy", "numbered": ", k"}.get(kind, "")
    begin = f"t, y{before}, " if kind != "times" else ""
    view = f"reshape(({shape.extents}))"
    given = {"written": f", dy.{view}", "numbered": ", k"}.get(kind, "")
    given = f"t, y.{view}{given}, " if kind != "times" else ""
    call = f"function({given}{shape.others})"
    source = f"def raveled({begin}{shape.extents}{shape.others}):\n"
    if kind in ("slope", "change", "numbered"):
        what = "the right-hand side" if kind == "slope" else "the change of an event"
        source += f"    found = {call}\n{shape.check(what)}    return found.ravel()\n"
    elif kind == "written":
        source += f"    {call}\n"
    else:
        source += f"    return {call}\n"
    made = define(source, {"function": function, "ModelError": ModelError})
    made.__name__ = made.__qualname__ = function.py_func.__name__
    return jit(made, error_model="numpy")


def _event(event, shape):
    """An event of a state as a vector."""
    kind = "change" if event.times is None else "numbered"
    own = {"condition": "plain", "times": "times", "change": kind}
    return event._replace(
        **{
            name: _raveled(getattr(event, name), shape, how)
            for name, how in own.items()
            if getattr(event, name) is not None
        }
    )


def _check(problem, events, y0, rest):
    """Raise ModelError, in the user's terms, where a function does not compile, or returns no such state."""
    scalar = types.complex128 if isinstance(y0.dtype, types.Complex) else types.float64
    y = types.Array(scalar, y0.ndim, "C")
    given = types.float64, y
    written = (y,) if problem.inplace else ()
    found = _returned(problem.fun, (*given, *written, *rest))
    if not problem.inplace:
        _check_state("the right-hand side", found, y)
    for event in events:
        if event.condition is not None:
            _returned(event.condition, (*given, *rest))
        if event.change is not None:
            number = () if event.times is None else (types.intp,)
            found = _returned(event.change, (*given, *number, *rest))
            _check_state("the change of an event", found, y)


def _returned(fun, given):
    try:
        found = cpu_target.typing_context.resolve_function_type(types.Dispatcher(fun), given, {})
    except NumbadError:
        raise
    except (errors.NumbaError, errors.UnsupportedBytecodeError, TypeError) as error:
        raise cannot_compile(fun, given, error) from error
    return found.return_type


def _check_state(what, ty, y):
    is_state = isinstance(ty, types.Array) and ty.ndim == y.ndim and is_scalar(ty.dtype)
    if not is_state or (isinstance(ty.dtype, types.Complex) and isinstance(y.dtype, types.Float)):
        raise ModelError(
            f"where y0 is an array of {y.ndim} dimensions, {what} must return one of its shape; "
            f"it returns {ty}"
        )
