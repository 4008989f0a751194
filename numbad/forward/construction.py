"""Arrays of dual numbers made of lists, tuples and other arrays."""

import numpy as np
from numba.core import types
from numba.core.errors import TypingError
from numba.core.typing.npydecl import parse_dtype
from numba.extending import overload, register_jitable
from numba.np.numpy_support import as_dtype

from ..source import define
from . import dual as d
from .access import dtype_like
from .dual_arrays import as_scalar, dtype_of_type, is_dual_array, plain
from .dual_reductions import as_zero, is_none
from .layout import empty_as
from .optional_arrays import overload_stand_in
from .stand_ins import stand_for, stand_for_method


def _leaves(ty):
    """The scalar types within nested lists, tuples and arrays."""
    if isinstance(ty, types.BaseTuple):
        return [leaf for member in ty for leaf in _leaves(member)]
    if isinstance(ty, types.List | types.ListType | types.Array):
        return _leaves(ty.dtype)
    return [types.unliteral(ty)]


def _common(ty):
    """The scalar type that all leaves convert to."""
    from numba.core.registry import cpu_target

    leaves = _leaves(ty)
    joined = leaves[0]
    for leaf in leaves[1:]:
        joined = d.join(cpu_target.typing_context, joined, leaf)
        if joined is None:
            raise TypingError(f"no common scalar type among {leaves}")
    return joined


def scalar_of(dtype):
    """The scalar type that a `dtype=` argument asks for, without partials; None where there is none."""
    if is_none(dtype):
        return None
    if isinstance(dtype, types.Omitted):
        return None
    if isinstance(dtype, types.UnicodeType):  # Numba asks again, with the literal
        raise TypingError("a dtype by its name must be a literal")
    if isinstance(dtype, types.StringLiteral):
        return parse_dtype(dtype)
    return d.base_scalar(dtype.dtype) if isinstance(dtype.dtype, d.Dual) else dtype.dtype


def shape_of(x):
    """The shape of the array that nested lists and tuples stand for."""
    raise NotImplementedError


@overload_stand_in(shape_of)
def _shape_of(x):
    if isinstance(x, types.Array):
        return lambda x: x.shape
    if isinstance(x, types.List | types.ListType):
        return lambda x: (len(x), *shape_of(x[0]))
    if isinstance(x, types.BaseTuple):
        n = len(x)
        return lambda x: (n, *shape_of(x[0]))
    return lambda x: ()


def fill(out, x):
    """The elements of nested lists and tuples into an array of their shape."""
    raise NotImplementedError


@overload_stand_in(fill)
def _fill(out, x):
    if isinstance(x, types.BaseTuple):
        return _fill_from_tuple(len(x), out.ndim)
    if not isinstance(x, types.List | types.ListType):
        return _fill_from_array
    if out.ndim == 1:
        return _fill_scalars

    def nested(out, x):
        if len(x) != out.shape[0]:
            raise ValueError("np.array of lists of different lengths")
        for i in range(len(x)):
            fill(out[i], x[i])

    return nested


def _fill_from_array(out, x):
    out[...] = x


def _fill_scalars(out, x):
    if len(x) != out.shape[0]:
        raise ValueError("np.array of lists of different lengths")
    for i in range(len(x)):
        out[i] = x[i]


def _fill_from_tuple(n, ndim):
    line = "    out[{i}] = x[{i}]" if ndim == 1 else "    fill(out[{i}], x[{i}])"
    lines = ["def fill_from_tuple(out, x):"]
    lines += [f"    if out.shape[0] != {n}:", "        raise ValueError('unequal lengths')"]
    lines += [line.format(i=i) for i in range(n)]
    return define("\n".join(lines) + "\n", {"fill": fill})


@overload(np.array)
def _array_of_duals(object, dtype=None):
    """`np.array` of a scalar, or of nested lists and tuples of scalars and arrays, duals among them."""
    known = isinstance(object, types.List | types.ListType | types.BaseTuple | d.Dual)
    if not known or not any(isinstance(leaf, d.Dual) for leaf in _leaves(object)):
        return None
    scalar, asked = _common(object), scalar_of(dtype)
    if asked is not None and not isinstance(asked, types.Float | types.Complex):
        return None
    made = dtype_of_type(scalar if asked is None else d.with_base(scalar, asked))

    def array(object, dtype=None):
        out = np.empty(shape_of(object), made())
        fill(out, object)
        return out

    return array


