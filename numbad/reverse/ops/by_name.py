"""Functions, methods and attributes that are treated by name."""

import operator

import numpy as np
from numba.core import ir, types
from numba.np.unsafe.ndarray import empty_inferred

from ...ir.leaves import leaves
from ...ir.optionals import present
from .. import array_loops, elementwise_loops
from ..assigned_parts import lies_apart
from . import (
    bits,
    iterables,
    joins,
    list_changes,
    lists,
    matrix_products,
    new_arrays,
    objects,
    parts,
    records,
    table_calls,
)
from .array import ConstantArray, View
from .base import Constant, Unknown
from .call import StandIn
from .moves import BuildTuple, Joined, PresentTuple
from .scalar_function import is_scalar
from .structural_functions import ATTRIBUTES as PARTS
from .structural_functions import FUNCTIONS as STRUCTURAL
from .structural_functions import chosen, extremum_of_tuple


def _where(fn, label, s, call):
    """`np.where(condition, x, y)`, of arrays element by element."""
    if len(call.args) != 3 or call.kws:
        return None
    tys = [fn.type_of(v) for v in call.args]
    if not leaves(fn.type_of(s.target)):
        return Constant(fn, label, s)
    if all(map(is_scalar, tys)):
        return StandIn(
            fn, label, s, array_loops.where_of_numbers(fn.type_of(s.target).dtype), call.args
        )
    if not all(isinstance(ty, types.Array) or is_scalar(ty) for ty in tys):
        return None
    return array_operator(fn, label, s, chosen, call.args, call)


# -- views -----------------------------------------------------------------------------------


def _view_function(fn, label, s, call):
    source = call.args[0] if call.args else None
    if source is None or not isinstance(fn.type_of(source), types.Array):
        return None
    if not isinstance(fn.type_of(s.target), types.Array):
        return None
    return View(fn, label, s, source) if leaves(fn.type_of(source)) else Constant(fn, label, s)


def _present(fn, label, s, call):
    source = call.args[0]
    if isinstance(fn.type_of(s.target), types.BaseTuple):
        return PresentTuple(fn, label, s, source)
    return View(fn, label, s, source) if leaves(fn.type_of(source)) else Constant(fn, label, s)


def _ravel(fn, label, s, call):
    return _flat_view(fn, label, s, call.args[0])


def _flat_view(fn, label, s, source):
    ty = fn.type_of(source)
    if not isinstance(ty, types.Array) or not leaves(ty):
        return None
    if ty.layout == "C":
        return View(fn, label, s, source, fits=True)
    return StandIn(fn, label, s, array_loops.flat_copy_of(ty.ndim, ty.dtype), [source])


def _transposed(fn, label, s, value, ty):
    return View(fn, label, s, value.value) if isinstance(ty, types.Array) else None


def _part(build):
    def found(fn, label, s, value, ty):
        return build(fn, label, s, [value.value]) if is_scalar(ty) else None

    return found


def _real(fn, label, s, value, ty):
    """`z.real`; of an array it is a view, whose shadow is the real part of the array's."""
    if isinstance(ty, types.Array):
        return parts.real(fn, label, s, value.value)
    return _part(PARTS["real"])(fn, label, s, value, ty)


def _imag(fn, label, s, value, ty):
    """`z.imag`; of an array of floats it is a constant."""
    if isinstance(ty, types.Array):
        return parts.imaginary(fn, label, s, value.value)
    return _part(PARTS["imag"])(fn, label, s, value, ty)


def _flags(fn, label, s, value, ty):
    return Constant(fn, label, s) if isinstance(ty, types.Array) else None


ATTRIBUTES = {
    "T": _transposed,
    "flat": _transposed,
    "flags": _flags,
    "real": _real,
    "imag": _imag,
}


def _method_view(fn, label, s, call, owner, ty):
    if not isinstance(ty, types.Array) or not leaves(ty):
        return None
    return View(fn, label, s, owner)


def _method_ravel(fn, label, s, call, owner, ty):
    return _flat_view(fn, label, s, owner)


def _method_copy(fn, label, s, call, owner, ty):
    if not isinstance(ty, types.Array):
        return list_changes.copy(fn, label, s, call, owner, ty)
    if not leaves(ty) and leaves(fn.type_of(s.target)):
        return ConstantArray(fn, label, s)
    return new_arrays.copied(fn, label, s, owner)


def _method_flatten(fn, label, s, call, owner, ty):
    if not isinstance(ty, types.Array) or not leaves(ty):
        return None
    return StandIn(fn, label, s, array_loops.flat_copy_of(ty.ndim, ty.dtype), [owner])


def _method_fill(fn, label, s, call, owner, ty):
    if not isinstance(ty, types.Array) or not leaves(ty):
        return None
    helper = array_loops.assignment(ty.ndim, 0, overlapping=False)
    return StandIn(fn, label, s, helper, [owner, call.args[0]], writes=owner)


