"""How arrays broadcast, axis by axis, without branches: each would be recorded, and gone back through."""

from numba.core import types
from numba.extending import intrinsic


@intrinsic
def broadcast_length(typingctx, n, m):
    """The length of an axis that others make `n` long, with one of length m: `n if m == 1 else m`."""

    def codegen(context, builder, signature, arguments):
        n, m = arguments
        return builder.select(builder.icmp_signed("==", m, m.type(1)), n, m)

    return types.intp(types.intp, types.intp), codegen


def _step(message):
    @intrinsic
    def step(typingctx, n, m):
        def codegen(context, builder, signature, arguments):
            n, m = arguments
            is_whole, is_one = (builder.icmp_signed("==", x, m) for x in (n, m.type(1)))
            fits = builder.or_(is_whole, is_one)
            with builder.if_then(builder.not_(fits), likely=False):
                context.call_conv.return_user_exc(builder, ValueError, (message,))
            return builder.zext(is_whole, m.type)

        return types.intp(types.intp, types.intp), codegen

    return step


# `(n, m)`: the factor of the index along an axis, 0 where one of length m is repeated n times, else 1. Both
# raise where m is neither 1 nor n, with Numba's message for what is computed, or assigned.
broadcast_step = _step("unable to broadcast argument")
assigned_step = _step("cannot assign slice from input of different size")

LENGTHS = broadcast_length, broadcast_step, assigned_step
"""Functions of the lengths of axes, which are cheap and not negative."""

NAMES = {
    "broadcast_length": broadcast_length,
    "broadcast_step": broadcast_step,
    "assigned_step": assigned_step,
}
"""What the lines below call."""


def lengths(names, ndims, ndim):
    """Lines that set `n0`, `n1`, ... to the shape that arrays of `ndims` axes broadcast to."""
    lines = []
    for axis in range(ndim):
        count = "1"
        for name, own in zip(names, ndims, strict=True):
            k = axis - ndim + own
            if k >= 0:
                given = f"{name}.shape[{k}]"
                count = given if count == "1" else f"broadcast_length({count}, {given})"
        lines.append(f"    n{axis} = {count}")
    return lines


def steps(name, ndim, counts, of="broadcast_step"):
    """Lines that set `{name}s0`, ... to the steps of an array along the last axes of `counts`."""
    shift = len(counts) - ndim
    return [f"    {name}s{k} = {of}({counts[k + shift]}, {name}.shape[{k}])" for k in range(ndim)]
