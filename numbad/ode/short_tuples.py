"""Members of a short tuple, by a number that is known as the code runs.

They are read and replaced by selects: the tuple stays in registers, and no error is raised.
"""

from functools import reduce

from numba.core import types
from numba.extending import intrinsic


@intrinsic
def item(typingctx, members, i):
    """Member `i`, one of those there are."""

    def codegen(context, builder, signature, arguments):
        values, index = arguments
        kept = [builder.extract_value(values, k) for k in range(len(members))]
        numbered = enumerate(kept[1:], 1)
        return reduce(
            lambda found, k: _chosen(builder, index, k[0], k[1], found), numbered, kept[0]
        )

    return members.dtype(members, types.intp), codegen


@intrinsic
def replaced(typingctx, members, i, value):
    """The tuple with `value` for its member `i`."""

    def codegen(context, builder, signature, arguments):
        values, index, new = arguments
        for k in range(len(members)):
            old = builder.extract_value(values, k)
            values = builder.insert_value(values, _chosen(builder, index, k, new, old), k)
        return values

    return members(members, types.intp, members.dtype), codegen


def _chosen(builder, index, k, one, other):
    return builder.select(builder.icmp_signed("==", index, index.type(k)), one, other)