def _method_conjugate(fn, label, s, call, owner, ty):
    if isinstance(ty, types.Array) and isinstance(ty.dtype, types.Complex):
        return array_operator(fn, label, s, np.conjugate, [owner], call)
    if isinstance(ty, types.Array):
        return new_arrays.copied(fn, label, s, owner)
    return STRUCTURAL[np.conjugate](fn, label, s, [owner]) if is_scalar(ty) else None


def _divmod(fn, label, s, call):
    """`np.divmod` of arrays or of numbers."""
    of_arrays = table_calls.FUNCTIONS[np.divmod](fn, label, s, call)
    return of_arrays or _structural(np.divmod, STRUCTURAL[np.divmod])(fn, label, s, call)


def _conjugate_function(fn, label, s, call):
    """`np.conj(z)` of a number or an array."""
    ty = fn.type_of(call.args[0])
    if isinstance(ty, types.Array) and len(call.args) == 1:
        return _method_conjugate(fn, label, s, call, call.args[0], ty)
    return _structural(np.conjugate, STRUCTURAL[np.conjugate])(fn, label, s, call)


def _method_sort(fn, label, s, call, owner, ty):
    if isinstance(ty, types.Array):
        return iterables.sort_array(fn, label, s, call, owner, ty)
    return list_changes.sort_method(fn, label, s, call, owner, ty)


METHODS = {
    **table_calls.METHODS,
    **matrix_products.METHODS,
    "append": lists.append,
    "pop": list_changes.pop,
    "insert": list_changes.insert,
    "remove": list_changes.remove,
    "reverse": list_changes.reverse,
    "clear": list_changes.clear,
    "extend": list_changes.extend,
    "sort": _method_sort,
    "shuffle": iterables.shuffle_by_generator,
    "reshape": _method_view,
    "transpose": _method_view,
    "ravel": _method_ravel,
    "copy": _method_copy,
    "take": new_arrays.method_take,
    "astype": _method_copy,
    "flatten": _method_flatten,
    "fill": _method_fill,
    "conjugate": _method_conjugate,
    "conj": _method_conjugate,
    "item": iterables.item,
    **bits.METHODS,
}

READING_METHODS = {
    *(
        "argmax",
        "argmin",
        "allclose",
        "any",
        "all",
        "argsort",
        "nonzero",
        "index",
        "count",
        "keys",
        "get",
    ),
    *("bit_generator",),
}


# -- array elements by other than plain indices ----------------------------------------------


def _assign(fn, label, s, index):
    """`a[1:3] = v`, `a[mask] = v`, `a[numbers] = v`."""
    value = fn.type_of(s.value)
    ndim = value.ndim if isinstance(value, types.Array) else 0
    base = fn.type_of(s.target)
    where = s.index_var if isinstance(s, ir.StaticSetItem) else s.index
    if where is None:
        return None
    if isinstance(value, types.BaseTuple | types.List):
        return Unknown(fn, label, s)
    overlapping = ndim > 0 and not lies_apart(fn, s.value, [s.target])
    if isinstance(index, types.EllipsisType):
        helper = array_loops.assignment(base.ndim, ndim, overlapping)
        return StandIn(fn, label, s, helper, [s.target, s.value], writes=s.target)
    helper = array_loops.indexed_assignment(base, index, ndim, overlapping)
    if helper is None:
        return Unknown(fn, label, s)
    return StandIn(fn, label, s, helper, [s.target, where, s.value], writes=s.target)


def _fancy(fn, label, s):
    value = s.value
    where = value.index_var if value.op == "static_getitem" else value.index
    helper = array_loops.gathering(fn.type_of(value.value), fn.type_of(where))
    if helper is None:
        return Unknown(fn, label, s)
    return StandIn(fn, label, s, helper, [value.value, where])


def array_operator(fn, label, s, function, arguments, value):
    """An operator or ufunc on arrays, element by element.

    An argument more than a ufunc has inputs is written to.
    """
    if function is operator.matmul:
        return matrix_products.product(fn, label, s, arguments) or Unknown(fn, label, s)
    tys = [fn.type_of(v) for v in arguments]
    plain = all(isinstance(t, types.Array) or is_scalar(t) for t in tys)
    result = fn.type_of(s.target)
    ndims = tuple(t.ndim if isinstance(t, types.Array) else -1 for t in tys)
    if plain and is_scalar(result) and not value._kws.get("kws"):
        return StandIn(fn, label, s, elementwise_loops.of_numbers(function, ndims), arguments)
    if not plain or not isinstance(result, types.Array) or value._kws.get("kws"):
        return Unknown(fn, label, s)
    out = output_of(function, arguments, value)
    if out is None:
        turned = result.layout == "F"
        helper = elementwise_loops.elementwise(function, ndims, result.dtype, turned)
        return StandIn(fn, label, s, helper, arguments)
    if value.op != "inplace_binop":
        arguments, ndims = arguments[:-1], ndims[:-1]
    if max(ndims) > result.ndim:
        return Unknown(fn, label, s)
    helper = elementwise_loops.elementwise_into(function, ndims, result.ndim)
    return StandIn(fn, label, s, helper, [*arguments, out], writes=out)


