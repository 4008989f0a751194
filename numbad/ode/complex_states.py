"""Complex states as real ones, of the real and the imaginary part of each component in turn.

So they need no derivative by a complex number, which a right-hand side with conjugates or absolute values
does not have: a Jacobian by the parts exists all the same, and is exact.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numba.core import types

from numbad.errors import ModelError
from numbad.forward.dual import base_scalar
from numbad.ode.rhs import check_derivative
from numbad.ode.sparse_mass import SparseMass, by_entries
from numbad.ode.sparsity_pattern import in_blocks
from numbad.ode.state_forms import StateForm
from numbad.ode.state_types import components_of, is_scalar


def is_complex_state(y0):
    """Whether a type is that of a state, no matrix, with complex numbers in it."""
    scalars = y0 if isinstance(y0, types.BaseTuple) else [getattr(y0, "dtype", y0)]
    return getattr(y0, "ndim", 1) == 1 and any(
        is_scalar(scalar) and isinstance(base_scalar(scalar), types.Complex) for scalar in scalars
    )


@njit(error_model="numpy")
def parts(z, count):
    """Real and imaginary parts of numbers that must be half as many as `count`."""
    if 2 * len(z) != count:
        raise ModelError(
            "the right-hand side, and the change of an event, must return one value for each component of "
            "the state; one of them returns another number"
        )
    out = np.empty(count)
    for i in range(len(z)):
        out[2 * i] = z[i].real
        out[2 * i + 1] = z[i].imag
    return out


@njit(error_model="numpy")
def put_parts(out, z):
    """The same, into an array."""
    for i in range(len(z)):
        out[2 * i] = z[i].real
        out[2 * i + 1] = z[i].imag


@njit(error_model="numpy")
def joined(y):
    """The complex numbers of their parts."""
    out = np.empty(len(y) // 2, np.complex128)
    for i in range(len(out)):
        out[i] = complex(y[2 * i], y[2 * i + 1])
    return out


@njit(error_model="numpy")
def joined_rows(ys):
    """The same of each row of a table."""
    out = np.empty((ys.shape[0], ys.shape[1] // 2), np.complex128)
    for r in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[r, i] = complex(ys[r, 2 * i], ys[r, 2 * i + 1])
    return out


@njit(error_model="numpy")
def real_blocks(matrix):
    """A complex matrix as what it does to parts."""
    rows, columns = matrix.shape
    out = np.empty((2 * rows, 2 * columns))
    for i in range(rows):
        for j in range(columns):
            entry = matrix[i, j]
            out[2 * i, 2 * j] = out[2 * i + 1, 2 * j + 1] = entry.real
            out[2 * i + 1, 2 * j] = entry.imag
            out[2 * i, 2 * j + 1] = -entry.imag
    return out


NAMES = dict(
    np=np,
    parts=parts,
    put_parts=put_parts,
    joined=joined,
    joined_rows=joined_rows,
    real_blocks=real_blocks,
)


@dataclass(frozen=True)
class ComplexParts(StateForm):
    """Of complex states; `y0` is the type of one, without duals, and `kind` how functions get it."""

    y0: types.Type
    kind: Any  # "array", "scalar", "tuple" or the class of a namedtuple

    @property
    def names(self):
        return NAMES if isinstance(self.kind, str) else {**NAMES, "form": self.kind}

    def user_type(self, y0):
        if self.kind == "array":
            return types.Array(types.complex128, 1, "C")
        if self.kind == "scalar":
            return types.complex128
        count = len(self.y0)
        if self.kind == "tuple":
            return types.UniTuple(types.complex128, count)
        return types.NamedUniTuple(types.complex128, count, self.kind)

    def given(self, y):
        if self.kind == "array":
            return f"joined({y})"
        if self.kind == "scalar":
            return f"complex({y}[0], {y}[1])"
        members = "".join(f"complex({y}[{2 * i}], {y}[{2 * i + 1}]), " for i in range(len(self.y0)))
        return f"({members})" if self.kind == "tuple" else f"form({members})"

    def taken(self, what, found, ty):
        count = len(components_of(self.y0))
        like = (
            types.Array(types.complex128, 1, "C")
            if self.kind == "array"
            else types.UniTuple(types.complex128, count)
        )
        if what == "the right-hand side":
            check_derivative(ty, like)
        elif not _is_state(ty):
            raise ModelError(f"{what} must return a state in the form of y0; it returns {ty}")
        return f"    return {_parts_of(found, ty)}\n"

    def written(self, call):
        return f"    dz = np.zeros(len(dy) // 2, np.complex128)\n    {call('dz')}\n    put_parts(dy, dz)\n"

    def jacobian(self, found):
        return f"real_blocks({found})"

    def start(self, y0):
        return _parts_of(y0, self.y0, f"2 * len({y0})")

    def rows(self, ys):
        return f"joined_rows({ys})"


def _is_state(ty):
    if isinstance(ty, types.BaseTuple):
        return len(ty) > 0 and all(map(is_scalar, ty))
    if isinstance(ty, types.Array | types.List):
        return getattr(ty, "ndim", 1) == 1 and is_scalar(ty.dtype)
    return is_scalar(ty)


def _parts_of(value, ty, count="len(y)"):
    """Source of the parts of a state of a type."""
    if isinstance(ty, types.Array | types.List):
        return f"parts({value}, {count})"
    if is_scalar(ty):
        return f"({_pair(value, ty)})"
    pairs = (_pair(f"{value}[{i}]", member) for i, member in enumerate(ty))
    return f"({''.join(pairs)})"


def _pair(value, ty):
    if isinstance(base_scalar(ty), types.Complex):
        return f"{value}.real, {value}.imag, "
    return f"float({value}), 0.0, "


def complex_form(y0, in_array):
    """The form of a complex initial state, by its type without duals; functions may get it as an array."""
    if in_array or isinstance(y0, types.Array):
        return ComplexParts(y0, "array")
    if is_scalar(y0):
        return ComplexParts(y0, "scalar")
    return ComplexParts(y0, getattr(y0, "instance_class", "tuple"))


def settings_of_parts(settings):
    """Settings for the parts of a complex state: what is given by component, for both parts of each."""
    tolerances = {
        name: tuple(value for value in getattr(settings, name) for _ in range(2))
        for name in ("rtol", "atol")
        if type(getattr(settings, name)) is tuple
    }
    mass = settings.mass
    if isinstance(mass, SparseMass):
        mass = by_entries(_of_entries(mass))
    elif mass is not None:
        mass = tuple(map(tuple, _of_parts(np.array(mass), np.kron).tolist()))
    sparsity = settings.sparsity and in_blocks(settings.sparsity, 2)
    return settings._replace(mass=mass, sparsity=sparsity, **tolerances)


def _of_entries(mass):
    """A mass matrix given by entries, of SciPy's, as what it does to parts."""
    from scipy.sparse import csr_array, kron

    n = len(mass.starts) - 1
    matrix = csr_array((np.array(mass.values), mass.columns, mass.starts), shape=(n, n))
    return csr_array(_of_parts(matrix, kron))


def _of_parts(matrix, kron):
    """A matrix as what it does to the real and the imaginary part of each component."""
    turned = np.array([[0.0, -1.0], [1.0, 0.0]])  # what the imaginary unit does
    return kron(matrix.real, np.eye(2)) + kron(matrix.imag, turned)
