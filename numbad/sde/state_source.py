"""The state of an SDE in generated source: tuples component by component, arrays as a whole.

Formulas are written once, for each of a state's `components`: the floats of a tuple, or the one array. The
channels of the noise are treated alike: so many floats, or one array.
"""

from dataclasses import dataclass

from numba.core import types

from numbad.errors import ModelError
from numbad.ode.complaint import returned_type
from numbad.ode.state_types import unfit
from numbad.sde.scheme import DIAGONAL, GENERAL, SCALAR

_FLOATS = types.Float | types.Integer | types.Boolean


def check_state(y0):
    """Raise ModelError where the type of an initial state is none that there is code for."""
    array = isinstance(y0, types.Array) and y0.ndim == 1 and isinstance(y0.dtype, _FLOATS)
    members = y0 if isinstance(y0, types.BaseTuple) and len(y0) else [y0]
    if not array and not all(isinstance(ty, _FLOATS) for ty in members):
        raise ModelError(
            "y0 must be a float, a one-dimensional array of floats, or a tuple of floats, not "
            f"{unfit(y0)}"
        )


def state_type(y0):
    """The type in which functions get the state whose initial value has the type `y0`."""
    if isinstance(y0, types.Array):
        return types.Array(types.float64, 1, "C")
    if isinstance(y0, types.BaseNamedTuple):
        return types.NamedUniTuple(types.float64, len(y0), y0.instance_class)
    if isinstance(y0, types.BaseTuple):
        return types.UniTuple(types.float64, len(y0))
    return types.float64


def spread(args):
    """The types of the further arguments: a plain tuple's members, or the one of another type."""
    plain = isinstance(args, types.BaseTuple) and not isinstance(args, types.BaseNamedTuple)
    return tuple(args) if plain else (args,)


def returned(typingctx, function, given):
    """The type that a dispatcher returns; ModelError where it does not compile."""
    return types.unliteral(returned_type(typingctx, function, given))


@dataclass(frozen=True)
class Form:
    """The structure of a problem, known from types: of the state, the arguments, the noise.

    `drift` and `diffusion` are the types that the functions return; `count` and `channels` are the
    numbers of components and of channels, None where the arrays tell.
    """

    y0: types.Type
    args: types.Type
    noise: str
    drift: types.Type
    diffusion: types.Type
    count: int | None
    channels: int | None
    is_matrix: bool

    @property
    def is_array(self):
        return self.count is None

    @property
    def is_tuple(self):
        return isinstance(self.y0, types.BaseTuple)

    @property
    def components(self):
        return 1 if self.is_array else self.count

    def names(self, prefix):
        """Names of the components of a state, or of what has one entry for each."""
        return [f"{prefix}_{i}" for i in range(self.components)]

    def channel_names(self, prefix):
        """The same for the channels of the noise."""
        one = self.is_array or self.channels == 1
        return [f"{prefix}_{j}" for j in range(1 if one else self.channels)]

    def state(self, names):
        """Source of the state as functions get it."""
        if isinstance(self.y0, types.BaseNamedTuple):
            return f"Structure({', '.join(names)})"
        if isinstance(self.y0, types.BaseTuple):
            return f"({', '.join(names)},)"
        return names[0]

    def arguments(self):
        """Source of the further arguments, each behind a comma."""
        count = len(spread(self.args))
        plain = isinstance(self.args, types.BaseTuple) and not isinstance(
            self.args, types.BaseNamedTuple
        )
        return "".join(f", args[{k}]" for k in range(count)) if plain else ", args"


def form_of(typingctx, problem, y0, args):
    """The `Form` of a problem for argument types without duals; ModelError where they do not fit."""
    check_state(y0)
    given = types.float64, state_type(y0), *spread(args)
    drift = returned(typingctx, problem.drift, given)
    diffusion = returned(typingctx, problem.diffusion, given)
    count = (
        None if isinstance(y0, types.Array) else len(y0) if isinstance(y0, types.BaseTuple) else 1
    )
    check_vector("drift", drift, count)
    is_matrix = _is_matrix(diffusion)
    if problem.noise == GENERAL and not is_matrix:
        raise ModelError(
            "with noise='general' the diffusion must return a matrix with a row for each component: a tuple "
            f"of tuples, or an array (n, m) where y0 is an array; it returns {diffusion}"
        )
    if problem.noise in (DIAGONAL, SCALAR) and is_matrix:
        raise ModelError(
            f"with noise={problem.noise!r} the diffusion must return one number for each component; it "
            f"returns {diffusion}. For a matrix: noise='general'"
        )
    if is_matrix:
        channels = _columns(diffusion, count)
    else:
        check_vector("diffusion", diffusion, count)
        channels = 1 if problem.noise == SCALAR else count
    return Form(y0, args, problem.noise, drift, diffusion, count, channels, is_matrix)


def _is_matrix(ty):
    if isinstance(ty, types.Array):
        return ty.ndim == 2
    return isinstance(ty, types.BaseTuple) and len(ty) and isinstance(ty[0], types.BaseTuple)


def check_vector(name, ty, count):
    """Raise ModelError where a result cannot have one float for each component."""
    if isinstance(ty, types.Array) and ty.ndim == 1 and isinstance(ty.dtype, _FLOATS):
        if count is None:
            return
        given = "an array"
    elif isinstance(ty, types.BaseTuple) and all(isinstance(t, _FLOATS) for t in ty):
        if len(ty) == count:
            return
        given = f"{len(ty)} numbers"
    elif isinstance(ty, _FLOATS):
        if count == 1:
            return
        given = "one number"
    else:
        given = str(ty)
    wanted = "an array like y0" if count is None else f"{count} number(s), as y0 has: a tuple"
    raise ModelError(f"the {name} must return {wanted}; it returns {given}")


def _columns(ty, count):
    """The number of channels of a matrix; None where its shape tells."""
    if isinstance(ty, types.Array) and count is None:
        return None
    rows = list(ty) if isinstance(ty, types.BaseTuple) else []
    columns = {len(row) if isinstance(row, types.BaseTuple) else -1 for row in rows}
    fits = len(rows) == count and len(columns) == 1 and min(columns) > 0
    if not fits or not all(isinstance(t, _FLOATS) for row in rows for t in row):
        wanted = (
            "an array of shape (n, m)"
            if count is None
            else f"a tuple of {count} rows, tuples of floats of one length"
        )
        raise ModelError(f"the diffusion must return a matrix, {wanted}; it returns {ty}")
    return columns.pop()
