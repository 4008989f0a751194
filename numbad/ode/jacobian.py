"""The Jacobian of a right-hand side, by dual numbers: a few columns at each evaluation.

The matrix has a row for each component of the state and a column for each, or for each colour of them
where it is sparse, then one for the time, then columns of zeros up to a whole number of passes. A state of
dual numbers has a Jacobian of dual numbers: those that are seeded here lie a level above.
"""

from dataclasses import replace
from functools import cache

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic

from numbad.forward.dual import (
    Dual,
    base_scalar,
    build,
    duals_in,
    get_partial,
    set_partial,
    split,
    zero_partials,
)
from numbad.ode.emit import ArrayComponents, Emitter
from numbad.ode.known_switches import ALL_KNOWN
from numbad.ode.sparse_linear import weight
from numbad.ode.sparsity_pattern import FEW, has_few_colours
from numbad.ode.state import vector_type

LONGEST_PASS = 12  # columns of a small system, all at once
PASS, PASS_OF_DUALS = 8, 4  # of a larger one; two AVX vectors of floats
PASS_OF_FEW = FEW + 1  # where there are few colours, with the column by time

# What the linear algebra of a step works on: the Jacobian; the LU factors and their row exchanges; a
# right-hand side (of the first stage, where a state is an array); the states of dual numbers; and
# the mass matrix and the sparsity, or None.
MATRICES = 8
OWN = MATRICES - 2  # those that are made for a solution


def columns_at_once(y, sparsity=types.none):
    """How many columns of the Jacobian at a state like y an evaluation gives."""
    if isinstance(y, types.BaseTuple) and len(y) < LONGEST_PASS:
        return len(y) + 1
    if isinstance(y.dtype, Dual):
        return PASS_OF_DUALS
    return PASS_OF_FEW if has_few_colours(sparsity) else PASS


def seeded(y, args, sparsity=types.none):
    """The type of the state of dual numbers that the Jacobian at a state is taken from."""
    tag = 1 + max((dual.tag for ty in (y, args) for dual in duals_in(ty)), default=-1)
    dual = Dual(y.dtype, columns_at_once(y, sparsity), tag)
    return types.UniTuple(dual, len(y)) if isinstance(y, types.BaseTuple) else vector_type(dual)


class JacobianColumns:
    """The columns of a Jacobian but for that by time: one for each component, or for each colour of them."""

    def __init__(self, emitter, n, ty, value):
        self.emitter, self.is_sparse = emitter, not isinstance(ty, types.NoneType)
        self.count = n
        if self.is_sparse:
            self._colours, self._widths = (
                emitter.vector(ty[i], emitter.builder.extract_value(value, i)) for i in (2, 5)
            )
            self.count = self._widths[2].value

    def of(self, i):
        """The number of the column of component `i`."""
        return self._colours[i].value if self.is_sparse else _index(self.count, i)

    def factor_width(self, n):
        """The columns of the LU factors: of a matrix, or of a band and what exchanges add to it."""
        return self._widths[3].value if self.is_sparse else n


@intrinsic
def new_matrices(typingctx, y, args, sparsity):
    """New arrays for the `OWN` first of `MATRICES`, for states like y."""
    scalar, base = y.dtype, base_scalar(y.dtype)
    dual = seeded(y, args, sparsity)
    in_arrays = isinstance(y, types.Array)
    buffer = dual if in_arrays else types.none
    result = types.Tuple(
        (
            types.Array(scalar, 2, "C"),
            types.Array(base, 2, "C"),
            types.Array(types.intp, 1, "C"),
            vector_type(scalar),
            buffer,
            buffer,
        )
    )

    def codegen(context, builder, signature, arguments):
        emitter = Emitter(context, builder)
        n = emitter.vector(y, arguments[0]).size()
        columns = context.get_constant(types.intp, columns_at_once(y, sparsity))
        own = JacobianColumns(emitter, n, sparsity, arguments[2])
        passes = builder.add(builder.sdiv(own.count, columns), context.get_constant(types.intp, 1))
        width = own.factor_width(n)
        shapes = [[n, builder.mul(passes, columns)], [n, width], [n], [n], [n], [n]]
        dummy = context.get_dummy_value()
        arrays = [
            dummy if isinstance(ty, types.NoneType) else emitter.allocate(ty, shape)
            for ty, shape in zip(result, shapes, strict=True)
        ]
        value = context.make_tuple(builder, result, arrays)
        return impl_ret_new_ref(context, builder, result, value)

    return result(y, args, sparsity), codegen


