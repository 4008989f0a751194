"""Arrays of dual numbers: dtypes, conversion, and views of their values."""

import functools
from itertools import combinations

import numpy as np
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, register_jitable
from numba.typed import List
from numba.typed.dictobject import new_dict
from numba.typed.listobject import new_list

from ..errors import UnsupportedError
from ..ir.array_extents import arrays_overlap
from ..source import define
from . import dual as d
from .access import primal
from .dual import is_dual_array, is_float_array
from .dual_records import copy_records, holds_records
from .layout import empty_as
from .retyped import in_duals
from .stand_ins import stand_for

# -- conversion ------------------------------------------------------------------------------


@functools.cache
def dtype_of_type(ty):
    """A nopython function of no arguments that returns the dtype for a scalar type."""

    @intrinsic
    def dtype(typingctx):
        def codegen(context, builder, sig, args):
            return context.get_dummy_value()

        return types.DType(ty)(), codegen

    return dtype


@functools.cache
def as_scalar(target):
    """A nopython function that converts a scalar to the type `target`."""

    @intrinsic
    def convert(typingctx, x):
        def codegen(context, builder, sig, args):
            return context.cast(builder, args[0], sig.args[0], target)

        return target(x), codegen

    return convert


@functools.cache
def as_dual(dual):
    """A nopython function that turns a fresh float array, list or dict into one of duals."""

    def convert(x):
        raise NotImplementedError

    convert.turns_into_duals = True

    @overload(convert)
    def overload_convert(x):
        if is_float_array(x) or (is_dual_array(x) and _is_lower(x.dtype, dual)):
            dtype = dtype_of_type(d.with_base(dual, d.base_scalar(x.dtype)))

            def array_as_dual(x):
                out = empty_as(x, dtype())
                for index in np.ndindex(x.shape):
                    out[index] = x[index]
                return out

            return array_as_dual
        if (
            isinstance(x, types.Array)
            and holds_records(x)
            and (wanted := in_duals(x.dtype, dual)) != x.dtype
        ):
            records = dtype_of_type(wanted)

            def records_as_dual(x):
                out = empty_as(x, records())
                copy_records(out, x)
                return out

            return records_as_dual
        if isinstance(x, types.List) and (item := raising(x.dtype, dual)):
            return lambda x: [item(v) for v in x]
        if isinstance(x, types.ListType) and (item := raising(x.item_type, dual)):
            return lambda x: List([item(v) for v in x])
        if isinstance(x, types.DictType) and (item := raising(x.value_type, dual)):
            return lambda x: {key: item(v) for key, v in x.items()}
        if isinstance(x, types.BaseTuple) and (found := _to_convert(x, dual)):
            return of_members(x, convert) if found == 1 else _of_apart(x, convert, dual)
        return lambda x: x

    return convert


@functools.cache
def members_as_dual(dual):
    """A nopython function that turns the members of a tuple, which nobody writes to, into duals."""

    def convert(x):
        raise NotImplementedError

    overload(convert)(lambda x: of_members(x, as_dual(dual)))
    return convert


def _of_apart(ty, convert, dual):
    """A nopython function that converts the arrays of a tuple, none of which may share memory with another.

    A tuple that holds lists, or tuples of arrays, stays as it is.
    """
    places = [k for k, member in enumerate(ty) if _to_convert(member, dual)]
    if not all(isinstance(ty[k], types.Array) for k in places):
        return lambda x: x
    shared = " or ".join(f"arrays_overlap(x[{j}], x[{k}])" for j, k in combinations(places, 2))
    members = of_members(ty, convert)
    lines = f"    if {shared}:\n        raise UnsupportedError(refusal)\n    return converted(x)\n"
    names = {"arrays_overlap": arrays_overlap, "UnsupportedError": UnsupportedError}
    names |= {"refusal": _SHARED, "converted": register_jitable(members)}
    return define(f"def convert_apart(x):\n{lines}", names)


_SHARED = (
    "forward mode cannot differentiate a function that writes to arrays of a tuple which share memory, "
    "and held constants at first.\nWay out: copy one of them before it goes into the tuple."
)


def _to_convert(ty, dual):
    """How many arrays, lists and dicts of a type, members of tuples included, are to hold duals."""
    if isinstance(ty, types.BaseTuple):
        return sum(_to_convert(member, dual) for member in ty)
    typed = isinstance(ty, types.Array | types.ListType | types.DictType)
    return int(isinstance(ty, types.List) or (typed and in_duals(ty, dual) != ty))


def of_members(ty, convert):
    """A nopython function that converts each member of tuples of a type."""
    members = "".join(f"convert(x[{k}]), " for k in range(len(ty)))
    named = isinstance(ty, types.BaseNamedTuple)
    made = f"make({members})" if named else f"({members})"
    names = {"convert": convert, "make": ty.instance_class} if named else {"convert": convert}
    return define(f"def convert_members(x):\n    return {made}\n", names)


