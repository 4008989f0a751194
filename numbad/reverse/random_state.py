"""Numba's random number states, kept and put back, so that every pass of a sweep draws the same numbers."""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

SIZE = 8192  # bytes, room for both states


def _copy(context, builder, arrayty, array, save):
    from numba.cpython import randomimpl

    data = context.make_array(arrayty)(context, builder, array).data
    size = ir.Constant(ir.IntType(64), context.get_abi_sizeof(randomimpl.rnd_state_t))
    for k, name in enumerate(("np", "py")):
        state = randomimpl.get_state_ptr(context, builder, name)
        state = builder.bitcast(state, cgutils.voidptr_t)
        kept = builder.gep(data, [ir.Constant(ir.IntType(64), k * SIZE // 2)])
        target, source = (kept, state) if save else (state, kept)
        cgutils.raw_memcpy(builder, target, source, size, 1)
    return context.get_dummy_value()


@intrinsic
def save(typingctx, buffer):
    """Copy the states of `np.random` and `random` into an array of `SIZE` bytes."""

    def codegen(context, builder, sig, args):
        return _copy(context, builder, sig.args[0], args[0], save=True)

    return types.none(buffer), codegen


@intrinsic
def restore(typingctx, buffer):
    """Put the states back that `save` copied."""

    def codegen(context, builder, sig, args):
        return _copy(context, builder, sig.args[0], args[0], save=False)

    return types.none(buffer), codegen


NAMES = {"save_random": save, "restore_random": restore, "RANDOM_SIZE": SIZE, "uint8": np.uint8}
