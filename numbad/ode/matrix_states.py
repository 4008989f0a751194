"""States that are arrays of two or more dimensions, which a solver of vectors solves raveled, row by row.

Each function of the user's gets a view of the state in its own shape. The number of dimensions is that of the
type; the extents come in as integers before the other arguments.
"""

from dataclasses import dataclass

from numba.core import types

from numbad.errors import ModelError
from numbad.ode.state_forms import StateForm
from numbad.ode.state_types import is_scalar


def is_matrix(ty):
    """Whether a type is that of a state with two or more dimensions."""
    return isinstance(ty, types.Array) and ty.ndim > 1 and is_scalar(ty.dtype)


@dataclass(frozen=True)
class Matrix(StateForm):
    """Arrays of `ndim` dimensions."""

    ndim: int
    is_complex: bool

    @property
    def names(self):
        return {"ModelError": ModelError}

    @property
    def extra(self):
        return tuple(f"n{k}" for k in range(self.ndim))

    def extra_of(self, y0):
        return tuple(f"{y0}.shape[{k}]" for k in range(self.ndim))

    def user_type(self, y0):
        return types.Array(types.complex128 if self.is_complex else types.float64, self.ndim, "C")

    def given(self, y):
        return f"{y}.reshape(({', '.join(self.extra)}))"

    def taken(self, what, found, ty):
        is_state = isinstance(ty, types.Array) and ty.ndim == self.ndim and is_scalar(ty.dtype)
        if not is_state or (isinstance(ty.dtype, types.Complex) and not self.is_complex):
            raise ModelError(
                f"where y0 is an array of {self.ndim} dimensions, {what} must return one of its shape; "
                f"it returns {ty}"
            )
        wrong = " or ".join(f"{found}.shape[{k}] != n{k}" for k in range(self.ndim))
        message = f"{what} must return an array of the shape of the state"
        return (
            f"    if {wrong}:\n        raise ModelError({message!r})\n    return {found}.ravel()\n"
        )

    def written(self, call):
        return f"    {call(self.given('dy'))}\n"

    def jacobian(self, found):
        return found

    def start(self, y0):
        return f"{y0}.ravel()"

    def rows(self, ys):
        return f"{ys}.reshape(({ys}.shape[0], {', '.join(self.extra_of('y0'))}))"


def matrix_form(y0):
    """The form of an initial state of two or more dimensions, by its type."""
    return Matrix(y0.ndim, isinstance(y0.dtype, types.Complex))
