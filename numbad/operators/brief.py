"""Arrays that end with the call that makes them: on the machine stack where they are small.

What a pullback takes, and the adjoints that it adds into, are of that kind. Each has an owner, which
frees it at the end, and stands in the code as an array that owns nothing: references are not counted.
"""

from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from ..errors import ArgumentError
from ..forward.access import pair, partial
from ..forward.dual import Dual
from . import runtime
from .argument_structure import leaves, parse

STACK_BYTES = 2048
"""Of an array on the machine stack; a larger one comes from the heap."""

_i64 = ir.IntType(64)
_NUMBERS = types.Number | types.Boolean | types.NoneType | types.Dispatcher | Dual


def holds_numbers_alone(ty):
    """Whether a value of a type is made of numbers and arrays, so that it can keep no other array."""
    return all(isinstance(leaf.type, _NUMBERS | types.Array) for leaf in leaves(parse(ty, "")))


@cache
def owner(dtype):
    """An intrinsic `(array)`: an array of its shape and order, C's or Fortran's, not set to anything.

    It may lie on the stack of the function that calls this, which must not let it out.
    """

    @intrinsic
    def like(typingctx, array):
        ty = types.Array(dtype, array.ndim, array.layout)

        def codegen(context, builder, sig, args):
            source = make_array(array)(context, builder, args[0])
            itemsize = context.get_abi_sizeof(context.get_data_type(dtype))
            size = builder.mul(source.nitems, _i64(itemsize))
            meminfo, data = _memory(context, builder, size)
            shape = cgutils.unpack_tuple(builder, source.shape, array.ndim)
            made = make_array(ty)(context, builder)
            populate_array(
                made,
                data=builder.bitcast(data, made.data.type),
                shape=shape,
                strides=_strides(builder, array, shape, itemsize),
                itemsize=itemsize,
                meminfo=meminfo,
                parent=None,
            )
            return impl_ret_new_ref(context, builder, ty, made._getvalue())

        return ty(array), codegen

    return like


def _memory(context, builder, size):
    """A reference to free (null for the stack), and the address."""
    chunk = cgutils.alloca_once(builder, ir.VectorType(_i64, 2), size=STACK_BYTES // 16)
    chunk = builder.bitcast(chunk, cgutils.voidptr_t)
    before = builder.block
    with cgutils.if_unlikely(builder, builder.icmp_unsigned(">", size, _i64(STACK_BYTES))):
        found = context.nrt.meminfo_alloc_aligned(builder, size=size, align=ir.IntType(32)(32))
        address = context.nrt.meminfo_data(builder, found)
        from_heap = builder.block
    meminfo, data = builder.phi(found.type), builder.phi(chunk.type)
    meminfo.add_incoming(ir.Constant(found.type, None), before)
    data.add_incoming(chunk, before)
    meminfo.add_incoming(found, from_heap)
    data.add_incoming(address, from_heap)
    return meminfo, data


def _strides(builder, ty, shape, itemsize):
    """Strides of a contiguous array in C order, or in Fortran's for such a type."""
    strides, step = [], _i64(itemsize)
    for count in shape if ty.layout == "F" else reversed(shape):
        strides.append(step)
        step = builder.mul(step, count)
    return strides if ty.layout == "F" else strides[::-1]


@intrinsic
def until_here(typingctx, array):
    """Nothing; an owner that is named here has not freed its array before."""

    def codegen(context, builder, sig, args):
        return context.get_dummy_value()

    return types.void(array), codegen


@intrinsic
def clear(typingctx, array):
    """Set the elements of a contiguous array to zero."""

    def codegen(context, builder, sig, args):
        given = make_array(array)(context, builder, args[0])
        size = builder.mul(given.nitems, given.itemsize)
        data = builder.bitcast(given.data, cgutils.voidptr_t)
        cgutils.memset(builder, data, size, 0)
        return context.get_dummy_value()

    return types.void(array), codegen


def put_pairs(out, a, da, tag):
    """Set an array of duals to the values `a` with one partial each, `da`."""
    raise NotImplementedError


@overload(put_pairs, prefer_literal=True)
def _put_pairs(out, a, da, tag):
    level = tag.literal_value

    def put(out, a, da, tag):
        if a.shape != da.shape:
            raise ArgumentError("a tangent must have the shape of the argument that it belongs to")
        for index in np.ndindex(a.shape):
            out[index] = pair(a[index], da[index], level)

    return put


def add_tangents(a, duals, tag):
    """Add the partials of level `tag` of an array of duals to array `a` of the same shape."""
    raise NotImplementedError


@overload(add_tangents, prefer_literal=True)
def _add_tangents(a, duals, tag):
    if not (isinstance(duals.dtype, Dual) and duals.dtype.tag == tag.literal_value):
        return lambda a, duals, tag: runtime.add_into(a, runtime.tangent_of_level(duals, tag))

    def add(a, duals, tag):
        for index in np.ndindex(a.shape):
            a[index] += partial(duals[index], 0)

    return add


class Brief:
    """Names of such arrays in the code of one call, which `lines` makes, and `until_here` ends."""

    def __init__(self, writer):
        self.writer, self.owners = writer, []

    def lines(self, name, like, dtype):
        """The lines that make the array `name` in the shape and order of the array `like`."""
        make = self.writer.constant("owner", owner(dtype))
        kept = f"owner_of_{name}"
        self.owners.append(kept)
        return [f"{kept} = {make}({like})", f"{name} = borrow({kept})"]

    def end(self):
        """The lines that come after the last use of all of them."""
        return [f"until_here({kept})" for kept in self.owners]
