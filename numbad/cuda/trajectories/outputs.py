"""What a trajectory writes: its state at an output, and the partials of it; and what it reads again."""

from functools import cache

from numba.core import cgutils, types
from numba.extending import intrinsic

from numbad.forward.access import primal
from numbad.forward.dual import Dual, get_partial, split
from numbad.ode.emit import Emitter


@cache
def make_put(first, with_values):
    """The compiled `put(tables, row, i, y)`: the state of trajectory `i` at an output.

    `tables` are ys, shape (outputs, n, trajectories), and slopes, shape (outputs, n, numbers, trajectories),
    of which the partials of y are those from `first` on; or ys alone. Values are left out where another
    pass writes them.
    """

    @intrinsic
    def put(typingctx, tables, row, i, y):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            given, row, i, state = arguments
            values, *slopes = (
                _Table(emitter, ty, builder.extract_value(given, k)) for k, ty in enumerate(tables)
            )
            vector = emitter.vector(y, state)
            for c in range(len(y)):
                if with_values:
                    values.store([row, c, i], emitter.call(primal, vector[c]))
                for table in slopes:
                    for j, partial in enumerate(_partials(emitter, vector[c])):
                        table.store([row, c, first + j, i], partial)
            return context.get_dummy_value()

        return types.none(tables, types.intp, types.intp, y), codegen

    return put


@intrinsic
def take(typingctx, table, row, i, like):
    """The state that `put` has put into a table, as one like `like`."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        values, (row, i) = _Table(emitter, table, arguments[0]), arguments[1:3]
        return emitter.make_state(like, None, lambda c: values.load([row, c, i]))

    return like(table, types.intp, types.intp, like), codegen


def _partials(emitter, scalar):
    if not isinstance(scalar.ty, Dual):
        return []
    _, partials = split(emitter.context, emitter.builder, scalar.ty, scalar.value)
    items = [get_partial(emitter.builder, scalar.ty, partials, j) for j in range(scalar.ty.n)]
    return [emitter.scalar(scalar.ty.scalar, item) for item in items]


class _Table:
    """An array that is written to, or read."""

    def __init__(self, emitter, ty, value):
        self.emitter, self.type = emitter, ty
        context, builder = emitter.context, emitter.builder
        self.array = context.make_array(ty)(context, builder, value)
        self.shape = cgutils.unpack_tuple(builder, self.array.shape, ty.ndim)
        self.strides = cgutils.unpack_tuple(builder, self.array.strides, ty.ndim)

    def store(self, index, scalar):
        value = self.emitter.cast(scalar, self.type.dtype).value
        self.emitter.builder.store(value, self._place(index))

    def load(self, index):
        return self.emitter.scalar(self.type.dtype, self.emitter.builder.load(self._place(index)))

    def _place(self, index):
        context, builder = self.emitter.context, self.emitter.builder
        at = [context.get_constant(types.intp, k) if isinstance(k, int) else k for k in index]
        return cgutils.get_item_pointer2(
            context, builder, self.array.data, self.shape, self.strides, self.type.layout, at
        )
