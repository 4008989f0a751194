"""Tables of states that grow, a row a time."""

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic

from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.state import write_row

FIRST_ROWS = 64


@intrinsic
def enlarged(typingctx, table, count):
    """A copy of a contiguous array with `count` rows, of which those beyond the old are unset."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        old = context.make_array(table)(context, builder, arguments[0])
        shape = [arguments[1], *cgutils.unpack_tuple(builder, old.shape, table.ndim)[1:]]
        new_value = emitter.allocate(table, shape)
        new = context.make_array(table)(context, builder, new_value)
        cgutils.raw_memcpy(builder, new.data, old.data, old.nitems, old.itemsize)
        return impl_ret_new_ref(context, builder, table, new_value)

    return table(table, types.intp), codegen


@inlined
def with_row(times, states, row, t, y):
    """Tables of times and states with a further row, enlarged where they are full; their rows."""
    if row == len(times):
        times = enlarged(times, 2 * row)
        states = enlarged(states, 2 * row)
    times[row] = t
    write_row(states, row, y)
    return times, states, row + 1
