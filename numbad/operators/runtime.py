"""What generated operator code calls: seeding arrays of duals and collecting partials from them."""

import functools

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload, register_jitable

from ..errors import ArgumentError
from ..forward import dual as d
from ..forward.access import pair, partial, strip, unit
from ..forward.custom import each_member, tangent
from ..forward.dual_arrays import dtype_of_type
from ..forward.layout import empty_as


@functools.cache
def zero_of_type(ty):
    """A nopython function of no arguments that returns the zero of a number type."""

    @intrinsic
    def zero(typingctx):
        def codegen(context, builder, sig, args):
            return context.get_constant_null(ty)

        return ty(), codegen

    return zero


def flat(name, ty):
    """Source of an array's elements in C order, by number; `ty` is of its layout."""
    return f"{name}.reshape({name}.size)" if ty.layout == "C" else f"{name}.flat"


@register_jitable
def load(flat, a):
    """The values of array `a` into a flat array of duals, with zero partials."""
    k = 0
    for x in a.flat:
        flat[k] = x
        k += 1


@register_jitable
def load_flat(flat, values):
    """The same where the values are flat as well."""
    for k in range(values.size):
        flat[k] = values[k]


def loaded(duals, name, ty):
    """The line that loads the values of an array of type `ty` into flat duals."""
    if ty.layout == "C":
        return f"load_flat({duals}, {flat(name, ty)})"
    return f"load({duals}, {name})"


def store(a, duals):
    """The values of an array of duals into array `a` of the same shape; nothing where that is read-only."""
    for index in np.ndindex(a.shape):
        a[index] = strip(duals[index])


@overload(store)
def _store(a, duals):
    return store if a.mutable else lambda a, duals: None


def store_flat(a, duals):
    """The same for flat arrays."""
    for k in range(a.size):
        a[k] = strip(duals[k])


@overload(store_flat)
def _store_flat(a, duals):
    return store_flat if a.mutable else lambda a, duals: None


def stored(name, duals, ty):
    """The line that stores the values of an array of duals in one of type `ty`, laid out alike."""
    if ty.layout == "C":
        return f"store_flat({flat(name, ty)}, {flat(duals, ty)})"
    return f"store({name}, {duals})"


@register_jitable
def copied(a, dtype):
    """A C-contiguous copy of an array with another dtype."""
    out = np.empty(a.shape, dtype)
    for index in np.ndindex(a.shape):
        out[index] = a[index]
    return out


@register_jitable
def set_to(a, b):
    """Set the elements of an array to those of another of the same shape."""
    for index in np.ndindex(a.shape):
        a[index] = b[index]


@register_jitable
def fill_zero(a):
    """Set every element of an array to zero."""
    for index in np.ndindex(a.shape):
        a[index] = 0.0


@register_jitable
def unit_at(flat, k):
    """Set element `k` of a flat array, or of `a.flat`, to one, where there is such."""
    if 0 <= k < len(flat):
        flat[k] = 1.0


@register_jitable
def put_row(matrix, k, a):
    """The elements of array `a` into row `k` of a matrix."""
    j = 0
    for x in a.flat:
        matrix[k, j] = x
        j += 1


@register_jitable
def element(a, k):
    """Element `k` of an array, in C order."""
    return a.flat[k]


@register_jitable
def column_into(a, w, j, n):
    """Set `a` to column `j` of `w`, whose first axes are those of `a` and whose others count `n`."""
    k = j
    for index in np.ndindex(a.shape):
        a[index] = w.flat[k]
        k += n


@register_jitable
def add_into(a, b):
    """Add array `b` to array `a` of the same shape."""
    for index in np.ndindex(a.shape):
        a[index] += b[index]


def seed(flat, first, n, tag):
    """Set partial `j` of `flat[first + j]` to one, for j = 0, ..., n - 1 where there is such."""
    raise NotImplementedError


@overload(seed, prefer_literal=True)
def _seed(flat, first, n, tag):
    count, level = n.literal_value, tag.literal_value

    def set_units(flat, first, n, tag):
        for j in range(max(0, -first), min(count, len(flat) - first)):
            flat[first + j] = unit(strip(flat[first + j]), j, count, level)

    return set_units


@register_jitable
def clear(flat, first, n):
    """Set the partials of `flat[first]`, ..., `flat[first + n - 1]` back to zero."""
    for k in range(max(0, first), min(len(flat), first + n)):
        flat[k] = strip(flat[k])


@register_jitable
def collect_scalar(flat, result, first, n):
    """Partial `j` of a scalar result into `flat[first + j]`."""
    for j in range(max(0, -first), min(n, flat.size - first)):
        flat[first + j] = partial(result, j)


@register_jitable
def collect_array(matrix, result, first, n):
    """Partial `j` of element `k` of an array result into `matrix[k, first + j]`."""
    lowest, highest = max(0, -first), min(n, matrix.shape[1] - first)
    k = 0
    for x in result.flat:
        for j in range(lowest, highest):
            matrix[k, first + j] = partial(x, j)
        k += 1


@register_jitable
def collect_column(flat, result, j):
    """Partial `j` of every element of an array result into a flat array."""
    k = 0
    for x in result.flat:
        flat[k] = partial(x, j)
        k += 1


@register_jitable
def values(flat, result):
    """The value of every element of an array result into a flat array."""
    k = 0
    for x in result.flat:
        flat[k] = strip(x)
        k += 1


def paired(a, da, tag):
    """The array of duals with values `a` and one partial each, `da`."""
    raise NotImplementedError


@overload(paired, prefer_literal=True)
def _paired(a, da, tag):
    level = tag.literal_value
    tangent = da.dtype if isinstance(da, types.Array) else da
    if not isinstance(da, types.Array) or da.ndim != a.ndim:
        return None
    from numba.core.registry import cpu_target

    scalar = d.join_tangent(cpu_target.typing_context, a.dtype, tangent)
    dtype = dtype_of_type(d.Dual(scalar, 1, level))

    def build(a, da, tag):
        if a.shape != da.shape:
            raise ArgumentError("a tangent must have the shape of the argument that it belongs to")
        out = empty_as(a, dtype())
        for index in np.ndindex(a.shape):
            out[index] = pair(a[index], da[index], level)
        return out

    return build


def tangent_of_level(x, tag):
    """The first partials of a result at level `tag`; zeros where it does not reach that level."""
    raise NotImplementedError


@overload(tangent_of_level, prefer_literal=True)
def _tangent_of_level(x, tag):
    if isinstance(x, types.BaseTuple):
        expression = "tangent_of_level(x[{i}], tag)"
        return each_member(x, expression, {"tangent_of_level": tangent_of_level}, "x, tag")
    if isinstance(x, types.Integer | types.Boolean):
        return lambda x, tag: 0.0
    if isinstance(x, types.Array) and not isinstance(x.dtype, types.Float | types.Complex | d.Dual):
        return lambda x, tag: np.zeros(x.shape)
    if isinstance(x, types.Number | d.Dual | types.Array):
        return lambda x, tag: tangent(x, 0, tag)
    return lambda x, tag: None
