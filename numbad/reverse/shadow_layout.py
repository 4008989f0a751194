"""Shadows of arrays that Numba may share or copy, as it finds them contiguous at run time or not."""

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from .arena import new_array

_i64 = ir.IntType(64)


def _address(context, builder, ty, value):
    return builder.ptrtoint(make_array(ty)(context, builder, value).data, _i64)


def _retyped(context, builder, ty, value, target):
    """An array as one of a type of another layout, which it has."""
    source, array = make_array(ty)(context, builder, value), make_array(target)(context, builder)
    populate_array(
        array,
        data=source.data,
        shape=source.shape,
        strides=source.strides,
        itemsize=source.itemsize,
        meminfo=source.meminfo,
        parent=source.parent,
    )
    return array._getvalue()


@intrinsic
def shadow_of_same_or_copy(typingctx, tape, source, target, shadow):
    """The shadow of `target`: that of `source`, where these share memory, or zeros."""
    ty = types.Array(shadow.dtype, target.ndim, target.layout)

    def codegen(context, builder, sig, args):
        tape, first, second, given = args
        here, there = (
            _address(context, builder, t, v) for t, v in ((source, first), (target, second))
        )
        with builder.if_else(builder.icmp_unsigned("==", here, there)) as (same, apart):
            with same:
                shared = _retyped(context, builder, shadow, given, ty)
                from_same = builder.block
            with apart:
                shape = make_array(target)(context, builder, second).shape
                shape = cgutils.unpack_tuple(builder, shape, target.ndim)
                where = "the shadow of an array"
                new = new_array(context, builder, tape, ty, shape, where, True)._getvalue()
                from_apart = builder.block
        found = builder.phi(new.type)
        found.add_incoming(shared, from_same)
        found.add_incoming(new, from_apart)
        return impl_ret_borrowed(context, builder, ty, found)

    return ty(tape, source, target, shadow), codegen


@intrinsic
def _are_apart(typingctx, a, b):
    def codegen(context, builder, sig, args):
        here, there = (
            _address(context, builder, t, v) for t, v in zip(sig.args, args, strict=True)
        )
        return builder.icmp_unsigned("!=", here, there)

    return types.boolean(a, b), codegen


@njit
def add_copied(shadow, copied):
    """Add the adjoint of a copy to that of what was copied; nothing where they are the same."""
    if _are_apart(shadow, copied):
        for index in np.ndindex(shadow.shape):
            shadow[index] += copied[index]