def quiet(rhs):
    """A right-hand side that tells of no switches: a Jacobian by the state alone leaves out nothing."""
    return replace(rhs, known=ALL_KNOWN)


@cache
def make_linearize(rhs, only_if_examined=False):
    """The compiled `linearize(fun, work, t, y, structure, args)`: the Jacobian at (t, y), into work.

    With `only_if_examined` nothing is done where there is neither a mass matrix nor a pattern.
    """

    @intrinsic
    def linearize(typingctx, fun, work, t, y, structure, args):
        given_types = work[len(work) - 2], work[len(work) - 1]
        if only_if_examined and all(isinstance(ty, types.NoneType) for ty in given_types):
            return types.none(fun, work, t, y, structure, args), _nothing
        dual = seeded(y, args, work[len(work) - 1])
        time = Dual(types.float64, dual.dtype.n, dual.dtype.tag)
        types_of_call = work[len(work) - 3], time, dual, structure, args
        called = quiet(rhs)
        called.resolve(typingctx, fun, *types_of_call)

        def codegen(context, builder, signature, arguments):
            call = called.resolve(context.typing_context, fun, *types_of_call)
            _, given, t, y_value, _, args_value = arguments
            emitter = Emitter(context, builder)
            jacobian, *_, state, slope, _, sparsity = [
                builder.extract_value(given, len(work) - MATRICES + k) for k in range(MATRICES)
            ]
            matrix_type = work[len(work) - MATRICES]
            values = emitter.vector(y, y_value)
            n, width = values.size(), context.get_constant(types.intp, dual.dtype.n)
            columns = JacobianColumns(emitter, n, work[len(work) - 1], sparsity)
            last = builder.add(columns.count, context.get_constant(types.intp, 1))
            with cgutils.for_range_slice(builder, n.type(0), last, width) as (first, _):

                def seed(i):
                    return _seed(emitter, dual.dtype, values[i], builder.sub(columns.of(i), first))

                at = emitter.make_state(dual, state, seed, values)
                moment = _seed(
                    emitter,
                    time,
                    emitter.scalar(types.float64, t),
                    builder.sub(columns.count, first),
                )
                found = emitter.vector(
                    dual, call.emit(emitter, slope, moment.value, at, args_value)
                )

                def put(i):
                    row = ArrayComponents(emitter, matrix_type, jacobian, leading=(_index(n, i),))
                    _, partials = split(context, builder, dual.dtype, found[i].value)
                    for j in range(dual.dtype.n):
                        item = get_partial(builder, dual.dtype, partials, j)
                        column = builder.add(first, context.get_constant(types.intp, j))
                        row[column] = emitter.scalar(y.dtype, item)

                found.for_each(put)
            return context.get_dummy_value()

        return types.none(fun, work, t, y, structure, args), codegen

    return linearize


