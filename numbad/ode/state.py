"""The state of an ODE inside the solver, and the arithmetic of a step on it.

A float, tuple or namedtuple becomes a tuple of scalars, which lives in registers; an array stays an
array and is worked on in rows of one workspace. Both kinds answer to the same functions, so that
one step code serves both: a function that makes a state takes a `buffer` (a row of the workspace,
None for tuples) and returns the state. All of them are resolved from the types when the solver is
compiled; loops over stages, and over the components of a tuple, are unrolled.
"""

import operator
from functools import reduce

from numba.core import cgutils, types
from numba.core.errors import RequireLiteralValue
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.extending import intrinsic

from numbad.errors import ModelError
from numbad.forward.access import primal
from numbad.forward.dual import duals_in, join, with_base
from numbad.ode.borrowed import Borrowed, borrowed_type
from numbad.ode.emit import ArrayComponents, Emitter
from numbad.ode.state_types import EMPTY, components_of, is_scalar


def solution_scalar(typingctx, y0, others):
    """The scalar type of the solution: what float64, y0 and the duals in others unify to."""
    return scalar_of(typingctx, components_of(y0), others)


def scalar_of(typingctx, members, others):
    """What float64, the members of a state and the duals in others unify to.

    It is complex where a member is: right-hand sides may have complex parameters of a solution that is real.
    """
    scalar = types.float64
    for member in (*members, *(with_base(dual, types.float64) for dual in duals_in(others))):
        scalar = join(typingctx, scalar, member)
    return scalar


def vector_type(scalar):
    """The type of an array state, and of a row of the workspace."""
    return types.Array(scalar, 1, "C")


@intrinsic
def tuple_or_array_state(typingctx, y0, others):
    """The initial state as a tuple (as a new array, if it is one), of the solution's scalar type.

    `others` is what else the solution depends on: duals in it make the solution dual.
    """
    scalar = solution_scalar(typingctx, y0, others)
    if isinstance(y0, types.Array):
        return vector_type(scalar)(y0, others), _copy_into_new
    return types.UniTuple(scalar, len(components_of(y0)))(y0, others), _cast_members


@intrinsic
def array_state(typingctx, y0, others):
    """The initial state as a new array, whatever it is given as."""
    scalar = solution_scalar(typingctx, y0, others)
    return vector_type(scalar)(y0, others), _copy_into_new


def _cast_members(context, builder, signature, arguments):
    emitter = Emitter(context, builder)
    source = emitter.vector_or_one(signature.args[0], arguments[0])
    return emitter.make_state(signature.return_type, None, lambda i: source[i])


def _copy_into_new(context, builder, signature, arguments):
    emitter = Emitter(context, builder)
    source = emitter.vector_or_one(signature.args[0], arguments[0])
    count = source.size()
    with builder.if_then(builder.icmp_signed("==", count, count.type(0)), likely=False):
        context.call_conv.return_user_exc(builder, ModelError, (EMPTY,))
    array = emitter.allocate(signature.return_type, [count])
    return impl_ret_new_ref(
        context,
        builder,
        signature.return_type,
        emitter.make_state(signature.return_type, array, lambda i: source[i], source),
    )


@intrinsic
def table_for(typingctx, count, y):
    """A new array of `count` rows, each for a state like `y`."""
    scalar = y.dtype

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        shape = [arguments[0], emitter.vector(y, arguments[1]).size()]
        table = emitter.allocate(signature.return_type, shape)
        return impl_ret_new_ref(context, builder, signature.return_type, table)

    return types.Array(scalar, 2, "C")(types.intp, y), codegen


def state_in(buffer, y):
    """The type of a state like `y` that is put into a buffer of a type, where it is an array."""
    return buffer if isinstance(y, types.Array) else y


def make_workspace(rows):
    """The compiled `workspace(y)`: memory, and a tuple of `rows` buffers for states like `y`.

    The buffers are rows of the memory, which they borrow: `hold(memory)` after their last use. A
    tuple needs no memory, and gets None for each.
    """

    @intrinsic
    def workspace(typingctx, y):
        if isinstance(y, types.BaseTuple):
            return types.Tuple((types.none, types.UniTuple(types.none, rows)))(y), _no_memory
        table = types.Array(y.dtype, 2, "C")
        row = Borrowed(vector_type(y.dtype))
        return types.Tuple((table, types.UniTuple(row, rows)))(y), _rows_of_new_table

    return workspace


@intrinsic
def hold(typingctx, memory):
    """Does nothing, but keeps `memory` alive up to here."""
    return types.none(memory), _nothing


@intrinsic
def borrow_given(typingctx, args):
    """Arguments of the user's functions with arrays that count no references; the caller's outlive them.

    Their types are those that the user's functions know.
    """

    def codegen(context, builder, signature, arguments):
        return Emitter(context, builder).borrowed(args, arguments[0])

    return args(args), codegen


@intrinsic
def borrow(typingctx, args):
    """Arrays of the solver's own as `Borrowed`; the caller's outlive them."""

    def codegen(context, builder, signature, arguments):
        return Emitter(context, builder).borrowed(args, arguments[0])

    return borrowed_type(args)(args), codegen


