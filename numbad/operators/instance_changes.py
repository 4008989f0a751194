"""What a function changes in an instance that it is given, done to the caller's as well.

Operators work on a copy of the instance. It comes with the address of the caller's, in an integer, which
is a constant for whatever differentiates; the numbers in the fields of the copy are assigned there when
the function is done.
"""

from collections import namedtuple

import numpy as np
from numba import njit
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload

from ..forward import dual as d
from ..forward.access import strip
from ..forward.dual_arrays import dtype_of_type
from ..forward.layout import empty_as
from ..forward.retyped import instance_in
from ..ir.leaves import fields_of
from ..rules.registry import STOPPING
from ..source import define

Addressed = namedtuple("Addressed", "fields address")


def address_of(x):
    """The address of an instance; of a tuple, those of the instances in it."""
    raise NotImplementedError


@overload(address_of)
def _address_of(x):
    if fields_of(x) is not None:
        return lambda x: _address(x)
    if not isinstance(x, types.BaseTuple):
        return lambda x: 0
    items = "".join(f"address_of(x[{k}]), " for k in range(len(x)))
    return define(f"def addresses(x):\n    return ({items})\n", {"address_of": address_of})


def addresses_in(x):
    """The addresses of all instances in a value, those in fields too, as a tuple."""
    raise NotImplementedError


@overload(addresses_in)
def _addresses_in(x):
    fields = fields_of(x)
    if fields is None and not isinstance(x, types.BaseTuple):
        return lambda x: ()
    parts = [f"x.{name}" for name in fields or ()] or [f"x[{k}]" for k in range(len(x))]
    terms = [f"addresses_in({part})" for part in parts] + ["(address_of(x),)"] * bool(fields)
    namespace = {"addresses_in": addresses_in, "address_of": address_of}
    return define(f"def collect(x):\n    return {' + '.join(['()', *terms])}\n", namespace)


@njit
def are_distinct(addresses):
    """Whether no address is there twice."""
    for i in range(len(addresses)):
        for k in range(i):
            if addresses[i] == addresses[k]:
                return False
    return True


@intrinsic
def _address(typingctx, x):
    def codegen(context, builder, sig, args):
        meminfo = context.make_helper(builder, x, value=args[0]).meminfo
        return builder.ptrtoint(meminfo, context.get_value_type(types.uintp))

    return types.uintp(x), codegen


def _instance_at(ty):
    """An intrinsic `(address)`: the instance of type `ty` there."""

    @intrinsic
    def instance_at(typingctx, address):
        def codegen(context, builder, sig, args):
            meminfo = builder.inttoptr(args[0], cgutils.voidptr_t)
            value = instance_in(context, builder, ty, meminfo)
            return impl_ret_borrowed(context, builder, ty, value)

        return ty(types.uintp), codegen

    return instance_at


def below(x, level):
    """A number without the derivatives of a level and of those above it."""
    raise NotImplementedError


STOPPING.add(below)


@overload(below, prefer_literal=True)
def _below(x, level):
    if isinstance(x, d.Dual) and x.tag >= level.literal_value:
        return lambda x, level: below(strip(x), level)
    if isinstance(x, types.Array) and isinstance(x.dtype, d.Dual):
        return _values_below(x.dtype, level.literal_value)
    return lambda x, level: x


def _values_below(ty, level):
    while isinstance(ty, d.Dual) and ty.tag >= level:
        ty = ty.scalar
    dtype = dtype_of_type(ty)

    def values(x, level):
        out = empty_as(x, dtype())
        for index in np.ndindex(x.shape):
            out[index] = below(x[index], level)
        return out

    return values


def is_another(a, b):
    """Whether two arrays, of which one was the other before, are so no more."""
    raise NotImplementedError


STOPPING.add(is_another)


@overload(is_another)
def _is_another(a, b):
    return lambda a, b: a.size != b.size or (a.size > 0 and a.ctypes.data != b.ctypes.data)


def written_back(ty, level):
    """A dispatcher `(address, fields, copy)` that assigns what a copy, made of fields, has now."""
    fields = fields_of(ty)
    namespace = {"below": below}
    if fields is None:
        lines = _members(ty, level, namespace)
    else:
        namespace["instance_at"] = _instance_at(ty)
        namespace["assign"] = _assigned(ty, level)
        lines = ["    assign(instance_at(address), fields, copy)"]
    source = "\n".join(["def write_back(address, fields, copy):", *lines, "    return None", ""])
    return njit(define(source, namespace))


def _members(ty, level, namespace):
    lines = []
    for k, part in enumerate(getattr(ty, "types", ())):
        namespace[f"back{k}"] = written_back(part, level)
        lines.append(f"    back{k}(address[{k}], fields[{k}], copy[{k}])")
    return lines


def _assigned(ty, level):
    """A dispatcher `(instance, fields, copy)` that does so with the instance itself."""
    namespace, lines = {"below": below, "is_another": is_another}, []
    for k, (name, part) in enumerate(fields_of(ty).items()):
        if fields_of(part) is not None:
            namespace[f"assign{k}"] = _assigned(part, level)
            lines.append(f"    assign{k}(instance.{name}, fields[{k}], copy.{name})")
        elif isinstance(part, types.Number | types.Boolean | d.Dual):
            lines.append(f"    instance.{name} = below(copy.{name}, {level})")
        elif isinstance(part, types.Array) and isinstance(part.dtype, types.Float | d.Dual):
            lines.append(f"    if is_another(fields[{k}], copy.{name}):")
            lines.append(f"        instance.{name} = below(copy.{name}, {level})")
    source = "\n".join(["def assign(instance, fields, copy):", *lines, "    return None", ""])
    return njit(define(source, namespace))


def without_addresses(x):
    """A structure with what belongs to the fields alone in place of each `Addressed`."""
    raise NotImplementedError


@overload(without_addresses)
def _without_addresses(x):
    if not isinstance(x, types.BaseTuple):
        return lambda x: x
    named = getattr(x, "instance_class", None)
    if named is Addressed:
        return lambda x: x.fields
    items = "".join(f"without_addresses(x[{k}]), " for k in range(len(x)))
    items = f"({items})" if named is None else f"named({items})"
    namespace = {"without_addresses": without_addresses, "named": named}
    return define(f"def drop(x):\n    return {items}\n", namespace)