@overload(np.full)
def _full_of_duals(shape, fill_value, dtype=None):
    """With a `dtype`; without one Numba's own takes a dual number."""
    asked = scalar_of(dtype) if isinstance(fill_value, d.Dual) else None
    if not isinstance(asked, types.Float | types.Complex):
        return None
    convert = as_scalar(d.with_base(fill_value, asked))
    return lambda shape, fill_value, dtype=None: np.full(shape, convert(fill_value))


@overload(np.eye)
def _eye_of_duals(N, M=None, k=0, dtype=None):
    """For the `dtype` of an array of dual numbers."""
    if not isinstance(dtype, types.DType) or not isinstance(dtype.dtype, d.Dual):
        return None

    def eye(N, M=None, k=0, dtype=None):
        out = np.zeros((N, N if M is None else M), dtype)
        for i in range(max(0, -k), min(N, out.shape[1] - k)):
            out[i, i + k] = 1.0
        return out

    return eye


@overload(np.identity)
def _identity_of_duals(n, dtype=None):
    if isinstance(dtype, types.DType) and isinstance(dtype.dtype, d.Dual):
        return lambda n, dtype=None: np.eye(n, dtype=dtype)


@overload(np.finfo)
def _limits_of_duals(dtype):
    """Of the numbers beneath, for the `dtype` of an array of dual numbers."""
    if isinstance(dtype, types.DType) and isinstance(dtype.dtype, d.Dual):
        number = as_dtype(d.base_scalar(dtype.dtype)).type
        return lambda dtype: np.finfo(number)


@overload(np.asarray)
def _as_array(a, dtype=None):
    """`np.asarray` of a scalar, a typed list, or an array with a dtype; Numba's own takes the rest."""
    if isinstance(a, d.Dual):
        return lambda a, dtype=None: np.array(a, dtype)
    if isinstance(a, types.ListType) and isinstance(a.dtype, d.Dual):
        return lambda a, dtype=None: np.array(a, dtype)
    if not is_dual_array(a) or is_none(dtype):
        return None
    if scalar_of(dtype) == d.base_scalar(a.dtype):
        return lambda a, dtype=None: a
    return lambda a, dtype=None: astype(a, dtype)


@overload(np.shape)
def _shape_of_a_number(a):
    """`a[..., 0]` of an array with one axis is an array without axes, for which a number stands here."""
    if isinstance(a, d.Dual):
        return lambda a: ()


@overload(np.size)
def _size_of_a_number(a):
    if isinstance(a, d.Dual):
        return lambda a: 1


@overload(np.iscomplexobj)
def _holds_complex_numbers(x):
    """Whether an array does; Numba's `np.isrealobj` asks this."""
    if is_dual_array(x):
        holds = isinstance(d.base_scalar(x.dtype), types.Complex)
        return lambda x: holds


@overload(np.broadcast_arrays, strict=False)
def _views_of_one_shape(*args):
    """Numba's wants arrays of one type."""
    if not all(isinstance(a, types.Array) for a in args) or not any(map(is_dual_array, args)):
        return None
    names = [f"a{k}" for k in range(len(args))]
    shapes = "".join(f"{name}.shape, " for name in names)
    views = "".join(f"np.broadcast_to({name}, shape), " for name in names)
    lines = [f"def views({', '.join(names)}):", f"    shape = np.broadcast_shapes({shapes})"]
    return define("\n".join([*lines, f"    return ({views})"]) + "\n", {"np": np})


@overload(np.trim_zeros)
def _trimmed(filt, trim="fb"):
    """A view; Numba's own code compares elements with strings."""
    if not is_dual_array(filt) or filt.ndim != 1:
        return None

    def trimmed(filt, trim="fb"):
        first, last = 0, len(filt)
        while "f" in trim.lower() and first < len(filt) and filt[first] == 0:
            first += 1
        while "b" in trim.lower() and last > 0 and filt[last - 1] == 0:
            last -= 1
        return filt[first:last]

    return trimmed