@intrinsic
def restored(typingctx, structure, y):
    """The state in the structure that a right-hand side gets it in."""
    given = structure.instance_type

    def codegen(context, builder, signature, arguments):
        result = restored_value(builder, given, y, arguments[1])
        return impl_ret_borrowed(context, builder, signature.return_type, result)

    return restored_type(given, y)(structure, y), codegen


def restored_type(structure, y):
    """The type of a state in the structure of an initial state's type."""
    if isinstance(y, types.Array):
        return y.as_array
    if is_scalar(structure):
        return y.dtype
    if isinstance(structure, types.BaseNamedTuple):
        return types.NamedUniTuple(y.dtype, len(y), structure.instance_class)
    return y


def restored_value(builder, structure, ty, y):
    """The value that belongs to `restored_type`: tuples and namedtuples are laid out alike."""
    from_tuple = is_scalar(structure) and isinstance(ty, types.BaseTuple)
    return builder.extract_value(y, 0) if from_tuple else y


@intrinsic
def structure_of(typingctx, y0):
    """A token for the structure of the initial state, which a right-hand side gets its state in."""
    return types.TypeRef(y0)(y0), _nothing


def _nothing(context, builder, signature, arguments):
    return context.get_dummy_value()


def unchanged(context, builder, signature, arguments):
    return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])


@intrinsic
def fits(typingctx, tolerance, y):
    """Whether a tolerance is one float, or has one for each component."""

    def codegen(context, builder, signature, arguments):
        if is_scalar(tolerance):
            return cgutils.true_bit
        emitter = Emitter(context, builder)
        given = emitter.vector(tolerance, arguments[0]).size()
        wanted = emitter.vector(y, arguments[1]).size()
        return builder.icmp_signed("==", given, wanted)

    return types.boolean(tolerance, y), codegen


@intrinsic
def mass_fits(typingctx, mass, y):
    """Whether a mass matrix, which is square, is None or has a row for each component."""

    def codegen(context, builder, signature, arguments):
        if not isinstance(mass, types.Array):  # by entries, it is of the size of the pattern
            return cgutils.true_bit
        emitter = Emitter(context, builder)
        rows = emitter.vector(mass, arguments[0]).size()
        return builder.icmp_signed("==", rows, emitter.vector(y, arguments[1]).size())

    return types.boolean(mass, y), codegen


@intrinsic
def pattern_fits(typingctx, sparsity, y):
    """Whether a sparsity is None or has a row for each component."""

    def codegen(context, builder, signature, arguments):
        if isinstance(sparsity, types.NoneType):
            return cgutils.true_bit
        emitter = Emitter(context, builder)
        colours = emitter.vector(sparsity[2], builder.extract_value(arguments[0], 2)).size()
        return builder.icmp_signed("==", colours, emitter.vector(y, arguments[1]).size())

    return types.boolean(sparsity, y), codegen


def _no_memory(context, builder, signature, arguments):
    _, rows = signature.return_type
    dummy = context.get_dummy_value()
    buffers = context.make_tuple(builder, rows, [dummy] * len(rows))
    return context.make_tuple(builder, signature.return_type, [dummy, buffers])


def _rows_of_new_table(context, builder, signature, arguments):
    emitter = Emitter(context, builder)
    table_type, rows_type = signature.return_type
    width = emitter.vector(rows_type.dtype, arguments[0]).size()
    table = emitter.allocate(table_type, [context.get_constant(types.intp, len(rows_type)), width])
    rows = [emitter.row(table_type, table, i) for i in range(len(rows_type))]
    both = [table, context.make_tuple(builder, rows_type, rows)]
    result = context.make_tuple(builder, signature.return_type, both)
    return impl_ret_new_ref(context, builder, signature.return_type, result)


