"""States of implicit steps as rows of a lent table: values or, of dual numbers, all parts of each in turn."""

from functools import cache

from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from numbad.errors import ModelError
from numbad.forward.access import primal
from numbad.forward.dual import Dual, base_scalar
from numbad.ode.borrowed import Borrowed
from numbad.ode.compiling import inlined
from numbad.ode.emit import ArrayComponents, Emitter
from numbad.ode.given_jacobian import make_put_given
from numbad.ode.jacobian import make_linearize
from numbad.ode.lent import converted, emitted_on_lent, lent_type

COMPLEX = (
    "complex states do not go with 'RadauIIA5', 'KenCarp4' and 'BDF'. Way out: "
    "method='Rodas5P', or real and imaginary parts as components of their own"
)


def parts_in(scalar):
    """How many plain numbers a scalar type holds."""
    return (1 + scalar.n) * parts_in(scalar.scalar) if isinstance(scalar, Dual) else 1


@intrinsic
def flat(typingctx, table):
    """A table as one of plain numbers, with all parts of each dual number in turn along its rows."""
    result = table.copy(dtype=base_scalar(table.dtype))

    def codegen(context, builder, signature, arguments):
        old = make_array(table)(context, builder, arguments[0])
        new = make_array(result)(context, builder)
        size = context.get_constant(
            types.intp, context.get_abi_sizeof(context.get_data_type(result.dtype))
        )
        count = context.get_constant(types.intp, parts_in(table.dtype))
        shape = [builder.extract_value(old.shape, i) for i in range(table.ndim)]
        strides = [builder.extract_value(old.strides, i) for i in range(table.ndim)]
        shape[-1], strides[-1] = builder.mul(shape[-1], count), size
        data = builder.bitcast(old.data, context.get_data_type(result.dtype).as_pointer())
        populate_array(new, data, shape, strides, itemsize=size, meminfo=None, parent=None)
        return new._getvalue()

    return result(table), codegen


def _state_type(scalar, like):
    """The type of a state of a scalar type, of the kind of another."""
    if isinstance(like, types.BaseTuple):
        return types.UniTuple(scalar, len(like))
    return Borrowed(types.Array(scalar, 1, "C"))


def _state(emitter, ty, table_type, table, row):
    """Row `row`, an LLVM integer, as a state; an array is the row itself."""
    if isinstance(ty, types.Array):
        return emitter.row(table_type, table, row)
    source = ArrayComponents(emitter, table_type, table, leading=(row,))
    return emitter.make_state(ty, None, lambda i: source[i])


@intrinsic
def values_table(typingctx, rows, y):
    """A new table of values, `rows` of the length of a state."""
    base = base_scalar(y.dtype)
    if isinstance(base, types.Complex):
        raise ModelError(COMPLEX)
    result = types.Array(base, 2, "C")

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        n = emitter.vector(y, arguments[1]).size()
        return emitter.allocate(result, [arguments[0], n])

    return result(types.intp, y), codegen


def _put(typingctx, table, row, y):
    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        target = ArrayComponents(emitter, table, arguments[0], leading=(arguments[1],))
        source = emitter.vector(y, arguments[2])

        def put_component(i):
            item = source[i]
            target[i] = item if isinstance(table.dtype, Dual) else emitter.call(primal, item)

        source.for_each(put_component)
        return context.get_dummy_value()

    return types.none(table, types.intp, y), codegen


@intrinsic
def put(typingctx, lent, row, y):
    """A state, which may be lent, into a row: its values only, where the table is of plain numbers."""
    return emitted_on_lent(_put, typingctx, lent, row, y)


def _state_at(typingctx, table, row, like):
    result = _state_type(table.dtype, like)

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        state = _state(emitter, result, table, arguments[0], arguments[1])
        return impl_ret_borrowed(context, builder, result, state)

    return result(table, types.intp, like), codegen


@intrinsic
def state_at(typingctx, lent, row, like):
    """A row as a state of the kind of another; an array is the row itself."""
    return emitted_on_lent(_state_at, typingctx, lent, row, like)


@intrinsic
def lent_state_at(typingctx, lent, row, like):
    """As `state_at`, with an array lent."""
    signature, emit = emitted_on_lent(_state_at, typingctx, lent, row, like)
    result = lent_type(signature.return_type)

    def codegen(context, builder, _, arguments):
        state = emit(context, builder, signature, arguments)
        return converted(context, builder, signature.return_type, result, state)

    return result(*signature.args), codegen


@cache
def make_states(first, count):
    """The compiled `states(lent, like)`: the `count` rows from `first` on as a tuple of states."""

    def of_arrays(typingctx, table, like):
        result = types.UniTuple(_state_type(table.dtype, like), count)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            rows = [context.get_constant(types.intp, first + i) for i in range(count)]
            states = [_state(emitter, result.dtype, table, arguments[0], row) for row in rows]
            value = context.make_tuple(builder, result, states)
            return impl_ret_borrowed(context, builder, result, value)

        return result(table, like), codegen

    @intrinsic
    def states(typingctx, lent, like):
        return emitted_on_lent(of_arrays, typingctx, lent, like)

    return states


@cache
def make_put_slope(rhs):
    """The compiled `put_slope(fun, lent, out, t, row, like, structure, args)`: f at (t, row), into `out`.

    `like` and `args` may be lent.
    """

    def of_arrays(typingctx, fun, table, out, t, row, like, structure, args):
        ty = _state_type(table.dtype, like)
        in_arrays = isinstance(ty, types.Array)
        types_of_call = ty if in_arrays else types.none, t, ty, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, rows, to, moment, at, _, _, given = arguments
            state = _state(emitter, ty, table, rows, at)
            buffer = emitter.row(table, rows, to) if in_arrays else None
            slope = call.emit(emitter, buffer, moment, state, given)
            if not in_arrays:
                emitter.write_row(table, rows, to, emitter.vector(ty, slope))
            return context.get_dummy_value()

        given = fun, table, types.intp, t, types.intp, like, structure, args
        return types.none(*given), codegen

    @intrinsic
    def put_slope(typingctx, fun, lent, out, t, row, like, structure, args):
        given = fun, lent, out, t, row, like, structure, args
        return emitted_on_lent(of_arrays, typingctx, *given)

    return put_slope


@cache
def make_linearize_lent(rhs):
    """As `make_linearize`, for a workspace, a state and arguments that are lent."""
    linearize = make_linearize(rhs)

    @intrinsic
    def linearize_lent(typingctx, fun, work, t, y, structure, args):
        return emitted_on_lent(linearize._defn, typingctx, fun, work, t, y, structure, args)

    return linearize_lent


def lent_linearizer(rhs, jac):
    """`make_linearize_lent`, by the user's function where there is one."""
    if jac is None:
        return make_linearize_lent(rhs)
    put = make_put_given_lent(rhs)

    @inlined
    def linearize(fun, work, t, y, structure, args):
        put(fun, jac, work, t, y, structure, args)

    return linearize


@cache
def make_put_given_lent(rhs):
    put_given = make_put_given(rhs, by_time=False)

    @intrinsic
    def put_given_lent(typingctx, fun, jac, work, t, y, structure, args):
        given = fun, jac, work, t, y, structure, args
        return emitted_on_lent(put_given._defn, typingctx, *given)

    return put_given_lent