def output_of(function, arguments, value):
    """The argument that the result is written into, if any."""
    if value.op == "inplace_binop":
        return arguments[0]
    if function in (np.round, np.around):
        named = dict(value.kws)
        return named.get("out", arguments[2] if len(arguments) > 2 else None)
    inputs = getattr(function, "nin", len(arguments))
    return arguments[inputs] if len(arguments) > inputs else None


# -- calls -----------------------------------------------------------------------------------


def _class(fn, label, s, call, cls):
    ty = fn.type_of(s.target)
    if isinstance(ty, types.BaseNamedTuple):
        named = dict(call.kws)
        rest = [named[f] for f in ty.fields[len(call.args) :]]
        return BuildTuple(fn, label, s, [*call.args, *rest])
    if isinstance(ty, types.ClassInstanceType):
        return objects.construct(fn, label, s, call, cls)
    return Unknown(fn, label, s)


def _tuple(fn, label, s, call):
    """`tuple(t)` of a tuple: the tuple."""
    alike = len(call.args) == 1 and isinstance(fn.type_of(call.args[0]), types.BaseTuple)
    return Joined(fn, label, s, call.args) if alike else None


def _of_several(fn, label, s, function, arguments):
    """`min(t)`, `max(t)` of a tuple, an array or a list of numbers."""
    ty = fn.type_of(arguments[0])
    if function not in (min, max):
        return None
    if len(arguments) != 1 or not isinstance(ty, types.BaseTuple) or len(ty) < 2:
        return iterables.extremum(fn, label, s, function, arguments)
    if not all(is_scalar(t) for t in ty):
        return None
    return StandIn(fn, label, s, extremum_of_tuple(function, len(ty)), arguments)


def _structural(key, build):
    def found(fn, label, s, call):
        arguments = new_arrays.arguments_given(call)
        if arguments and (op := _of_several(fn, label, s, key, arguments)):
            return op
        if not all(is_scalar(fn.type_of(v)) for v in arguments):
            return None
        return build(fn, label, s, arguments)

    return found


def _part_function(key, of_array):
    """`np.real(z)`, `np.imag(z)`: of arrays as the attributes."""

    def found(fn, label, s, call):
        ty = fn.type_of(call.args[0]) if len(call.args) == 1 and not call.kws else None
        if not isinstance(ty, types.Array):
            return _structural(key, STRUCTURAL[key])(fn, label, s, call)
        return of_array(fn, label, s, call.args[0])

    return found


FUNCTIONS = {
    **table_calls.FUNCTIONS,
    **matrix_products.FUNCTIONS,
    "fancy": _fancy,
    "assign": _assign,
    "array operator": array_operator,
    "class": _class,
    ("getitem", types.Record): records.record_item,
    ("setitem", types.Record): records.set_record_item,
    ("getitem", types.ClassInstanceType): objects.item,
    ("setitem", types.ClassInstanceType): objects.set_item,
    **dict.fromkeys(
        [
            *(np.empty, np.zeros, np.ones, np.full, np.eye, np.identity, np.arange, np.linspace),
            np.full_like,
        ],
        new_arrays.fresh,
    ),
    **dict.fromkeys([np.empty_like, np.zeros_like, np.ones_like], new_arrays.fresh_like),
    empty_inferred: new_arrays.inferred,
    tuple: _tuple,
    list: list_changes.from_values,
    np.array: new_arrays.new_array,
    np.copy: new_arrays.copy_function,
    **dict.fromkeys([np.asarray, np.ascontiguousarray, np.asfortranarray], new_arrays.as_array),
    **dict.fromkeys(
        [
            *(np.reshape, np.transpose, np.expand_dims, np.swapaxes, np.broadcast_to),
            *(np.atleast_1d, np.atleast_2d, np.atleast_3d),
        ],
        _view_function,
    ),
    present: _present,
    np.ravel: _ravel,
    np.take: new_arrays.take,
    np.sort: iterables.sorted_array,
    **iterables.SHUFFLING,
    **bits.FUNCTIONS,
    **joins.FUNCTIONS,
    **{key: _structural(key, build) for key, build in STRUCTURAL.items()},
    np.real: _part_function(np.real, parts.real),
    np.imag: _part_function(np.imag, parts.imaginary),
    np.where: _where,
    np.divmod: _divmod,
    np.conjugate: _conjugate_function,
}