@cache
def make_linearize_by_time(rhs):
    """The compiled `linearize_by_time(fun, work, t, y, structure, args)`: that column of a dense Jacobian."""

    @intrinsic
    def linearize_by_time(typingctx, fun, work, t, y, structure, args):
        dual = seeded(y, args, work[len(work) - 1])
        time = Dual(types.float64, dual.dtype.n, dual.dtype.tag)
        types_of_call = work[len(work) - 3], time, dual, structure, args
        called = quiet(rhs)
        called.resolve(typingctx, fun, *types_of_call)

        def codegen(context, builder, signature, arguments):
            call = called.resolve(context.typing_context, fun, *types_of_call)
            _, given, t, y_value, _, args_value = arguments
            emitter = Emitter(context, builder)
            jacobian, state, slope = [
                builder.extract_value(given, len(work) - MATRICES + k) for k in (0, 4, 5)
            ]
            values = emitter.vector(y, y_value)
            n, zero = values.size(), values.size().type(0)

            def still(i):
                return _seed(emitter, dual.dtype, values[i], zero.type(-1))

            at = emitter.make_state(dual, state, still, values)
            moment = _seed(emitter, time, emitter.scalar(types.float64, t), zero)
            found = emitter.vector(dual, call.emit(emitter, slope, moment.value, at, args_value))
            matrix_type = work[len(work) - MATRICES]

            def put(i):
                row = ArrayComponents(emitter, matrix_type, jacobian, leading=(_index(n, i),))
                _, partials = split(context, builder, dual.dtype, found[i].value)
                item = get_partial(builder, dual.dtype, partials, 0)
                row[n] = emitter.scalar(y.dtype, item)

            found.for_each(put)
            return context.get_dummy_value()

        return types.none(fun, work, t, y, structure, args), codegen

    return linearize_by_time


@cache
def make_move(rhs):
    """The compiled `move(fun, work, t, y, structure, args)`: J times the `weight` of each component."""

    @intrinsic
    def move(typingctx, fun, work, t, y, structure, args):
        dual = seeded(y, args, work[len(work) - 1])
        time = Dual(types.float64, dual.dtype.n, dual.dtype.tag)
        types_of_call = work[len(work) - 3], time, dual, structure, args
        called = quiet(rhs)
        called.resolve(typingctx, fun, *types_of_call)

        def codegen(context, builder, signature, arguments):
            call = called.resolve(context.typing_context, fun, *types_of_call)
            _, given, t, y_value, _, args_value = arguments
            emitter = Emitter(context, builder)
            right, state, slope = [
                builder.extract_value(given, len(work) - MATRICES + k) for k in (3, 4, 5)
            ]
            values = emitter.vector(y, y_value)
            none = values.size().type(-1)

            def seed(i):
                index = _index(values.size(), i)
                moved = emitter.call_dispatcher(weight, (types.intp,), [index])
                return _seed(emitter, dual.dtype, values[i], values.size().type(0), moved)

            at = emitter.make_state(dual, state, seed, values)
            moment = _seed(emitter, time, emitter.scalar(types.float64, t), none)
            found = emitter.vector(dual, call.emit(emitter, slope, moment.value, at, args_value))
            target = emitter.vector(work[len(work) - MATRICES + 3], right)

            def put(i):
                _, partials = split(context, builder, dual.dtype, found[i].value)
                target[i] = emitter.scalar(y.dtype, get_partial(builder, dual.dtype, partials, 0))

            found.for_each(put)
            return context.get_dummy_value()

        return types.none(fun, work, t, y, structure, args), codegen

    return move


def _nothing(context, builder, signature, arguments):
    return context.get_dummy_value()


def _index(like, i):
    return like.type(i) if isinstance(i, int) else i


def _seed(emitter, ty, scalar, position, speed=None):
    """A dual number that moves in the direction of a column, an LLVM integer; in none outside."""
    context, builder = emitter.context, emitter.builder
    moving = emitter.constant(1.0) if speed is None else emitter.scalar(types.float64, speed)
    one, zero = (emitter.cast(x, ty.scalar).value for x in (moving, emitter.constant(0.0)))
    partials = zero_partials(context, ty)
    for j in range(ty.n):
        here = builder.icmp_signed("==", position, position.type(j))
        partials = set_partial(builder, ty, partials, builder.select(here, one, zero), j)
    value = emitter.cast(scalar, ty.scalar).value
    return emitter.scalar(ty, build(context, builder, ty, value, partials))
