"""New arrays in C order: `np.empty` and `np.zeros`, emitted where they are called.

Numba's own are five functions in Python, compiled in each process: an eighth of a first gradient's time.
And its `np.zeros` writes to all of its memory. A gradient of a large array that a function reads a little of,
such as a table of words, is mostly zeros: large arrays of zeros lie in pages that come zero.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from .zero_pages import emit_owner, emit_zero_pages

LARGE = 2**20  # from so many bytes on zeros lie in zero pages
_LINE = 64
_i1, _i64 = ir.IntType(1), ir.IntType(64)


@intrinsic
def empty(typingctx, shape, dtype):
    """`np.empty(shape, dtype)` for a tuple of ints."""
    ty = types.Array(dtype.dtype, len(shape), "C")

    def codegen(context, builder, signature, arguments):
        def take(size):
            owner = _allocated(context, builder, size)
            return owner, context.nrt.meminfo_data(builder, owner)

        return _array(context, builder, ty, arguments[0], take)

    return ty(shape, dtype), codegen


@intrinsic
def zeros(typingctx, shape, dtype):
    """`np.zeros(shape, dtype)` for a tuple of ints."""
    ty = types.Array(dtype.dtype, len(shape), "C")

    def codegen(context, builder, signature, arguments):
        def take(size):
            owner, data = (cgutils.alloca_once(builder, cgutils.voidptr_t) for _ in range(2))
            is_small = builder.icmp_unsigned("<", size, _i64(LARGE))
            with builder.if_else(is_small, likely=True) as (small, large):
                with small:
                    memory = _allocated(context, builder, size)
                    place = context.nrt.meminfo_data(builder, memory)
                    cgutils.memset(builder, place, size, 0)
                    builder.store(memory, owner)
                    builder.store(place, data)
                with large:
                    memory, place = _zero(context, builder, size)
                    builder.store(memory, owner)
                    builder.store(place, data)
            return builder.load(owner), builder.load(data)

        return _array(context, builder, ty, arguments[0], take)

    return ty(shape, dtype), codegen


def _array(context, builder, ty, shape, take):
    """An array of a type and a shape, in memory that `take(size) -> (owner, data)` gives."""
    counts = cgutils.unpack_tuple(builder, shape, ty.ndim)
    item = _i64(context.get_abi_sizeof(context.get_data_type(ty.dtype)))
    strides, size, overflown = [], item, _i1(0)
    for count in reversed(counts):
        strides.append(size)
        product = builder.smul_with_overflow(size, count)
        size = builder.extract_value(product, 0)
        overflown = builder.or_(overflown, builder.extract_value(product, 1))
    with cgutils.if_unlikely(builder, overflown):
        _fail(context, builder)
    owner, data = take(size)
    made = make_array(ty)(context, builder)
    populate_array(
        made,
        data=builder.bitcast(data, made.data.type),
        shape=counts,
        strides=strides[::-1],
        itemsize=item,
        meminfo=owner,
        parent=None,
    )
    return impl_ret_new_ref(context, builder, ty, made._getvalue())


def _allocated(context, builder, size):
    """Memory that begins with a line: no vector lies in two of them."""
    return context.nrt.meminfo_alloc_aligned(builder, size, _LINE)


def _zero(context, builder, size):
    line = _i64(_LINE)
    address = emit_zero_pages(builder, builder.add(size, line))
    with cgutils.if_unlikely(builder, builder.icmp_signed("==", address, _i64(0))):
        _fail(context, builder)
    aligned = builder.mul(builder.udiv(builder.add(address, line), line), line)
    owner = emit_owner(builder, builder.inttoptr(address, cgutils.voidptr_t))
    return owner, builder.inttoptr(aligned, cgutils.voidptr_t)


def _fail(context, builder):
    context.call_conv.return_user_exc(builder, MemoryError, ("Allocation failed",))