@overload(np.linspace)
def _linspace_of_duals(start, stop, num=50):
    """`np.linspace`, whose numbers are those that Numba computes."""
    ends = types.Tuple([types.unliteral(start), types.unliteral(stop)])
    if not any(isinstance(ty, d.Dual) for ty in ends):
        return None
    if not all(isinstance(ty, types.Number | d.Dual) for ty in ends):
        return None
    joined = _common(ends)
    is_complex = isinstance(d.base_scalar(joined), types.Complex)
    scalar = d.with_base(joined, types.complex128 if is_complex else types.float64)
    made, convert = dtype_of_type(scalar), as_scalar(scalar)

    def linspace(start, stop, num=50):
        out = np.empty(num, made())
        first, last = convert(start), convert(stop)
        if num == 1:
            out[0] = first
        elif num > 1:
            step = (last - first) / (num - 1)
            for i in range(num):
                out[i] = first + i * step
            out[-1] = last
        return out

    return linspace


# -- conversion ------------------------------------------------------------------------------


def number_of(dtype, x):
    """`a.dtype.type(x)`."""
    raise NotImplementedError


@overload_stand_in(number_of)
def _number_of(dtype, x):
    if not isinstance(dtype, types.DType):
        return None
    asked = d.base_scalar(dtype.dtype)
    if isinstance(x, d.Dual):
        narrows = isinstance(d.base_scalar(x), types.Complex) and isinstance(asked, types.Float)
        if narrows or not isinstance(asked, types.Float | types.Complex):
            return None
        convert = as_scalar(d.with_base(x, asked))
    else:
        convert = as_dtype(asked).type
    return lambda dtype, x: convert(x)


stand_for_method("type", number_of)


@register_jitable
def _empty_in_c_order(a, dtype):
    return np.empty(a.shape, dtype)


def astype(a, dtype):
    raise NotImplementedError


@overload_stand_in(astype)
def _astype(a, dtype):
    if not is_dual_array(a):
        return lambda a, dtype: a.astype(dtype)
    asked = scalar_of(dtype)
    if not isinstance(asked, types.Float | types.Complex):
        return lambda a, dtype: plain(a).astype(dtype)
    made = dtype_of_type(d.with_base(a.dtype, asked))

    allocate = empty_as if a.layout == "F" else _empty_in_c_order

    def converted(a, dtype):
        out = allocate(a, made())
        for index in np.ndindex(a.shape):
            out[index] = a[index]
        return out

    return converted


stand_for_method("astype", astype)


def trace(a, offset=0):
    raise NotImplementedError


@overload_stand_in(trace)
def _trace(a, offset=0):
    if not is_dual_array(a):
        return lambda a, offset=0: np.trace(a, offset)

    def diagonal_sum(a, offset=0):
        total = as_zero(a)
        for i in range(max(0, -offset), min(a.shape[0], a.shape[1] - offset)):
            total += a[i, i + offset]
        return total

    return diagonal_sum


stand_for(np.trace, trace)


def append(arr, values, axis=None):
    raise NotImplementedError


@overload_stand_in(append)
def _append(arr, values, axis=None):
    """Numba's own takes arrays of duals, but no dual number."""
    if is_none(axis) and isinstance(arr, types.Number | d.Dual):
        return lambda arr, values, axis=None: append(np.full(1, arr), values)
    if not isinstance(values, d.Dual):
        if is_none(axis):
            return lambda arr, values, axis=None: np.append(arr, values)
        return lambda arr, values, axis=None: np.append(arr, values, axis)
    if not isinstance(arr, types.Array) or not is_none(axis):
        return None

    def appended(arr, values, axis=None):
        out = np.empty(arr.size + 1, dtype_like(arr, values))
        for k, x in enumerate(arr.flat):
            out[k] = x
        out[arr.size] = values
        return out

    return appended


stand_for(np.append, append)


@overload(np.fill_diagonal)
def _fill_diagonal(a, val, wrap=False):
    """A matrix whose diagonal gets a differentiated number."""
    if not is_dual_array(a) or a.ndim != 2 or not isinstance(val, types.Number | d.Dual):
        return None

    def fill_diagonal(a, val, wrap=False):
        n = a.shape[1]
        end = a.size if wrap else min(a.size, n * n)
        for k in range(0, end, n + 1):
            a[k // n, k % n] = val

    return fill_diagonal