@intrinsic
def combine(typingctx, buffer, y, h, weights, stages):
    """y + h * sum of weight * stage."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        given = list(zip(signature.args, arguments, strict=True))
        base, step = emitter.vector(*given[1]), emitter.scalar(*given[2])
        terms = _terms(emitter, given[3], given[4])
        state = combined_state(emitter, y, arguments[0], base, step, terms)
        return impl_ret_borrowed(context, builder, y, state)

    return y(buffer, y, h, weights, stages), codegen


def _terms(emitter, weights, stages):
    factors, slopes = emitter.members(*weights), emitter.members(*stages)
    return [(factor[0], slope) for factor, slope in zip(factors, slopes, strict=True)]


def combined_state(emitter, ty, buffer, base, h, terms):
    """The state base + h * sum weight * stage, for the pairs in `terms`."""
    if len(terms) == 1:  # one product for all components, which stays where h does
        weight, stage = terms[0]
        scaled = h * weight
        return emitter.make_state(ty, buffer, lambda i: base[i] + scaled * stage[i])

    def component(i):
        return base[i] + h * reduce(operator.add, [weight * stage[i] for weight, stage in terms])

    return emitter.make_state(ty, buffer, component)


def make_mean_square(with_partials):
    """The compiled `mean_square(weights, stages, y, w, rtol, atol)`, see `mean_square_of`."""

    @intrinsic
    def mean_square(typingctx, weights, stages, y, w, rtol, atol):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            given = list(zip(signature.args, arguments, strict=True))
            vectors = [emitter.vector(*pair) for pair in given[2:]]
            terms = _terms(emitter, given[0], given[1])
            return mean_square_of(emitter, y, terms, *vectors, with_partials).value

        return types.float64(weights, stages, y, w, rtol, atol), codegen

    return mean_square


def mean_square_of(emitter, ty, terms, old, new, rtol, atol, with_partials):
    """The mean over components of |sum weight * stage / (atol + rtol max(|old|, |new|))|**2.

    It is taken of values only, so that dual numbers see the steps that their values choose; or,
    where asked for, over values and partials alike, each relative to its own size.
    """
    parts = emitter.parts if with_partials else lambda scalar: [emitter.call(primal, scalar)]
    count = len(emitter.part_types(ty.dtype)) if with_partials else 1
    weights = [weight for weight, _ in terms]

    def component(i):
        numbers = [parts(vector[i]) for vector in (old, new, *(stage for _, stage in terms))]
        squares = [
            _scaled_square(column, weights, rtol[i], atol[i])
            for column in zip(*numbers, strict=True)
        ]
        return reduce(operator.add, squares)

    total = emitter.sum_over(old, component)
    return total / (emitter.as_float(old.size()) * emitter.constant(float(count)))


def _scaled_square(column, weights, rtol, atol):
    old, new, *slopes = column
    emitter = old.emitter
    error = reduce(operator.add, [a * k for a, k in zip(weights, slopes, strict=True)])
    larger = emitter.larger(emitter.call(abs, old), emitter.call(abs, new))
    scaled = emitter.call(abs, error) / (atol + rtol * larger)
    return scaled * scaled


@intrinsic
def all_finite(typingctx, y):
    """Whether no component is NaN or infinite."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        vector = emitter.vector(y, arguments[0])
        infinity = emitter.constant(float("inf"))
        slot = cgutils.alloca_once(builder, cgutils.bool_t)
        builder.store(cgutils.true_bit, slot)

        def check(i):
            finite = emitter.call(abs, emitter.call(primal, vector[i])) < infinity
            builder.store(builder.and_(builder.load(slot), finite.value), slot)

        vector.for_each(check)
        return builder.load(slot)

    return types.boolean(y), codegen


@intrinsic
def keep(typingctx, buffer, y):
    """The state `y` so that it survives the next step: copied, where it lies in a buffer."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        state = emitter.copied(y, arguments[0], arguments[1])
        return impl_ret_borrowed(context, builder, signature.return_type, state)

    return state_in(buffer, y)(buffer, y), codegen


@intrinsic
def zero_state(typingctx, buffer, y):
    """A state like `y` of zeros, in a buffer where it is an array."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        source = emitter.vector(y, arguments[1])
        return emitter.make_state(y, arguments[0], lambda i: emitter.constant(0.0), source)

    return state_in(buffer, y)(buffer, y), codegen


@intrinsic
def repeated(typingctx, y, count):
    """A tuple that has a state so many times, a literal."""
    if not isinstance(count, types.IntegerLiteral):
        raise RequireLiteralValue("count")
    result = types.UniTuple(y, count.literal_value)

    def codegen(context, builder, signature, arguments):
        value = context.make_tuple(builder, result, [arguments[0]] * len(result))
        return impl_ret_borrowed(context, builder, result, value)

    return result(y, count), codegen


@intrinsic
def size_of(typingctx, y):
    """The number of components of a state."""

    def codegen(context, builder, signature, arguments):
        return Emitter(context, builder).vector(y, arguments[0]).size()

    return types.intp(y), codegen


@intrinsic
def write_row(typingctx, table, row, y):
    """Put the state into row `row` of `table`."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        emitter.write_row(table, arguments[0], arguments[1], emitter.vector(y, arguments[2]))
        return context.get_dummy_value()

    return types.none(table, types.intp, y), codegen


@intrinsic
def write_rows(typingctx, table, row, states):
    """Put states into rows of `table`, from `row` on."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        for j, state in enumerate(emitter.members(states, arguments[2])):
            at = builder.add(arguments[1], context.get_constant(types.intp, j))
            emitter.write_row(table, arguments[0], at, state)
        return context.get_dummy_value()

    return types.none(table, types.intp, states), codegen


@intrinsic
def read_row(typingctx, buffer, table, row, y):
    """Row `row` of a table as a state like `y`, the opposite of `write_row`."""

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        source = ArrayComponents(emitter, table, arguments[1], leading=(arguments[2],))
        state = emitter.make_state(y, arguments[0], lambda i: source[i])
        return impl_ret_borrowed(context, builder, signature.return_type, state)

    return state_in(buffer, y)(buffer, table, types.intp, y), codegen


@intrinsic
def plain(typingctx, args):
    """The arguments, where they may be left out."""
    if isinstance(args, types.Omitted):
        empty = types.Tuple(())
        return empty(args), lambda context, *_: context.get_constant_undef(empty)
    return args(args), unchanged
