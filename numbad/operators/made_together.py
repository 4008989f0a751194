"""Small arrays that are made together: pieces of one block of memory, which is freed with the last one.

An array of a few numbers takes longer to allocate, to count and to free than to fill.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

SMALL = 256
"""Numbers in one block; arrays of more, which one of them would keep alive, have memory of their own."""

_i32, _i64 = ir.IntType(32), ir.IntType(64)
_ITEM = 8  # bytes
_LINE = _i32(32)  # to which Numba aligns arrays


@intrinsic
def arrays_of(typingctx, shapes):
    """`(shapes) -> (array, ...)`: arrays of float64 that are not set to anything."""
    tys = [types.Array(types.float64, len(shape), "C") for shape in shapes]

    def codegen(context, builder, sig, args):
        given = [builder.extract_value(args[0], k) for k in range(len(tys))]
        counts = [cgutils.unpack_tuple(builder, s, t.ndim) for s, t in zip(given, tys, strict=True)]
        places = _places(context, builder, [_product(builder, shape) for shape in counts])
        made = [
            _array(context, builder, ty, shape, *place)
            for ty, shape, place in zip(tys, counts, places, strict=True)
        ]
        return context.make_tuple(builder, sig.return_type, made)

    return types.BaseTuple.from_types(tys)(shapes), codegen


def _product(builder, counts):
    total = _i64(1)
    for count in counts:
        total = builder.mul(total, count)
    return total


def _places(context, builder, sizes):
    """`(owner, address)` for arrays of so many numbers."""
    total = _i64(0)
    for size in sizes:
        total = builder.add(total, size)
    with builder.if_else(builder.icmp_unsigned("<=", total, _i64(SMALL))) as (small, large):
        with small:
            together = _pieces(context, builder, sizes, total)
            end_of_small = builder.block
        with large:
            alone = [_allocated(context, builder, size) for size in sizes]
            end_of_large = builder.block
    return [
        [_either(builder, pair, (end_of_small, end_of_large)) for pair in zip(*both, strict=True)]
        for both in zip(together, alone, strict=True)
    ]


def _either(builder, values, blocks):
    phi = builder.phi(values[0].type)
    for value, block in zip(values, blocks, strict=True):
        phi.add_incoming(value, block)
    return phi


def _pieces(context, builder, sizes, total):
    """Places one after the other; each array counts as one reference, which are all set at once."""
    owner, address = _allocated(context, builder, total)
    builder.store(_i64(len(sizes)), builder.bitcast(owner, _i64.as_pointer()))
    found = []
    for size in sizes:
        found.append((owner, address))
        address = builder.gep(address, [builder.mul(size, _i64(_ITEM))])
    return found


def _allocated(context, builder, size):
    """The owner and the address of memory for so many numbers, without the marks of Numba's allocator."""
    ty = ir.FunctionType(cgutils.voidptr_t, [_i64, _i32])
    allocate = cgutils.get_or_insert_function(builder.module, ty, "NRT_MemInfo_alloc_aligned")
    allocate.return_value.add_attribute("noalias")
    owner = builder.call(allocate, [builder.mul(size, _i64(_ITEM)), _LINE])
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, owner)):
        context.call_conv.return_user_exc(builder, MemoryError, ("Allocation failed",))
    return owner, context.nrt.meminfo_data(builder, owner)


def _array(context, builder, ty, shape, owner, address):
    made = make_array(ty)(context, builder)
    strides, step = [], _i64(_ITEM)
    for count in reversed(shape):
        strides.append(step)
        step = builder.mul(step, count)
    populate_array(
        made,
        data=builder.bitcast(address, made.data.type),
        shape=shape,
        strides=strides[::-1],
        itemsize=_i64(_ITEM),
        meminfo=owner,
        parent=None,
    )
    return made._getvalue()
