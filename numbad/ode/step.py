"""One Runge-Kutta step, its error estimate and its interpolant, emitted from the tableau.

Rows of the workspace: the slopes, the state of a stage, the new state, the old state.
"""

from collections import namedtuple
from functools import cache

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from numbad.ode import failure
from numbad.ode.compiling import inlined
from numbad.ode.emit import Emitter
from numbad.ode.state import combined_state, make_workspace, mean_square_of

# The compiled pieces of a step that kinds of methods do not share: `workspace(y, args, settings) ->
# (memory, work)`, whose first members are the rows; `prepare(fun, work, t, y, structure, args)`, done once
# for a step that is tried with one size or several; `step`; `examine(fun, work, t, y, k0, structure, args,
# settings)`, a status for what is given; `tally(work)`, the evaluations, Jacobians and factorizations
# of a kind of steps whose number does not follow from that of steps; and the `Memory` that they have.
Steps = namedtuple("Steps", "workspace prepare step examine tally memory")

# What steps remember of those before, in their workspace: `room(work)`, how many floats it is;
# `leave(work, row)` puts them into a row of so many, `take(work, row)` back into the workspace.
Memory = namedtuple("Memory", "room leave take")

NO_MEMORY = Memory(
    inlined(lambda work: 0), inlined(lambda work, row: None), inlined(lambda work, row: None)
)

nothing_counted = inlined(lambda work: (0, 0, 0))


@inlined
def nothing_prepared(fun, work, t, y, structure, args):
    """`prepare` of a step that needs nothing from the state before."""


@inlined
def nothing_examined(fun, work, t, y, k0, structure, args, settings):
    """`examine` of a method that takes every state."""
    return failure.RUNNING


# Keeps 0 / 0 away.
SMALLEST = 1e-300


def buffers_needed(tableau):
    """Rows of workspace that the steps of a method use."""
    return tableau.slopes + 3


def explicit_steps(tableau, rhs):
    """The compiled pieces of a step of an explicit method."""
    rows = make_workspace(buffers_needed(tableau))

    @inlined
    def workspace(y, args, settings):
        return rows(y)

    step = make_step(tableau, rhs)
    return Steps(workspace, nothing_prepared, step, nothing_examined, nothing_counted, NO_MEMORY)


@cache
def make_step(tableau, rhs):
    """The compiled `step(fun, work, t, t_new, h, y, k0, structure, args) -> (y_new, stages)`."""

    @intrinsic
    def step(typingctx, fun, work, t, t_new, h, y, k0, structure, args):
        types_of_call = work[0], t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.Tuple((y, types.UniTuple(y, tableau.stages)))

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            new, stages = _stages(emitter, tableau, call, y, arguments[1:])
            both = [new, context.make_tuple(builder, result[1], stages)]
            value = context.make_tuple(builder, result, both)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, t_new, h, y, k0, structure, args), codegen

    return step


def _stages(emitter, tableau, call, y_type, arguments):
    """The new state and the stages: Hairer, Norsett & Wanner, I, (II.1.8)."""
    work, t, t_new, h, y, k0, _, args = arguments
    rows = _rows(emitter, tableau, work)
    at = _Step(emitter, y_type, t, h, y)
    stages = [k0]
    for i in range(1, tableau.stages):
        final = tableau.first_same_as_last and i == tableau.stages - 1
        state = at.state(rows[tableau.slopes + final], tableau.a[i], stages)
        time = t_new if tableau.c[i] == 1.0 else at.time(tableau.c[i])
        stages.append(call.emit(emitter, rows[i], time, state, args))
    if not tableau.first_same_as_last:
        state = at.state(rows[tableau.slopes + 1], tableau.b, stages)
    return state, stages


def _rows(emitter, tableau, work):
    return [emitter.builder.extract_value(work, i) for i in range(buffers_needed(tableau))]


class _Step:
    """The step from (t, y) by h: times and states within it."""

    def __init__(self, emitter, y_type, t, h, y):
        self.emitter = emitter
        self.y_type = y_type
        self.t = emitter.scalar(types.float64, t)
        self.h = emitter.scalar(types.float64, h)
        self.y = emitter.vector(y_type, y)

    def time(self, c):
        return (self.t + self.emitter.constant(c) * self.h).value

    def state(self, row, coefficients, stages):
        """y + h * sum of coefficient * stage."""
        used = zip(coefficients, stages, strict=True)
        terms = [
            (self.emitter.constant(a), self.emitter.vector(self.y_type, k))
            for a, k in used
            if a != 0.0
        ]
        return combined_state(self.emitter, self.y_type, row, self.y, self.h, terms)