@functools.cache
def as_empty_of_duals(dual):
    """A nopython function that gives for an empty typed list or dict one for dual numbers."""

    def convert(x):
        raise NotImplementedError

    @overload(convert)
    def overload_convert(x):
        wanted = in_duals(x, dual)
        if wanted == x:
            return lambda x: x
        if isinstance(x, types.ListType):
            item = wanted.item_type
            return lambda x: new_list(item)
        key, value = wanted.key_type, wanted.value_type
        return lambda x: new_dict(key, value)

    return convert


def raising(ty, dual):
    """A nopython function that makes duals of members of a list or dict; None where they stay."""
    if isinstance(ty, types.Float | types.Complex) or _is_lower(ty, dual):
        return as_scalar(d.with_base(dual, d.base_scalar(ty)))
    return all_dual(dual) if _is_tuple_of_floats(ty) else None


def _is_tuple_of_floats(ty):
    """Whether a type is that of tuples of numbers, a float or complex number among them."""
    found = list(_leaves(ty)) if isinstance(ty, types.BaseTuple) else []
    numbers = all(isinstance(leaf, types.Number | types.Boolean | d.Dual) for leaf in found)
    return numbers and any(isinstance(leaf, types.Float | types.Complex) for leaf in found)


def _leaves(ty):
    for member in ty:
        if isinstance(member, types.BaseTuple):
            yield from _leaves(member)
        else:
            yield member


def _is_lower(ty, dual):
    """Whether values of type `ty`, duals, fit into `dual`, but not the other way."""
    from numba.core.registry import cpu_target

    if not isinstance(ty, d.Dual):
        return False
    target = d.with_base(dual, d.base_scalar(ty))
    return ty != target and d.join(cpu_target.typing_context, ty, target) == target


@functools.cache
def all_dual(dual):
    """A nopython function that raises the numbers of a tuple; arrays of duals stay what they are."""

    def raised(x):
        raise NotImplementedError

    @overload(raised)
    def overload_raised(x):
        if isinstance(x, types.BaseTuple):
            return of_members(x, raised)
        if isinstance(x, types.Float | types.Complex | d.Dual):
            convert = as_scalar(d.with_base(dual, d.base_scalar(x)))
            return lambda x: convert(x)
        convert = as_dual(dual)
        return lambda x: convert(x)

    return raised


def _number_class(cls, ty):
    """The stand-in for calls such as `np.float32(x)`; one that gives an int drops the partials."""

    def number(x=0):
        raise NotImplementedError

    @overload(number, prefer_literal=True)
    def overload_number(x=0):
        if isinstance(x, d.Dual) and isinstance(ty, types.Float | types.Complex):
            convert = as_scalar(d.with_base(x, ty))
            return lambda x=0: convert(x)
        if isinstance(x, d.Dual):
            return lambda x=0: cls(primal(x))
        return lambda x=0: cls(x)

    stand_for(cls, number)


@overload(float)
def _float(x):
    """A dual is a float already, whatever its precision; Numba says the same of a float32."""
    if isinstance(x, d.Dual) and isinstance(d.base_scalar(x), types.Float):
        return lambda x: x


for _name in (
    "float64 float32 complex128 complex64 int64 int32 int16 int8 uint64 uint32 uint16 uint8 intp uintp"
).split():
    _number_class(getattr(np, _name), getattr(types, _name))
    _number_class(getattr(types, _name), getattr(types, _name))
_number_class(np.bool_, types.boolean)


# -- values and partials apart ---------------------------------------------------------------


@intrinsic
def value_view(typingctx, a):
    """The values (of the outermost level) of an array of duals, as a view of the same memory."""
    target = types.Array(a.dtype.scalar, a.ndim, "A", readonly=not a.mutable)

    def codegen(context, builder, sig, args):
        from numba.np import arrayobj

        source = arrayobj.make_array(a)(context, builder, args[0])
        view = arrayobj.make_array(target)(context, builder)
        size = context.get_abi_sizeof(context.get_data_type(target.dtype))
        arrayobj.populate_array(
            view,
            data=builder.bitcast(source.data, view.data.type),
            shape=source.shape,
            strides=source.strides,
            itemsize=context.get_constant(types.intp, size),
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return impl_ret_borrowed(context, builder, target, view._getvalue())

    return target(a), codegen


@intrinsic
def with_value(typingctx, x, value):
    """The dual `x` with another value, and its own partials."""

    def codegen(context, builder, sig, args):
        _, partials = d.split(context, builder, x, args[0])
        scalar = context.cast(builder, args[1], sig.args[1], x.scalar)
        return d.build(context, builder, x, scalar, partials)

    return x(x, value), codegen


def plain(x):
    """A scalar, array, tuple or list without any partials; arrays of duals are copied."""
    raise NotImplementedError


@overload(plain)
def _plain(x):
    if not any(True for _ in d.duals_in(x)):
        return lambda x: x
    if isinstance(x, types.BaseTuple):
        return of_members(x, plain)
    if isinstance(x, types.List):
        return lambda x: [plain(v) for v in x]
    if not is_dual_array(x):
        return lambda x: primal(x)
    dtype = dtype_of_type(d.base_scalar(x.dtype))

    def values(x):
        out = np.empty(x.shape, dtype())
        for index in np.ndindex(x.shape):
            out[index] = primal(x[index])
        return out

    return values
