"""Arrays of known size on the machine stack; they own nothing."""

import math
from functools import cache

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from .switches import Switch

STACK = Switch(
    "stack",
    "small new arrays of known size that stay in the function lie on the machine stack",
)

_i64 = ir.IntType(64)


@cache
def stack_array(ty, shape, zeros):
    """An intrinsic `()`: an array on the machine stack of the function that calls it.

    It is the same memory at every call in one place.
    """

    @intrinsic
    def allocate(typingctx):
        def codegen(context, builder, sig, args):
            itemsize = context.get_abi_sizeof(context.get_data_type(ty.dtype))
            size = max(16, math.prod(shape) * itemsize)
            chunk = cgutils.alloca_once(builder, ir.VectorType(_i64, 2), size=-(-size // 16))
            data = builder.bitcast(chunk, cgutils.voidptr_t)
            if zeros:
                cgutils.memset(builder, data, _i64(size), 0)
            counts = [_i64(n) for n in shape]
            array = make_array(ty)(context, builder)
            populate_array(
                array,
                data=builder.bitcast(data, array.data.type),
                shape=counts,
                strides=[_i64(itemsize * math.prod(shape[d + 1 :])) for d in range(len(shape))],
                itemsize=itemsize,
                meminfo=None,
                parent=None,
            )
            return array._getvalue()

        return ty(), codegen

    return allocate