@cache
def make_close(tableau, rhs):
    """The compiled `close(fun, work, t, w, stages, structure, args)`: the stages and f(t, w).

    The latter, the slope at the end of an accepted step, may be the last stage already.
    """

    @intrinsic
    def close(typingctx, fun, work, t, w, stages, structure, args):
        if tableau.first_same_as_last:
            return stages(fun, work, t, w, stages, structure, args), _stages_as_they_are
        types_of_call = work[0], t, w, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.UniTuple(w, tableau.stages + 1)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, work, t, state, values, _, args = arguments
            row = builder.extract_value(work, tableau.stages)
            slopes = cgutils.unpack_tuple(builder, values, tableau.stages)
            slopes.append(call.emit(emitter, row, t, state, args))
            value = context.make_tuple(builder, result, slopes)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, w, stages, structure, args), codegen

    return close


def _stages_as_they_are(context, builder, signature, arguments):
    return impl_ret_borrowed(context, builder, signature.return_type, arguments[4])


@cache
def make_extend(tableau, rhs):
    """The compiled `extend(fun, work, t, h, y, slopes, structure, args)`: all that dense output needs.

    `slopes` are those of `close`; added are the further stages, if the method has any.
    """

    @intrinsic
    def extend(typingctx, fun, work, t, h, y, slopes, structure, args):
        types_of_call = work[0], t, y, structure, args
        rhs.resolve(typingctx, fun, *types_of_call)
        result = types.UniTuple(y, tableau.slopes)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            call = rhs.resolve(context.typing_context, fun, *types_of_call)
            _, work, t, h, state, values, _, args = arguments
            rows = _rows(emitter, tableau, work)
            at = _Step(emitter, y, t, h, state)
            known = cgutils.unpack_tuple(builder, values, len(slopes))
            for a, c in zip(tableau.extra_a, tableau.extra_c, strict=True):
                inside = at.state(rows[tableau.slopes], a, known)
                known.append(call.emit(emitter, rows[len(known)], at.time(c), inside, args))
            value = context.make_tuple(builder, result, known)
            return impl_ret_borrowed(context, builder, result, value)

        return result(fun, work, t, h, y, slopes, structure, args), codegen

    return extend


def make_error(tableau, with_partials):
    """The compiled `error(stages, h, y, w, rtol, atol)`: mean square of the scaled error.

    With a second estimate, of root mean square e3 beside e5 for the first, the error is that of
    DOP853: e5**2 / sqrt(e5**2 + 0.01 e3**2), Hairer, Norsett & Wanner, I, II.10.
    """

    @intrinsic
    def error(typingctx, stages, h, y, w, rtol, atol):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            slopes = emitter.members(stages, arguments[0])
            step = emitter.scalar(types.float64, arguments[1])
            rest = zip(signature.args[2:], arguments[2:], strict=True)
            vectors = [emitter.vector(*pair) for pair in rest]

            def mean_square(weights):
                weighted = zip(weights, slopes, strict=True)
                terms = [(emitter.constant(e), k) for e, k in weighted if e != 0.0]
                return mean_square_of(emitter, y, terms, *vectors, with_partials)

            size = mean_square(tableau.error)
            if tableau.coarse_error:
                both = size + emitter.constant(0.01) * mean_square(tableau.coarse_error)
                size = size * (size / emitter.larger(both, emitter.constant(SMALLEST)))
            return (step * step * size).value

        return types.float64(stages, h, y, w, rtol, atol), codegen

    return error


def make_interpolate(tableau):
    """The compiled `interpolate(buffer, theta, h, y, slopes)`: the state at t + theta h."""

    @intrinsic
    def interpolate(typingctx, buffer, theta, h, y, slopes):
        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            row, at, step, old, values = arguments
            fraction = emitter.scalar(types.float64, at)
            terms = [
                (_horner(emitter, coefficients, fraction), k)
                for coefficients, k in zip(
                    tableau.interpolant, emitter.members(slopes, values), strict=True
                )
                if any(coefficients)
            ]
            base, size = emitter.vector(y, old), emitter.scalar(types.float64, step)
            state = combined_state(emitter, y, row, base, size, terms)
            return impl_ret_borrowed(context, builder, y, state)

        return y(buffer, theta, h, y, slopes), codegen

    return interpolate


def _horner(emitter, coefficients, theta):
    """The polynomial sum coefficients[p] * theta**(p + 1)."""
    total = emitter.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * theta + emitter.constant(coefficient)
    return total * theta


def make_settle(tableau):
    """The compiled `settle(work, w, slopes)`: (y, first stage) to go on with, from those of `close`.

    Both are put where the next step does not write.
    """
    last = tableau.slopes - len(tableau.extra_a) - 1

    @intrinsic
    def settle(typingctx, work, w, slopes):
        result = types.UniTuple(w, 2)

        def codegen(context, builder, signature, arguments):
            emitter = Emitter(context, builder)
            work, state, values = arguments
            buffer = builder.extract_value(work, buffers_needed(tableau) - 1)
            y = emitter.copied(w, buffer, state)
            first = builder.extract_value(work, 0)
            k0 = emitter.copied(w, first, builder.extract_value(values, last))
            value = context.make_tuple(builder, result, [y, k0])
            return impl_ret_borrowed(context, builder, result, value)

        return result(work, w, slopes), codegen

    return settle
